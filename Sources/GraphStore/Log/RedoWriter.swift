// Tests: RedoTests.swift
import GraphModel

/// Repeats commits from their entries, inside an open transaction of the writer.
///
/// It plans nothing, reads no clock and draws no random number: rows and history follow from the entry and from the
/// state before it. An entry is applied only if it follows that state: the fingerprint covers all earlier commits, and
/// each object must have the revision that the entry's change is based on and get the checksum that the change records.
final class RedoWriter {
  private let writer: StoreWriter
  /// The batch whose parts have been written, until its commit.
  private var batch: UnfinishedBatch?

  private struct UnfinishedBatch {
    var parts = CommitPartSummary()
    /// The references to objects of later parts, with which the inserted objects are completed at the end.
    var completions = [ObjectChange]()
    var deferredKeys = Set<PropertyNumber>()
    var ids: StoreWriter.AssignedIDs
  }

  init(_ writer: StoreWriter) { self.writer = writer }

  private var layout: StoreLayout { writer.layout }
  private var connection: Connection { writer.connection }

  /// Whether parts of a batch were written whose commit is missing.
  var isInBatch: Bool { batch != nil }

  /// Applies an entry; an entry that the store already has changes nothing.
  /// - Throws: `StoreFailure` if the entry does not follow the store's state. The caller rolls back.
  func apply(_ entry: LogEntry) throws {
    do {
      if entry.revision <= writer.revision { return try check(entry) }
      try checkModel(of: entry)
      guard entry.revision == writer.revision + 1 else {
        throw Self.mismatch(entry, "it does not follow the store's newest revision, \(writer.revision)")
      }
      switch entry {
      case .part(let part): try apply(part)
      case .commit(let commit) where batch != nil: try finishBatch(commit)
      case .commit(let commit): try apply(commit)
      }
    } catch let failure as SQLConstraintFailure {
      throw Self.mismatch(entry, failure.message)
    } catch let failure as InvariantFailure {
      throw Self.mismatch(entry, "\(failure.name)")
    } catch let failure as MalformedMessage {
      throw Self.mismatch(entry, failure.reason)
    } catch let refusal as Refusal {
      // An object that the entry changes is damaged.
      throw Self.mismatch(entry, refusal.message)
    }
  }

  /// Checks that an entry is the commit that the store has at its revision.
  private func check(_ entry: LogEntry) throws {
    // A part is checked with the commit of its batch, which covers it.
    guard case .commit(let commit) = entry else { return }
    // History may no longer have the commit.
    guard let known = try writer.history.fingerprint(of: commit.revision) else { return }
    guard known == commit.fingerprint else {
      throw Self.mismatch(entry, "the store has another commit with this revision")
    }
  }

  /// Checks that an entry has the numbers of this store's model version. A migration assigns new ones, and its commit
  /// is not in the log.
  private func checkModel(of entry: LogEntry) throws {
    // A part is rolled back with the commit of its batch.
    if case .commit(let commit) = entry, commit.row.model != writer.modelNumber {
      throw StoreFailure(
        .modelDiffers, "the logged commit of revision \(entry.revision) belongs to another version of the model",
        cause: "it was made with the store's model number \(commit.row.model), and this store has number "
          + "\(writer.modelNumber)",
        advice: "A log contains no migrations: apply the entries to a copy of a store of their version.")
    }
  }

  private static func mismatch(_ entry: LogEntry, _ why: String) -> StoreFailure {
    StoreFailure(
      .corrupt, "the logged commit of revision \(entry.revision) does not fit the store", cause: why,
      advice: "Keep a copy of the store and its log, and restore both from one backup.")
  }

  // MARK: - Single commits

  private func apply(_ commit: LogEntry.Commit) throws {
    try checkPlace(of: commit)
    guard try CommitPartSummary(commit.row.changes) == nil else {
      throw Self.mismatch(.commit(commit), "the parts of its batch are missing")
    }
    writer.objects.beginTrail()
    defer { writer.objects.endTrail() }
    var ids = writer.assignedIDs(at: commit.row.time)
    let recorded = try HistoryChange.decode(commit.row.changes).map { $0.present(layout, version: nil) }
    let changes = try self.changes(recorded, inserted: commit.inserted.images, in: .commit(commit), &ids)
    let conflicts =
      commit.row.outcome.isEmpty ? [] : layout.numbers.present(try CommitResult(binary: commit.row.outcome)).conflicts
    var size = 0
    let sums = try self.sums(of: changes, recorded, &size, in: .commit(commit))
    try RowWriter(
      objects: writer.objects, fullText: writer.fullText, changes: changes, sums: sums, revision: commit.revision,
      updates: writer.updates, hasRevivals: recorded.contains { $0.kind == .inserted && $0.previous != 0 }
    ).write()
    let keyframes = recorded.filter { $0.kind == .updated && !$0.values.isEmpty }.map(\.id)
    try writer.finish(commit, changes, keyframes: keyframes, conflicts: conflicts, size: size, ids)
  }

  private func checkPlace(of commit: LogEntry.Commit) throws {
    guard commit.row.fingerprint(after: writer.fingerprint) == commit.fingerprint else {
      throw Self.mismatch(.commit(commit), "its fingerprint does not follow that of revision \(writer.revision)")
    }
  }

  // MARK: - Changes

  /// Returns the recorded changes with the objects before and after them.
  private func changes(
    _ recorded: [HistoryChange], inserted: [ObjectImage], in entry: LogEntry, _ ids: inout StoreWriter.AssignedIDs
  ) throws -> [ObjectChange] {
    var images = inserted.makeIterator()
    return try recorded.map { change in
      switch change.kind {
      case .inserted:
        guard let image = images.next().map({ layout.numbers.present($0) }), image.id == change.id,
          image.revision == entry.revision, layout.shape(of: image.id.entity)?.places.count == image.values.count
        else { throw Self.mismatch(entry, "the image of an inserted object is missing or damaged") }
        ids.record(image.id)
        return ObjectChange(kind: .inserted, id: image.id, before: nil, after: image)
      case .updated:
        guard let before = try writer.objects.readImage(of: change.id), before.revision == change.previous else {
          throw Self.mismatch(entry, "the store does not have the object \(change.id) as it was before the commit")
        }
        return try update(of: before, change, in: entry)
      case .deleted:
        guard try writer.objects.find(change.id) != nil else {
          throw Self.mismatch(entry, "the store does not have the deleted object \(change.id)")
        }
        let before = ObjectImage(id: change.id, revision: change.previous, values: change.values)
        return ObjectChange(kind: .deleted, id: change.id, before: before, after: nil)
      }
    }
  }

  private func update(of before: ObjectImage, _ change: HistoryChange, in entry: LogEntry) throws -> ObjectChange {
    var after = before
    after.revision = entry.revision
    let edits = change.edits.map(\.edit)
    for edit in edits {
      guard let property = layout.model.property(edit.property), let value = edit.applied(to: after[property]) else {
        throw Self.mismatch(entry, "an edit does not fit the object \(change.id)")
      }
      after[property] = value
    }
    return ObjectChange(
      kind: .updated, id: before.id, before: before, after: after, edits: edits, spacing: change.spacing)
  }

  /// Returns the checksums of the changes' images, which must be the recorded ones.
  private func sums(
    of changes: [ObjectChange], _ recorded: [HistoryChange], _ size: inout Int, in entry: LogEntry
  ) throws -> [UInt64] {
    let sums = try writer.sums(of: changes, &size)
    for (sum, change) in zip(sums, recorded) where sum != change.sum {
      throw Self.mismatch(entry, "the object \(change.id) would differ from the committed one")
    }
    return sums
  }

  // MARK: - Batches

  private func apply(_ part: LogEntry.Part) throws {
    var batch = try takeBatch(for: part)
    let recorded = try HistoryChange.decode(part.changes).map { $0.present(layout, version: nil) }
    let changes = try self.changes(recorded, inserted: part.inserted, in: .part(part), &batch.ids)
    var size = 0
    let sums = try self.sums(of: changes, recorded, &size, in: .part(part))
    let deferredKeys = Set(part.deferredKeys.map { layout.numbers.present(property: $0) })
    batch.deferredKeys.formUnion(deferredKeys)
    try RowWriter(
      objects: writer.objects, fullText: writer.fullText, changes: try separated(changes, &batch), sums: sums,
      revision: part.revision, updates: writer.updates, hasRevivals: false, deferredKeys: deferredKeys
    ).write()
    let bounds = try invariant(
      CommitPartSummary.bounds(changes.lazy.map(\.id)), "a part of a batch has at least one change")
    batch.parts.add(part.changes, changes: changes.count, bounds: bounds)
    try BatchWriter.insertPart(part.changes, number: part.number, of: part.revision, bounds, connection)
    writer.fullText.recordCommit(changes: changes.count, size: size)
    try writer.fullText.updateInBatch()
    self.batch = batch
  }

  private func takeBatch(for part: LogEntry.Part) throws -> UnfinishedBatch {
    let batch: UnfinishedBatch
    if let open = self.batch {
      batch = open
    } else {
      writer.objects.underway = part.revision
      // Deleted objects may refer to each other, in any order.
      try connection.database.execute(sql: "PRAGMA defer_foreign_keys = ON")
      batch = UnfinishedBatch(ids: writer.assignedIDs(at: part.time))
    }
    guard part.number == batch.parts.count + 1 else {
      throw Self.mismatch(.part(part), "a part of its batch is missing")
    }
    self.batch = nil
    return batch
  }

  /// Returns the changes without references to objects that later parts insert; these are added to `completions`.
  private func separated(_ changes: [ObjectChange], _ batch: inout UnfinishedBatch) throws -> [ObjectChange] {
    let own = Set(changes.lazy.filter { $0.kind == .inserted }.map(\.id))
    return try changes.map { change in
      guard change.kind == .inserted, let whole = change.after else { return change }
      var early = whole
      for property in layout.model.relationships(of: whole.id.entity) where property.slot != nil {
        let missing = try whole[property].objectIDs.filter { try !own.contains($0) && writer.objects.find($0) == nil }
        if missing.isEmpty { continue }
        let isToMany = property.relationship?.isToMany == true
        early[property] = isToMany ? .objects(whole[property].objectIDs.filter { !missing.contains($0) }) : .null
      }
      guard early != whole else { return change }
      let edits = layout.model.relationships(of: whole.id.entity)
        .filter { early[$0] != whole[$0] }.map { Edit($0.number, .set(whole[$0])) }
      batch.completions.append(
        ObjectChange(kind: .updated, id: whole.id, before: early, after: whole, edits: edits))
      return ObjectChange(kind: .inserted, id: whole.id, before: nil, after: early)
    }
  }

  private func finishBatch(_ commit: LogEntry.Commit) throws {
    let batch = try invariant(batch, "a batch ends after its parts")
    self.batch = nil
    defer { writer.objects.underway = nil }
    try checkPlace(of: commit)
    guard let summary = try CommitPartSummary(commit.row.changes), summary.count == batch.parts.count,
      summary.changes == batch.parts.changes, summary.sum == batch.parts.sum
    else { throw Self.mismatch(.commit(commit), "the parts of its batch differ from its summary") }
    var size = 0
    try RowWriter(
      objects: writer.objects, fullText: writer.fullText, changes: batch.completions,
      sums: try writer.sums(of: batch.completions, &size), revision: commit.revision, updates: writer.updates,
      hasRevivals: false
    ).write()
    if !batch.deferredKeys.isEmpty {
      let keys = DeferredKeyWriter(writer: writer, keys: batch.deferredKeys)
      try keys.forEach(of: commit.revision, parts: summary.count) { try keys.write($1, of: $0) }
    }
    try BatchWriter.refuseDangling(connection)
    writer.objects.forgetAll()
    try writer.fullText.endBatch(head: commit.revision)
    try writer.finishBatch(commit, batch.ids)
  }
}
