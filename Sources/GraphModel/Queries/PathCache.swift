/// A cache of the objects and values at the end of paths, for the duration of a commit, or of the evaluation of one
/// object. A hundred queries over a path, or a hundred comparisons, follow it once per object. In a commit there
/// is one cache for the graph before the commit and one for the graph after it; paths over relationships that the
/// commit did not change are the same in both and share an entry.
final class PathCache {
  private struct TraversalKey: Hashable {
    let start: ObjectID
    let hops: [PropertyNumber]
    let distinct: Bool
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
  private let changedRelationships: Set<PropertyNumber>
  private var objectResults = [TraversalKey: CachedResult<ObjectID?>]()
  private var valueResults = [ValueKey: CachedResult<Value>]()

  /// - Parameters:
  ///   - after: for paths before the commit, the cache for those after it.
  ///   - changedRelationships: the stored relationships that the commit changed.
  init(_ budget: EvaluationBudget, after: PathCache? = nil, changedRelationships: Set<PropertyNumber> = []) {
    (self.budget, self.after, self.changedRelationships) = (budget, after, changedRelationships)
  }

  /// The objects at the end of the hops.
  /// - Parameter stored: for each hop, the property that stores the reference.
  func objects(
    from start: ObjectID, over hops: [PropertyNumber], stored: [PropertyNumber], distinct: Bool,
    _ find: () -> [ObjectID?]
  ) -> [ObjectID?] {
    if let after, changedRelationships.isDisjoint(with: stored) {
      return after.objects(from: start, over: hops, stored: stored, distinct: distinct, find)
    }
    let key = TraversalKey(start: start, hops: hops, distinct: distinct)
    if let known = objectResults[key] { return reuse(known) }
    let before = budget.accountSteps
    let found = find()
    // An incomplete result is not cached.
    if !budget.isExhausted { objectResults[key] = CachedResult(found: found, cost: budget.accountSteps - before) }
    return found
  }

  /// The values at the end of a path.
  func values(from start: ObjectID, at path: GraphPredicate.Path, _ find: () -> [Value]) -> [Value] {
    let key = ValueKey(start: start, path: path)
    if let known = valueResults[key] { return reuse(known) }
    let before = budget.accountSteps
    let found = find()
    if !budget.isExhausted { valueResults[key] = CachedResult(found: found, cost: budget.accountSteps - before) }
    return found
  }

  private func reuse<Element>(_ known: CachedResult<Element>) -> [Element] {
    budget.chargeCached(max(1, known.found.count), cost: known.cost)
    return known.found
  }
}
