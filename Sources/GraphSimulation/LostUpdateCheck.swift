import GraphModel

/// Records the revisions at which one simulated user read the values that it overwrites.
///
/// The recorded revision is the one that the user saw, regardless of the bases that its replica sends later. The
/// invariant: an edit of an attribute that another client has changed since then is reported as a conflict or
/// refused, even if history no longer contains the change.
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
    var isOfOtherPast = false

    func older(_ other: SeenState?) -> SeenState {
      guard let other, other.revision < revision else { return self }
      return other
    }
  }

  private struct RecordedEdit {
    let object: ObjectID
    let property: PropertyNumber
    let value: Value
    var sight: SeenState
  }

  /// Attributes set since the last save.
  private var unsaved = [PropertyKey: SeenState]()
  /// Edits of refused transactions: they are unsaved again, or are part of the next save.
  private var givenBack = [PropertyKey: SeenState]()
  private var saves = [TransactionID: [PropertyKey: SeenState]]()
  private var sent = [TransactionID: [RecordedEdit]]()
  private var acknowledged = [TransactionID: CommitResult]()

  // MARK: - Edits

  /// Records that the user set an attribute of an object that it saw at a revision.
  ///
  /// `value` is nil for a client with a lens.
  mutating func note(_ object: ObjectID, _ property: PropertyNumber, readAt revision: Revision, value: Value?) {
    let place = PropertyKey(object: object, property: property)
    guard !object.isTemporary, revision >= 0 else { return }
    unsaved[place] =
      unsaved[place].map { $0.older(SeenState(revision: revision, value: value)) }
      ?? SeenState(revision: revision, value: value)
  }

  /// Records that the store does not recognize the state on which all these edits are based.
  mutating func losePast() {
    func lost(_ sights: [PropertyKey: SeenState]) -> [PropertyKey: SeenState] {
      sights.mapValues { SeenState(revision: $0.revision, value: $0.value, isOfOtherPast: true) }
    }
    (unsaved, givenBack, saves) = (lost(unsaved), lost(givenBack), saves.mapValues(lost))
    // Unanswered edits may be refused and then saved again.
    for (id, said) in sent where acknowledged[id] == nil {
      sent[id] = said.map { edited in
        var edited = edited
        edited.sight.isOfOtherPast = true
        return edited
      }
    }
  }

  mutating func note(save id: TransactionID) {
    saves[id] = unsaved
    unsaved = [:]
  }

  var givenBackObjects: [ObjectID] { Set(givenBack.keys.map(\.object)).sorted() }

  /// Records that the user has refreshed an object after a refusal.
  mutating func note(lookAt object: ObjectID, revision: Revision) {
    for place in unsaved.keys where place.object == object { unsaved[place] = SeenState(revision: revision) }
    for place in givenBack.keys where place.object == object { givenBack[place] = SeenState(revision: revision) }
  }

  /// Removes the edits of these objects; all edits for nil.
  mutating func drop(_ objects: Set<ObjectID>? = nil) {
    let stays = { (place: PropertyKey) in objects.map { !$0.contains(place.object) } ?? false }
    unsaved = unsaved.filter { stays($0.key) }
    givenBack = givenBack.filter { stays($0.key) }
  }

  // MARK: - Transactions and answers

  mutating func note(_ transaction: Transaction, model: Model) {
    // A resent transaction has the same edits, with the same or newer base revisions.
    guard sent[transaction.id] == nil else { return }
    let read = saves.removeValue(forKey: transaction.id) ?? [:]
    var said = [RecordedEdit]()
    for change in transaction.changes where change.kind == .update && !change.id.isTemporary {
      for edit in change.edits {
        guard case .set(let value) = edit.action, model.property(edit.property)?.isPlainAttribute == true else {
          continue
        }
        let place = PropertyKey(object: change.id, property: edit.property)
        // A replica may send an older base than the user's; it then receives more conflicts.
        let back = givenBack.removeValue(forKey: place)
        // At equal revisions the first value counts, because a later one may be this user's own edit.
        let sight = back?.older(read[place]) ?? read[place] ?? SeenState(revision: change.base)
        said.append(RecordedEdit(object: change.id, property: edit.property, value: value, sight: sight))
      }
    }
    sent[transaction.id] = said
  }

  /// Exempts a transaction that is based on a state that a restore removed.
  mutating func forget(_ id: TransactionID) { sent[id] = [] }

  mutating func note(_ id: TransactionID, _ committed: CommitResult) { acknowledged[id] = committed }

  /// Records that a transaction was refused, so that its edits of existing objects are unsaved again.
  mutating func note(refusalOf id: TransactionID, isThere: (ObjectID) -> Bool) {
    let said = (sent[id] ?? []).map { (PropertyKey(object: $0.object, property: $0.property), $0.sight) }
    for (place, sight) in said + (saves.removeValue(forKey: id) ?? [:]).map({ ($0.key, $0.value) })
    where isThere(place.object) {
      givenBack[place] = givenBack[place]?.older(sight) ?? sight
    }
  }

  /// Removes unsaved edits, because the process has died or revisions are counted again.
  mutating func restart() { (unsaved, givenBack, saves) = ([:], [:], [:]) }

  /// Whether the transaction has an edit that is based on a state before the revision.
  func began(_ id: TransactionID, below revision: Revision) -> Bool {
    sent[id]?.contains { $0.sight.revision < revision } ?? false
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
      guard clients.indices.contains(number), let said = clients[number].sent[record.transaction],
        let committed = clients[number].acknowledged[record.transaction]
      else { continue }
      for edit in said where !committed.conflicts.contains(where: { $0.id == edit.object }) {
        guard let property = model.property(edit.property) else { continue }
        // Changes before the replica's own last change of the property were reported with that commit.
        let replaced = (changes[edit.object] ?? []).last { own in
          own.record.revision < record.revision && own.record.transaction.replica == record.transaction.replica
            && own.change.before?[property] != own.change.after?[property]
        }
        let known = max(edit.sight.revision, replaced?.record.revision ?? 0)
        let others = (changes[edit.object] ?? []).filter { other in
          other.record.revision > known && other.record.revision < record.revision
            && other.record.transaction.replica != record.transaction.replica
            // An edit without a read revision is not compared with inserts, deletes and revivals.
            && !(edit.sight.revision == 0 && other.change.kind != .updated)
            && other.change.before?[property] != other.change.after?[property]
        }
        guard let last = others.last, let before = changes[edit.object]?.last?.change.before,
          changes[edit.object]?.last?.record.revision == record.revision, before[property] != edit.value,
          !(edit.sight.isOfOtherPast && (edit.sight.value == nil || edit.sight.value == before[property]))
        else { continue }
        return "revision \(record.revision) set \(property.name) of \(edit.object), read at \(edit.sight.revision), "
          + "without a conflict with revision \(last.record.revision), which had changed it"
      }
    }
    return nil
  }
}
