/// The one engine of rules: a transaction and a reader of the present graph go in, a plan of writes comes out, or a
/// refusal with every reason. The store runs it inside its SQLite transaction, a replica runs it over what it holds,
/// the simulation runs both.
///
/// The steps are those of the design: identities, merging against the base revision, edits with their inverses,
/// deletes by their rules, server-assigned values, validation. Each step works on `drafts`, the objects as they will
/// be; nothing outside the planner changes.
public struct TransactionPlanner {
  /// An object as the transaction will leave it.
  /// A class: it is changed in place, a property at a time.
  ///
  /// Its accesses are not checked while it runs: a draft belongs to one planner, which is a value on one thread, none of whose
  /// steps calls another one while it holds a property of a draft `inout`. The checks were a fortieth of a large transaction.
  final class Draft {
    let entity: Entity
    /// Nil for an insert.
    @exclusivity(unchecked) var before: ObjectImage?
    @exclusivity(unchecked) var after: ObjectImage
    @exclusivity(unchecked) var isDeleted = false
    /// It was deleted, and comes back.
    @exclusivity(unchecked) var isRevived = false
    /// What a text's edits were after merging, so that history and deltas can say them as splices.
    @exclusivity(unchecked) var splices = [PropertyNumber: [TextSplice]]()
    /// Places that changed only to make room for others.
    @exclusivity(unchecked) var spacing = Set<PropertyNumber>()

    init(entity: Entity, before: ObjectImage? = nil, after: ObjectImage) {
      self.entity = entity
      self.before = before
      self.after = after
    }

    /// The slots whose values come from the transaction, ascending: all of a new object's.
    func findChangedSlots(into slots: inout [Int]) {
      if let before {
        after.findChangedSlots(since: before, into: &slots)
      } else {
        slots.removeAll(keepingCapacity: true)
        slots += after.values.indices
      }
    }

    /// The object as it will be, for a plan: the draft is left without it.
    func takeImage() -> ObjectImage {
      var image = ObjectImage(id: after.id, revision: after.revision, values: [])
      swap(&image, &after)
      return image
    }
  }

  /// An object, and the stored relationship by which others refer to it.
  struct Reference: Hashable {
    let target: ObjectID
    let property: PropertyNumber
  }

  /// The values that a uniqueness constraint allows once.
  struct UniqueKey: Hashable {
    /// The entity that declares the constraint.
    let owner: EntityNumber
    let constraint: [PropertyNumber]
    let values: [Value]
  }

  /// The most objects one transaction may touch, deletes by cascade included.
  public static let maximumObjects = 1_000_000

  let reader: any GraphReader
  let model: Model
  var transaction: Transaction
  let revision: Revision
  let now: Timestamp
  /// The transaction was made from history: it may set places.
  let isUndo: Bool
  /// Properties whose unique keys are judged later, when all objects of a batch have theirs.
  var deferredKeys = Set<PropertyNumber>()
  /// Derived counts are counted anew: members go that are in no draft.
  var recounts = false
  /// It is a part of a batch: what other parts have written has the revision that the commit will have.
  var isSlice = false

  /// The objects touched so far, and their order.
  var drafts = [ObjectID: Draft]()
  var order = [Draft]()
  /// Their entities, each once: a step that none of these needs goes through no object.
  var kinds = [Entity]()
  /// The one that is being edited: most questions are about it.
  var current: Draft?
  /// Permanent ids by temporary ones, and the same in the order of the inserts.
  var identities = [ObjectID: ObjectID]()
  var named = [Committed.Identity]()
  var conflicts = [Conflict]()
  /// Those about single properties, each told once.
  var recorded = Set<Conflict>()
  var violations = [Violation]()
  /// What the transaction changes or deletes, and never was.
  var missing = Set<ObjectID>()
  var sequences = [PropertyNumber: Int64]()
  /// Which objects came to refer to an object in this transaction, for the side of a relationship that stores nothing.
  /// Entries may be out of date: a reader checks them against the drafts.
  let gained = GainedReferrers()
  /// The ordered relationships whose members' places changed.
  var lists = [Reference: ListChanges]()
  /// The unique keys of the objects that this transaction inserts.
  var insertedKeys = [UniqueKey: ObjectID]()
  /// Stored objects that inserts of this transaction became, because they have their keys.
  var metObjects = Set<ObjectID>()
  /// Stored objects that the transaction deletes: they are about to have no key, and no insert becomes one of them.
  var leavingObjects = Set<ObjectID>()
  /// Deleted objects whose references are taken out of the transaction.
  var deletedTargets = Set<ObjectID>()
  /// Deleted objects that edits named in this pass, beyond those.
  var metDeleted = Set<ObjectID>()
  /// The relationships that lost a reference to a deleted object, by the id under which the transaction names their owner.
  var droppedReferences = [ObjectID: Set<PropertyNumber>]()
  /// What the transaction's own updates set, by object; nil before an insert has met one.
  var ownUpdates: [ObjectID: [PropertyNumber: Value]]?
  /// Whether any of its updates was made on an earlier state than the present.
  var isBehind = false
  /// At which revisions the transaction says that it has read what; nil before anybody asked.
  var spokenBases: SpokenBases?
  /// Objects that `overwrite` or `rollback` decides whole.
  var contested = [ObjectID: Contest]()
  /// Properties that were to be edited and could not: what they have is not what was wanted, and nothing that depends on it
  /// is judged.
  var unset = [ObjectID: Set<PropertyNumber>]()
  /// To-many relationships whose count changed without their owner being touched.
  var countsToCheck = [ObjectID: Set<PropertyNumber>]()

  /// Plans `transaction`.
  /// - Parameters:
  ///   - revision: the revision that the commit will have.
  ///   - now: the time of the commit.
  ///   - isUndo: the store made the transaction from history; no client did.
  ///   - deferredKeys: properties whose unique keys are not judged here.
  ///   - recounts: the reader leaves out members that are about to go: derived counts are counted anew.
  ///   - isSlice: it is a part of a batch, and other parts of it may be written.
  ///   - allocate: makes a new permanent id.
  /// - Throws: `Refusal`, or whatever the reader throws.
  public static func plan(
    _ transaction: Transaction, reader: any GraphReader, revision: Revision, now: Timestamp,
    isUndo: Bool = false, deferredKeys: Set<PropertyNumber> = [], recounts: Bool = false,
    isSlice: Bool = false, allocate: (EntityNumber) -> ObjectID
  ) throws -> TransactionPlan {
    var gone = Set<ObjectID>()
    var deletedTargets = Set<ObjectID>()
    while true {
      var planner = TransactionPlanner(
        reader: reader, model: reader.model, transaction: transaction, revision: revision, now: now, isUndo: isUndo,
        deferredKeys: deferredKeys, recounts: recounts, isSlice: isSlice)
      (planner.leavingObjects, planner.deletedTargets) = (gone, deletedTargets)
      do {
        return try planner.run(allocate: allocate)
      } catch let leaving as MetObjectsLeave {
        // Each round knows of more of them, and none is met twice.
        gone.formUnion(leaving.ids)
      } catch let met as DeletedTargetsMet {
        // The same holds here: a pass notes only objects that it did not know of.
        deletedTargets.formUnion(met.ids)
      }
    }
  }

  private mutating func run(allocate: (EntityNumber) -> ObjectID) throws -> TransactionPlan {
    order.reserveCapacity(transaction.changes.count)
    drafts.reserveCapacity(transaction.changes.count)
    try dropReferencesToDeleted()
    let inserted = try identifyInserts(allocate: allocate)
    try refuseIfViolated()
    try checkPreconditions()
    isBehind = transaction.changes.indices.contains { index in
      transaction.changes[index].kind == .update && transaction.changes[index].base < revision - 1
    }
    try findContested()
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
    if !metDeleted.isEmpty { throw DeletedTargetsMet(ids: metDeleted) }
    try propagateDeletes()
    let leaving = metObjects.filter { drafts[$0]?.isDeleted == true }
    if !leaving.isEmpty { throw MetObjectsLeave(ids: leaving) }
    if transaction.policy == .error, !conflicts.isEmpty {
      throw Refusal(.conflict, sentence(for: conflicts), conflicts: conflicts)
    }
    recordUnset()
    try deriveCounts()
    stampAssignedValues()
    deriveExpressions()
    try validate()
    validateRules()
    try refuseIfReferencesAreRequired()
    try refuseIfViolated()
    return plan()
  }

  /// The drafts have done their work: their images go into the plan, and none is copied.
  private func plan() -> TransactionPlan {
    var changes = [ObjectChange]()
    changes.reserveCapacity(order.count)
    var changed = [Int]()
    for draft in order {
      let id = draft.after.id
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
      changes: changes, identities: named, conflicts: conflicts,
      sequences: sequences.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
  }

  private func edits(of draft: Draft, since before: ObjectImage, _ changed: [Int]) -> [Edit] {
    var edits = [Edit]()
    // A place among other members is another place, even under the same number.
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

  /// The draft of an object, made when this is the first time that it is touched; nil when the object is not there.
  mutating func touch(_ id: ObjectID) throws -> Draft? {
    if let draft = draft(of: id) { return draft.isDeleted ? nil : draft }
    guard let image = try reader.image(of: id), let entity = model.entity(image.id.entity) else { return nil }
    guard order.count < Self.maximumObjects else {
      throw Refusal(.limit, "the transaction touches more than \(Self.maximumObjects) objects; split it")
    }
    var after = image
    after.revision = revision
    let draft = Draft(entity: entity, before: image, after: after)
    enlist(draft)
    current = draft
    return draft
  }

  /// - Returns: false when the transaction has touched the object before.
  @discardableResult
  mutating func enlist(_ draft: Draft) -> Bool {
    guard drafts.updateValue(draft, forKey: draft.after.id) == nil else { return false }
    order.append(draft)
    if kinds.last !== draft.entity, !kinds.contains(where: { $0 === draft.entity }) { kinds.append(draft.entity) }
    return true
  }

  /// The draft of an object that was touched before.
  func draft(of id: ObjectID) -> Draft? {
    if let current, current.after.id == id { return current }
    return drafts[id]
  }

  /// The entity of an object that will be there; nil when there is none.
  func entity(of id: ObjectID) throws -> Entity? {
    if let draft = drafts[id] { return draft.isDeleted ? nil : draft.entity }
    return try reader.entity(of: id).flatMap { model.entity($0) }
  }

  /// The permanent id for what a transaction says.
  func permanent(_ id: ObjectID) -> ObjectID? { id.isTemporary ? identities[id] : id }

  mutating func violate(_ id: ObjectID, _ property: Property?, _ rule: String, _ value: Value, _ message: String) {
    violations.append(
      Violation(id: id, property: property?.number ?? 0, rule: rule, value: value, message: message))
  }

  func refuseIfViolated() throws {
    guard !violations.isEmpty else { return }
    let temporary = temporaryIDs()
    let met = conflicts.filter { $0.kind == .unique || deletedTargets.contains($0.id) }.map { conflict in
      var conflict = conflict
      // One that will never be.
      if let draft = drafts[conflict.id], draft.before == nil { conflict.id = temporary[conflict.id] ?? conflict.id }
      return conflict
    }
    throw Refusal(violations: namedAsSent(violations), conflicts: met)
  }

  private func temporaryIDs() -> [ObjectID: ObjectID] {
    Dictionary(identities.map { ($0.value, $0.key) }, uniquingKeysWith: { min($0, $1) })
  }

  /// The client knows an object that it wanted to insert by its temporary id only.
  func namedAsSent(_ violations: [Violation]) -> [Violation] {
    let temporary = temporaryIDs()
    return violations.map { violation in
      var violation = violation
      violation.id = temporary[violation.id] ?? violation.id
      return violation
    }
  }

  func sentence(for conflicts: [Conflict]) -> String {
    guard let first = conflicts.first else { return "" }
    let entity = model.entity(first.id.entity)?.name ?? "object"
    let who = first.author.isEmpty ? "someone else" : first.author
    let more = conflicts.count > 1 ? " (and \(conflicts.count - 1) more conflicts)" : ""
    switch first.kind {
    // The conflict names who brought it back, the last to have a hand in it.
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
