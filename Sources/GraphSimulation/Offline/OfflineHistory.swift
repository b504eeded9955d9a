import GraphModel

/// The edits of the users of offline replicas, and the server's commits of them: pure, and without the product's code.
///
/// Each save of a user has an undo group of its own, whose number is the edit's: a commit is recognized by it under any
/// transaction id.
struct OfflineHistory {
  /// A save that a replica has acknowledged.
  struct Edit {
    /// Several changes in one save are only counted.
    enum Kind { case insert, update, delete, several, undo }

    let device: Int
    /// The device of which its replica is a copy, or its own.
    let lineage: Int
    let kind: Kind
    /// The first object; nil for one of an unsent edit.
    let target: ObjectID?
    let policy: MergePolicy
    /// The property, by its name in the older version, of an update that sets it.
    var property: (entity: String, name: String)?
    /// The value that the user has replaced, and the new one.
    var saw = Value.null
    var mine = Value.null
    /// The values that its user saw of all properties that it changes, also of an object that an insert turned out to
    /// be.
    var seen = [SeenValue]()
    /// The number of restores of the server before the mirror that its user has seen.
    let generation: Int
    /// Whether the user has tried it again, after seeing the other value.
    var isRetried = false
    /// The edit that an undo reverses.
    var undone: UInt64?
  }

  /// A value that a user has seen; the property by its name in the older version.
  struct SeenValue: Equatable {
    let object: ObjectID
    let property: String
    let value: Value
  }

  /// A commit that set a property.
  fileprivate struct Writer {
    /// Nil for the other users.
    let device: Int?
    let revision: Revision
  }

  /// A property of an object.
  fileprivate struct Place: Hashable {
    let object: UniqueID
    let property: String
  }

  /// The part that a restore of the server takes back.
  struct Present {
    var revision: Revision = 0
    /// How often each edit was committed.
    var applied = [UInt64: Int]()
    /// How often each edit was undone.
    var undone = [UInt64: Int]()
    var deleted = Set<ObjectID>()
    /// The commit that set a property last.
    fileprivate var writers = [Place: Writer]()
    /// The folders that were inserted.
    var folders = Set<UniqueID>()
  }

  private(set) var edits = [UInt64: Edit]()
  private var allowed = [UInt64: Int]()
  /// The edits that were committed, even if a restore has removed the commit.
  private(set) var committed = Set<UInt64>()
  /// The edits that were undone, even if a restore has removed the undo.
  private var undone = Set<UInt64>()
  /// The conflicts of the commits of each edit: that of a replica, and those of its copies.
  private var conflicts = [UInt64: [TransactionID: [Conflict]]]()
  /// Whether a user has removed an unsent edit of a text. Splices behind it have no exact place any longer.
  private(set) var hasRemovedText = false
  private(set) var present = Present()
  /// The revisions to which the server was restored, oldest first.
  private var restores = [Revision]()

  /// Whether the server has an edit more than once.
  var hasRepeatedEdit: Bool { present.applied.values.contains { $0 > 1 } }

  /// The number of restores of the server.
  var generation: Int { restores.count }

  /// The scope of the undo groups.
  static let scope = UniqueID(high: 0x0FF1, low: 1)

  // MARK: - Users

  /// The number of the next edit.
  var nextEdit: UInt64 { UInt64(edits.count + 1) }

  mutating func add(_ edit: Edit) { edits[nextEdit] = edit }

  /// Records that an edit may be committed once more: its user tries it again, or its file was copied before it left.
  mutating func allowAnother(_ edit: UInt64) { allowed[edit, default: 1] += 1 }

  mutating func recordRetry(_ edit: UInt64) {
    allowAnother(edit)
    edits.modifyIfPresent(edit) { $0.isRetried = true }
  }

  /// Records that the user has discarded an edit, or undone it before it left.
  mutating func recordRemoval(of edit: UInt64) {
    if edits[edit]?.seen.contains(where: { $0.property == "text" }) == true { hasRemovedText = true }
  }

  /// Why an edit may not leave the file of its replica; nil if the server has committed all of it.
  func failure(ofRemoving edit: UInt64) -> String? {
    if let target = edits[edit]?.undone {
      return undone.contains(target) ? nil : "it was neither committed nor parked, and edit \(target) is not undone"
    }
    guard committed.contains(edit) else { return "it was neither committed nor parked" }
    guard let kind = edits[edit]?.kind, kind != .several else { return nil }
    let lost = conflicts[edit, default: [:]].values.map { $0.filter { !$0.mineWon } }
    return lost.contains(where: \.isEmpty) ? nil : "what lost a conflict is not parked: \(lost)"
  }

  // MARK: - The server

  mutating func recordConflicts(_ conflicts: [Conflict], of edit: UInt64, _ transaction: TransactionID) {
    self.conflicts[edit, default: [:]][transaction] = conflicts
  }

  /// Records a commit of the server.
  /// - Returns: the promise that it breaks; nil if it breaks none.
  mutating func record(_ record: CommitRecord, _ model: Model) -> String? {
    precondition(record.revision == present.revision + 1, "commits are recorded in order")
    present.revision = record.revision
    var number: UInt64?
    if let group = record.undo, group.scope == Self.scope { number = group.group }
    let edit = number.flatMap { edits[$0] }
    if let number, record.undoes != nil {
      // A commit that undoes a step has the group of the step.
      undone.insert(number)
      let count = present.undone[number, default: 0] + 1
      present.undone[number] = count
      if count > present.applied[number, default: 0] { return "edit \(number) was undone \(count) times" }
    } else if let number {
      guard let edit else { return "the server has committed edit \(number), which no user has made" }
      committed.insert(number)
      let count = present.applied[number, default: 0] + 1
      present.applied[number] = count
      if count > allowed[number, default: 1] {
        return "edit \(number) of device \(edit.device) was committed \(count) times"
      }
      if let failure = failure(of: edit, record, model) { return "edit \(number): \(failure)" }
    }
    for change in record.changes {
      let writer = Writer(device: edit?.device, revision: record.revision)
      if let failure = note(change, by: writer, isUndo: record.undoes != nil, model) { return failure }
    }
    return nil
  }

  private mutating func note(_ change: ObjectChange, by writer: Writer, isUndo: Bool, _ model: Model) -> String? {
    switch change.kind {
    case .deleted: present.deleted.insert(change.id)
    case .inserted where isUndo:
      // The undo of a delete.
      present.deleted.remove(change.id)
    case .inserted:
      if present.deleted.contains(change.id) { return "\(change.id) was deleted and is back" }
      if model.isA(change.id, "Folder") { present.folders.insert(change.id.key) }
    case .updated:
      for edit in change.edits {
        guard let property = model.property(edit.property) else { continue }
        let name = if let renamed = property.renamed { renamed } else { property.name }
        present.writers[Place(object: change.id.key, property: name)] = writer
      }
    }
    return nil
  }

  private func failure(of edit: Edit, _ record: CommitRecord, _ model: Model) -> String? {
    let deleted = record.changes.filter { $0.kind == .deleted }
    if edit.kind == .insert || edit.kind == .update {
      if let first = deleted.first { return "\(first.id) was deleted, which no user wanted" }
    } else if edit.kind == .delete, let target = edit.target {
      for change in deleted where change.id != target {
        let folder = change.before.flatMap { image -> ObjectID? in
          guard model.isA(image.id, "Item") else { return nil }
          return model.value(image, "Item", "folder").objectID
        }
        if folder != target { return "\(change.id) was deleted, the user deleted \(target)" }
      }
    }
    return lostUpdate(edit, record, model)
  }

  /// A value of others that the edit has replaced, although its user did not see it and wanted to be asked.
  ///
  /// A user who has seen a state that the server has lost since has not seen what others set after the restore. A value
  /// of before it may be new to the user, too, but no later one than what the user saw.
  private func lostUpdate(_ edit: Edit, _ record: CommitRecord, _ model: Model) -> String? {
    guard edit.policy == .error, !edit.isRetried, let place = edit.property,
      let property = model.known(place.entity, place.name)
    else { return nil }
    for change in record.changes where change.kind == .updated {
      guard let before = change.before, change.edits.contains(where: { $0.property == property.number }),
        edit.target == nil || edit.target == change.id
      else { continue }
      let value = before[property]
      if value == edit.saw || value == edit.mine { continue }
      // The rules remove a reference to what is deleted, and a user does not see one to what is hidden.
      if property.relationship != nil, value == .null || edit.saw == .null { continue }
      let writer = present.writers[Place(object: change.id.key, property: place.name)]
      if let lost = restores[edit.generation...].min(), writer.map({ $0.revision <= lost }) != false { continue }
      if writer?.device == edit.device || wasSeen(value, by: edit, at: place.name) { continue }
      return "the value \(value) of \(place.name) was replaced by \(edit.mine); the user had seen \(edit.saw)"
    }
    return nil
  }

  /// Whether a user of the replica has replaced a value before, or set it: the earlier edit may be parked now.
  private func wasSeen(_ value: Value, by edit: Edit, at property: String) -> Bool {
    let seen = edit.target.map { SeenValue(object: $0, property: property, value: value) }
    return edits.values.contains { other in
      if other.lineage != edit.lineage { return false }
      if let seen, other.seen.contains(seen) { return true }
      return other.target == edit.target && other.property?.name == property && other.mine == value
    }
  }

  /// Takes back what was committed after a backup.
  mutating func revert(to backup: Present) {
    present = backup
    restores.append(backup.revision)
  }
}
