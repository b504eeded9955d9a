/// What has to become of a subject's values before one comparison of a live query can turn: from true to false, or
/// back. Where none of a query's comparisons turns for an object that did not change itself, the object stays in the result,
/// or out of it, whatever the predicate makes of them. So queries that most objects satisfy (`!=`, ALL, NONE, NOT) are filed
/// here as well as those that few do.
enum QueryTurn: Hashable {
  /// One of the values that are found at this place comes or goes.
  case among(QueryPlace)
  /// The greatest value passes this one, or the least does.
  case greatest(QuerySubject, passing: Value)
  case least(QuerySubject, passing: Value)
  /// All values are this one, and were not, or the other way around.
  case alone(QuerySubject, Value)

  var subject: QuerySubject {
    switch self {
    case .among(let place): place.subject
    case .alone(let subject, _), .greatest(let subject, _), .least(let subject, _): subject
    }
  }
}

/// The turns of all of a query's comparisons that read more than the object itself.
struct QueryTurns {
  private(set) var turns = [QueryTurn]()
  /// The subject of each comparison, as often as there are comparisons of it.
  private(set) var subjects = [QuerySubject]()

  /// Nil where a comparison is of another kind, or there are too many.
  init?(of predicate: GraphPredicate, model: Model) {
    guard collect(predicate, model), turns.count <= QueryPlace.maximumPlaces else { return nil }
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

  /// Each quantifier asks whether some values are among the subject's: with ALL the ones that don't compare so.
  private static func turns(of comparison: GraphPredicate.Comparison, _ model: Model) -> [QueryTurn]? {
    var asked = comparison
    var countsNull = false
    switch (comparison.quantifier, comparison.comparator) {
    case (.all, .equal), (.any, .notEqual), (.none, .notEqual):
      asked.comparator = .equal
      guard case .values(let subject, let values)? = QueryPlace.place(of: asked, model: model), values.count == 1 else {
        return nil
      }
      return [.alone(subject, values[0])]
    case (.one, .notEqual), (.all, .notEqual): asked.comparator = .equal
    case (.all, let comparator):
      // Nothing compares with null: it turns with the first value and the last one.
      guard let opposite = comparator.opposite, comparison.right != .value(.null) else { return nil }
      asked.comparator = opposite
      // Null is neither less nor greater.
      countsNull = true
    default: break
    }
    guard let place = QueryPlace.place(of: asked, model: model) else { return nil }
    let turn: QueryTurn =
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
  /// What holds of two values that have an order where this does not.
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
