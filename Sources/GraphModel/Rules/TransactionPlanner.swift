/// The rules engine. It computes a plan of writes from a transaction and a reader of the present graph, or refuses
/// the transaction with all reasons. The store runs it within its SQLite transaction, a replica runs it over its own
/// objects, and the simulation runs both.
///
/// The steps are: identities, merging against the base revision, edits with their inverses, deletes by the delete
/// rules, server-assigned values, validation. All steps work on `drafts`, the objects as they will be; nothing
/// outside the planner changes.
public struct TransactionPlanner {
  /// An object as the transaction will leave it. A class, because it is changed in place, one property at a time.
  ///
  /// Exclusivity checks are disabled: a draft belongs to a single planner, a value on one thread, and no step calls
  /// another one while it has `inout` access to a property of a draft. The checks cost a fortieth of a large
  /// transaction.
  final class Draft {
    let entity: Entity
    /// Nil for an insert.
    @exclusivity(unchecked) var before: ObjectImage?
    @exclusivity(unchecked) var after: ObjectImage
    @exclusivity(unchecked) var isDeleted = false
    /// Whether the object is a revived one.
    @exclusivity(unchecked) var isRevived = false
    /// The merged splices of text properties, which history and deltas use.
    @exclusivity(unchecked) var splices = [PropertyNumber: [TextSplice]]()
    /// Position attributes that changed only to make space for other members.
    @exclusivity(unchecked) var spacing = Set<PropertyNumber>()

    init(entity: Entity, before: ObjectImage? = nil, after: ObjectImage) {
      self.entity = entity
      self.before = before
      self.after = after
    }

    /// The slots that the transaction changed, ascending; for a new object, all slots.
    func findChangedSlots(into slots: inout [Int]) {
      if let before {
        after.findChangedSlots(since: before, into: &slots)
      } else {
        slots.removeAll(keepingCapacity: true)
        slots += after.values.indices
      }
    }

    /// Moves the new image out of the draft and into the plan.
    func takeImage() -> ObjectImage {
      var image = ObjectImage(id: after.id, revision: after.revision, values: [])
      swap(&image, &after)
      return image
    }
  }

  /// An object and a stored relationship through which others refer to it.
  struct Reference: Hashable {
    let target: ObjectID
    let property: PropertyNumber
  }

  /// A key that a uniqueness constraint allows only once.
  struct UniqueKey: Hashable {
    /// The entity that declares the constraint.
    let owner: EntityNumber
    let constraint: [PropertyNumber]
    let values: [Value]
  }

  /// The most objects that a transaction may touch, including cascaded deletes.
  public static let maximumObjects = 1_000_000

  let reader: any PlannerReader
  let model: Model
  var transaction: Transaction
  let revision: Revision
  let now: Timestamp
  /// Whether the store built the transaction from history, so that it may set positions.
  let isUndo: Bool
  /// Properties whose unique keys are checked later, after all slices of a batch.
  var deferredKeys = Set<PropertyNumber>()
  /// Whether derived counts are recounted, because members will be deleted that have no draft.
  var recounts = false
  /// Whether the transaction is a slice of a batch. Objects written by other slices have the commit's revision.
  var isSlice = false

  /// The touched objects by id, and in order.
  var drafts = [ObjectID: Draft]()
  var order = [Draft]()
  /// The distinct entities of the touched objects; a step that concerns none of them is skipped.
  var touchedEntities = [Entity]()
  /// The object being edited, which most lookups are for.
  var current: Draft?
  /// The permanent ids by temporary id, and in the order of the inserts.
  var identities = [ObjectID: ObjectID]()
  var idAssignments = [CommitResult.IDAssignment]()
  var conflicts = [Conflict]()
  /// The conflicts over single properties, to report each only once.
  var recorded = Set<Conflict>()
  var violations = [Violation]()
  /// Objects that the transaction changes or deletes and that never existed.
  var unknownObjects = Set<ObjectID>()
  var sequences = [PropertyNumber: Int64]()
  /// The objects that gained a reference to an object in this transaction, for the end that stores nothing. Entries
  /// may be outdated; they must be checked against the drafts.
  let addedReferences = AddedReferences()
  /// The ordered relationships with changed places.
  var lists = [Reference: ListChanges]()
  /// The unique keys of the inserted objects.
  var insertedKeys = [UniqueKey: ObjectID]()
  /// Existing objects that inserts became, because they have the same unique keys.
  var upsertTargets = Set<ObjectID>()
  /// Existing objects that the transaction deletes; their keys become free, so no insert becomes one of them.
  var deletedUpsertTargets = Set<ObjectID>()
  /// Deleted objects whose references are removed from the transaction.
  var deletedTargets = Set<ObjectID>()
  /// Further deleted objects that edits of this pass refer to.
  var foundDeletedTargets = Set<ObjectID>()
  /// The relationships that lost a reference to a deleted object, by the owner's id in the transaction.
  var droppedReferences = [ObjectID: Set<PropertyNumber>]()
  /// The values that the transaction's own updates set, by object; nil before it is needed.
  var ownUpdates: [ObjectID: [PropertyNumber: Value]]?
  /// Whether any update has a base before the present revision.
  var isBehind = false
  /// The bases that the transaction states for objects and properties; nil before they are needed.
  var statedBases: StatedBaseRevisions?
  /// Objects that `overwrite` or `rollback` decides as a whole.
  var objectConflicts = [ObjectID: ObjectConflict]()
  /// Properties whose edits failed. They don't have the intended values, so rules that depend on them are not
  /// checked.
  var unset = [ObjectID: Set<PropertyNumber>]()
  /// To-many relationships whose count changed without their owner being touched.
  var countsToCheck = [ObjectID: Set<PropertyNumber>]()

  /// Plans a transaction.
  /// - Parameters:
  ///   - revision: the revision of the commit.
  ///   - now: the time of the commit.
  ///   - isUndo: whether the store built the transaction from history.
  ///   - deferredKeys: properties whose unique keys are not checked here.
  ///   - recounts: whether derived counts are recounted, because the reader omits members that will be deleted.
  ///   - isSlice: whether it is a slice of a batch, of which other slices may be written.
  ///   - allocate: returns a new permanent id.
  /// - Throws: `Refusal`, `InvariantFailure`, or an error of the reader.
  public static func plan(
    _ transaction: Transaction, reader: any PlannerReader, revision: Revision, now: Timestamp,
    isUndo: Bool = false, deferredKeys: Set<PropertyNumber> = [], recounts: Bool = false,
    isSlice: Bool = false, allocate: (EntityNumber) -> ObjectID
  ) throws -> TransactionPlan {
    var deletedUpsertTargets = Set<ObjectID>()
    var deletedTargets = Set<ObjectID>()
    while true {
      var planner = TransactionPlanner(
        reader: reader, model: reader.model, transaction: transaction, revision: revision, now: now, isUndo: isUndo,
        deferredKeys: deferredKeys, recounts: recounts, isSlice: isSlice)
      (planner.deletedUpsertTargets, planner.deletedTargets) = (deletedUpsertTargets, deletedTargets)
      switch try planner.runPass(allocate: allocate) {
      case .planned(let plan): return plan
      case .upsertTargetsDeleted(let ids): try exclude(ids, into: &deletedUpsertTargets)
      case .targetsDeleted(let ids): try exclude(ids, into: &deletedTargets)
      }
    }
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

  private mutating func runPass(allocate: (EntityNumber) -> ObjectID) throws -> PassResult {
    order.reserveCapacity(transaction.changes.count)
    drafts.reserveCapacity(transaction.changes.count)
    try dropReferencesToDeleted()
    let inserted = try identifyInserts(allocate: allocate)
    try refuseIfViolated()
    try checkPreconditions()
    isBehind = transaction.changes.indices.contains { index in
      transaction.changes[index].kind == .update && transaction.changes[index].base < revision - 1
    }
    try findObjectConflicts()
    for index in transaction.changes.indices {
      switch transaction.changes[index].kind {
      case .insert, .revive:
        guard let draft = inserted[index] else {
          try mergeIntoExisting(transaction.changes[index])
          continue
        }
        current = draft
        try applyInsert(transaction.changes[index], to: draft)
      case .update: try applyUpdate(transaction.changes[index])
      case .delete: break
      }
    }
    if !foundDeletedTargets.isEmpty { return .targetsDeleted(foundDeletedTargets) }
    try propagateDeletes()
    let deleted = upsertTargets.filter { drafts[$0]?.isDeleted == true }
    if !deleted.isEmpty { return .upsertTargetsDeleted(deleted) }
    if transaction.policy == .error, !conflicts.isEmpty {
      throw Refusal(.conflict, message(for: conflicts), conflicts: conflicts)
    }
    recordUnset()
    try deriveCounts()
    stampAssignedValues()
    deriveExpressions()
    try validate()
    validateRules()
    try refuseIfReferencesAreRequired()
    try refuseIfViolated()
    return .planned(plan())
  }

  /// Builds the plan from the drafts, whose images are moved, not copied.
  private func plan() -> TransactionPlan {
    var changes = [ObjectChange]()
    changes.reserveCapacity(order.count)
    var changed = [Int]()
    for draft in order {
      let id = draft.after.id
      assert(draft.after.revision == revision, "a draft has the revision of its commit")
      if draft.isDeleted {
        if let before = draft.before.take() {
          changes.append(ObjectChange(kind: .deleted, id: id, before: before, after: nil))
        }
      } else if let before = draft.before.take() {
        draft.after.findChangedSlots(since: before, into: &changed)
        guard !changed.isEmpty else { continue }
        let edits = edits(of: draft, since: before, changed)
        let spacing = draft.spacing.isEmpty ? [] : edits.map(\.property).filter { draft.spacing.contains($0) }
        changes.append(
          ObjectChange(
            kind: .updated, id: id, before: before, after: draft.takeImage(), edits: edits, spacing: spacing))
      } else {
        changes.append(ObjectChange(kind: .inserted, id: id, before: nil, after: draft.takeImage()))
      }
    }
    return TransactionPlan(
      changes: changes, identities: idAssignments, conflicts: conflicts,
      sequences: sequences.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
  }

  private func edits(of draft: Draft, since before: ObjectImage, _ changed: [Int]) -> [Edit] {
    var edits = [Edit]()
    // A new parent means a new place, even if the position is the same number.
    let places = changed.compactMap { slot in
      draft.entity.storedProperties[slot].relationship?.position.flatMap { draft.entity.property($0)?.slot }
    }
    for slot in places.isEmpty ? changed : Set(changed + places).sorted() {
      let property = draft.entity.storedProperties[slot]
      if let splices = draft.splices[property.number] {
        edits.append(Edit(property.number, .splice(splices)))
      } else {
        edits.append(Edit.difference(of: property, from: before.values[slot], to: draft.after.values[slot]))
      }
    }
    return edits
  }

  // MARK: - Drafts

  /// The draft of an object, created on the first access; nil if the object does not exist.
  mutating func touch(_ id: ObjectID) throws -> Draft? {
    if let draft = draft(of: id) { return draft.isDeleted ? nil : draft }
    guard let image = try reader.image(of: id), let entity = model.entity(image.id.entity) else { return nil }
    guard order.count < Self.maximumObjects else {
      throw Refusal(.limit, "the transaction touches more than \(Self.maximumObjects) objects; split it")
    }
    var after = image
    after.revision = revision
    let draft = Draft(entity: entity, before: image, after: after)
    register(draft)
    current = draft
    return draft
  }

  /// - Returns: false if the transaction has already touched the object.
  @discardableResult
  mutating func register(_ draft: Draft) -> Bool {
    guard drafts.updateValue(draft, forKey: draft.after.id) == nil else { return false }
    order.append(draft)
    assert(drafts.count == order.count, "each draft has one place in the order")
    if touchedEntities.last !== draft.entity, !touchedEntities.contains(where: { $0 === draft.entity }) {
      touchedEntities.append(draft.entity)
    }
    return true
  }

  /// The draft of an object that was already touched.
  func draft(of id: ObjectID) -> Draft? {
    if let current, current.after.id == id { return current }
    return drafts[id]
  }

  /// The entity of an object after the transaction; nil if it will not exist.
  func entity(of id: ObjectID) throws -> Entity? {
    if let draft = drafts[id] { return draft.isDeleted ? nil : draft.entity }
    return try reader.entity(of: id).flatMap { model.entity($0) }
  }

  /// The permanent id for an id in the transaction.
  func permanent(_ id: ObjectID) -> ObjectID? { id.isTemporary ? identities[id] : id }

  mutating func addViolation(_ id: ObjectID, _ property: Property?, _ rule: String, _ value: Value, _ message: String) {
    violations.append(
      Violation(id: id, property: property?.number ?? 0, rule: rule, value: value, message: message))
  }

  func refuseIfViolated() throws {
    guard !violations.isEmpty else { return }
    let temporary = temporaryIDs()
    let reported = conflicts.filter { $0.kind == .unique || deletedTargets.contains($0.id) }.map { conflict in
      var conflict = conflict
      // An object that will not be inserted is known by its temporary id.
      if let draft = drafts[conflict.id], draft.before == nil { conflict.id = temporary[conflict.id] ?? conflict.id }
      return conflict
    }
    throw Refusal(violations: withTemporaryIDs(violations), conflicts: reported)
  }

  private func temporaryIDs() -> [ObjectID: ObjectID] {
    Dictionary(identities.map { ($0.value, $0.key) }, uniquingKeysWith: { min($0, $1) })
  }

  /// Replaces permanent ids of inserts by temporary ones, which are the only ones that the client knows.
  func withTemporaryIDs(_ violations: [Violation]) -> [Violation] {
    let temporary = temporaryIDs()
    return violations.map { violation in
      var violation = violation
      violation.id = temporary[violation.id] ?? violation.id
      return violation
    }
  }

  /// The name of an object's entity for messages; the client may have sent an unknown one.
  func entityName(of id: ObjectID) -> String {
    if let entity = model.entity(id.entity) { entity.name } else { "object" }
  }

  func message(for conflicts: [Conflict]) -> String {
    guard let first = conflicts.first else { return "" }
    let entity = entityName(of: first.id)
    let who = first.author.isEmpty ? "someone else" : first.author
    let more = conflicts.count > 1 ? " (and \(conflicts.count - 1) more conflicts)" : ""
    switch first.kind {
    // The conflict's author is the one who revived the object.
    case .deleted where draft(of: first.id)?.isDeleted == false:
      return "this \(entity) was deleted since you read it, and brought back by \(who)\(more)"
    case .deleted: return "\(who) has deleted this \(entity)\(more)"
    case .changed:
      let property = model.property(first.property).map { "\(entity).\($0.name)" } ?? "this \(entity)"
      return "\(who) has changed \(property) since you read it\(more)"
    case .unique: return "another \(entity) has the same unique key\(more)"
    }
  }
}
