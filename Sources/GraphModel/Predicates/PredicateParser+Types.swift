/// Resolving types: the meaning of a literal next to the other operand, and which types can be compared.
extension PredicateParser {
  /// The operand of a term without context: a literal has its apparent type.
  mutating func typed(_ term: Term) throws(PredicateSyntaxError) -> Operand {
    switch term {
    case .typed(let operand, _): return operand
    case .variable(let name, let place): throw fail("$\(name) needs a property beside it for its type", at: place)
    case .literal(let json, let place):
      switch json.measured {
      case .null: return Operand(expression: .value(.null), type: .null)
      case .bool(let flag): return Operand(expression: .value(.bool(flag)), type: .bool)
      case .integer(let number): return Operand(expression: .value(.integer(number)), type: .integer)
      case .double(let number): return Operand(expression: .value(.double(number)), type: .double)
      case .string(let text): return Operand(expression: .value(.string(text)), type: .string)
      default: throw fail("a single value is expected here", at: place)
      }
    }
  }

  /// The operand of a term that is compared with `subject`.
  mutating func operand(
    _ term: Term, for subject: Operand, _ comparator: GraphPredicate.Comparator
  ) throws(PredicateSyntaxError) -> Operand {
    switch term {
    case .typed(let operand, let place):
      guard comparator == .search || comparator == .matches || comparator == .like else { return operand }
      guard operand.isConstant else { throw fail("\(comparator.rawValue) takes a \"string\"", at: place) }
      // A function of constants has the same limits as a literal.
      if case .string(let text) = operand.expression.constant { try checkPattern(text, comparator, at: place) }
      return operand
    case .variable(let name, _):
      variables.append((name, subject.type))
      return Operand(expression: .variable(name, subject.type), type: subject.type)
    case .literal where subject.type == .null && !comparator.isOfText: return try typed(term)
    case .literal(let json, let place):
      var subject = subject
      // A calculated null has lost its type, and its text form must be parseable.
      if subject.type == .null { subject.type = .string }
      let value = try value(json, for: subject, comparator, at: place)
      return Operand(expression: .value(value), type: value.isNull ? .null : subject.type)
    }
  }

  /// The operand of a literal in a calculation with `other`: numbers take its type, other literals keep their own.
  mutating func operand(_ term: Term, forCalculatingWith other: Operand) throws(PredicateSyntaxError) -> Operand {
    if case .variable(let name, _) = term {
      variables.append((name, other.type))
      return Operand(expression: .variable(name, other.type), type: other.type)
    }
    let literal = try typed(term)
    guard other.type == .decimal, [.integer, .double].contains(literal.type) else { return literal }
    if case .literal(.double(let number), let place) = term, let decimal = try decimal(of: number, at: place) {
      return Operand(expression: .value(.decimal(decimal)), type: .decimal)
    }
    return converted(literal, to: .decimal)
  }

  /// Whether the next token is a template's variable that stands for a list.
  var isAwaitedList: Bool {
    if isStartOfArgument, case .word = current, case .awaited = arguments { true } else { false }
  }

  /// The elements of `{…}` or `(…)`, or a variable that stands for a list.
  mutating func list() throws(PredicateSyntaxError) -> [Term] {
    let start = position
    if isStartOfArgument, case .word(let word) = current {
      let name = String(word.dropFirst())
      if name.isEmpty { throw fail("a variable needs a name after $", at: start) }
      position += 1
      if case .typed = arguments { throw fail("a list such as {1, 2} is expected here", at: start) }
      guard case .given(let values) = arguments else {
        lists.insert(name)
        return [.variable(name, at: start)]
      }
      guard let value = values[name] else { throw fail("\(word) has no value; it needs a list", at: start) }
      guard let items = value.terms(at: start) else { throw fail("\(word) needs a list as its value", at: start) }
      return items
    }
    guard skip("{") || skip("(") else { throw fail("a list such as {1, 2} is expected here") }
    var terms = [Term]()
    if skip("}") || skip(")") { return terms }
    while true {
      try count("values")
      terms.append(try expression(depth: 0))
      if skip("}") || skip(")") { return terms }
      guard skip(",") else { throw fail("',' or '}' is expected here") }
    }
  }

  /// Whether the next token is a `$name` that no enclosing SUBQUERY declares.
  var isStartOfArgument: Bool {
    guard case .word(let word) = current, word.hasPrefix("$") else { return false }
    let name = word.prefix { $0 != "." }
    return !scopes.contains { $0.variable == String(name) }
  }

  /// Converts both sides of a comparison to a common type, if there is one.
  func unify(
    _ left: inout Operand, _ right: inout Operand, _ comparator: GraphPredicate.Comparator, at place: Int
  ) throws(PredicateSyntaxError) {
    // A literal already has the type that it was parsed as.
    if left.type == right.type || left.type == .null || right.type == .null { return }
    if case (.object, .object) = (left.type, right.type) { return }
    if let common = GraphValueType.number(left.type, right.type) {
      // Integers and doubles compare by value without conversion.
      guard common == .decimal || [left.type, right.type].contains(.decimal) else { return }
      if left.isMany {
        guard common == left.type else { throw fail("write \(left.type.words) here", at: place) }
      } else {
        left = converted(left, to: common)
      }
      right = converted(right, to: common)
      return
    }
    throw fail("\(left.type.words) can't be compared with \(right.type.words)", at: place)
  }

  // MARK: - Literals

  private mutating func value(
    _ json: JSON, for subject: Operand, _ comparator: GraphPredicate.Comparator, at place: Int
  ) throws(PredicateSyntaxError) -> Value {
    if json == .null {
      if comparator == .search { throw fail("the words to search for are expected here", at: place) }
      return .null
    }
    if json.arrayValue != nil || json.members != nil { throw fail("a single value is expected here", at: place) }
    if case .object(let number) = subject.type {
      guard case .string(let text) = json else { throw fail("the id of an object is expected here", at: place) }
      if comparator == .beginsWith, UniqueID.range(ofPrefix: text) != nil { return .string(text) }
      guard let key = UniqueID(text) else { throw fail("\"\(text)\" is not the id of an object", at: place) }
      return .object(ObjectID(key: key, entity: number))
    }
    if subject.type == .string { return try string(json, for: subject, comparator, at: place) }
    guard let kind = subject.attribute?.kind ?? subject.type.kind else {
      if subject.type == .duration, case .integer(let number) = json, number == 0 { return .integer(0) }
      throw fail("a duration such as days(7) is expected here", at: place)
    }
    if case .number(let text) = json, kind == .decimal {
      guard let decimal = DecimalValue(text) else {
        throw fail("a decimal has at most \(DecimalValue.maximumDigits) digits", at: place)
      }
      return .decimal(decimal)
    }
    let json = json.measured
    if case .integer(let number) = json, kind == .double { return .double(Double(number)) }
    // A fraction is a valid bound for integers.
    if case .double(let number) = json, kind == .integer {
      guard subject.attribute != nil || comparator.isOrder else {
        throw fail("a whole number is expected here", at: place)
      }
      guard tokens[place].exact == nil else {
        throw fail("a number with this many digits must be a decimal: decimal(\"…\")", at: place)
      }
      return .double(number)
    }
    if case .double(let number) = json, kind == .decimal, let decimal = try decimal(of: number, at: place) {
      return .decimal(decimal)
    }
    guard let value = Value(json: json, kind: kind) else {
      throw fail("this is not a value of the type \(subject.attribute?.typeDescription ?? kind.rawValue)", at: place)
    }
    return value
  }

  /// The decimal with the digits of the literal.
  private func decimal(of number: Double, at place: Int) throws(PredicateSyntaxError) -> DecimalValue? {
    switch tokens[place].exact {
    case .decimal(let decimal): return decimal
    case .tooLong: throw fail("a decimal has at most \(DecimalValue.maximumDigits) digits", at: place)
    case nil: return DecimalValue("\(number)")
    }
  }

  /// Checks the size of a LIKE or MATCHES pattern; the patterns of all MATCHES have a common limit.
  private mutating func checkPattern(
    _ text: String, _ comparator: GraphPredicate.Comparator, at place: Int
  ) throws(PredicateSyntaxError) {
    if comparator == .like, text.utf8.count > GraphPredicate.maximumPatternSize {
      throw fail("a pattern has at most \(GraphPredicate.maximumPatternSize) bytes", at: place)
    }
    guard comparator == .matches else { return }
    do {
      patternInstructions += try RegularExpression.instructionCount(of: text)
    } catch {
      throw fail("the pattern can't be read at column \(error.column): \(error.reason)", at: place)
    }
    guard patternInstructions <= GraphPredicate.maximumPatternInstructions else {
      throw fail("the patterns of this predicate are too large together; use fewer of them", at: place)
    }
  }

  private mutating func string(
    _ json: JSON, for subject: Operand, _ comparator: GraphPredicate.Comparator, at place: Int
  ) throws(PredicateSyntaxError) -> Value {
    guard case .string(let text) = json else {
      throw fail(
        comparator == .search ? "the words to search for are expected here" : "a string is expected here", at: place)
    }
    try checkPattern(text, comparator, at: place)
    guard let attribute = subject.attribute, attribute.kind != .json,
      [.equal, .notEqual, .in].contains(comparator) || comparator == .between
    else { return .string(text) }
    guard let value = Value(json: json, kind: attribute.kind, cases: attribute.cases) else {
      throw fail("this is not a value of the type \(attribute.typeDescription)", at: place)
    }
    return value
  }
}

extension GraphValueType {
  /// The type of an attribute's values; all kinds of text are strings.
  public init(_ kind: Attribute.Kind) {
    switch kind {
    case .bool: self = .bool
    case .integer: self = .integer
    case .double: self = .double
    case .decimal: self = .decimal
    case .string, .uri, .enumeration, .json, .text: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .data: self = .data
    }
  }

  /// The apparent type of a value.
  init(_ value: Value) {
    switch value {
    case .null, .objects: self = .null
    case .bool: self = .bool
    case .integer: self = .integer
    case .double: self = .double
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .data: self = .data
    case .object(let id): self = .object(id.entity)
    }
  }

  /// The kind of attribute with such values; nil if there is none.
  public var kind: Attribute.Kind? {
    switch self {
    case .bool: .bool
    case .integer: .integer
    case .double: .double
    case .decimal: .decimal
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .data: .data
    case .null, .duration, .object: nil
    }
  }

  /// The common type of two numbers; nil if one is not a number.
  static func number(_ left: GraphValueType, _ right: GraphValueType) -> GraphValueType? {
    let numbers: [GraphValueType] = [.integer, .decimal, .double]
    guard let a = numbers.firstIndex(of: left), let b = numbers.firstIndex(of: right) else { return nil }
    return numbers[max(a, b)]
  }

  /// The type's name in messages.
  var words: String {
    switch self {
    case .null: "null"
    case .bool: "a bool"
    case .integer: "a whole number"
    case .double: "a number"
    case .decimal: "a decimal"
    case .string: "text"
    case .date: "a date"
    case .duration: "a duration"
    case .uuid: "a UUID"
    case .data: "data"
    case .object: "an object"
    }
  }
}

extension GraphFunction {
  /// The type of the function's value; integer arguments are converted where the function requires fractions. Nil for
  /// arguments that the function does not accept.
  func type(of arguments: inout [PredicateParser.Operand]) -> GraphValueType? {
    let first = arguments.first?.type ?? .null
    func all(_ types: GraphValueType...) -> Bool {
      arguments.allSatisfy { types.contains($0.type) || $0.type == .null }
    }
    func convert(to type: GraphValueType = .double, by function: GraphFunction = .double) -> Bool {
      guard all(.integer, .double, .decimal) else { return false }
      arguments = arguments.map { operand in
        operand.type == type
          ? operand : PredicateParser.Operand(expression: .calling(function, [operand.expression]), type: type)
      }
      return true
    }
    switch self {
    case .now: return .date
    case .lowercase, .uppercase, .canonical, .trimmed, .concat: return all(.string) ? .string : nil
    case .length: return all(.string) ? .integer : nil
    case .abs: return all(.integer, .double, .decimal) ? first : nil
    case .ceiling, .floor, .round, .trunc:
      if first == .integer || first == .decimal { return first }
      return convert() ? .double : nil
    case .sqrt, .power: return convert() ? .double : nil
    case .modulus:
      if all(.integer) { return .integer }
      return all(.integer, .decimal) && convert(to: .decimal, by: .decimal) ? .decimal : nil
    case .integer: return all(.integer, .double, .decimal, .bool, .string) ? .integer : nil
    case .double: return all(.integer, .double, .decimal, .string) ? .double : nil
    case .decimal: return all(.integer, .double, .decimal, .string) ? .decimal : nil
    case .string: return all(.integer, .double, .decimal, .bool, .string, .date, .uuid) ? .string : nil
    case .date: return all(.string, .date) ? .date : nil
    case .uuid: return all(.string, .uuid) ? .uuid : nil
    case .data: return all(.string, .data) ? .data : nil
    case .startOfDay: return all(.date) ? .date : nil
    case .year, .month, .day, .weekday, .hour, .minute, .second: return all(.date) ? .integer : nil
    case .microseconds, .seconds, .minutes, .hours, .days, .weeks: return all(.integer, .double) ? .duration : nil
    case .given: return arguments[1].type
    case .oneOf: return all(.string) ? .string : nil
    case .ifNull:
      let types = Set(arguments.map(\.type)).subtracting([.null])
      return types.count <= 1 ? types.first ?? .null : nil
    }
  }
}
