/// The rules engine. It computes a plan of writes from a transaction and a reader of the present graph, or refuses
/// the transaction with all reasons. The store runs it within its SQLite transaction, a replica runs it over its own
/// objects, and the simulation runs both.
///
/// The steps are: identities, merging against the base revision, edits with their inverses, deletes by the delete
/// rules, server-assigned values, validation. All steps work on `graph`, the objects as they will be; nothing
/// outside the planner changes.
public struct TransactionPlanner {
  /// The most objects that a transaction may touch, including cascaded deletes.
  public static let maximumObjects = 1_000_000

  var transaction: Transaction
  /// Whether the store built the transaction from history, so that it may set positions.
  let isUndo: Bool
  /// Properties whose unique keys are checked later, after all slices of a batch.
  private let deferredKeys: Set<PropertyNumber>
  /// Whether derived counts are recounted, because members will be deleted that have no draft.
  private let recounts: Bool
  /// Whether the transaction is a slice of a batch.
  let isSlice: Bool

  var graph: DraftGraph
  var findings = PlanFindings()
  let merger: EditMerger
  var upserts: UpsertMatcher
  var deletedTargets: DeletedTargetFilter
  private var assigned: AssignedValues
  /// Decides what the requesting principal may see and change; nil for everything.
  let judge: AccessJudge?
  /// Whether any update has a base before the present revision.
  private(set) var isBehind = false
  /// The bases that the transaction states for objects and properties; nil before they are needed.
  var statedBases: StatedBaseRevisions?
  /// Objects that `overwrite` or `rollback` decides as a whole.
  var objectConflicts = [ObjectID: ObjectConflict]()

  /// Plans a transaction.
  /// - Parameters:
  ///   - revision: the revision of the commit.
  ///   - now: the time of the commit.
  ///   - author: the id of the principal, for attributes with its creator.
  ///   - judge: decides what the principal may see and change; nil for everything.
  ///   - isUndo: whether the store built the transaction from history.
  ///   - deferredKeys: properties whose unique keys are not checked here.
  ///   - recounts: whether derived counts are recounted, because the reader omits members that will be deleted.
  ///   - isSlice: whether it is a slice of a batch, of which other slices may be written.
  ///   - allocate: returns a new permanent id.
  /// - Throws: `Refusal`, `InvariantFailure`, or an error of the reader.
  public static func plan(
    _ transaction: Transaction, reader: any PlannerReader, revision: Revision, now: Timestamp,
    author: String? = nil, judge: AccessJudge? = nil, isUndo: Bool = false, deferredKeys: Set<PropertyNumber> = [],
    recounts: Bool = false, isSlice: Bool = false, allocate: (EntityNumber) -> ObjectID
  ) throws -> TransactionPlan {
    try plan(
      transaction, reader: reader, revision: revision, now: now, author: author, judge: judge, isUndo: isUndo,
      deferredKeys: deferredKeys, recounts: recounts, isSlice: isSlice, identify: { allocate($0.entity) })
  }

  /// Plans a transaction whose new objects get ids that depend on their temporary ones.
  /// - Parameter identify: returns the permanent id of an insert.
  package static func plan(
    _ transaction: Transaction, reader: any PlannerReader, revision: Revision, now: Timestamp,
    author: String? = nil, judge: AccessJudge? = nil, isUndo: Bool = false, deferredKeys: Set<PropertyNumber> = [],
    recounts: Bool = false, isSlice: Bool = false, identify: (_ temporary: ObjectID) -> ObjectID
  ) throws -> TransactionPlan {
    var excluded = ExcludedObjects()
    while true {
      var planner = TransactionPlanner(
        transaction, reader: reader, revision: revision, assigned: AssignedValues(now: now, author: author),
        judge: judge, isUndo: isUndo, deferredKeys: deferredKeys, recounts: recounts, isSlice: isSlice,
        excluded: excluded)
      switch try planner.runJudgedPass(identify: identify) {
      case .planned(let plan): return plan
      case .upsertTargetsDeleted(let ids): try exclude(ids, into: &excluded.upsertTargets)
      case .targetsDeleted(let ids): try exclude(ids, into: &excluded.deletedTargets)
      }
    }
  }

  /// The objects that earlier passes over the transaction excluded.
  private struct ExcludedObjects {
    var upsertTargets = Set<ObjectID>()
    var deletedTargets = Set<ObjectID>()
  }

  private init(
    _ transaction: Transaction, reader: any PlannerReader, revision: Revision, assigned: AssignedValues,
    judge: AccessJudge?, isUndo: Bool, deferredKeys: Set<PropertyNumber>, recounts: Bool, isSlice: Bool,
    excluded: ExcludedObjects
  ) {
    self.transaction = transaction
    self.isUndo = isUndo
    self.deferredKeys = deferredKeys
    self.recounts = recounts
    self.isSlice = isSlice
    graph = DraftGraph(reader, revision: revision)
    merger = EditMerger(transaction, reader)
    upserts = UpsertMatcher(excluded: excluded.upsertTargets)
    deletedTargets = DeletedTargetFilter(excluded: excluded.deletedTargets)
    self.assigned = assigned
    self.judge = judge
  }

  /// The result of one pass over a transaction.
  private enum PassResult {
    case planned(TransactionPlan)
    /// Inserts became these objects, which the transaction deletes. The next pass does not match inserts with them.
    case upsertTargetsDeleted(Set<ObjectID>)
    /// Edits refer to these deleted objects. The next pass drops the references.
    case targetsDeleted(Set<ObjectID>)
  }

  /// Excludes objects from the next pass.
  ///
  /// Every repeated pass excludes further objects, which are named by an edit or have the unique key of an insert. The
  /// number of passes is therefore at most one more than the number of these objects.
  private static func exclude(_ ids: Set<ObjectID>, into excluded: inout Set<ObjectID>) throws(InvariantFailure) {
    let count = excluded.count
    excluded.formUnion(ids)
    try invariant(excluded.count > count, "each pass of the planner excludes another object")
  }

  /// A pass whose refusals and conflicts name only objects that the principal sees.
  private mutating func runJudgedPass(identify: (ObjectID) -> ObjectID) throws -> PassResult {
    guard let judge else { return try runPass(identify: identify) }
    do {
      let result = try runPass(identify: identify)
      guard case .planned(var plan) = result else { return result }
      plan.conflicts = try judge.withoutInvisible(plan.conflicts, in: graph)
      return .planned(plan)
    } catch let refusal as Refusal {
      throw try judge.withoutInvisible(refusal, in: graph, isOwn: !isUndo && !isSlice)
    }
  }

  private mutating func runPass(identify: (ObjectID) -> ObjectID) throws -> PassResult {
    graph.reserveCapacity(transaction.changes.count)
    for id in deletedTargets.dropReferences(from: &transaction.changes) { try findings.addMissing(id, in: graph) }
    let inserted = try identifyInserts(identify)
    try refuseIfViolated()
    try checkPreconditions()
    isBehind = transaction.changes.indices.contains { index in
      transaction.changes[index].kind == .update && transaction.changes[index].base < graph.revision - 1
    }
    try findObjectConflicts()
    try applyChanges(inserted)
    if !deletedTargets.found.isEmpty { return .targetsDeleted(deletedTargets.found) }
    try applyDeletes()
    if !upserts.targets.isEmpty {
      let deleted = upserts.targets.filter { graph.isDeleted($0) }
      if !deleted.isEmpty { return .upsertTargetsDeleted(deleted) }
    }
    let conflicts = transaction.policy == .error ? findings.conflicts : []
    // Only references to deleted objects are followed by a search for violations.
    if !conflicts.isEmpty, !deletedTargets.hasDroppedReferences { throw try refusal(conflicts) }
    let validator = RuleValidator(after: findings.violations, deferredKeys: deferredKeys, isSlice: isSlice)
    try graph.deriveCounts(recounts: recounts)
    try graph.deriveScopes()
    assigned.stamp(graph, &findings)
    graph.deriveExpressions()
    if conflicts.isEmpty { try refuseIfNotPermitted() }
    try validator.validate(graph, &findings)
    if !conflicts.isEmpty { throw try refusal(conflicts) }
    try deletedTargets.refuseIfReferencesAreRequired(findings, in: graph)
    try refuseIfViolated()
    return .planned(plan())
  }

  /// The refusal for conflicts under `error`, with the violations by references to deleted objects.
  private func refusal(_ conflicts: [Conflict]) throws -> Refusal {
    Refusal(
      .conflict, try PlanFindings.message(for: conflicts, in: graph), conflicts: conflicts,
      violations: deletedTargets.violationsByDroppedReferences(findings, in: graph))
  }

  private func refuseIfViolated() throws {
    try findings.refuseIfViolated(in: graph, deletedTargets: deletedTargets.excluded)
  }

  /// Applies all changes but the deletes.
  private mutating func applyChanges(_ inserted: [Draft?]) throws {
    for index in transaction.changes.indices {
      switch transaction.changes[index].kind {
      case .insert, .revive:
        guard let draft = inserted[index] else {
          try mergeIntoExisting(transaction.changes[index])
          continue
        }
        graph.current = draft
        try applyInsert(transaction.changes[index], to: draft)
      case .update: try applyUpdate(transaction.changes[index])
      case .delete: break
      }
    }
  }

  /// Builds the plan from the drafts, whose images are moved, not copied.
  private func plan() -> TransactionPlan {
    var changes = [ObjectChange]()
    changes.reserveCapacity(graph.order.count)
    var changed = [Int]()
    for draft in graph.order {
      let id = draft.after.id
      assert(draft.after.revision == graph.revision, "a draft has the revision of its commit")
      if draft.isDeleted {
        if let before = draft.before.take() {
          changes.append(ObjectChange(kind: .deleted, id: id, before: before, after: nil))
        }
      } else if let before = draft.before.take() {
        draft.after.findChangedSlots(since: before, into: &changed)
        guard !changed.isEmpty else { continue }
        let edits = draft.edits(since: before, changed)
        let spacing = draft.spacing.isEmpty ? [] : edits.map(\.property).filter { draft.spacing.contains($0) }
        changes.append(
          ObjectChange(
            kind: .updated, id: id, before: before, after: draft.takeImage(), edits: edits, spacing: spacing))
      } else {
        changes.append(ObjectChange(kind: .inserted, id: id, before: nil, after: draft.takeImage()))
      }
    }
    return TransactionPlan(
      changes: changes, identities: graph.idAssignments, conflicts: findings.conflicts,
      sequences: assigned.sequences.sorted { $0.property < $1.property })
  }
}

// MARK: - Access

/// Objects that the requesting principal can't see do not exist for its edits, and each effect of the transaction must
/// be permitted, on every path. Without rights, `judge` is nil, and all of this costs only a test.
extension TransactionPlanner {
  /// Whether the principal may not see an object, present or deleted. Objects that the transaction inserts are its own.
  func isInvisible(_ id: ObjectID) throws -> Bool {
    guard let judge, !judge.seesEverything else { return false }
    return try judge.isInvisible(id, in: graph)
  }

  /// Refuses an insert that becomes an object which the principal may not change, even if the policy keeps its values.
  func refuseMergingInto(_ draft: Draft) throws {
    if let judge, let stored = draft.before, let missing = judge.missingUpdate(of: stored) {
      throw Refusal(.notAllowed, missing.message)
    }
  }

  /// Refuses the transaction if one of its effects is not permitted.
  func refuseIfNotPermitted() throws {
    if let judge, !judge.permitsEverything {
      // An object whose container does not exist for the principal has no scope here, and therefore no role. The
      // refusal states the reason instead.
      if findings.violations.contains(where: { $0.commonRule == .destination }) { try refuseIfViolated() }
      try refuseEffects(notPermittedBy: judge)
    }
  }

  private func refuseEffects(notPermittedBy judge: AccessJudge) throws {
    var slots = [Int]()
    for draft in graph.order {
      let before = draft.before
      if draft.isDeleted, before == nil { continue }
      var changed = [PropertyNumber]()
      if before != nil, !draft.isDeleted {
        draft.findChangedSlots(into: &slots)
        changed = slots.map { draft.entity.storedProperties[$0].number }.filter { !draft.spacing.contains($0) }
      }
      let after = draft.isDeleted ? nil : draft.after
      guard let missing = judge.missingRight(before: before, after: after, changed: changed) else { continue }
      throw missing.operation == .read ? AccessJudge.effectOnInvisible : Refusal(.notAllowed, missing.message)
    }
  }
}
