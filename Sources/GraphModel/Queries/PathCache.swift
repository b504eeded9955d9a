/// A cache of the objects and values at the end of paths, for the duration of a commit. A hundred queries over a path
/// follow it once per object. There is one cache for the graph before the commit and one for the graph after it;
/// paths over relationships that the commit did not change are the same in both and share an entry.
final class PathCache {
  private struct TraversalKey: Hashable {
    let start: ObjectID
    let hops: [PropertyNumber]
    let once: Bool
  }

  private struct ValueKey: Hashable {
    let start: ObjectID
    let path: GraphPredicate.Path
  }

  private struct CachedResult<Element> {
    let found: [Element]
    let cost: Int
  }

  private let budget: EvaluationBudget
  private let after: PathCache?
  /// The relationships that the commit changed.
  private let moved: Set<PropertyNumber>
  private var ends = [TraversalKey: CachedResult<ObjectID?>]()
  private var values = [ValueKey: CachedResult<Value>]()

  /// - Parameters:
  ///   - after: for paths before the commit, the cache for those after it.
  ///   - moved: the stored relationships that the commit changed.
  init(_ budget: EvaluationBudget, after: PathCache? = nil, moved: Set<PropertyNumber> = []) {
    (self.budget, self.after, self.moved) = (budget, after, moved)
  }

  /// The objects at the end of the hops.
  /// - Parameter stored: for each hop, the property that stores the reference.
  func objects(
    from start: ObjectID, over hops: [PropertyNumber], stored: [PropertyNumber], once: Bool, _ find: () -> [ObjectID?]
  ) -> [ObjectID?] {
    if let after, moved.isDisjoint(with: stored) {
      return after.objects(from: start, over: hops, stored: stored, once: once, find)
    }
    let way = TraversalKey(start: start, hops: hops, once: once)
    if let known = ends[way] { return again(known) }
    let before = budget.own
    let found = find()
    // An incomplete result is not cached.
    if !budget.isExhausted { ends[way] = CachedResult(found: found, cost: budget.own - before) }
    return found
  }

  /// The values at the end of a path.
  func values(from start: ObjectID, at path: GraphPredicate.Path, _ find: () -> [Value]) -> [Value] {
    let end = ValueKey(start: start, path: path)
    if let known = values[end] { return again(known) }
    let before = budget.own
    let found = find()
    if !budget.isExhausted { values[end] = CachedResult(found: found, cost: budget.own - before) }
    return found
  }

  private func again<Element>(_ known: CachedResult<Element>) -> [Element] {
    budget.chargeAgain(max(1, known.found.count), cost: known.cost)
    return known.found
  }
}
