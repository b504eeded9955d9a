/// What a comparison compares: a constant, what a path leads to, or what is calculated from them. Resolved against a
/// model; `GraphExpression(parsing:entity:model:)` reads the text form.
///
/// Null in, null out: whatever is calculated from a null is null, but for `ifNull`, and for what `oneOf` has behind its
/// first argument.
public indirect enum GraphExpression: Hashable, Sendable {
  /// A constant, null included.
  case value(Value)
  /// For `IN`, and the two ends of `BETWEEN`.
  case list([Value])
  /// The same where some of them are calculated.
  case expressions([GraphExpression])
  /// What a path leads to: one value or many.
  case path(GraphPredicate.Path)
  /// An operator between its left and its right side.
  case arithmetic(ArithmeticOperator, ArithmeticKind, GraphExpression, GraphExpression)
  /// A function of its arguments, in order.
  case function(GraphFunction, [GraphExpression])
  /// How many of the objects that the hops lead to satisfy a predicate: `SUBQUERY(path, $x, …).@count`. The predicate's
  /// own paths start at each of those objects, paths of level 1 at the object in front of the hops.
  case subquery(level: Int, hops: [PropertyNumber], GraphPredicate)
  /// `$name` in a template, until a value is given for it. A typed place: what stands there is read as the other side's
  /// type asks.
  case variable(String, GraphValueType)
}

/// The four operators.
public enum ArithmeticOperator: String, Hashable, Sendable, CaseIterable {
  /// The sum; of a date and a duration, the later date.
  case add = "+"
  /// The difference; of two dates a duration, of a date and a duration the earlier date.
  case subtract = "-"
  /// The product, of numbers only.
  case multiply = "*"
  /// The quotient, of numbers only; null for a division by zero.
  case divide = "/"
}

/// What both sides of an operator are; the parser makes them alike.
public enum ArithmeticKind: Hashable, Sendable {
  /// 64 bits. What does not fit becomes a double, as SQLite has it; a quotient is cut towards zero.
  case integer
  /// Floating-point numbers. What is not finite becomes null.
  case double
  /// Decimals. What has more than 38 digits is rounded.
  case decimal
  /// A date, and microseconds to add or take away.
  case date
  /// Two dates, or two durations: microseconds.
  case duration
}

/// The type of an expression, as far as literals and comparisons need it.
public enum GraphValueType: Hashable, Sendable {
  /// No value, so that nobody knows of which type.
  case null
  /// True or false.
  case bool
  /// Whole numbers of 64 bits.
  case integer
  /// Floating-point numbers.
  case double
  /// Exact numbers, of up to 38 digits.
  case decimal
  /// Strings of whatever attribute.
  case string
  /// Points in time, in microseconds.
  case date
  /// Microseconds, as a whole number.
  case duration
  /// UUIDs that clients give; the ids of objects are of the type `object`.
  case uuid
  /// Bytes.
  case data
  /// An object of this entity.
  case object(EntityNumber)
}

extension GraphExpression {
  /// Visits every predicate of a subquery directly below.
  func forEachSubquery(_ body: (GraphPredicate) -> Void) {
    switch self {
    case .value, .list, .path, .variable: break
    case .expressions(let parts), .function(_, let parts): for part in parts { part.forEachSubquery(body) }
    case .arithmetic(_, _, let left, let right):
      left.forEachSubquery(body)
      right.forEachSubquery(body)
    case .subquery(_, _, let predicate): body(predicate)
    }
  }

  /// Whether there is one.
  var hasSubqueries: Bool {
    var found = false
    forEachSubquery { _ in found = true }
    return found
  }

  /// Whether answering it takes a full-text index.
  public var searchesText: Bool {
    var found = false
    forEachSubquery { found = found || $0.searchesText }
    return found
  }

  /// Every path that is read, those inside subqueries aside; a subquery's own way counts as one that ends at ids.
  public var paths: [GraphPredicate.Path] {
    switch self {
    case .value, .list, .variable: []
    case .path(let path): [path]
    case .expressions(let parts), .function(_, let parts): parts.flatMap(\.paths)
    case .arithmetic(_, _, let left, let right): left.paths + right.paths
    case .subquery(let level, let hops, _): [GraphPredicate.Path(level: level, hops: hops, end: .identifier)]
    }
  }

  /// Whether an object's own image is enough to know the value.
  public func readsOnlyOwnImage(in model: Model) -> Bool {
    paths.allSatisfy { path in
      guard path.hops.isEmpty, path.level == 0 else { return false }
      return switch path.end {
      case .count(let number): model.property(number)?.slot != nil
      case .aggregate: false
      case .property, .identifier: true
      }
    }
  }

  /// The type of its values.
  public func type(in model: Model) -> GraphValueType {
    switch self {
    case .value(let value): GraphValueType(value)
    case .list, .expressions: .null
    case .variable(_, let type): type
    case .path(let path): path.type(in: model)
    case .arithmetic(_, let kind, _, _):
      switch kind {
      case .integer: .integer
      case .double: .double
      case .decimal: .decimal
      case .date: .date
      case .duration: .duration
      }
    case .function(let function, let arguments):
      {
        var operands = arguments.map { PredicateParser.Operand(expression: $0, type: $0.type(in: model)) }
        return function.type(of: &operands) ?? .null
      }()
    case .subquery: .integer
    }
  }

  /// Whether it is the same for every object.
  var isConstant: Bool {
    switch self {
    case .value, .list: true
    default: false
    }
  }

  /// Null for anything but a constant.
  var constant: Value { if case .value(let value) = self { value } else { .null } }

  // MARK: - Making, with what is constant calculated at once

  static func calculating(
    _ operation: ArithmeticOperator, _ kind: ArithmeticKind, _ left: GraphExpression, _ right: GraphExpression
  ) -> GraphExpression {
    if case (.value(let left), .value(let right)) = (left, right) {
      return .value(Arithmetic.apply(operation, left, right))
    }
    return .arithmetic(operation, kind, left, right)
  }

  static func calling(_ function: GraphFunction, _ arguments: [GraphExpression]) -> GraphExpression {
    guard function != .now, arguments.allSatisfy({ if case .value = $0 { true } else { false } }) else {
      return .function(function, arguments)
    }
    return .value(function.apply(arguments.map(\.constant)))
  }

  /// The expression with a time for `now()` and values for variables; what is constant then is calculated.
  public func bound(now: Timestamp? = nil, variables: [String: Value] = [:]) -> GraphExpression {
    switch self {
    case .value, .list, .path: return self
    case .variable(let name, _): return variables[name].map { .value($0) } ?? self
    case .expressions(let parts):
      let parts = parts.map { $0.bound(now: now, variables: variables) }
      return parts.allSatisfy(\.isConstant) ? .list(parts.map(\.constant)) : .expressions(parts)
    case .arithmetic(let operation, let kind, let left, let right):
      return .calculating(
        operation, kind, left.bound(now: now, variables: variables), right.bound(now: now, variables: variables))
    case .function(.now, _): return now.map { .value(.date($0)) } ?? self
    case .function(let function, let arguments):
      return .calling(function, arguments.map { $0.bound(now: now, variables: variables) })
    case .subquery(let level, let hops, let predicate):
      return .subquery(level: level, hops: hops, predicate.bound(now: now, variables: variables))
    }
  }
}

extension GraphPredicate.Path {
  /// The type of what is read at the end.
  public func type(in model: Model) -> GraphValueType {
    switch end {
    case .property(let number):
      let property = model.property(number)
      return property?.attribute.map { GraphValueType($0.kind) } ?? .object(property?.relationship?.destination ?? 0)
    case .identifier: return .object(hops.last.flatMap { model.property($0)?.relationship?.destination } ?? 0)
    case .count: return .integer
    case .aggregate(let aggregate, _, let attribute):
      let type = model.property(attribute)?.attribute.map { GraphValueType($0.kind) } ?? .null
      return aggregate == .average && type == .integer ? .double : type
    }
  }
}

extension GraphPredicate {
  /// The predicate with a time for `now()` and values for variables. A live query is bound when it is subscribed: what
  /// it means must not change between two commits.
  public func bound(now: Timestamp? = nil, variables: [String: Value] = [:]) -> GraphPredicate {
    switch self {
    case .always, .never: return self
    case .and(let parts): return .and(parts.map { $0.bound(now: now, variables: variables) })
    case .or(let parts): return .or(parts.map { $0.bound(now: now, variables: variables) })
    case .not(let inner): return .not(inner.bound(now: now, variables: variables))
    case .comparison(var comparison):
      comparison.left = comparison.left.bound(now: now, variables: variables)
      comparison.right = comparison.right.bound(now: now, variables: variables)
      return .comparison(comparison.turned())
    }
  }
}
