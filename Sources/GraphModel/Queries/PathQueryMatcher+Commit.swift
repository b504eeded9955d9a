/// Computing the effects of a commit. The affected roots are found, then evaluated, within a budget that all queries
/// share.
extension PathQueryMatcher {
  /// The steps that all queries share for one commit, without those for its changes (`maximumStepsPerChange`).
  ///
  /// When they are spent, a query above its share is fetched again, which costs less than evaluating its objects one
  /// by one.
  public static let maximumSteps = 1_000_000
  /// Additional steps for each object that the commit changes.
  static let maximumStepsPerChange = 2_500
  /// The minimum share of a query; otherwise an equal part of all steps.
  static let minimumShare = 50

  /// The effects of the changes on all queries.
  /// - Parameter source: the graph after the changes.
  public func effects(of changes: [ObjectChange], in source: any ImageSource) -> PathQueryEffects {
    let total = Self.maximumSteps + Self.maximumStepsPerChange * changes.count
    var effects = PathQueryEffects(knownThrough: lastNumber)
    if !queries.isEmpty {
      let budget = EvaluationBudget(total: total, share: max(Self.minimumShare, total / queries.count))
      effects = self.effects(of: changes, in: CachingImageSource(source, changes, model: model, budget: budget))
    }
    if !classes.isEmpty { addClasses(to: &effects, of: changes, in: source, total: total) }
    return effects
  }

  func effects(of changes: [ObjectChange], in after: CachingImageSource) -> PathQueryEffects {
    let budget = after.budget
    let before = PreCommitImageSource(changes, after: after)
    let affected = affectedRoots(of: changes, before, after)
    var roots = [ObjectID]()
    var seen = Set<ObjectID>()
    for change in changes where changedObjectIndexes[change.id.entity] != nil && seen.insert(change.id).inserted {
      roots.append(change.id)
    }
    for id in affected.roots.sorted() where seen.insert(id).inserted { roots.append(id) }
    let pathsAfter = PathCache(budget)
    let pathsBefore = PathCache(budget, after: pathsAfter, changedRelationships: affected.changedRelationships)
    var effects = [UInt64: [LiveQueryChange]]()
    for id in roots {
      let change = before.change(of: id)
      let new = after.root(id)
      let old = if let change { change.before } else { new }
      let contextBefore = old.map { EvaluationContext(image: $0, source: before, paths: pathsBefore) }
      let contextAfter = new.map { EvaluationContext(image: $0, source: after, paths: pathsAfter) }
      let (open, unaffected) =
        change.map { candidates($0, contextBefore, contextAfter, changed: affected.changedTriggers, budget) }
        ?? (unchangedCandidates(id.entity, contextBefore, contextAfter, changed: affected.changedTriggers, budget), [])
      for (numbers, isUnaffected) in [(open, false), (unaffected, true)] {
        for number in numbers {
          if affected.unknown.contains(number) { continue }
          guard let query = queries[number] else {
            assertionFailure("the indexes name queries that exist")
            continue
          }
          let isMember = budget.charge(to: .query(number)) {
            let isIn = contextAfter.map(query.evaluator.matches) == true
            return (before: isUnaffected ? isIn : contextBefore.map(query.evaluator.matches) == true, after: isIn)
          }
          guard let isMember else { continue }
          switch (isMember.before, isMember.after, old, new) {
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
    let unknown = affected.unknown.union(incompleteQueries(budget.stoppedAccounts))
    for number in unknown { effects[number] = nil }
    return PathQueryEffects(
      knownThrough: lastNumber,
      effects: effects.sorted { $0.key < $1.key }.map { .init(query: $0.key, changes: $0.value) },
      unknown: unknown.sorted())
  }

  /// The queries whose evaluation was incomplete.
  private func incompleteQueries(_ stopped: Set<EvaluationBudget.CostAccount>) -> Set<UInt64> {
    var (found, expressions) = (Set<UInt64>(), Set<IndexedExpression>())
    for account in stopped {
      switch account {
      case .query(let number): found.insert(number)
      case .expression(let expression): expressions.insert(expression)
      // `affectedRoots` has handled the triggers.
      case .trigger: break
      }
    }
    if !expressions.isEmpty {
      for (number, query) in queries where !query.expressions.isDisjoint(with: expressions) { found.insert(number) }
    }
    return found
  }

  /// The queries that a changed object could match. `open` are the queries whose result it could join or leave;
  /// `unaffected` are the queries that read only unchanged values.
  /// - Parameter changed: the properties that changed in any object and are read through paths.
  private func candidates(
    _ change: ObjectChange, _ before: EvaluationContext?, _ after: EvaluationContext?, changed: Set<PropertyNumber>,
    _ budget: EvaluationBudget
  ) -> (open: [UInt64], unaffected: [UInt64]) {
    guard let groups = changedObjectIndexes[change.id.entity] else { return ([], []) }
    guard let old = change.before, let new = change.after, let entity = model.entity(change.id.entity) else {
      return (groups.values.flatMap { $0.candidates(before, after, budget) }.sorted(), [])
    }
    var changed = changed
    var slots = [Int]()
    new.findChangedSlots(since: old, into: &slots)
    for slot in slots { changed.insert(entity.storedProperties[slot].number) }
    var (open, unaffected) = ([UInt64](), [UInt64]())
    for (reads, queries) in groups {
      if reads.isDisjoint(with: changed) {
        unaffected += queries.candidates(nil, after, budget)
      } else {
        open += queries.candidates(before, after, budget)
      }
    }
    return (open.sorted(), unaffected.sorted())
  }

  /// The queries of an entity whose result an unchanged object could join or leave.
  /// - Parameter changed: the properties that changed in any object.
  private func unchangedCandidates(
    _ entity: EntityNumber, _ before: EvaluationContext?, _ after: EvaluationContext?, changed: Set<PropertyNumber>,
    _ budget: EvaluationBudget
  ) -> [UInt64] {
    guard let index = unchangedObjectIndexes[entity] else { return [] }
    var numbers = Set<UInt64>()
    for (reads, queries) in index.unindexed where !reads.isDisjoint(with: changed) {
      numbers.formUnion(queries.candidates(before, after, budget))
    }
    for (reads, expressions) in index.expressions where !reads.isDisjoint(with: changed) {
      for (expression, (reader, queries)) in expressions {
        let values = budget.charge(to: .expression(expression)) {
          (old: reader.values(before), new: reader.values(after))
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

  /// The objects that a commit's changes reach on the paths back.
  private struct AffectedRoots {
    /// The roots of paths through changed objects, before or after the commit.
    var roots = Set<ObjectID>()
    /// The queries whose paths back are too expensive.
    var unknown = Set<UInt64>()
    /// The triggers that changed.
    var changedTriggers = Set<PropertyNumber>()
    /// The stored relationships that changed.
    var changedRelationships = Set<PropertyNumber>()
  }

  private func affectedRoots(of changes: [ObjectChange], _ before: PreCommitImageSource, _ after: CachingImageSource)
    -> AffectedRoots
  {
    var affected = AffectedRoots()
    var starts = [Trigger: Set<ObjectID>]()
    var known = Set<ObjectID>()
    for change in changes {
      guard let entity = model.entity(change.id.entity) else { continue }
      for property in entity.storedProperties {
        let triggered = triggers[property.number]
        guard triggered != nil || property.relationship != nil, change.before?[property] != change.after?[property]
        else {
          continue
        }
        if property.relationship != nil { affected.changedRelationships.insert(property.number) }
        guard let triggered else { continue }
        affected.changedTriggers.insert(property.number)
        for (trigger, users) in triggered {
          if users.unindexed.isEmpty, !hasIndexedValue(change, property, after: trigger) { continue }
          let found = after.budget.charge(to: .trigger(trigger)) {
            roots(over: trigger.hops, from: change.id, change.before, before)
              .union(roots(over: trigger.hops, from: change.id, change.after, after))
          }
          guard let found else { continue }
          let new = found.count { known.insert($0).inserted }
          // Several paths may lead to a root, which is read and evaluated once.
          _ = after.budget.charge(to: .trigger(trigger)) {
            after.budget.chargeRoots(found.count, new: new)
          }
          starts[trigger, default: []].formUnion(found)
        }
      }
    }
    let stopped = after.budget.stoppedAccounts
    for (trigger, found) in starts where !stopped.contains(.trigger(trigger)) {
      guard let family = model.entity(trigger.root)?.family else { continue }
      affected.roots.formUnion(found.filter { family.contains($0.entity) })
    }
    for case .trigger(let trigger) in stopped {
      for queries in triggers.values {
        guard let users = queries[trigger] else { continue }
        affected.unknown.formUnion(users.indexed)
        affected.unknown.formUnion(users.unindexed)
      }
    }
    return affected
  }

  /// Whether a query has a key for the old or the new value of a property at the end of a path. Its members may change
  /// then.
  private func hasIndexedValue(_ change: ObjectChange, _ property: Property, after trigger: Trigger) -> Bool {
    let expression = IndexedExpression.path(GraphPredicate.Path(hops: trigger.hops, end: .property(property.number)))
    let reads = expression.reads(in: model)
    let (old, new) = ([change.before].compactMap { $0?[property] }, [change.after].compactMap { $0?[property] })
    return model.family(of: trigger.root).contains { entity in
      guard let index = unchangedObjectIndexes[entity] else { return false }
      var isFound = false
      index.expressions[reads]?[expression]?.queries.forEach(from: old, to: new) { _ in
        isFound = true
        return false
      }
      return isFound
        || index.unindexed.values.contains { others in
          guard let others = others.expressions[expression] else { return false }
          return (old + new).contains { others.queries.hasMatch(for: $0) }
        }
    }
  }

  /// Follows a path back from its last object to its roots, as far as the budget allows.
  private func roots(
    over hops: [PropertyNumber], from id: ObjectID, _ image: ObjectImage?, _ source: any ImageSource
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
    for (expression, (reader, queries)) in expressions {
      let values = budget.charge(to: .expression(expression)) {
        (old: reader.values(before), new: reader.values(after))
      }
      guard let (old, new) = values else { continue }
      for value in old { queries.appendMatches(of: value, to: &numbers) }
      guard new != old else { continue }
      for value in new { queries.appendMatches(of: value, to: &numbers) }
    }
    return Array(numbers.isEmpty ? general : general.union(numbers))
  }
}
