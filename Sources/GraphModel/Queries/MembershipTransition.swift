/// A change of a subject's values that can turn a comparison of a live query from true to false, or back. If no
/// comparison turns for an object that did not change itself, its membership in the result is unchanged under any
/// predicate. This also makes queries that most objects match (`!=`, ALL, NONE, NOT) indexable.
enum MembershipTransition: Hashable {
  /// A value under this key is added or removed.
  case among(IndexKey)
  /// The maximum, or the minimum, crosses this value.
  case greatest(IndexedExpression, passing: Value)
  case least(IndexedExpression, passing: Value)
  /// The values become, or cease to be, this value only.
  case alone(IndexedExpression, Value)

  var subject: IndexedExpression {
    switch self {
    case .among(let place): place.subject
    case .alone(let subject, _), .greatest(let subject, _), .least(let subject, _): subject
    }
  }
}

/// The transitions of all of a query's comparisons that read other objects.
struct MembershipTransitions {
  private(set) var turns = [MembershipTransition]()
  /// The subject of each of these comparisons, with multiplicity.
  private(set) var subjects = [IndexedExpression]()

  /// Nil if a comparison has no transition, or if there are too many.
  init?(of predicate: GraphPredicate, model: Model) {
    guard collect(predicate, model), turns.count <= IndexKey.maximumPlaces else { return nil }
  }

  private mutating func collect(_ predicate: GraphPredicate, _ model: Model) -> Bool {
    switch predicate {
    case .always, .never: return true
    case .not(let inner): return collect(inner, model)
    case .and(let parts), .or(let parts): return parts.allSatisfy { collect($0, model) }
    case .comparison(let comparison):
      if comparison.left.readsOnlyOwnImage(in: model), comparison.right.readsOnlyOwnImage(in: model) { return true }
      guard let found = Self.turns(of: comparison, model), let subject = found.first?.subject else { return false }
      subjects.append(subject)
      turns += found
      return true
    }
  }

  /// The transitions of a comparison. A quantifier depends on whether certain values are among the subject's; for
  /// ALL, these are the values that don't satisfy the comparison.
  private static func turns(of comparison: GraphPredicate.Comparison, _ model: Model) -> [MembershipTransition]? {
    var asked = comparison
    var countsNull = false
    switch (comparison.quantifier, comparison.comparator) {
    case (.all, .equal), (.any, .notEqual), (.none, .notEqual):
      asked.comparator = .equal
      guard case .values(let subject, let values)? = IndexKey.place(of: asked, model: model), values.count == 1 else {
        return nil
      }
      return [.alone(subject, values[0])]
    case (.one, .notEqual), (.all, .notEqual): asked.comparator = .equal
    case (.all, let comparator):
      // Nothing compares with null, so ALL turns with the first value and the last one.
      guard let opposite = comparator.opposite, comparison.right != .value(.null) else { return nil }
      asked.comparator = opposite
      // Null is neither less nor greater.
      countsNull = true
    default: break
    }
    guard let place = IndexKey.place(of: asked, model: model) else { return nil }
    let turn: MembershipTransition =
      switch (asked.comparator, place) {
      case (.greater, .range(let subject, let low?, nil)), (.greaterOrEqual, .range(let subject, let low?, nil)):
        .greatest(subject, passing: low)
      case (.less, .range(let subject, nil, let high?)), (.lessOrEqual, .range(let subject, nil, let high?)):
        .least(subject, passing: high)
      default: .among(place)
      }
    return countsNull ? [turn, .among(.values(place.subject, [.null]))] : [turn]
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
