// Tests: MirrorStoreTests.swift
import Foundation
import GRDB
import GraphModel
import Logging

/// Loads a mirror from a server's export into a draft file, which takes the mirror's name when it is complete and on
/// disk. A mirror is therefore always one state of the server, with the token of that state.
///
/// Objects refer to each other in any order, so each is written without references first; the references follow when
/// all objects have rows. Until then they are in a TEMP table, so memory does not grow with the graph.
package final class MirrorLoader {
  private let path: String
  private let draft: String
  private let layout: StoreLayout
  private let limit: MirrorStore.Limit
  private let kept: KeptScopes?
  private var queue: DatabaseQueue?
  private var writer: StoreWriter?
  private var count = 0

  /// Begins a draft beside the mirror at `path`.
  /// - Parameters:
  ///   - store: the id of the server's store.
  ///   - isPartial: whether the user does not see all objects.
  ///   - kept: the scopes whose objects the mirror has; nil for everything that the user sees.
  package init(
    path: String, model: Model, store: UniqueID, isPartial: Bool = false, kept: KeptScopes? = nil,
    limit: MirrorStore.Limit = .init()
  ) throws {
    (self.path, draft, self.limit, self.kept) = (path, path + ".new", limit, kept)
    layout = StoreLayout(model: model)
    MirrorStore.remove(draft)
    StoreFiles.createPrivateFile(at: draft)
    let queue = try Self.explaining(draft) { try DatabaseQueue(path: draft) }
    self.queue = queue
    writer = try Self.explaining(draft) {
      try queue.inDatabase { try kept?.write($0) }
      return try Self.prepare(queue, layout, model, store, isPartial: isPartial)
    }
  }

  /// Creates the tables of a draft.
  private static func prepare(
    _ queue: DatabaseQueue, _ layout: StoreLayout, _ model: Model, _ store: UniqueID, isPartial: Bool
  ) throws -> StoreWriter {
    try queue.inDatabase { database in
      SQLFunctions.register(on: database)
      // The draft has no value before it is complete, and it is synced then.
      try database.execute(sql: "PRAGMA synchronous = OFF")
      try database.execute(sql: "PRAGMA foreign_keys = OFF")
      try database.execute(sql: "PRAGMA secure_delete = ON")
      try database.execute(sql: ReferenceTable.creation)
      try database.execute(sql: "PRAGMA application_id = \(StoreLayout.applicationID)")
      try database.execute(sql: LayoutVersion(layout: StoreLayout.version).statement)
      try database.inTransaction {
        for statement in layout.creation + HistoryFloor.creation { try database.execute(sql: statement) }
        if isPartial { try database.execute(sql: "CREATE TABLE \(MirrorStore.partialTable) (id INTEGER)") }
        // Row numbers are those of this load.
        try database.execute(sql: "CREATE TABLE _mirror (load INTEGER NOT NULL)")
        try database.execute(
          sql: "INSERT INTO _mirror (load) VALUES (?)", arguments: [Int64.random(in: 1 ... .max)])
        try database.execute(
          sql: "INSERT INTO _store (id, created, sum) VALUES (?, 0, ?)",
          arguments: [Data(store.bytes), StoreLayout.sum(store: store, created: 0)])
        let (hash, source) = (model.hash.bytes, model.source)
        try database.execute(
          sql: "INSERT INTO _model (hash, source, sum) VALUES (?, ?, ?)",
          arguments: [Data(hash), source, StoreLayout.sum(model: hash, source: source)])
        return .commit
      }
      return try MirrorStore.makeWriter(database, layout: layout)
    }
  }

  deinit { abandon() }

  /// Writes objects, each with the revision that the server gave it.
  /// - Throws: `Refusal(.limit)` if the mirror would become larger than its limit.
  package func add(_ images: [ObjectImage]) throws {
    let images = if let kept { images.filter { kept.keep($0, of: layout.model) } } else { images }
    count += images.count
    if count > limit.objects { throw limit.refusal("has more than \(limit.objects) objects") }
    if StoreFiles.size(of: draft) > limit.bytes { throw limit.refusal("takes more than \(limit.bytes >> 20) MiB") }
    try write { writer in
      let waiting = ReferenceTable(connection: writer.connection)
      return try images.map { image in
        ObjectChange(kind: .inserted, id: image.id, before: nil, after: try waiting.withoutReferences(image))
      }
    }
  }

  /// Writes the references, and puts the mirror in the place of an earlier one.
  /// - Parameters:
  ///   - token: the state of the objects.
  ///   - time: the present time.
  package func finish(at token: Token, time: Timestamp) throws {
    var last: Int64 = 0
    while let newest = try update(after: last) { last = newest }
    let queue = try invariant(queue, "a mirror is completed once")
    try Self.explaining(draft) { try complete(queue, at: token, time: time) }
    // The writer's statements must be finalized before the file is closed.
    writer = nil
    self.queue = nil
    try queue.close()
    try MirrorStore.replace(path, by: draft)
  }

  private func complete(_ queue: DatabaseQueue, at token: Token, time: Timestamp) throws {
    let writer = try invariant(writer, "a mirror is completed once")
    try queue.inDatabase { database in
      try database.inTransaction {
        // The indexes must be complete now: history does not have the commits from which a later start would
        // complete them.
        writer.fullText.recordCommit(changes: SQLiteStore.Options().wordLimit, size: 0)
        try writer.fullText.updateIfDue(head: token.revision)
        if token.revision > 0 { try begin(at: token, time: time, writer) }
        return .commit
      }
    }
  }

  private static let chunk = 1_000

  /// The floor of history: the commits up to the token were never here.
  private func begin(at token: Token, time: Timestamp, _ writer: StoreWriter) throws {
    let state = MirroredCommit(unchangedUpTo: token, time: time)
    try writer.insert(writer.row(of: state, changes: []))
    try HistoryFloor(revision: token.revision, fingerprint: token.fingerprint, time: time, author: 0)
      .write(writer.connection)
  }

  /// Writes the references of the next objects that wait.
  /// - Returns: the number of the last one; nil if there are no further ones.
  private func update(after number: Int64) throws -> Int64? {
    var last: Int64?
    try write { writer in
      let waiting = try ReferenceTable(connection: writer.connection).next(after: number, limit: Self.chunk)
      last = waiting.last?.number
      return try waiting.map { reference in
        let before = try invariant(writer.objects.readImage(of: reference.id), "an object that was written is there")
        let entity = try invariant(layout.model.entity(before.id.entity), "an object that was written has an entity")
        var after = before
        for (slot, value) in reference.values { after.values[slot] = value }
        after = try writer.objects.withKnownReferences(after, [])
        let edits = reference.values.map {
          Edit(entity.storedProperties[$0.slot].number, .set(after.values[$0.slot]))
        }
        return ObjectChange(kind: .updated, id: reference.id, before: before, after: after, edits: edits)
      }
    }
    return last
  }

  private func write(_ changes: (StoreWriter) throws -> [ObjectChange]) throws {
    let queue = try invariant(queue, "a mirror that is loaded is open")
    let writer = try invariant(writer, "a mirror that is loaded has a writer")
    try Self.explaining(draft) { try write(changes, queue, writer) }
  }

  private func write(
    _ changes: (StoreWriter) throws -> [ObjectChange], _ queue: DatabaseQueue, _ writer: StoreWriter
  ) throws {
    try queue.inDatabase { database in
      try database.inTransaction {
        let changes = try changes(writer)
        if changes.isEmpty { return .commit }
        var size = 0
        let sums = try writer.sums(of: changes, &size)
        var rows = RowWriter(
          objects: writer.objects, fullText: writer.fullText, changes: changes, sums: sums, revision: 1,
          updates: writer.updates, hasRevivals: false)
        rows.keepsRevisions = true
        try rows.write()
        writer.fullText.recordCommit(changes: changes.count, size: size)
        try writer.fullText.updateInBatch()
        return .commit
      }
    }
  }

  /// Runs `body`; an error of SQLite, such as that of a full disk, is thrown as a failure in words.
  private static func explaining<Result>(_ draft: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as DatabaseError { throw MirrorStore.failure(error, draft) }
  }

  /// Removes the draft.
  package func abandon() {
    if let queue {
      writer = nil
      self.queue = nil
      try? queue.close()
      MirrorStore.remove(draft)
    }
  }
}
