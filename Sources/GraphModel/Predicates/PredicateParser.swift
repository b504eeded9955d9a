extension GraphPredicate {
  /// Parses the text form for an entity: `color == "yellow" AND ANY tags.name IN {"a", "b"}`.
  /// - Parameter arguments: JSON values for `$name`.
  /// - Throws: `PredicateSyntaxError`, with the column of the error.
  public init(
    parsing text: String, entity: Entity, model: Model, arguments: [String: JSON] = [:]
  ) throws(PredicateSyntaxError) {
    try self.init(parsing: text, entity: entity, model: model, arguments: arguments.mapValues { .json($0) })
  }

  init(
    parsing text: String, entity: Entity, model: Model, arguments: [String: TemplateArgument]
  ) throws(PredicateSyntaxError) {
    var parser = try PredicateParser(text, entity, model, .given(arguments))
    self = try parser.whole()
  }

  /// Parses a rule, whose variables have types but no values.
  init(
    parsingRule text: String, entity: Entity, model: Model, variables: [String: GraphValueType]
  ) throws(PredicateSyntaxError) {
    var parser = try PredicateParser(text, entity, model, .typed(variables))
    self = try parser.whole()
  }

  /// Parses a template, in which `$name` stands for a value that is supplied later.
  /// - Returns: the names and types of its variables, the variables that are lists, and those that may be null.
  static func variables(
    ofTemplate text: String, entity: Entity, model: Model
  ) throws(PredicateSyntaxError) -> (
    variables: [(name: String, type: GraphValueType)], lists: Set<String>, nullables: Set<String>
  ) {
    var parser = try PredicateParser(text, entity, model, .awaited)
    let predicate = try parser.whole()
    return (parser.variables, parser.lists, predicate.nullableVariables(of: parser.variables.map(\.name), model))
  }

  /// The maximum size of a predicate's text form, in bytes.
  public static let maximumTextSize = 1 << 20
  /// The maximum size of all strings within functions that read no property, in bytes; a string counts once for each
  /// function around it. The parser calculates such calls.
  public static let maximumArgumentSize = 1 << 20
}

extension GraphExpression {
  /// Parses an expression with one value per object: `lowercase(name)`, `price * 2`.
  /// - Throws: `PredicateSyntaxError`, with the column of the error.
  public init(parsing text: String, entity: Entity, model: Model) throws(PredicateSyntaxError) {
    var parser = try PredicateParser(text, entity, model, .given([:]))
    self = try parser.wholeExpression().expression
  }
}

/// A recursive-descent parser of `or`, `and`, `not`, comparisons and expressions. Names are resolved during parsing,
/// so that errors point at them.
struct PredicateParser {
  /// The values of `$name` variables that no SUBQUERY declares.
  enum Variables {
    case given([String: TemplateArgument])
    /// A template's variables, whose values are supplied later.
    case awaited
    /// A rule's variables, whose types are known and whose values are supplied later.
    case typed([String: GraphValueType])
  }

  /// An object at which paths can start.
  struct Scope {
    /// The variable of a SUBQUERY; nil for the evaluated object.
    let variable: String?
    let entity: Entity
  }

  let text: String
  let tokens: [PredicateLexer.LocatedToken]
  let model: Model
  let arguments: Variables
  /// The evaluated object, followed by the objects of the enclosing subqueries.
  var scopes: [Scope]
  var position = 0
  var size = 0
  /// The number of operations in the current comparison, whose expressions nest.
  var operations = 0
  /// The size of all strings so far, in bytes, and of those within functions that read no property.
  var (stringSize, argumentSize) = (0, 0)
  /// The number of properties and variables so far.
  var references = 0
  /// The instructions of all MATCHES patterns so far.
  var patternInstructions = 0
  var variables = [(name: String, type: GraphValueType)]()
  /// The variables that are lists.
  var lists = Set<String>()
  /// The closing parenthesis of each opening one, by token index.
  private let closing: [Int: Int]

  init(
    _ text: String, _ entity: Entity, _ model: Model, _ arguments: Variables
  ) throws(PredicateSyntaxError) {
    guard text.utf8.count <= GraphPredicate.maximumTextSize else {
      throw PredicateSyntaxError(
        scalar: 1, reason: "the predicate has more than \(GraphPredicate.maximumTextSize) bytes",
        text: String(text.beginning(of: 80)))
    }
    self.text = text
    tokens = try PredicateLexer.tokens(text)
    self.model = model
    self.arguments = arguments
    scopes = [Scope(variable: nil, entity: entity)]
    var closing = [Int: Int]()
    var open = [Int]()
    for (index, place) in tokens.enumerated() {
      if place.token == .symbol("(") { open.append(index) }
      if place.token == .symbol(")"), let start = open.popLast() { closing[start] = index }
    }
    self.closing = closing
  }

  var entity: Entity { scopes[scopes.count - 1].entity }
  var current: PredicateLexer.Token { tokens[position].token }
  var next: PredicateLexer.Token { tokens[min(position + 1, tokens.count - 1)].token }

  func fail(_ reason: String, at place: Int? = nil) -> PredicateSyntaxError {
    PredicateSyntaxError(scalar: tokens[place ?? position].column, reason: reason, text: text)
  }

  func isWord(_ words: String...) -> Bool {
    guard case .word(let word) = current else { return false }
    return words.contains(word.uppercased())
  }

  mutating func skip(_ symbols: String...) -> Bool {
    guard case .symbol(let symbol) = current, symbols.contains(symbol) else { return false }
    position += 1
    return true
  }

  mutating func skipWord(_ word: String) -> Bool {
    guard isWord(word) else { return false }
    position += 1
    return true
  }

  mutating func count(_ what: String) throws(PredicateSyntaxError) {
    size += 1
    guard size <= GraphPredicate.maximumSize else { throw fail("more than \(GraphPredicate.maximumSize) \(what)") }
  }

  // MARK: - Structure

  mutating func whole() throws(PredicateSyntaxError) -> GraphPredicate {
    if tokens.count == 1 { throw fail("a condition is expected, such as name == \"Ann\", or TRUEPREDICATE for all") }
    let predicate = try or(depth: 0)
    guard case .end = current else { throw fail("AND, OR or the end is expected here") }
    return predicate
  }

  mutating func wholeExpression() throws(PredicateSyntaxError) -> Operand {
    if tokens.count == 1 { throw fail("an expression is expected, such as price * 2") }
    let operand = try typed(expression(depth: 0))
    guard case .end = current else { throw fail("an operator or the end is expected here") }
    guard !operand.isMany else { throw fail("this path leads to many values", at: 0) }
    return operand
  }

  /// - Parameter depth: the nesting of what is read; a pair of brackets counts twice, because it can contain an `AND`
  ///   within an `OR`.
  mutating func or(depth: Int) throws(PredicateSyntaxError) -> GraphPredicate {
    guard depth <= GraphPredicate.maximumDepth else { throw fail("nested deeper than \(GraphPredicate.maximumDepth)") }
    var parts = [try and(depth: depth)]
    while skipWord("OR") || skip("||") { parts.append(try and(depth: depth)) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func and(depth: Int) throws(PredicateSyntaxError) -> GraphPredicate {
    var parts = [try not(depth: depth)]
    while skipWord("AND") || skip("&&") { parts.append(try not(depth: depth)) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func not(depth: Int) throws(PredicateSyntaxError) -> GraphPredicate {
    guard depth <= GraphPredicate.maximumDepth else { throw fail("nested deeper than \(GraphPredicate.maximumDepth)") }
    if skipWord("NOT") || skip("!") { return .not(try not(depth: depth + 1)) }
    if case .symbol("(") = current, !isBracketOfExpression {
      position += 1
      let inner = try or(depth: depth + 2)
      guard skip(")") else { throw fail("')' is expected here") }
      return inner
    }
    if skipWord("TRUEPREDICATE") { return .always }
    if skipWord("FALSEPREDICATE") { return .never }
    return try comparison(depth: depth)
  }

  /// Whether a parenthesis belongs to an expression, as in `(a + b) > c`, and not to a predicate. The token after the
  /// closing one decides.
  private var isBracketOfExpression: Bool {
    guard let close = closing[position], close + 1 < tokens.count else { return false }
    switch tokens[close + 1].token {
    case .symbol(let symbol):
      return ArithmeticOperator(rawValue: symbol) != nil || GraphPredicate.Comparator(rawValue: symbol) != nil
        || ["=", "<>"].contains(symbol)
    case .word(let word): return GraphPredicate.Comparator(rawValue: word.uppercased()) != nil
    default: return false
    }
  }

  // MARK: - Comparisons

  private mutating func comparison(depth: Int) throws(PredicateSyntaxError) -> GraphPredicate {
    try count("comparisons")
    operations = 0
    var quantifier = GraphPredicate.Quantifier.one
    if skipWord("ANY") || skipWord("SOME") {
      quantifier = .any
    } else if skipWord("ALL") {
      quantifier = .all
    } else if skipWord("NONE") {
      quantifier = .none
    }
    let start = position
    if isWord("AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE") || isEnd {
      throw fail("the name of a property of \(entity.name) is expected here")
    }
    let left = try expression(depth: depth)
    let place = position
    let (comparator, options) = try self.comparator()
    if comparator == .in || comparator == .between {
      return try membership(quantifier, left, comparator, options, at: start)
    }
    let right = try expression(depth: depth)
    return try compare(quantifier, left, comparator, options, right, at: start, operatorAt: place)
  }

  private var isEnd: Bool { if case .end = current { true } else { false } }

  private mutating func comparator() throws(PredicateSyntaxError) -> (GraphPredicate.Comparator, StringOptions) {
    let comparator: GraphPredicate.Comparator
    switch current {
    case .symbol("="), .symbol("=="): comparator = .equal
    case .symbol("!="), .symbol("<>"): comparator = .notEqual
    case .symbol(let symbol):
      guard let found = GraphPredicate.Comparator(rawValue: symbol) else { throw fail("an operator is expected here") }
      comparator = found
    case .word(let word):
      guard let found = GraphPredicate.Comparator(rawValue: word.uppercased()) else {
        throw fail("an operator is expected here, such as ==, <, IN, CONTAINS or SEARCH")
      }
      comparator = found
    default: throw fail("an operator is expected here")
    }
    position += 1
    var options: StringOptions = []
    if case .symbol(let symbol) = current, symbol.hasPrefix("[") {
      for letter in symbol.dropFirst().dropLast() {
        switch letter {
        case "c", "C": options.insert(.caseInsensitive)
        case "d", "D": options.insert(.diacriticInsensitive)
        default: throw fail("the options are c (case) and d (diacritics)")
        }
      }
      position += 1
    }
    return (comparator, options)
  }

  private mutating func compare(
    _ quantifier: GraphPredicate.Quantifier, _ left: Term, _ comparator: GraphPredicate.Comparator,
    _ options: StringOptions, _ right: Term, at start: Int, operatorAt place: Int
  ) throws(PredicateSyntaxError) -> GraphPredicate {
    var (left, right, comparator, quantifier) = (left, right, comparator, quantifier)
    if !left.isTyped, right.isTyped, let mirrored = comparator.mirrored {
      (left, right, comparator) = (right, left, mirrored)
    }
    var subject = try typed(left)
    // A collection that contains an object equals ANY of its members.
    if comparator == .contains, subject.isMany, subject.isObject, quantifier == .one {
      (comparator, quantifier) = (.equal, .any)
    }
    try check(quantifier, subject, at: start)
    try check(comparator, options, subject, at: place)
    var object = try operand(right, for: subject, comparator)
    if object.isMany { throw fail("this path leads to many values", at: right.place) }
    try unify(&subject, &object, comparator, at: right.place)
    return .comparison(
      GraphPredicate.Comparison(quantifier, subject.expression, comparator, object.expression, options: options)
        .turned())
  }

  /// `IN` and `BETWEEN`.
  private mutating func membership(
    _ quantifier: GraphPredicate.Quantifier, _ left: Term, _ comparator: GraphPredicate.Comparator,
    _ options: StringOptions, at start: Int
  ) throws(PredicateSyntaxError) -> GraphPredicate {
    let place = position
    if comparator == .in, quantifier == .one, isStartOfPath, !isStartOfArgument {
      // A value in a collection equals ANY of the collection's values.
      let collection = try typed(expression(depth: 0))
      guard collection.isMany else { throw fail("a list such as {1, 2} is expected here", at: place) }
      return try compare(.any, .typed(collection), .equal, options, left, at: place, operatorAt: place)
    }
    var subject = try typed(left)
    try check(quantifier, subject, at: start)
    try check(comparator, options, subject, at: place)
    var parts = [Operand]()
    let isAwaited = isAwaitedList
    for term in try list() {
      var part = try operand(term, for: subject, comparator)
      guard !part.isMany else { throw fail("this path leads to many values", at: term.place) }
      try unify(&subject, &part, comparator, at: term.place)
      parts.append(part)
    }
    // The two bounds are still unknown; only their type is known.
    if comparator == .between, isAwaited { parts += parts }
    if comparator == .between, parts.count != 2 { throw fail("BETWEEN takes {low, high}", at: place) }
    let right: GraphExpression =
      parts.allSatisfy(\.isConstant)
      ? .list(parts.map(\.expression.constant)) : .expressions(parts.map(\.expression))
    return .comparison(
      GraphPredicate.Comparison(quantifier, subject.expression, comparator, right, options: options))
  }

  private func check(_ quantifier: GraphPredicate.Quantifier, _ subject: Operand, at start: Int)
    throws(PredicateSyntaxError)
  {
    if quantifier == .one, subject.isMany {
      throw fail("this path leads to many values: write ANY, ALL or NONE before it", at: start)
    }
    if quantifier != .one, !subject.isMany {
      throw fail("\(quantifier.rawValue) needs a path through a to-many relationship", at: start)
    }
  }

  private func check(
    _ comparator: GraphPredicate.Comparator, _ options: StringOptions, _ subject: Operand, at place: Int
  ) throws(PredicateSyntaxError) {
    let isText = subject.type == .string || subject.type == .null
    if !options.isEmpty, !isText { throw fail("options are only allowed for text", at: place + 1) }
    switch comparator {
    case .like, .beginsWith, .endsWith, .contains, .matches:
      if subject.isIdentifier, comparator == .beginsWith { return }
      guard isText else { throw fail("\(comparator.rawValue) is only allowed for text", at: place) }
    case .search:
      guard case .path = subject.expression, subject.attribute?.isFullText == true else {
        throw fail("SEARCH needs an attribute that the model marks fullText", at: place)
      }
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .between:
      if subject.isObject, !subject.isIdentifier {
        throw fail("objects have no order: compare one of their attributes", at: place)
      }
    case .equal, .notEqual, .in: break
    }
  }
}

extension GraphPredicate.Comparator {
  var isOfText: Bool { [.like, .beginsWith, .endsWith, .contains, .matches].contains(self) }
  var isOrder: Bool { [.less, .lessOrEqual, .greater, .greaterOrEqual, .between].contains(self) }
}
