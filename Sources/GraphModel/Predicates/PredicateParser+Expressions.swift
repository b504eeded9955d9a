/// Parsing expressions: operators by precedence, paths, functions, SUBQUERY. A literal gets its type from the other
/// operand.
extension PredicateParser {
  /// An expression whose type is known.
  struct Operand {
    var expression: GraphExpression
    var type: GraphValueType
    /// The attribute at the end of a path; it has an enumeration's cases.
    var attribute: Attribute?
    var isMany = false
    /// Whether a path ends at an object's own id, or at a to-many.
    var isIdentifier = false

    var isConstant: Bool { expression.isConstant }
    var isObject: Bool { if case .object = type { true } else { false } }
  }

  /// A parsed operand that may not have a type yet.
  enum Term {
    case typed(Operand, at: Int = 0)
    case literal(JSON, at: Int)
    case variable(String, at: Int)

    var isTyped: Bool { if case .typed = self { true } else { false } }

    var place: Int {
      switch self {
      case .typed(_, let place), .literal(_, let place), .variable(_, let place): place
      }
    }
  }

  var isLiteralWord: Bool { isWord("TRUE", "FALSE", "YES", "NO", "NULL", "NIL") }

  var isStartOfPath: Bool { if case .word = current { !isLiteralWord } else { false } }

  // MARK: - Operators

  mutating func expression(depth: Int) throws(PredicateSyntaxError) -> Term {
    guard depth <= GraphPredicate.maximumDepth else { throw fail("nested deeper than \(GraphPredicate.maximumDepth)") }
    var left = try product(depth: depth)
    while case .symbol(let symbol) = current, symbol == "+" || symbol == "-",
      let operation = ArithmeticOperator(rawValue: symbol)
    {
      let place = position
      position += 1
      left = try calculate(operation, left, try product(depth: depth), at: place)
    }
    return left
  }

  private mutating func product(depth: Int) throws(PredicateSyntaxError) -> Term {
    var left = try primary(depth: depth)
    while case .symbol(let symbol) = current, symbol == "*" || symbol == "/",
      let operation = ArithmeticOperator(rawValue: symbol)
    {
      let place = position
      position += 1
      left = try calculate(operation, left, try primary(depth: depth), at: place)
    }
    return left
  }

  private mutating func primary(depth: Int) throws(PredicateSyntaxError) -> Term {
    guard depth <= GraphPredicate.maximumDepth else { throw fail("nested deeper than \(GraphPredicate.maximumDepth)") }
    let place = position
    switch current {
    case .symbol("("):
      position += 1
      let inner = try expression(depth: depth + 1)
      guard skip(")") else { throw fail("')' is expected here") }
      return inner
    case .symbol("-"):
      position += 1
      let term = try primary(depth: depth + 1)
      // A duration's sign is part of its argument, so that it is parsed as it was written.
      if case .typed(let operand, _) = term, operand.type == .duration {
        throw fail(
          "a duration has no sign: write days(-1) for -days(1), or subtract it, as in now() - days(1)", at: place)
      }
      return try calculate(.subtract, .literal(.integer(0), at: place), term, at: place)
    case .string(let text):
      stringSize += text.utf8.count
      return literal(.string(text))
    case .integer(let number): return literal(.integer(number))
    case .number(let number): return literal(.double(number))
    case .word where isWord("TRUE", "YES"): return literal(.bool(true))
    case .word where isWord("FALSE", "NO"): return literal(.bool(false))
    case .word where isWord("NULL", "NIL"): return literal(.null)
    case .word(let word) where next == .symbol("("):
      if word.uppercased() == "SUBQUERY" {
        references += 1
        return try subquery(depth: depth)
      }
      guard let function = GraphFunction(named: word) else {
        let names = GraphFunction.allCases.map(\.rawValue).joined(separator: ", ")
        throw fail("there is no function \"\(word)\"; there are \(names)")
      }
      return try call(function, depth: depth)
    case .word(let word):
      references += 1
      if word.hasPrefix("$") { return try variable(word) }
      return .typed(try path(word.split(separator: ".", omittingEmptySubsequences: false)[...], from: 0), at: place)
    default: throw fail("a value is expected here: a number, a \"string\", TRUE, FALSE, NULL or a property")
    }
  }

  private mutating func literal(_ json: JSON) -> Term {
    defer { position += 1 }
    return .literal(json, at: position)
  }

  private mutating func calculate(
    _ operation: ArithmeticOperator, _ left: Term, _ right: Term, at place: Int
  ) throws(PredicateSyntaxError) -> Term {
    try count("operations")
    operations += 1
    guard operations <= GraphPredicate.maximumDepth else {
      throw fail("more than \(GraphPredicate.maximumDepth) operations in one comparison", at: place)
    }
    var (a, b): (Operand, Operand)
    switch (left.isTyped, right.isTyped) {
    case (true, false):
      a = try typed(left)
      b = try operand(right, forCalculatingWith: a)
    case (false, true):
      b = try typed(right)
      a = try operand(left, forCalculatingWith: b)
    default: (a, b) = (try typed(left), try typed(right))
    }
    if a.isMany || b.isMany {
      throw fail("a calculation needs single values: use @sum, @min, @max or @avg", at: place)
    }
    let kind: ArithmeticKind
    let type: GraphValueType
    switch (a.type, b.type) {
    case (.date, .date) where operation == .subtract: (kind, type) = (.duration, .duration)
    case (.date, .duration) where operation == .add || operation == .subtract: (kind, type) = (.date, .date)
    case (.duration, .date) where operation == .add: (kind, type) = (.date, .date)
    case (.duration, .duration) where operation == .add || operation == .subtract: (kind, type) = (.duration, .duration)
    case (.duration, .integer) where operation == .multiply || operation == .divide,
      (.integer, .duration) where operation == .multiply:
      (kind, type) = (.duration, .duration)
    default:
      guard let common = GraphValueType.number(a.type, b.type) else {
        throw fail("\(a.type.words) and \(b.type.words) can't be combined with \(operation.rawValue)", at: place)
      }
      a = converted(a, to: common)
      b = converted(b, to: common)
      (kind, type) = (common == .integer ? .integer : common == .double ? .double : .decimal, common)
    }
    let result = Operand(expression: .calculating(operation, kind, a.expression, b.expression), type: type)
    try refuseLostTime(result, of: [a, b], at: place)
    return .typed(result, at: left.place)
  }

  func converted(_ operand: Operand, to type: GraphValueType) -> Operand {
    if operand.type == type { return operand }
    return Operand(
      expression: .calling(type == .double ? .double : .decimal, [operand.expression]), type: type,
      isMany: operand.isMany)
  }

  // MARK: - Functions and subqueries

  private mutating func call(_ function: GraphFunction, depth: Int) throws(PredicateSyntaxError) -> Term {
    try count("functions")
    let start = position
    position += 2
    let terms = try self.terms(of: start, depth: depth)
    guard function.arity.contains(terms.count) else {
      let (least, most) = (function.arity.lowerBound, function.arity.upperBound)
      let wanted = least == most ? "\(least)" : "\(least) to \(most)"
      throw fail(
        "\(function.rawValue)() takes \(wanted) \(wanted == "1" ? "argument" : "arguments"), not \(terms.count)",
        at: start)
    }
    var arguments = [Operand]()
    // A literal gets the type of the other arguments.
    var subject: Operand?
    if function == .modulus, let term = terms.first(where: \.isTyped) {
      let operand = try typed(term)
      if operand.type == .decimal { subject = operand }
    }
    for term in terms {
      if function == .ifNull { subject = arguments.first }
      let argument = if let subject, !term.isTyped { try operand(term, for: subject, .equal) } else { try typed(term) }
      if argument.isMany { throw fail("this path leads to many values", at: term.place) }
      arguments.append(argument)
    }
    guard let type = function.type(of: &arguments) else {
      if function.takesTextAlone,
        let wrong = arguments.firstIndex(where: { ![.string, .null].contains($0.type) })
      {
        throw fail(
          "\(function.rawValue)() takes text, but argument \(wrong + 1) is \(arguments[wrong].type.words): "
            + "use string() to convert it", at: start)
      }
      let types = arguments.map(\.type.words).joined(separator: ", ")
      throw fail("\(function.rawValue)() does not take \(types)", at: start)
    }
    let expression = GraphExpression.calling(function, arguments.map(\.expression))
    if case .value(.null) = expression, type.kind != nil, !arguments.contains(where: { $0.type == .null }),
      ![.ifNull, .given, .oneOf].contains(function)
    {
      throw fail("\(function.rawValue)() has no value for this", at: start)
    }
    let operand = Operand(expression: expression, type: type)
    try refuseLostTime(operand, of: arguments, at: start)
    return .typed(operand, at: start)
  }

  /// The arguments of a function, up to its closing parenthesis.
  private mutating func terms(of start: Int, depth: Int) throws(PredicateSyntaxError) -> [Term] {
    var terms = [Term]()
    if skip(")") { return terms }
    let (outside, others) = (stringSize, references)
    repeat { terms.append(try expression(depth: depth + 1)) } while skip(",")
    guard skip(")") else { throw fail("',' or ')' is expected here") }
    if references == others { argumentSize += stringSize - outside }
    guard argumentSize <= GraphPredicate.maximumArgumentSize else {
      throw fail(
        "the strings within functions of constants are too large together; use fewer functions around them", at: start)
    }
    return terms
  }

  private mutating func subquery(depth: Int) throws(PredicateSyntaxError) -> Term {
    let start = position
    position += 2
    let pathPlace = position
    guard case .word(let word) = current, !isLiteralWord else { throw fail("a path to many objects is expected here") }
    let collection =
      try word.hasPrefix("$")
      ? typed(variable(word)) : path(word.split(separator: ".", omittingEmptySubsequences: false)[...], from: 0)
    guard collection.isMany, collection.isIdentifier, case .path(let way) = collection.expression,
      case .object(let number) = collection.type, let destination = model.entity(number)
    else { throw fail("a path that ends at a to-many relationship is expected here", at: pathPlace) }
    guard skip(",") else { throw fail("',' is expected here") }
    guard case .word(let name) = current, name.hasPrefix("$"), name.utf8.count > 1, !name.contains(".") else {
      throw fail("a variable such as $x is expected here")
    }
    guard !scopes.contains(where: { $0.variable == name }) else { throw fail("\(name) is already used around this") }
    position += 1
    guard skip(",") else { throw fail("',' is expected here") }
    guard scopes.count < GraphPredicate.maximumSubqueries else {
      throw fail("more than \(GraphPredicate.maximumSubqueries - 1) subqueries in each other")
    }
    scopes.append(Scope(variable: name, entity: destination))
    let predicate = try or(depth: depth + 2)
    scopes.removeLast()
    guard skip(")") else { throw fail("')' is expected here") }
    guard case .word(".@count") = current else { throw fail(".@count is expected here") }
    position += 1
    return .typed(
      Operand(expression: .subquery(level: way.level, hops: way.hops, predicate), type: .integer), at: start)
  }

  /// `$x.name` for a subquery's object, or `$name` for a template's variable.
  private mutating func variable(_ word: String) throws(PredicateSyntaxError) -> Term {
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    let place = position
    if let index = scopes.lastIndex(where: { $0.variable == String(parts[0]) }) {
      return .typed(try path(parts.dropFirst(), from: index), at: place)
    }
    let name = String(word.dropFirst())
    if name.isEmpty { throw fail("a variable needs a name after $", at: place) }
    position += 1
    switch arguments {
    case .awaited: return .variable(name, at: place)
    case .typed(let types):
      guard let type = types[name] else {
        let names = types.keys.sorted().map { "$" + $0 }.joined(separator: " and ")
        throw fail("$\(name) is not defined here; a rule has \(names)", at: place)
      }
      return .typed(Operand(expression: .variable(name, type), type: type), at: place)
    case .given(let values):
      guard let value = values[name] else {
        throw fail(values.isEmpty ? "$\(name) is not defined here" : "$\(name) has no value", at: place)
      }
      guard let term = value.term(at: place) else { throw fail("a single value is expected here", at: place) }
      return term
    }
  }

  // MARK: - Paths

  /// - Parameter index: the scope where the path starts.
  mutating func path(
    _ parts: ArraySlice<Substring>, from index: Int
  ) throws(PredicateSyntaxError) -> Operand {
    var parts = parts
    var entity = scopes[index].entity
    let level = scopes.count - 1 - index
    var hops = [PropertyNumber]()
    var isMany = false
    func operand(_ end: GraphPredicate.Path.End, _ type: GraphValueType, _ attribute: Attribute? = nil) -> Operand {
      Operand(
        expression: .path(GraphPredicate.Path(level: level, hops: hops, end: end)), type: type, attribute: attribute,
        isMany: isMany)
    }
    defer { position += 1 }
    if parts.first == "SELF", entity.property(named: "SELF") == nil { parts.removeFirst() }
    while let part = parts.first {
      if part == "id", parts.count == 1 {
        var found = operand(.identifier, .object(entity.number))
        found.isIdentifier = true
        return found
      }
      guard let (property, length) = Self.longestProperty(parts, of: entity) else {
        throw fail(Self.unknown(String(part), of: entity, isValue: hops.isEmpty && followsOperator))
      }
      parts = parts.dropFirst(length)
      switch property.kind {
      case .attribute(let attribute):
        guard parts.isEmpty else {
          throw fail("\(entity.name).\(property.name) is an attribute: nothing can follow it")
        }
        guard property.slot != nil else { throw fail("\(entity.name).\(property.name) is transient: it is not stored") }
        return operand(.property(property.number), GraphValueType(attribute.kind), attribute)
      case .relationship(let relationship):
        guard let next = model.entity(relationship.destination) else { throw fail("unknown destination") }
        if parts.isEmpty, !relationship.isToMany {
          return operand(.property(property.number), .object(next.number))
        }
        if relationship.isToMany, let first = parts.first, first.hasPrefix("@") {
          return try aggregate(parts, property, next, operand)
        }
        guard hops.count < GraphPredicate.maximumPathLength else {
          throw fail("a path has at most \(GraphPredicate.maximumPathLength) relationships")
        }
        hops.append(property.number)
        isMany = isMany || relationship.isToMany
        entity = next
      }
    }
    // The path ends at a to-many or at the object itself; ids are compared.
    var found = operand(.identifier, .object(entity.number))
    found.isIdentifier = true
    return found
  }

  /// The property whose name is at the beginning of a path, and the number of its parts. Names may contain dots; the
  /// longest one wins.
  private static func longestProperty(
    _ parts: ArraySlice<Substring>, of entity: Entity
  ) -> (property: Property, length: Int)? {
    for length in stride(from: min(parts.count, entity.maximumNameParts), to: 0, by: -1) {
      let name = parts.prefix(length).joined(separator: ".")
      if let property = entity.property(named: name) { return (property, length) }
    }
    return nil
  }

  private func aggregate(
    _ parts: ArraySlice<Substring>, _ property: Property, _ destination: Entity,
    _ operand: (GraphPredicate.Path.End, GraphValueType, Attribute?) -> Operand
  ) throws(PredicateSyntaxError) -> Operand {
    precondition(!parts.isEmpty, "the path has an @ function here")
    let word = String(parts[parts.startIndex])
    if word == "@count" {
      guard parts.count == 1 else { throw fail("nothing can follow @count") }
      return operand(.count(property.number), .integer, nil)
    }
    guard let aggregate = GraphPredicate.Aggregate(rawValue: String(word.dropFirst())) else {
      throw fail("\(word) is not known; there are @count, @min, @max, @sum and @avg")
    }
    let name = parts.dropFirst().joined(separator: ".")
    guard let inner = destination.property(named: name), let attribute = inner.attribute, inner.slot != nil else {
      throw fail("\(word) needs an attribute of \(destination.name) after it: \(property.name).\(word).NAME")
    }
    var type = GraphValueType(attribute.kind)
    switch aggregate {
    case .minimum, .maximum:
      guard type != .bool, attribute.kind != .json else { throw fail("\(word) needs values that have an order") }
    case .sum, .average:
      guard [.integer, .double, .decimal].contains(type) else { throw fail("\(word) needs numbers") }
      if aggregate == .average, type == .integer { type = .double }
    }
    return operand(.aggregate(aggregate, property.number, attribute: inner.number), type, nil)
  }

  /// Whether the current token is the right side of a comparison, where a string is often written without quotation
  /// marks.
  private var followsOperator: Bool {
    guard position > 0 else { return false }
    switch tokens[position - 1].token {
    // The options of an operator, such as [cd], are one symbol.
    case .symbol(let symbol):
      return symbol.hasPrefix("[") || ["==", "=", "!=", "<>", "<", "<=", ">", ">="].contains(symbol)
    case .word(let word):
      return ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES"].contains(word.uppercased())
    default: return false
    }
  }

  /// The message for an unknown name. It lists the existing names, except transient attributes, which predicates
  /// can't read.
  /// - Parameter isValue: whether the name is where a value is expected.
  private static func unknown(_ name: String, of entity: Entity, isValue: Bool) -> String {
    if let advice = entity.adviceOnComposite(name) { return advice }
    let stored = entity.properties.filter { $0.attribute?.isTransient != true }.map(\.name)
    let quotation = isValue ? " (a string needs quotation marks: \"\(name.excerpt)\")" : ""
    return "\(entity.name) has no property \"\(name.excerpt)\"\(quotation); it has "
      + (["id"] + stored).joined(separator: ", ")
  }
}
