import GraphModel

/// Records the revisions at which one simulated user read the values that it overwrites.
///
/// The check records the revision that the user saw, regardless of the bases that its replica sends later. The
/// invariant: an edit of an attribute that another client has changed since then is reported as a conflict or refused,
/// even if history no longer contains the change.
struct LostUpdateCheck {
  private struct PropertyKey: Hashable {
    let object: ObjectID
    let property: PropertyNumber
  }

  /// The state that a user saw when it set an attribute.
  private struct SeenState {
    var revision: Revision
    var value: Value?
    /// Whether the store no longer recognizes that revision; then only a change of the value counts.
    var isReverted = false
    /// Whether the revision is one that the user saw, and not only the base that its replica sent.
    var isRecorded = true

    func older(_ other: SeenState?) -> SeenState {
      guard let other, other.revision < revision else { return self }
      return other
    }
  }

  private struct RecordedEdit {
    let object: ObjectID
    let property: PropertyNumber
    let value: Value
    var seen: SeenState
  }

  /// Attributes set since the last save.
  private var unsaved = [PropertyKey: SeenState]()
  /// Edits of refused transactions: they are unsaved again, or are part of the next save.
  private var returned = [PropertyKey: SeenState]()
  private var saves = [TransactionID: [PropertyKey: SeenState]]()
  private var sent = [TransactionID: [RecordedEdit]]()
  private var acknowledged = [TransactionID: CommitResult]()

  // MARK: - Edits

  /// Records that the user set an attribute of an object that it saw at a revision.
  ///
  /// `value` is nil for a client with a lens.
  mutating func record(_ object: ObjectID, _ property: PropertyNumber, readAt revision: Revision, value: Value?) {
    let key = PropertyKey(object: object, property: property)
    if object.isTemporary || revision < 0 { return }
    unsaved[key] =
      unsaved[key].map { $0.older(SeenState(revision: revision, value: value)) }
      ?? SeenState(revision: revision, value: value)
  }

  /// Records that the store does not recognize the state on which all these edits are based.
  mutating func exemptAll() {
    func lost(_ edits: [PropertyKey: SeenState]) -> [PropertyKey: SeenState] {
      edits.mapValues { SeenState(revision: $0.revision, value: $0.value, isReverted: true) }
    }
    (unsaved, returned, saves) = (lost(unsaved), lost(returned), saves.mapValues(lost))
    // Unanswered edits may be refused and then saved again.
    for (id, edits) in sent where acknowledged[id] == nil {
      sent[id] = edits.map { edited in
        var edited = edited
        edited.seen.isReverted = true
        return edited
      }
    }
  }

  mutating func record(save id: TransactionID) {
    saves[id] = unsaved
    unsaved = [:]
  }

  var returnedObjects: [ObjectID] { Set(returned.keys.map(\.object)).sorted() }

  /// Records that the user has refreshed an object after a refusal.
  mutating func record(lookAt object: ObjectID, revision: Revision) {
    for key in unsaved.keys where key.object == object { unsaved[key] = SeenState(revision: revision) }
    for key in returned.keys where key.object == object { returned[key] = SeenState(revision: revision) }
  }

  /// Removes the edits of these objects; all edits for nil.
  mutating func drop(_ objects: Set<ObjectID>? = nil) {
    guard let objects else {
      (unsaved, returned) = ([:], [:])
      return
    }
    unsaved = unsaved.filter { !objects.contains($0.key.object) }
    returned = returned.filter { !objects.contains($0.key.object) }
  }

  // MARK: - Transactions and answers

  /// Removes and returns the edits of a save that was not sent; empty for other transactions.
  private mutating func removeSave(_ id: TransactionID) -> [PropertyKey: SeenState] {
    defer { saves[id] = nil }
    return saves[id, default: [:]]
  }

  mutating func record(_ transaction: Transaction, model: Model) {
    // A resent transaction has the same edits, with the same or newer base revisions.
    if sent[transaction.id] != nil { return }
    let read = removeSave(transaction.id)
    var edits = [RecordedEdit]()
    for change in transaction.changes where change.kind == .update && !change.id.isTemporary {
      for edit in change.edits {
        guard case .set(let value) = edit.action, model.property(edit.property)?.isPlainAttribute == true else {
          continue
        }
        let key = PropertyKey(object: change.id, property: edit.property)
        // A replica may send an older base than the user's; it then receives more conflicts.
        let back = returned.removeValue(forKey: key)
        // At equal revisions the first value counts, because a later one may be this user's own edit.
        let seen = back?.older(read[key]) ?? read[key] ?? SeenState(revision: change.base, isRecorded: false)
        edits.append(RecordedEdit(object: change.id, property: edit.property, value: value, seen: seen))
      }
    }
    sent[transaction.id] = edits
  }

  /// Exempts a transaction that is based on a state that a restore removed.
  mutating func exempt(_ id: TransactionID) { sent[id] = [] }

  mutating func record(_ id: TransactionID, _ committed: CommitResult) { acknowledged[id] = committed }

  /// Records that a transaction was refused, so that its edits of existing objects are unsaved again.
  mutating func record(refusalOf id: TransactionID, isThere: (ObjectID) -> Bool) {
    let edits = sent[id, default: []].map { (PropertyKey(object: $0.object, property: $0.property), $0.seen) }
    for (key, seen) in edits + removeSave(id).map({ ($0.key, $0.value) })
    where isThere(key.object) {
      returned[key] = returned[key]?.older(seen) ?? seen
    }
  }

  /// Removes unsaved edits, because the process has died or revisions are counted again.
  mutating func restart() { (unsaved, returned, saves) = ([:], [:], [:]) }

  /// Whether the transaction has an edit that is based on a state before the revision.
  func began(_ id: TransactionID, below revision: Revision) -> Bool {
    sent[id, default: []].contains { $0.seen.revision < revision }
  }

  // MARK: - The invariant

  /// Describes the first edit that silently overwrote another client's change. The index in `clients` is the first
  /// half of their replicas' ids, minus one.
  static func failure(in records: [CommitRecord], of clients: [LostUpdateCheck], model: Model) -> String? {
    /// The commits that changed each object.
    var changes = [ObjectID: [(record: CommitRecord, change: ObjectChange)]]()
    for record in records {
      for change in record.changes { changes[change.id, default: []].append((record, change)) }
      let number = Int(record.transaction.replica.high) - 1
      guard clients.indices.contains(number), let edits = clients[number].sent[record.transaction],
        let committed = clients[number].acknowledged[record.transaction]
      else { continue }
      for edit in edits where !committed.conflicts.contains(where: { $0.id == edit.object }) {
        guard let property = model.property(edit.property) else { continue }
        // Changes before the replica's own last change of the property were reported with that commit.
        let replaced = changes[edit.object, default: []].last { own in
          own.record.revision < record.revision && own.record.transaction.replica == record.transaction.replica
            && own.change.before?[property] != own.change.after?[property]
        }
        var known = edit.seen.revision
        if let replaced { known = max(known, replaced.record.revision) }
        let others = changes[edit.object, default: []].filter { other in
          other.record.revision > known && other.record.revision < record.revision
            && other.record.transaction.replica != record.transaction.replica
            // An edit of an unknown state is not compared with inserts, deletes and revivals.
            && !((edit.seen.revision == 0 || !edit.seen.isRecorded) && other.change.kind != .updated)
            && other.change.before?[property] != other.change.after?[property]
        }
        guard let last = others.last, let before = changes[edit.object]?.last?.change.before,
          changes[edit.object]?.last?.record.revision == record.revision, before[property] != edit.value,
          !(edit.seen.isReverted && (edit.seen.value == nil || edit.seen.value == before[property]))
        else { continue }
        return "revision \(record.revision) set \(property.name) of \(edit.object), read at \(edit.seen.revision), "
          + "without a conflict with revision \(last.record.revision), which had changed it"
      }
    }
    return nil
  }
}
