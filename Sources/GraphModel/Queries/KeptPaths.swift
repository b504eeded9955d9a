/// Where paths lead from each object, and what they find there, kept for the time of one commit: a hundred queries over one path
/// follow it once from each object. One for the graph before the commit and one for the graph after it; ways on which the
/// commit has changed nothing are the same in both, and kept together.
final class KeptPaths {
  private struct Way: Hashable {
    let start: ObjectID
    let hops: [PropertyNumber]
    let once: Bool
  }

  private struct End: Hashable {
    let start: ObjectID
    let path: GraphPredicate.Path
  }

  private struct Kept<Element> {
    let found: [Element]
    let cost: Int
  }

  private let budget: LookBudget
  private let after: KeptPaths?
  /// The relationships that the commit has changed somewhere.
  private let moved: Set<PropertyNumber>
  private var ends = [Way: Kept<ObjectID?>]()
  private var values = [End: Kept<Value>]()

  /// - Parameters:
  ///   - after: for paths before the commit, those after it.
  ///   - moved: stored relationships that the commit has changed.
  init(_ budget: LookBudget, after: KeptPaths? = nil, moved: Set<PropertyNumber> = []) {
    (self.budget, self.after, self.moved) = (budget, after, moved)
  }

  /// The objects that the hops lead to.
  /// - Parameter stored: for each hop, the property that holds the reference.
  func objects(
    from start: ObjectID, over hops: [PropertyNumber], stored: [PropertyNumber], once: Bool, _ find: () -> [ObjectID?]
  ) -> [ObjectID?] {
    if let after, moved.isDisjoint(with: stored) {
      return after.objects(from: start, over: hops, stored: stored, once: once, find)
    }
    let way = Way(start: start, hops: hops, once: once)
    if let known = ends[way] { return again(known) }
    let before = budget.own
    let found = find()
    // A path that was cut off on its way is not kept.
    if !budget.isExhausted { ends[way] = Kept(found: found, cost: budget.own - before) }
    return found
  }

  /// The values at the end of a path.
  func values(from start: ObjectID, at path: GraphPredicate.Path, _ find: () -> [Value]) -> [Value] {
    let end = End(start: start, path: path)
    if let known = values[end] { return again(known) }
    let before = budget.own
    let found = find()
    if !budget.isExhausted { values[end] = Kept(found: found, cost: budget.own - before) }
    return found
  }

  private func again<Element>(_ known: Kept<Element>) -> [Element] {
    budget.chargeAgain(max(1, known.found.count), cost: known.cost)
    return known.found
  }
}
