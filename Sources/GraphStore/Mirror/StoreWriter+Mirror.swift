// Tests: MirrorStoreTests.swift
import GRDBSQLite
import GraphModel

/// Writes the commits of a server. Nothing is planned, and the images are the server's.
///
/// History keeps the newest commits, so that edits which their author made before them can be compared with them, and
/// steps can be undone without the server. Revisions that changed nothing visible have no row.
extension StoreWriter {
  /// Writes a commit inside the open transaction.
  /// - Returns: the objects that it changed here, and whether it also has changes outside of the mirror's scopes.
  /// - Parameter kept: the scopes of the mirror; nil if it has everything.
  /// - Throws: `MirrorStore.Outdated` if an object has entered or left these scopes: the commit does not name the
  ///   objects that refer to it, whose values differ from now on.
  func mirror(
    _ commit: MirroredCommit, of kept: KeptScopes?
  ) throws -> (changed: Set<ObjectID>, isReduced: Bool) {
    try invariant(commit.token.revision > revision, "a mirror receives each commit once, in order")
    objects.beginTrail()
    defer { objects.endTrail() }
    var deletions = [ObjectID: Revision]()
    let part = if let kept { try commit.changes.filter { try isKept($0, kept) } } else { commit.changes }
    let changes = try self.changes(part, &deletions)
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
    return (Set(changes.map(\.id)), part.count < commit.changes.count)
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
    _ changes: [MirroredCommit.Change], _ deletions: inout [ObjectID: Revision]
  ) throws -> [ObjectChange] {
    let arriving = Set(changes.map(\.id))
    return try changes.compactMap { change in
      switch change {
      case .deleted(let id):
        guard let before = try objects.readImage(of: id) else { return nil }
        return ObjectChange(kind: .deleted, id: before.id, before: before, after: nil)
      case .inserted(let image), .updated(let image, _):
        let after = try objects.withKnownReferences(image, arriving)
        guard let before = try objects.readImage(of: image.id) else {
          if let deletion = try history.deletion(of: image.id) { deletions[image.id] = deletion.revision }
          return ObjectChange(kind: .inserted, id: image.id, before: nil, after: after)
        }
        let stated = if case .updated(_, let edits) = change { edits } else { [Edit]() }
        let all = try self.edits(from: before, to: after, stated: stated)
        // The change was a reference to an object that the user does not see.
        if all.isEmpty { return nil }
        return ObjectChange(kind: .updated, id: image.id, before: before, after: after, edits: all)
      }
    }
  }

  /// Whether a change is one of the mirror's part.
  private func isKept(_ change: MirroredCommit.Change, _ kept: KeptScopes) throws -> Bool {
    switch change {
    case .inserted(let image): return kept.keep(image, of: layout.model)
    case .updated(let image, _):
      let isKept = kept.keep(image, of: layout.model)
      if try (objects.find(image.id) != nil) != isKept { throw MirrorStore.Outdated() }
      return isKept
    case .deleted(let id): return try objects.find(id) != nil
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
}

extension ObjectReader {
  /// The image without references to objects that the mirror does not have and that the commit does not bring.
  func withKnownReferences(_ image: ObjectImage, _ arriving: Set<ObjectID>) throws -> ObjectImage {
    var image = image
    for slot in image.values.indices {
      switch image.values[slot] {
      case .object(let id):
        if try !arriving.contains(id) && find(id) == nil { image.values[slot] = .null }
      case .objects(let ids):
        let known = try ids.filter { try arriving.contains($0) || find($0) != nil }
        if known.count < ids.count { image.values[slot] = .objects(known) }
      default: break
      }
    }
    return image
  }
}
