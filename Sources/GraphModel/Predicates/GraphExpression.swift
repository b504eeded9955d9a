/// An operand of a comparison: a constant, a path, or a calculation over them. Resolved against a model;
/// `GraphExpression(parsing:entity:model:)` parses the text form.
///
/// A calculation with null is null, except in `ifNull` and in `oneOf` after its first argument.
public indirect enum GraphExpression: Hashable, Sendable {
  /// A constant, null included.
  case value(Value)
  /// A list of constants, for `IN` and the bounds of `BETWEEN`.
  case list([Value])
  /// A list with calculated elements.
  case expressions([GraphExpression])
  /// The values at the end of a path: one or many.
  case path(GraphPredicate.Path)
  /// An operator with its left and its right operand.
  case arithmetic(ArithmeticOperator, ArithmeticKind, GraphExpression, GraphExpression)
  /// A function with its arguments.
  case function(GraphFunction, [GraphExpression])
  /// The number of objects at the end of the hops that match a predicate: `SUBQUERY(path, $x, …).@count`. The
  /// predicate's own paths start at each of those objects; its paths of level 1 start at the object where the hops
  /// start.
  case subquery(level: Int, hops: [PropertyNumber], GraphPredicate)
  /// `$name` in a template, until it is bound to a value. Its type comes from the other operand.
  case variable(String, GraphValueType)
}

/// The four arithmetic operators.
public enum ArithmeticOperator: String, Hashable, Sendable, CaseIterable {
  /// The sum; of a date and a duration, a later date.
  case add = "+"
  /// The difference; of two dates, a duration; of a date and a duration, an earlier date.
  case subtract = "-"
  /// The product; for numbers only.
  case multiply = "*"
  /// The quotient; for numbers only, null for a division by zero.
  case divide = "/"
}

/// The type of both operands; the parser makes them equal.
public enum ArithmeticKind: Hashable, Sendable {
  /// 64-bit integers. A result that overflows becomes a double, as in SQLite; a quotient is truncated.
  case integer
  /// Floating-point numbers. A result that is not finite becomes null.
  case double
  /// Decimals. A result with more than 38 digits is rounded.
  case decimal
  /// A date, and microseconds to add or subtract.
  case date
  /// Two dates, or two durations: microseconds.
  case duration
}

/// The type of an expression, as far as literals and comparisons need it.
public enum GraphValueType: Hashable, Sendable {
  /// Null, whose type is unknown.
  case null
  /// True or false.
  case bool
  /// 64-bit integers.
  case integer
  /// Floating-point numbers.
  case double
  /// Exact decimals of up to 38 digits.
  case decimal
  /// Strings of any attribute kind.
  case string
  /// Points in time, in microseconds.
  case date
  /// Durations in microseconds, as an integer.
  case duration
  /// UUIDs that clients supply; the ids of objects have the type `object`.
  case uuid
  /// Bytes.
  case data
  /// An object of this entity.
  case object(EntityNumber)
}

extension GraphExpression {
  /// Visits the predicates of all subqueries at this level.
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

  /// Whether the expression contains a subquery.
  var hasSubqueries: Bool {
    var found = false
    forEachSubquery { _ in found = true }
    return found
  }

  /// Whether evaluation requires a full-text index.
  public var searchesText: Bool {
    var found = false
    forEachSubquery { found = found || $0.searchesText }
    return found
  }

  /// All paths outside subqueries; a subquery's hops count as a path that ends at ids.
  public var paths: [GraphPredicate.Path] {
    switch self {
    case .value, .list, .variable: []
    case .path(let path): [path]
    case .expressions(let parts), .function(_, let parts): parts.flatMap(\.paths)
    case .arithmetic(_, _, let left, let right): left.paths + right.paths
    case .subquery(let level, let hops, _): [GraphPredicate.Path(level: level, hops: hops, end: .identifier)]
    }
  }

  /// Whether the value depends on the object's own image only.
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

  /// Whether the value is the same for every object.
  var isConstant: Bool {
    switch self {
    case .value, .list: true
    default: false
    }
  }

  /// The constant; null for any other expression.
  var constant: Value { if case .value(let value) = self { value } else { .null } }

  // MARK: - Construction, with constant parts evaluated immediately

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

  /// The expression with a time for `now()` and values for variables. Parts that become constant are evaluated.
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
  /// The type of the value at the end of the path.
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
  /// The predicate with a time for `now()` and values for variables. A live query is bound at its subscription, as
  /// its meaning must not change between two commits.
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
