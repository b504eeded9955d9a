// Tests: MirrorStoreTests.swift
import GRDBSQLite
import GraphModel

/// Writes the commits of a server. Nothing is planned, and the images are the server's.
///
/// History keeps the newest commits, so that edits which their author made before them can be compared with them, and
/// steps can be undone without the server. Revisions that changed nothing visible have no row.
extension StoreWriter {
  /// Writes a commit inside the open transaction.
  /// - Returns: the objects that it changed here.
  func mirror(_ commit: MirroredCommit) throws -> Set<ObjectID> {
    try invariant(commit.token.revision > revision, "a mirror receives each commit once, in order")
    objects.beginTrail()
    defer { objects.endTrail() }
    var deletions = [ObjectID: Revision]()
    let changes = try self.changes(of: commit, &deletions)
    var size = 0
    let sums = try sums(of: changes, &size)
    let recorded = try HistoryChange.encode(changes, sums: sums, layout: layout, deletions: deletions)
    try RowWriter(
      objects: objects, fullText: fullText, changes: changes, sums: sums, revision: commit.token.revision,
      updates: updates, hasRevivals: !deletions.isEmpty
    ).write()
    try insert(row(of: commit, changes: recorded))
    fullText.recordCommit(changes: changes.count, size: size)
    skipHead(to: commit.token.revision, commit.token.fingerprint, time: commit.time)
    return Set(changes.map(\.id))
  }

  /// The row of a commit. It has the server's fingerprint, which proves the position, not the row.
  func row(of commit: MirroredCommit, changes: [UInt8]) -> LogEntry.Commit {
    var row = CommitRow(
      revision: commit.token.revision, time: commit.time, author: commit.author, transaction: commit.transaction,
      model: modelNumber, undoes: commit.undoes, counters: [], changes: changes)
    if let undo = commit.undo { row.undo = undo.binary }
    return LogEntry.Commit(row: row, fingerprint: commit.token.fingerprint)
  }

  private func changes(
    of commit: MirroredCommit, _ deletions: inout [ObjectID: Revision]
  ) throws -> [ObjectChange] {
    let arriving = Set(commit.changes.map(\.id))
    return try commit.changes.compactMap { change in
      switch change {
      case .deleted(let id):
        guard let before = try objects.readImage(of: id) else { return nil }
        return ObjectChange(kind: .deleted, id: before.id, before: before, after: nil)
      case .present(let image, let edits):
        let after = try withKnownReferences(image, arriving)
        guard let before = try objects.readImage(of: image.id) else {
          if let deletion = try history.deletion(of: image.id) { deletions[image.id] = deletion.revision }
          return ObjectChange(kind: .inserted, id: image.id, before: nil, after: after)
        }
        let all = try self.edits(from: before, to: after, stated: edits)
        // The change was a reference to an object that the user does not see.
        if all.isEmpty { return nil }
        return ObjectChange(kind: .updated, id: image.id, before: before, after: after, edits: all)
      }
    }
  }

  /// The edits between two images: the edits that the server states, if they fit the mirror's values.
  private func edits(from before: ObjectImage, to after: ObjectImage, stated: [Edit]) throws -> [Edit] {
    let entity = try invariant(layout.model.entity(after.id.entity), "a mirrored object has an entity of the model")
    return entity.storedProperties.compactMap { property in
      let (old, new) = (before[property], after[property])
      if old == new { return nil }
      if let edit = stated.last(where: { $0.property == property.number }), edit.applied(to: old) == new { return edit }
      return Edit(property.number, .set(new))
    }
  }

  /// The image without references to objects that the mirror does not have and that the commit does not bring.
  func withKnownReferences(_ image: ObjectImage, _ arriving: Set<ObjectID>) throws -> ObjectImage {
    var image = image
    for slot in image.values.indices {
      switch image.values[slot] {
      case .object(let id):
        if try !arriving.contains(id) && objects.find(id) == nil { image.values[slot] = .null }
      case .objects(let ids):
        let known = try ids.filter { try arriving.contains($0) || objects.find($0) != nil }
        if known.count < ids.count { image.values[slot] = .objects(known) }
      default: break
      }
    }
    return image
  }
}
