/// A change of an expression's values that can turn a comparison of a live query from true to false, or back. If no
/// comparison turns for an object that did not change itself, its membership in the result is unchanged under any
/// predicate. This also makes queries that most objects match (`!=`, ALL, NONE, NOT) indexable.
enum MembershipTransition: Hashable {
  /// A value under this key is added or removed.
  case key(IndexKey)
  /// The maximum, or the minimum, crosses this value.
  case maximum(IndexedExpression, passing: Value)
  case minimum(IndexedExpression, passing: Value)
  /// The values become, or cease to be, this value only.
  case onlyValue(IndexedExpression, Value)

  var expression: IndexedExpression {
    switch self {
    case .key(let key): key.expression
    case .onlyValue(let expression, _), .maximum(let expression, _), .minimum(let expression, _): expression
    }
  }
}

/// The transitions of all of a query's comparisons that read other objects.
struct MembershipTransitions {
  private(set) var transitions = [MembershipTransition]()
  /// The expression of each of these comparisons, with multiplicity.
  private(set) var expressions = [IndexedExpression]()

  /// Nil if a comparison has no transition, or if there are too many.
  init?(of predicate: GraphPredicate, model: Model) {
    guard collect(predicate, model), transitions.count <= IndexKey.maximumKeys else { return nil }
  }

  private mutating func collect(_ predicate: GraphPredicate, _ model: Model) -> Bool {
    switch predicate {
    case .always, .never: return true
    case .not(let inner): return collect(inner, model)
    case .and(let parts), .or(let parts): return parts.allSatisfy { collect($0, model) }
    case .comparison(let comparison):
      if comparison.left.readsOnlyOwnImage(in: model), comparison.right.readsOnlyOwnImage(in: model) { return true }
      guard let found = Self.transitions(of: comparison, model), let expression = found.first?.expression else {
        return false
      }
      expressions.append(expression)
      transitions += found
      return true
    }
  }

  /// The transitions of a comparison. A quantifier depends on whether certain values are among the expression's; for
  /// ALL, these are the values that don't satisfy the comparison.
  private static func transitions(of comparison: GraphPredicate.Comparison, _ model: Model) -> [MembershipTransition]? {
    var asked = comparison
    var countsNull = false
    switch (comparison.quantifier, comparison.comparator) {
    case (.all, .equal), (.any, .notEqual), (.none, .notEqual):
      asked.comparator = .equal
      guard case .values(let expression, let values)? = IndexKey.key(of: asked, model: model), values.count == 1 else {
        return nil
      }
      return [.onlyValue(expression, values[0])]
    case (.one, .notEqual), (.all, .notEqual): asked.comparator = .equal
    case (.all, let comparator):
      // Nothing compares with null, so ALL turns with the first value and the last one.
      guard let opposite = comparator.opposite, comparison.right != .value(.null) else { return nil }
      asked.comparator = opposite
      // Null is neither less nor greater.
      countsNull = true
    default: break
    }
    guard let key = IndexKey.key(of: asked, model: model) else { return nil }
    let transition: MembershipTransition =
      switch (asked.comparator, key) {
      case (.greater, .range(let expression, let low?, nil)), (.greaterOrEqual, .range(let expression, let low?, nil)):
        .maximum(expression, passing: low)
      case (.less, .range(let expression, nil, let high?)), (.lessOrEqual, .range(let expression, nil, let high?)):
        .minimum(expression, passing: high)
      default: .key(key)
      }
    return countsNull ? [transition, .key(.values(key.expression, [.null]))] : [transition]
  }
}

extension GraphPredicate.Comparator {
  /// The comparator that holds for two ordered values if and only if this one does not.
  fileprivate var opposite: Self? {
    switch self {
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    default: nil
    }
  }
}
