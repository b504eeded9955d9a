/// A to-many of to-ones is stored by its members, and a one-to-one at both ends. An edit of the list, or of one of
/// the ends, thus changes other objects, and is compared with others' changes of *those* objects.
extension TransactionPlanner {
  /// The stored end of a relationship, of an object that an edit of another object changes.
  struct StoredRelationshipEnd {
    let holder: Draft
    let property: Property
    /// The new value; null for a list, in which only one member changes.
    let newValue: Value
    /// Whether the edit does not mention the holder: it removes all previous members.
    let isImplicit: Bool
  }

  /// The edit without its effects on stored ends that others have changed and the policy keeps. Nil if nothing
  /// remains. Each conflict is recorded for the object that stores the end.
  mutating func uncontestedPart(_ edit: Edit, of draft: Draft, since base: Revision) throws -> Edit? {
    guard isBehind, let property = draft.entity.property(edit.property) else { return edit }
    // A new object has no earlier readers.
    let base = draft.before == nil ? .max : base
    var kept = Set<ObjectID>()
    for end in try storedEnds(of: edit, property, draft) {
      guard let stored = end.holder.before else { continue }
      let own = try change(of: end, in: draft.after.id, since: base)
      // Under `rollback` a contested object loses all of the transaction's changes to it.
      let decision = transaction.policy == .rollback ? objectConflicts[stored.id]?.decision : nil
      guard let last = own ?? decision else { continue }
      let mineWins = transaction.policy.prefersTransaction
      record(
        end.property.number, of: stored, mine: end.newValue, last, mineWon: mineWins, isCollateral: own == nil)
      if !mineWins { kept.insert(stored.id) }
    }
    return kept.isEmpty ? edit : try remainder(of: edit, property, draft, without: kept)
  }

  /// The stored ends of other objects that a change's edits affect. Each has the last change that others made to it
  /// since the base.
  mutating func affectedEnds(of change: Change, _ draft: Draft) throws -> [(
    end: StoredRelationshipEnd, last: PastChange?
  )] {
    let base = draft.before == nil || change.kind == .insert ? .max : change.base
    return try change.edits.flatMap { edit -> [(StoredRelationshipEnd, PastChange?)] in
      guard let property = draft.entity.property(edit.property) else { return [] }
      return try storedEnds(of: edit, property, draft).map { end in
        (end, try self.change(of: end, in: draft.after.id, since: base))
      }
    }
  }

  /// The stored ends of other objects that an edit of `draft` would change.
  private mutating func storedEnds(of edit: Edit, _ property: Property, _ draft: Draft) throws
    -> [StoredRelationshipEnd]
  {
    guard let relationship = property.relationship, let inverse = graph.model.property(relationship.inverse),
      let inverseRelationship = inverse.relationship
    else { return [] }
    let id = draft.after.id
    if relationship.storage != .inverse {
      // A one-to-one is stored at both ends. The previous holder of the other object loses it in the same change as
      // that end.
      guard !relationship.isToMany, !inverseRelationship.isToMany, case .set(.object(let named)) = edit.action,
        let end = try graph.permanent(named).flatMap({ try end(of: $0, inverse, .object(id), isUnnamed: false) })
      else { return [] }
      return end.names(id) ? [] : [end]
    }
    var joining = [ObjectID]()
    var leaving = [ObjectID]()
    var isUnnamed = false
    switch edit.action {
    case .set(let value):
      let (wanted, present) = (
        value.objectIDs.compactMap { graph.permanent($0) }, try graph.related(to: id, through: property)
      )
      let there = Set(present)
      joining = ListReorderer.unique(wanted).filter { !there.contains($0) }
      leaving = there.subtracting(wanted).sorted()
      isUnnamed = true
    case .members(let added, let removed):
      // Two lists merge; a to-one refers to a single object.
      guard !inverseRelationship.isToMany else { return [] }
      joining = added.compactMap { graph.permanent($0) }
      leaving = removed.compactMap { graph.permanent($0) }
    case .place(let members, _):
      guard !inverseRelationship.isToMany else { return [] }
      joining = members.compactMap { graph.permanent($0) }
    case .splice: return []
    }
    let wanted = inverseRelationship.isToMany ? Value.null : .object(id)
    let joiningEnds = try joining.compactMap { try end(of: $0, inverse, wanted, isUnnamed: false) }
    let leavingEnds = try leaving.compactMap { try end(of: $0, inverse, .null, isUnnamed: isUnnamed) }
    return joiningEnds.filter { !$0.names(id) } + leavingEnds.filter { $0.names(id) }
  }

  /// The stored end of an object. Nil if the object does not exist, which is reported elsewhere, or lacks the
  /// property.
  private mutating func end(
    of id: ObjectID, _ property: Property, _ wanted: Value, isUnnamed: Bool
  ) throws -> StoredRelationshipEnd? {
    guard try !isInvisible(id), let holder = try graph.touch(id), holder.before != nil,
      holder.entity.property(property.number) != nil
    else { return nil }
    return StoredRelationshipEnd(holder: holder, property: property, newValue: wanted, isImplicit: isUnnamed)
  }

  /// The last conflicting change that others made to a stored end with regard to `id`.
  private mutating func change(of end: StoredRelationshipEnd, in id: ObjectID, since base: Revision) throws
    -> PastChange?
  {
    guard let stored = end.holder.before else { return nil }
    var base = statedBase(of: end, base)
    if transaction.policy == .rollback, let conflict = objectConflicts[stored.id] { base = min(base, conflict.since) }
    guard stored.hasChanged(since: base) else { return nil }
    let about = try merger.past(of: stored.id, after: base).filter { change in
      if change.kind == .inserted { return change.isRevival || end.isImplicit }
      return change.isPruned || change.edits.contains { $0.property == end.property.number && $0.concerns(id, end) }
    }
    // As for the object's own edits, the replica knows its own values, and lists merge.
    let merges = end.property.relationship?.isToMany == true
    if !merges, about.last?.replica == merger.replica { return nil }
    return about.last { $0.replica != merger.replica }
  }

  /// The revisions at which the transaction states that it read objects and properties.
  struct StatedBaseRevisions {
    /// By object that it updates or deletes. Of several revisions the oldest counts, as the properties read at each
    /// are unknown.
    private(set) var objects = [ObjectID: Revision]()
    /// By property that it edits. Of several revisions the newest counts: the property was edited again after another
    /// read.
    private(set) var properties = [DraftGraph.Reference: Revision]()

    init(_ changes: [Change], permanent: (ObjectID) -> ObjectID?) {
      for change in changes where change.kind == .update || change.kind == .delete {
        guard let id = permanent(change.id) else { continue }
        objects[id] = min(objects[id] ?? change.base, change.base)
        for edit in change.edits {
          let property = DraftGraph.Reference(target: id, property: edit.property)
          properties[property] = max(properties[property] ?? change.base, change.base)
        }
      }
    }
  }

  /// The revision at which the transaction read a stored end. It is the base of its edit of the end, or else of its
  /// edit of the end's object, or else `base`. A base of 0 means that the object was not read, and is ignored.
  private mutating func statedBase(of end: StoredRelationshipEnd, _ base: Revision) -> Revision {
    let bases = statedBases ?? StatedBaseRevisions(transaction.changes, permanent: graph.permanent)
    statedBases = bases
    let id = end.holder.after.id
    if let own = bases.properties[DraftGraph.Reference(target: id, property: end.property.number)] { return own }
    guard let read = bases.objects[id], read > 0 else { return base }
    return read
  }

  private func remainder(
    of edit: Edit, _ property: Property, _ draft: Draft, without kept: Set<ObjectID>
  ) throws -> Edit? {
    func isKept(_ id: ObjectID) -> Bool { graph.permanent(id).map { kept.contains($0) } == true }
    let number = edit.property
    switch edit.action {
    case .set(.objects(let ids)) where property.relationship?.isToMany == true:
      let remaining = ids.filter { !isKept($0) }
      let staying = try graph.related(to: draft.after.id, through: property).filter { kept.contains($0) }
      return Edit(number, .set(.objects(remaining + (try inOrder(staying, property, of: draft)))))
    case .members(let added, let removed):
      let (added, removed) = (added.filter { !isKept($0) }, removed.filter { !isKept($0) })
      return added.isEmpty && removed.isEmpty ? nil : Edit(number, .members(added: added, removed: removed))
    case .place(let members, let anchor):
      let members = members.filter { !isKept($0) }
      return members.isEmpty ? nil : Edit(number, .place(members, after: anchor))
    default: return nil
    }
  }

  /// Members that stay although a list did not mention them are placed after the others, in their previous order.
  private func inOrder(_ members: [ObjectID], _ property: Property, of draft: Draft) throws -> [ObjectID] {
    guard property.relationship?.isOrdered == true, let inverse = property.relationship?.inverse,
      let reference = graph.model.property(inverse), let list = graph.list(of: draft.after.id, through: reference)
    else { return members }
    return try members.compactMap { try graph.place(of: $0, in: list) }.sorted().map(\.id)
  }
}

extension TransactionPlanner.StoredRelationshipEnd {
  /// Whether the end currently refers to `id`.
  fileprivate func names(_ id: ObjectID) -> Bool {
    let value = holder.after[property]
    return value.objectID == id || value.objectIDs.contains(id)
  }
}

extension Edit {
  /// Whether an edit of a stored end concerns `id`; an edit of a to-one always does.
  fileprivate func concerns(_ id: ObjectID, _ end: TransactionPlanner.StoredRelationshipEnd) -> Bool {
    guard end.property.relationship?.isToMany == true, case .members(let added, let removed) = action else {
      return true
    }
    return added.contains(id) || removed.contains(id)
  }
}
