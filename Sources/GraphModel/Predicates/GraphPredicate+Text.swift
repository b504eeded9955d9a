extension GraphPredicate {
  /// The canonical text form, which parses to this predicate. It is used on the wire and to compare queries.
  public func text(in model: Model) -> String { PredicateWriter(model: model).text(self, depth: 0) }

  /// The text form with `?` for every constant; it groups similar predicates and contains no data.
  public func textWithoutConstants(in model: Model) -> String {
    PredicateWriter(model: model, hidesConstants: true).text(self, depth: 0)
  }
}

extension GraphExpression {
  /// The text form of the expression within a predicate.
  public func text(in model: Model) -> String { PredicateWriter(model: model).text(self, depth: 0) }
}

/// Writes the text form. The variable of a SUBQUERY is `$x1`, `$x2`, … by its depth. Parentheses are written only
/// where they are needed: the parser limits nesting, and a predicate that was parsed once must be parseable again.
struct PredicateWriter {
  let model: Model
  var hidesConstants = false

  func text(_ predicate: GraphPredicate, depth: Int) -> String {
    switch predicate {
    case .always: "TRUEPREDICATE"
    case .never: "FALSEPREDICATE"
    case .and(let parts): parts.map { part($0, depth) }.joined(separator: " AND ")
    // AND binds more tightly.
    case .or(let parts):
      parts.map { if case .and = $0 { text($0, depth: depth) } else { part($0, depth) } }.joined(separator: " OR ")
    case .not(let inner): "NOT \(part(inner, depth))"
    case .comparison(let comparison): text(comparison, depth)
    }
  }

  private func part(_ predicate: GraphPredicate, _ depth: Int) -> String {
    switch predicate {
    case .and, .or: "(\(text(predicate, depth: depth)))"
    default: text(predicate, depth: depth)
    }
  }

  private func text(_ comparison: GraphPredicate.Comparison, _ depth: Int) -> String {
    var parts = [String]()
    if comparison.quantifier != .one { parts.append(comparison.quantifier.rawValue) }
    let isDuration = isDuration(comparison.left) || isDuration(comparison.right)
    parts.append(text(comparison.left, depth: depth, isDuration: isDuration))
    var letters = ""
    if comparison.options.contains(.caseInsensitive) { letters += "c" }
    if comparison.options.contains(.diacriticInsensitive) { letters += "d" }
    parts.append(comparison.comparator.rawValue + (letters.isEmpty ? "" : "[\(letters)]"))
    // A literal next to a path is parsed as the path's type; elsewhere it must state its own.
    let literal: (Value) -> String
    if let path = comparison.path {
      let attribute = attribute(path)
      literal = { self.literal($0, beside: attribute, comparison.comparator) }
    } else {
      let isWhole = comparison.left.type(in: model) == .integer
      literal = { self.typed($0, isDuration: isDuration, isWhole: isWhole) }
    }
    switch comparison.right {
    case .value(let value): parts.append(literal(value))
    case .list where hidesConstants: parts.append("{?}")
    case .list(let values): parts.append("{" + values.map(literal).joined(separator: ", ") + "}")
    case .expressions(let operands):
      let texts = operands.map { operand in
        if case .value(let value) = operand { literal(value) } else { text(operand, depth: depth) }
      }
      parts.append("{" + texts.joined(separator: ", ") + "}")
    case let other: parts.append(text(other, depth: depth))
    }
    return parts.joined(separator: " ")
  }

  func text(_ expression: GraphExpression, depth: Int, isDuration: Bool = false) -> String {
    switch expression {
    case .value(let value): return typed(value, isDuration: isDuration)
    case .list(let values): return "{" + values.map { typed($0) }.joined(separator: ", ") + "}"
    case .expressions(let parts): return "{" + parts.map { text($0, depth: depth) }.joined(separator: ", ") + "}"
    case .path(let path): return text(path, depth)
    case .variable(let name, _): return "$" + name
    case .arithmetic(let operation, let kind, let left, let right):
      let spans = durations(operation, kind, left, right)
      // Operators are left-associative, so a right operand of equal precedence needs parentheses, as does a sum in a
      // product.
      return operand(left, kind, depth, isDuration: spans.left, standsAlone: operation.precedence)
        + " \(operation.rawValue) "
        + operand(right, kind, depth, isDuration: spans.right, standsAlone: operation.precedence + 1)
    case .function(let function, let arguments):
      let isDuration = [.ifNull, .given].contains(function) && self.isDuration(expression)
      let texts = arguments.map { text($0, depth: depth, isDuration: isDuration) }
      return function.rawValue + "(" + texts.joined(separator: ", ") + ")"
    case .subquery(let level, let hops, let predicate):
      let way = text(GraphPredicate.Path(level: level, hops: hops, end: .identifier), depth, isWay: true)
      return "SUBQUERY(\(way), $x\(depth + 1), \(text(predicate, depth: depth + 1))).@count"
    }
  }

  /// - Parameter precedence: operations of at least this precedence need no parentheses.
  private func operand(
    _ expression: GraphExpression, _ kind: ArithmeticKind, _ depth: Int, isDuration: Bool,
    standsAlone precedence: Int
  ) -> String {
    // A number next to a decimal is parsed as one; with more digits than a double keeps it must state its type.
    if kind == .decimal, case .value(.decimal(let number)) = expression, number.digits.count <= 15,
      (-10...15).contains(number.exponent)
    {
      return number.description
    }
    let text = text(expression, depth: depth, isDuration: isDuration)
    if case .arithmetic(let operation, _, _, _) = expression, operation.precedence < precedence { return "(\(text))" }
    return text
  }

  /// Whether an integer operand on either side is a duration. Factors and divisors are numbers.
  private func durations(
    _ operation: ArithmeticOperator, _ kind: ArithmeticKind, _ left: GraphExpression, _ right: GraphExpression
  ) -> (left: Bool, right: Bool) {
    switch (kind, operation) {
    case (.date, _), (.duration, .add), (.duration, .subtract): (true, true)
    case (.duration, .divide): (true, false)
    case (.duration, .multiply): (!isDuration(right), !isDuration(left))
    default: (false, false)
    }
  }

  /// Whether a calculated value is a duration; unknown for a constant.
  private func isDuration(_ expression: GraphExpression) -> Bool {
    switch expression {
    case .arithmetic(_, .duration, _, _): true
    case .function(.ifNull, let arguments): arguments.contains { isDuration($0) }
    case .function(.given, let arguments): arguments.last.map { isDuration($0) } == true
    case .function(let function, _): function.unit != nil
    case .expressions(let parts): parts.contains { isDuration($0) }
    default: false
    }
  }

  private func text(_ path: GraphPredicate.Path, _ depth: Int, isWay: Bool = false) -> String {
    var names = [String]()
    // Inside a subquery the outermost object is called SELF; outside it needs no name.
    let level = depth - path.level
    if depth > 0 { names.append(level == 0 ? "SELF" : "$x\(level)") }
    func name(_ number: PropertyNumber) -> String { model.property(number)?.name ?? "?" }
    names += path.hops.map(name)
    switch path.end {
    case .property(let number): names.append(name(number))
    case .count(let number): names += [name(number), "@count"]
    case .aggregate(let aggregate, let number, let attribute):
      names += [name(number), "@" + aggregate.rawValue, name(attribute)]
    // A path that ends at a to-many compares ids without an explicit `id`.
    case .identifier: if !isWay { names.append("id") }
    }
    return names.joined(separator: ".")
  }

  /// The attribute at the end of a path; nil for an object or a count.
  private func attribute(_ path: GraphPredicate.Path) -> Attribute? {
    switch path.end {
    case .property(let number), .aggregate(.minimum, _, let number), .aggregate(.maximum, _, let number),
      .aggregate(.sum, _, let number), .aggregate(.average, _, let number):
      model.property(number)?.attribute
    case .identifier, .count: nil
    }
  }

  // MARK: - Literals

  private func plain(_ value: Value, _ kind: Attribute.Kind?) -> String {
    switch value {
    case .null: "NULL"
    case _ where hidesConstants: "?"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): Self.quoted(text)
    default: Self.quoted(value.json(kind: kind).stringValue ?? "")
    }
  }

  /// The literal next to an attribute's path, where a text in an equality must be a value of the attribute's type.
  private func literal(
    _ value: Value, beside attribute: Attribute?, _ comparator: GraphPredicate.Comparator
  ) -> String {
    let text = plain(value, attribute?.kind)
    switch value {
    case .double where attribute == nil && !comparator.isOrder: return "double(\(text))"
    case .string(let words):
      guard let attribute, attribute.kind != .json, [.equal, .notEqual, .in, .between].contains(comparator),
        Value(json: .string(words), kind: attribute.kind, cases: attribute.cases) == nil
      else { return text }
      return "string(\(text))"
    default: return text
    }
  }

  /// - Parameter isWhole: whether the other operand is an integer; a fraction must then state its type.
  private func typed(_ value: Value, isDuration: Bool = false, isWhole: Bool = false) -> String {
    let text = plain(value, nil)
    return switch value {
    case .integer where isDuration: "microseconds(\(text))"
    case .double where isWhole: "double(\(text))"
    case .decimal: "decimal(\(text))"
    case .date: "date(\(text))"
    case .uuid: "uuid(\(text))"
    case .data: "data(\(text))"
    default: text
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        // One by one: appending a sequence copies the text.
        result.unicodeScalars.append("\\")
        result.unicodeScalars.append(scalar)
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension ArithmeticOperator {
  /// Products bind more tightly than sums.
  fileprivate var precedence: Int {
    switch self {
    case .add, .subtract: 0
    case .multiply, .divide: 1
    }
  }
}
