/// Computing the effects of a commit. The affected roots are found, then evaluated, within a budget that all queries
/// share.
extension PathQueryMatcher {
  /// The looks that all queries share for one commit, without those for its changes (`maximumLooksPerChange`).
  ///
  /// When they are spent, a query above its share is fetched again, which costs less than evaluating its objects one
  /// by one.
  public static let maximumLooks = 1_000_000
  /// Additional looks for each object that the commit changes.
  static let maximumLooksPerChange = 2_500
  /// The minimum share of a query; otherwise an equal part of all looks.
  static let minimumShare = 50

  /// The effects of the changes on all queries.
  /// - Parameter source: the graph after the changes.
  public func effects(of changes: [ObjectChange], in source: any ImageSource) -> PathQueryEffects {
    guard !queries.isEmpty else { return PathQueryEffects(knownThrough: lastNumber) }
    let total = Self.maximumLooks + Self.maximumLooksPerChange * changes.count
    let budget = EvaluationBudget(total: total, share: max(Self.minimumShare, total / queries.count))
    return effects(of: changes, in: CachingImageSource(source, changes, model: model, budget: budget))
  }

  func effects(of changes: [ObjectChange], in after: CachingImageSource) -> PathQueryEffects {
    let budget = after.budget
    let before = PreCommitImageSource(changes, after: after)
    let reach = reach(of: changes, before, after)
    var roots = [ObjectID]()
    var seen = Set<ObjectID>()
    for change in changes where shelves[change.id.entity] != nil && seen.insert(change.id).inserted {
      roots.append(change.id)
    }
    for id in reach.roots.sorted() where seen.insert(id).inserted { roots.append(id) }
    let pathsAfter = PathCache(budget)
    let pathsBefore = PathCache(budget, after: pathsAfter, moved: reach.moved)
    var effects = [UInt64: [LiveQueryChange]]()
    for id in roots {
      let change = before.change(of: id)
      let new = after.root(id)
      let old = if let change { change.before } else { new }
      let wasThere = old.map { EvaluationContext(image: $0, source: before, paths: pathsBefore) }
      let isThere = new.map { EvaluationContext(image: $0, source: after, paths: pathsAfter) }
      let (open, settled) =
        change.map { candidates($0, wasThere, isThere, by: reach.changed, budget) }
        ?? (turned(id.entity, wasThere, isThere, by: reach.changed, budget), [])
      for (numbers, isSettled) in [(open, false), (settled, true)] {
        for number in numbers {
          guard let query = queries[number], !reach.unknown.contains(number) else { continue }
          let judged = budget.charging(.query(number)) {
            let isIn = isThere.map(query.evaluator.matches) ?? false
            return (was: isSettled ? isIn : wasThere.map(query.evaluator.matches) ?? false, is: isIn)
          }
          guard let judged else { continue }
          switch (judged.was, judged.is, old, new) {
          case (false, true, _, let new?): effects[number, default: []].append(.inserted(new))
          case (true, false, let old?, _):
            // A reader gets the present image of an object that still exists.
            effects[number, default: []].append(.removed(new ?? old, deleted: new == nil))
          case (true, true, let old?, let new?):
            guard let change else { continue }
            effects[number, default: []].append(.updated(new, edits: change.edits, previous: old.revision))
          default: break
          }
        }
      }
    }
    let unknown = reach.unknown.union(unjudged(budget.ended))
    for number in unknown { effects[number] = nil }
    return PathQueryEffects(
      knownThrough: lastNumber,
      effects: effects.sorted { $0.key < $1.key }.map { .init(query: $0.key, changes: $0.value) },
      unknown: unknown.sorted())
  }

  /// The queries whose evaluation was incomplete.
  private func unjudged(_ ended: Set<EvaluationBudget.CostAccount>) -> Set<UInt64> {
    var (found, subjects) = (Set<UInt64>(), Set<IndexedExpression>())
    for account in ended {
      switch account {
      case .query(let number): found.insert(number)
      case .subject(let subject): subjects.insert(subject)
      // `reach` has handled the ways.
      case .way: break
      }
    }
    if !subjects.isEmpty {
      for (number, query) in queries where !query.subjects.isDisjoint(with: subjects) { found.insert(number) }
    }
    return found
  }

  /// The queries that a changed object could match. `open` are those whose result it could join or leave, `settled`
  /// those for which all that they read is unchanged.
  /// - Parameter changed: the properties that changed in any object and are read through paths.
  private func candidates(
    _ change: ObjectChange, _ before: EvaluationContext?, _ after: EvaluationContext?, by changed: Set<PropertyNumber>,
    _ budget: EvaluationBudget
  ) -> (open: [UInt64], settled: [UInt64]) {
    guard let groups = shelves[change.id.entity] else { return ([], []) }
    guard let old = change.before, let new = change.after, let entity = model.entity(change.id.entity) else {
      return (groups.values.flatMap { $0.candidates(before, after, budget) }.sorted(), [])
    }
    var changed = changed
    var slots = [Int]()
    new.findChangedSlots(since: old, into: &slots)
    for slot in slots { changed.insert(entity.storedProperties[slot].number) }
    var (open, settled) = ([UInt64](), [UInt64]())
    for (reads, queries) in groups {
      if reads.isDisjoint(with: changed) {
        settled += queries.candidates(nil, after, budget)
      } else {
        open += queries.candidates(before, after, budget)
      }
    }
    return (open.sorted(), settled.sorted())
  }

  /// The queries of an entity whose result an unchanged object could join or leave.
  /// - Parameter changed: the properties that changed in any object.
  private func turned(
    _ entity: EntityNumber, _ before: EvaluationContext?, _ after: EvaluationContext?, by changed: Set<PropertyNumber>,
    _ budget: EvaluationBudget
  ) -> [UInt64] {
    guard let turning = turning[entity] else { return [] }
    var numbers = Set<UInt64>()
    for (reads, queries) in turning.others where !reads.isDisjoint(with: changed) {
      numbers.formUnion(queries.candidates(before, after, budget))
    }
    for (reads, subjects) in turning.subjects where !reads.isDisjoint(with: changed) {
      for (subject, (reader, queries)) in subjects {
        let values = budget.charging(.subject(subject)) {
          (old: before.map { reader.values($0) } ?? [], new: after.map { reader.values($0) } ?? [])
        }
        guard let values else { continue }
        queries.forEach(from: values.old, to: values.new) { number in
          numbers.insert(number)
          return true
        }
      }
    }
    return numbers.sorted()
  }

  /// The objects that a commit's changes reach on the ways back.
  private struct AffectedRoots {
    /// The roots of ways through changed objects, before or after the commit.
    var roots = Set<ObjectID>()
    /// The queries whose ways back are too expensive.
    var unknown = Set<UInt64>()
    /// The triggers that changed.
    var changed = Set<PropertyNumber>()
    /// The stored relationships that changed.
    var moved = Set<PropertyNumber>()
  }

  private func reach(of changes: [ObjectChange], _ before: PreCommitImageSource, _ after: CachingImageSource)
    -> AffectedRoots
  {
    var reach = AffectedRoots()
    var starts = [Trigger: Set<ObjectID>]()
    var known = Set<ObjectID>()
    for change in changes {
      guard let entity = model.entity(change.id.entity) else { continue }
      for property in entity.storedProperties {
        let ways = triggers[property.number]
        guard ways != nil || property.relationship != nil, change.before?[property] != change.after?[property] else {
          continue
        }
        if property.relationship != nil { reach.moved.insert(property.number) }
        guard let ways else { continue }
        reach.changed.insert(property.number)
        for (way, uses) in ways {
          if uses.others.isEmpty, !isAwaited(change, property, behind: way) { continue }
          let found = after.budget.charging(.way(way)) {
            follow(way.hops, back: change.id, change.before, before)
              .union(follow(way.hops, back: change.id, change.after, after))
          }
          guard let found else { continue }
          let new = found.count { known.insert($0).inserted }
          // Several ways may lead to a root, which is read and evaluated once.
          _ = after.budget.charging(.way(way)) {
            after.budget.chargeRoots(found.count, new: new)
          }
          starts[way, default: []].formUnion(found)
        }
      }
    }
    let ended = after.budget.ended
    for (way, found) in starts where !ended.contains(.way(way)) {
      guard let family = model.entity(way.root)?.family else { continue }
      reach.roots.formUnion(found.filter { family.contains($0.entity) })
    }
    for case .way(let way) in ended {
      for ways in triggers.values {
        guard let uses = ways[way] else { continue }
        reach.unknown.formUnion(uses.filed)
        reach.unknown.formUnion(uses.others)
      }
    }
    return reach
  }

  /// Whether a query has a key for the old or the new value of a property at the end of a way, so that it could turn.
  private func isAwaited(_ change: ObjectChange, _ property: Property, behind way: Trigger) -> Bool {
    let subject = IndexedExpression.path(GraphPredicate.Path(hops: way.hops, end: .property(property.number)))
    let reads = subject.reads(in: model)
    let (old, new) = (change.before.map { [$0[property]] } ?? [], change.after.map { [$0[property]] } ?? [])
    return model.entity(way.root)?.family.contains { entity in
      guard let turning = turning[entity] else { return false }
      var isFound = false
      turning.subjects[reads]?[subject]?.queries.forEach(from: old, to: new) { _ in
        isFound = true
        return false
      }
      return isFound
        || turning.others.values.contains { others in
          others.subjects[subject].map { others in (old + new).contains { others.queries.isHolding($0) } } ?? false
        }
    } ?? false
  }

  /// Follows a way back from its last object to its roots, as far as the budget allows.
  private func follow(
    _ hops: [PropertyNumber], back id: ObjectID, _ image: ObjectImage?, _ source: any ImageSource
  ) -> Set<ObjectID> {
    guard image != nil else { return [] }
    var ids: Set<ObjectID> = [id]
    for hop in hops.reversed() {
      guard let property = model.property(hop), let relationship = property.relationship else { return [] }
      var next = Set<ObjectID>()
      for id in ids {
        if source.isExhausted { return next }
        if relationship.storage == .inverse {
          guard let inverse = model.property(relationship.inverse), let image = source.image(of: id) else { continue }
          next.formUnion(image[inverse].objectIDs)
        } else {
          next.formUnion(source.referrers(to: id, through: property))
        }
      }
      ids = next
    }
    return ids
  }
}

extension EntityQueryIndex<IndexedExpressionReader> {
  /// The queries that an object could match before or after the change: each once, in no order.
  fileprivate func candidates(_ before: EvaluationContext?, _ after: EvaluationContext?, _ budget: EvaluationBudget)
    -> [UInt64]
  {
    var numbers = [UInt64]()
    for (subject, (reader, queries)) in subjects {
      let values = budget.charging(.subject(subject)) {
        (old: before.map { reader.values($0) } ?? [], new: after.map { reader.values($0) } ?? [])
      }
      guard let (old, new) = values else { continue }
      for value in old { queries.holding(value, into: &numbers) }
      guard new != old else { continue }
      for value in new { queries.holding(value, into: &numbers) }
    }
    return Array(numbers.isEmpty ? general : general.union(numbers))
  }
}
