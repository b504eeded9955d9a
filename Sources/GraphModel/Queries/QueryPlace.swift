/// Where a live query is filed: under the values of its most selective equality, else over the range of one ordered path,
/// else among the general ones of its entity. What is found there is a superset; the predicate decides.
enum QueryPlace {
  case values(GraphPredicate.Path, [Value])
  case range(GraphPredicate.Path, low: Value?, high: Value?)
  case general

  /// At most this many values of an `IN` are filed one by one.
  static let maximumValues = 100

  /// - Parameter canRead: whether the index can tell the values at a path's end.
  init(of predicate: GraphPredicate, model: Model, where canRead: (GraphPredicate.Path) -> Bool = { _ in true }) {
    let parts = if case .and(let parts) = predicate { parts } else { [predicate] }
    var best: (rank: Int, place: QueryPlace) = (.max, .general)
    func offer(_ rank: Int, _ place: QueryPlace) { if rank < best.rank { best = (rank, place) } }
    for case .comparison(let comparison) in parts {
      // With ANY one of the path's values is in the list or the range.
      guard comparison.quantifier == .one || comparison.quantifier == .any, comparison.options.isEmpty,
        let path = comparison.path, canRead(path)
      else { continue }
      var constants = [Value]()
      switch comparison.right {
      case .value(let value): constants = [value]
      case .list(let values): constants = values
      default: continue
      }
      let type = path.type(in: model)
      // A whole number compared with a fraction has another hash.
      let isMixed = constants.contains { value in
        if case .double = value { type == .integer } else { false }
      }
      switch comparison.comparator {
      case .equal where !isMixed, .in where !isMixed && constants.count <= Self.maximumValues:
        offer(Self.rank(of: path, model) + (constants.count > 1 ? 1 : 0), .values(path, constants))
      case .less, .lessOrEqual: offer(20, .range(path, low: nil, high: constants.first))
      case .greater, .greaterOrEqual: offer(20, .range(path, low: constants.first, high: nil))
      case .between where constants.count == 2: offer(19, .range(path, low: constants[0], high: constants[1]))
      default: break
      }
    }
    self = best.place
  }

  /// The fewer objects are likely to share a value and the less there is to read for it, the lower.
  private static func rank(of path: GraphPredicate.Path, _ model: Model) -> Int {
    let way = min(path.hops.count, 4)
    switch path.end {
    case .identifier: return way
    case .count, .aggregate: return 12 + way
    case .property(let number):
      guard let attribute = model.property(number)?.attribute else { return 4 + way }
      if model.entities.contains(where: { $0.uniquenessConstraints.contains([number]) }) { return 2 + way }
      return (attribute.kind == .bool || attribute.kind == .enumeration ? 11 : 5) + way
    }
  }
}
