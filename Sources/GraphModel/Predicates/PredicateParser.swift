extension GraphPredicate {
  /// Reads the text form against an entity: `color == "yellow" AND ANY tags.name IN {"a", "b"}`.
  /// - Throws: `PredicateSyntaxError`, with the column where the text stops making sense.
  public init(parsing text: String, entity: Entity, model: Model) throws(PredicateSyntaxError) {
    guard text.utf8.count <= Self.maximumTextSize else {
      throw PredicateSyntaxError(
        scalar: 1, reason: "the predicate has more than \(Self.maximumTextSize) bytes", text: String(text.prefix(80)))
    }
    var parser = PredicateParser(
      text: text, tokens: try PredicateLexer.tokens(text), entity: entity, model: model)
    self = try parser.whole()
  }

  /// The size of a predicate's text form in bytes, at most.
  public static let maximumTextSize = 1 << 20
}

/// Recursive descent over `or`, `and`, `not` and comparisons; every name is resolved as it is met, so that an error
/// points at it.
private struct PredicateParser {
  let text: String
  let tokens: [PredicateLexer.Place]
  let entity: Entity
  let model: Model
  var position = 0
  var size = 0

  init(text: String, tokens: [PredicateLexer.Place], entity: Entity, model: Model) {
    self.text = text
    self.tokens = tokens
    self.entity = entity
    self.model = model
  }

  mutating func whole() throws(PredicateSyntaxError) -> GraphPredicate {
    if tokens.count == 1 { throw fail("a condition is expected, such as color == \"yellow\"") }
    let predicate = try or(depth: 0)
    guard case .end = current else { throw fail("AND, OR or the end is expected here") }
    return predicate
  }

  private var current: PredicateLexer.Token { tokens[position].token }

  private func fail(_ reason: String, at place: Int? = nil) -> PredicateSyntaxError {
    PredicateSyntaxError(scalar: tokens[place ?? position].column, reason: reason, text: text)
  }

  private func isWord(_ words: String...) -> Bool {
    guard case .word(let word) = current else { return false }
    return words.contains(word.uppercased())
  }

  private mutating func skip(_ symbols: String...) -> Bool {
    guard case .symbol(let symbol) = current, symbols.contains(symbol) else { return false }
    position += 1
    return true
  }

  private mutating func skipWord(_ word: String) -> Bool {
    guard isWord(word) else { return false }
    position += 1
    return true
  }

  // MARK: Structure

  private mutating func or(depth: Int) throws(PredicateSyntaxError) -> GraphPredicate {
    guard depth < GraphPredicate.maximumDepth else { throw fail("nested deeper than \(GraphPredicate.maximumDepth)") }
    var parts = [try and(depth: depth + 1)]
    while skipWord("OR") || skip("||") { parts.append(try and(depth: depth + 1)) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func and(depth: Int) throws(PredicateSyntaxError) -> GraphPredicate {
    var parts = [try not(depth: depth)]
    while skipWord("AND") || skip("&&") { parts.append(try not(depth: depth)) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func not(depth: Int) throws(PredicateSyntaxError) -> GraphPredicate {
    guard depth < GraphPredicate.maximumDepth else { throw fail("nested deeper than \(GraphPredicate.maximumDepth)") }
    if skipWord("NOT") || skip("!") { return .not(try not(depth: depth + 1)) }
    if skip("(") {
      let inner = try or(depth: depth + 1)
      guard skip(")") else { throw fail("')' is expected here") }
      return inner
    }
    if skipWord("TRUEPREDICATE") { return .always }
    if skipWord("FALSEPREDICATE") { return .never }
    return try comparison()
  }

  // MARK: Comparisons

  private mutating func comparison() throws(PredicateSyntaxError) -> GraphPredicate {
    size += 1
    guard size <= GraphPredicate.maximumSize else { throw fail("more than \(GraphPredicate.maximumSize) comparisons") }
    var quantifier = GraphPredicate.Quantifier.one
    if skipWord("ANY") || skipWord("SOME") {
      quantifier = .any
    } else if skipWord("ALL") {
      quantifier = .all
    } else if skipWord("NONE") {
      quantifier = .none
    }
    let start = position
    guard case .word = current, !isLiteralWord else {
      throw fail("the name of a property of \(entity.name) is expected here")
    }
    let (path, type) = try self.path()
    if quantifier == .one, type.isMany {
      throw fail("this path leads to many values: say ANY, ALL or NONE before it", at: start)
    }
    if quantifier != .one, !type.isMany {
      throw fail("\(quantifier.rawValue) needs a path through a to-many relationship", at: start)
    }
    let (comparator, options) = try self.comparator(for: type)
    let operand = try self.operand(comparator, type)
    return .comparison(GraphPredicate.Comparison(quantifier, path, comparator, operand, options: options))
  }

  private var isLiteralWord: Bool { isWord("TRUE", "FALSE", "YES", "NO", "NULL", "NIL") }

  /// What a path leads to.
  private struct PathType {
    enum Kind {
      case attribute(Attribute)
      case reference(Entity)
      case identifier(Entity)
      case count
    }
    let kind: Kind
    let isMany: Bool

    var isText: Bool {
      guard case .attribute(let attribute) = kind else { return false }
      return [.string, .text, .uri, .enumeration, .json].contains(attribute.kind)
    }
  }

  private mutating func path() throws(PredicateSyntaxError) -> (GraphPredicate.Path, PathType) {
    guard case .word(let word) = current else { throw fail("the name of a property is expected here") }
    let parts = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var entity = self.entity
    var hops = [PropertyNumber]()
    var isMany = false
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      if part == "id", isLast {
        position += 1
        return (GraphPredicate.Path(hops: hops, end: .identifier), PathType(kind: .identifier(entity), isMany: isMany))
      }
      guard let property = entity.property(named: part) else {
        let names = (["id"] + entity.properties.map(\.name)).joined(separator: ", ")
        throw fail("\(entity.name) has no property \"\(part)\"; it has \(names)")
      }
      switch property.kind {
      case .attribute(let attribute):
        guard isLast else { throw fail("\(entity.name).\(part) is an attribute: nothing can follow it") }
        position += 1
        return (
          GraphPredicate.Path(hops: hops, end: .property(property.number)),
          PathType(kind: .attribute(attribute), isMany: isMany)
        )
      case .relationship(let relationship):
        guard let next = model.entity(relationship.destination) else { throw fail("unknown destination") }
        if relationship.isToMany, index == parts.count - 2, parts[index + 1] == "@count" {
          position += 1
          return (
            GraphPredicate.Path(hops: hops, end: .count(property.number)), PathType(kind: .count, isMany: isMany)
          )
        }
        if isLast, !relationship.isToMany {
          position += 1
          return (
            GraphPredicate.Path(hops: hops, end: .property(property.number)),
            PathType(kind: .reference(next), isMany: isMany)
          )
        }
        hops.append(property.number)
        isMany = isMany || relationship.isToMany
        entity = next
      }
    }
    // The path ends at a to-many: its objects' ids are what is compared.
    position += 1
    return (GraphPredicate.Path(hops: hops, end: .identifier), PathType(kind: .identifier(entity), isMany: isMany))
  }

  private mutating func comparator(
    for type: PathType
  ) throws(PredicateSyntaxError) -> (GraphPredicate.Comparator, StringOptions) {
    let start = position
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
      guard type.isText else { throw fail("options go with text only") }
      position += 1
    }
    try check(comparator, type, at: start)
    return (comparator, options)
  }

  private func check(_ comparator: GraphPredicate.Comparator, _ type: PathType, at place: Int)
    throws(PredicateSyntaxError)
  {
    switch (comparator, type.kind) {
    case (.like, _), (.beginsWith, _), (.endsWith, _), (.contains, _):
      if case .identifier = type.kind, comparator == .beginsWith { return }
      guard type.isText else { throw fail("\(comparator.rawValue) goes with text only", at: place) }
    case (.search, .attribute(let attribute)):
      guard attribute.isFullText else {
        throw fail("SEARCH needs an attribute that the model marks fullText", at: place)
      }
    case (.search, _): throw fail("SEARCH needs an attribute that the model marks fullText", at: place)
    case (.less, .reference), (.lessOrEqual, .reference), (.greater, .reference), (.greaterOrEqual, .reference),
      (.between, .reference):
      throw fail("objects have no order: compare one of their attributes", at: place)
    default: break
    }
  }

  // MARK: Operands

  private mutating func operand(
    _ comparator: GraphPredicate.Comparator, _ type: PathType
  ) throws(PredicateSyntaxError) -> GraphPredicate.Operand {
    if comparator == .in || comparator == .between {
      let start = position
      let values = try list(type)
      if comparator == .between, values.count != 2 { throw fail("BETWEEN takes {low, high}", at: start) }
      return .list(values)
    }
    if case .word = current, !isLiteralWord {
      let start = position
      if comparator == .search { throw fail("the words to search for are expected here, as a \"string\"") }
      let (path, other) = try self.path()
      if other.isMany { throw fail("this path leads to many values", at: start) }
      return .path(path)
    }
    let start = position
    let value = try value(type, comparator)
    if comparator == .search, value.isNull { throw fail("the words to search for are expected here", at: start) }
    if comparator == .like, value.stringValue?.utf8.count ?? 0 > GraphPredicate.maximumPatternSize {
      throw fail("a pattern has at most \(GraphPredicate.maximumPatternSize) bytes", at: start)
    }
    return .value(value)
  }

  private mutating func list(_ type: PathType) throws(PredicateSyntaxError) -> [Value] {
    guard skip("{") || skip("(") else { throw fail("a list such as {1, 2} is expected here") }
    var values = [Value]()
    if skip("}") || skip(")") { return values }
    while true {
      size += 1
      guard size <= GraphPredicate.maximumSize else { throw fail("more than \(GraphPredicate.maximumSize) values") }
      values.append(try value(type, .in))
      if skip("}") || skip(")") { return values }
      guard skip(",") else { throw fail("',' or '}' is expected here") }
    }
  }

  private mutating func value(_ type: PathType, _ comparator: GraphPredicate.Comparator) throws(PredicateSyntaxError)
    -> Value
  {
    let place = position
    if isWord("NULL", "NIL") {
      position += 1
      return .null
    }
    let json: JSON
    switch current {
    case .string(let text): json = .string(text)
    case .integer(let number): json = .integer(number)
    case .number(let number): json = .double(number)
    case .word where isWord("TRUE", "YES"): json = .bool(true)
    case .word where isWord("FALSE", "NO"): json = .bool(false)
    default: throw fail("a value is expected here: a number, a \"string\", TRUE, FALSE or NULL")
    }
    position += 1
    switch type.kind {
    case .count:
      if case .integer(let number) = json { return .integer(number) }
      throw fail("a whole number is expected here", at: place)
    case .reference(let entity), .identifier(let entity):
      guard case .string(let text) = json else { throw fail("the id of an object is expected here", at: place) }
      if comparator == .beginsWith, UniqueID.range(ofPrefix: text) != nil { return .string(text) }
      guard let key = UniqueID(text) else { throw fail("\"\(text)\" is no object's id", at: place) }
      return .object(ObjectID(key: key, entity: entity.number))
    case .attribute(let attribute):
      if type.isText, ![.equal, .notEqual, .in].contains(comparator) {
        if case .string(let text) = json { return .string(text) }
        throw fail("a string is expected here", at: place)
      }
      if case .integer(let number) = json, attribute.kind == .double { return .double(Double(number)) }
      // A number with a fraction is a legal bound for whole numbers.
      if case .double(let number) = json, attribute.kind == .integer { return .double(number) }
      if case .double(let number) = json, attribute.kind == .decimal, let decimal = DecimalValue("\(number)") {
        return .decimal(decimal)
      }
      if attribute.kind == .json, case .string(let text) = json { return .string(text) }
      guard let value = Value(json: json, kind: attribute.kind, cases: attribute.cases) else {
        throw fail("this is no value of the type \(attribute.typeDescription)", at: place)
      }
      return value
    }
  }
}
