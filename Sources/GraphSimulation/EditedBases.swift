import GraphModel

/// At which revision one simulated user read what it sets: as it was shown when it set it, whatever its replica says later.
/// Whoever sets an attribute that somebody else has changed since then is told so, or is refused; also where history no
/// longer has what was changed.
struct EditedBases {
  private struct Place: Hashable {
    let object: ObjectID
    let property: PropertyNumber
  }

  /// What a user had before its eyes when it set an attribute.
  private struct Sight {
    var revision: Revision
    var value: Value?
    /// The store has no words any more for that revision: what counts is whether the value was still there.
    var isOfOtherPast = false

    func older(_ other: Sight?) -> Sight {
      guard let other, other.revision < revision else { return self }
      return other
    }
  }

  private struct Edited {
    let object: ObjectID
    let property: PropertyNumber
    let value: Value
    var sight: Sight
  }

  /// What was set and not saved since.
  private var unsaved = [Place: Sight]()
  /// What was refused: it is unsaved again, or goes along with the save behind it.
  private var givenBack = [Place: Sight]()
  private var saves = [TransactionID: [Place: Sight]]()
  private var sent = [TransactionID: [Edited]]()
  private var acknowledged = [TransactionID: Committed]()

  // MARK: - What is seen

  /// The user sets an attribute of an object that it was shown as of a revision; `value` in the store's words, where the user
  /// has the same.
  mutating func note(_ object: ObjectID, _ property: PropertyNumber, readAt revision: Revision, value: Value?) {
    let place = Place(object: object, property: property)
    guard !object.isTemporary, revision >= 0 else { return }
    unsaved[place] =
      unsaved[place].map { $0.older(Sight(revision: revision, value: value)) }
      ?? Sight(revision: revision, value: value)
  }

  /// The store does not know the past that all of this was seen in.
  mutating func losePast() {
    func lost(_ sights: [Place: Sight]) -> [Place: Sight] {
      sights.mapValues { Sight(revision: $0.revision, value: $0.value, isOfOtherPast: true) }
    }
    (unsaved, givenBack, saves) = (lost(unsaved), lost(givenBack), saves.mapValues(lost))
    // What was sent and is not answered may be refused, and is then saved again.
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

  /// The user has looked at an object that it could not save.
  mutating func note(lookAt object: ObjectID, revision: Revision) {
    for place in unsaved.keys where place.object == object { unsaved[place] = Sight(revision: revision) }
    for place in givenBack.keys where place.object == object { givenBack[place] = Sight(revision: revision) }
  }

  /// What was set of these is forgotten; of everything, for nil.
  mutating func drop(_ objects: Set<ObjectID>? = nil) {
    let stays = { (place: Place) in objects.map { !$0.contains(place.object) } ?? false }
    unsaved = unsaved.filter { stays($0.key) }
    givenBack = givenBack.filter { stays($0.key) }
  }

  // MARK: - What is said and answered

  mutating func note(_ transaction: Transaction, model: Model) {
    // One that is sent again says the same, if not as of an older revision.
    guard sent[transaction.id] == nil else { return }
    let read = saves.removeValue(forKey: transaction.id) ?? [:]
    var said = [Edited]()
    for change in transaction.changes where change.kind == .update && !change.id.isTemporary {
      for edit in change.edits {
        guard case .set(let value) = edit.action, model.property(edit.property)?.isPlainAttribute == true else {
          continue
        }
        let place = Place(object: change.id, property: edit.property)
        // A replica may say that less was seen, and be told of more.
        let back = givenBack.removeValue(forKey: place)
        // Of the same revision what was seen first counts: what was seen later may be this user's own edit.
        let sight = back?.older(read[place]) ?? read[place] ?? Sight(revision: change.base)
        said.append(Edited(object: change.id, property: edit.property, value: value, sight: sight))
      }
    }
    sent[transaction.id] = said
  }

  /// It says what it says of a time that was taken back: nobody can compare it with what others did since.
  mutating func forget(_ id: TransactionID) { sent[id] = [] }

  mutating func note(_ id: TransactionID, _ committed: Committed) { acknowledged[id] = committed }

  /// Its edits are unsaved again, those of objects that are there.
  mutating func note(refusalOf id: TransactionID, isThere: (ObjectID) -> Bool) {
    let said = (sent[id] ?? []).map { (Place(object: $0.object, property: $0.property), $0.sight) }
    for (place, sight) in said + (saves.removeValue(forKey: id) ?? [:]).map({ ($0.key, $0.value) })
    where isThere(place.object) {
      givenBack[place] = givenBack[place]?.older(sight) ?? sight
    }
  }

  /// The process has died and what was unsaved is gone, or revisions begin to count anew.
  mutating func restart() { (unsaved, givenBack, saves) = ([:], [:], [:]) }

  /// Whether an attribute was set that its user had read before a revision.
  func began(_ id: TransactionID, below revision: Revision) -> Bool {
    sent[id]?.contains { $0.sight.revision < revision } ?? false
  }

  // MARK: - The promise

  /// The first edit that took another's without a word; `clients` by the first half of their replicas' ids, less one.
  static func failure(in records: [CommitRecord], of clients: [EditedBases], model: Model) -> String? {
    /// Of each object the commits that changed it.
    var changes = [ObjectID: [(record: CommitRecord, change: ObjectChange)]]()
    for record in records {
      for change in record.changes { changes[change.id, default: []].append((record, change)) }
      let number = Int(record.transaction.replica.high) - 1
      guard clients.indices.contains(number), let said = clients[number].sent[record.transaction],
        let committed = clients[number].acknowledged[record.transaction]
      else { continue }
      for edit in said where !committed.conflicts.contains(where: { $0.id == edit.object }) {
        guard let property = model.property(edit.property) else { continue }
        // What the replica has replaced itself since was reported with that commit.
        let replaced = (changes[edit.object] ?? []).last { own in
          own.record.revision < record.revision && own.record.transaction.replica == record.transaction.replica
            && own.change.before?[property] != own.change.after?[property]
        }
        let known = max(edit.sight.revision, replaced?.record.revision ?? 0)
        let others = (changes[edit.object] ?? []).filter { other in
          other.record.revision > known && other.record.revision < record.revision
            && other.record.transaction.replica != record.transaction.replica
            // Who had read nothing knew that the object has values; that it went and came back meanwhile is told to who had.
            && !(edit.sight.revision == 0 && other.change.kind != .updated)
            && other.change.before?[property] != other.change.after?[property]
        }
        guard let last = others.last, let before = changes[edit.object]?.last?.change.before,
          changes[edit.object]?.last?.record.revision == record.revision, before[property] != edit.value,
          !(edit.sight.isOfOtherPast && (edit.sight.value == nil || edit.sight.value == before[property]))
        else { continue }
        return "revision \(record.revision) set \(property.name) of \(edit.object), read at \(edit.sight.revision), "
          + "without a word about revision \(last.record.revision), which had changed it"
      }
    }
    return nil
  }
}
