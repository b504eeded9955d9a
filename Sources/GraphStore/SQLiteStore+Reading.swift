// Tests: FetchTests.swift, RandomGraphTests.swift
import Foundation
import GRDB
import GraphModel

/// Reads, each in its own transaction on one of the pool's connections. Reads and the writer never block each other.
extension SQLiteStore {
  /// Runs `body` in a read transaction, with the state that the transaction sees.
  func read<Result>(_ body: (ObjectReader, HistoryReader, Token) throws -> Result) throws -> Result {
    do {
      try commitUnread()
      return try pool.read { database in
        let objects = reader(database)
        let history = HistoryReader(objects: objects)
        let head = try history.head()
        return try body(
          objects, history, Token(store: storeID, revision: head.revision, fingerprint: head.fingerprint))
      }
    } catch {
      throw readFailure(error)
    }
  }

  /// A reader of the present state, for one transaction.
  private func reader(_ database: Database) -> ObjectReader {
    let connection = Connection(database, statements: statements.cache(of: database))
    return ObjectReader(
      connection, layout: layout, damage: reporter.damage, older: earlier.map { UnmigratedRows(connection, $0) },
      comparisons: ObjectReader.olderComparisons)
  }

  /// Runs `body` in a read transaction in which table names resolve to what a class sees; nil for the whole graph.
  /// History is read as a whole there, so only its newest state may be taken from it.
  func read<Result>(
    seenBy visibility: Visibility?, _ body: (ObjectReader, HistoryReader, Token) throws -> Result
  ) throws -> Result {
    guard let visibility else { return try read(body) }
    do {
      try commitUnread()
      return try visibleReaders.read(visibility) { reader in
        try reader.read(visibility) { objects, history in
          let head = try history.head()
          return try body(
            objects, history, Token(store: storeID, revision: head.revision, fingerprint: head.fingerprint))
        }
      }
    } catch {
      throw readFailure(error)
    }
  }

  /// The failure of a read, which is logged if it is one of the disk. If a connection can't be opened, the usual cause
  /// is a name that no longer refers to the store's file.
  func readFailure(_ error: any Error) -> any Error {
    var (failure, isOfTheDisk) = (error, false)
    if let error = error as? DatabaseError {
      if error.resultCode == .SQLITE_CANTOPEN, let moved = fileFailure() { return moved }
      failure = SQLiteFailure.of(error, path: path)
      // A cancelled read is interrupted, which has another code.
      isOfTheDisk = error.resultCode == .SQLITE_IOERR
    }
    guard let code = (failure as? StoreFailure)?.code else { return failure }
    if code == .lockLost { status.withLock { $0.isLockLost = true } }
    if isOfTheDisk || code == .lockLost || code == .corrupt {
      reporter.report("read \(code.rawValue)", "the store can't be read", failure)
    }
    return failure
  }

  /// The newest committed state.
  public var head: Token { get throws { try read { _, _, head in head } } }

  /// The commits after `after` up to and including `through`, oldest first, from history.
  public func commits(
    after: Revision, through: Revision?, maximumChanges: Int, maximumBytes: Int
  ) throws -> [CommitRecord] {
    try read { _, history, _ in
      try history.records(
        after: after, through: through, maximumChanges: maximumChanges, maximumBytes: maximumBytes
      ).map { names.shown($0) }
    }
  }

  /// Passes all objects to `body` by entity number and id, in one read transaction. Holds one object in memory at a
  /// time.
  public func export(
    seenBy visibility: Visibility?, begin: (Token, Int) throws -> Void, body: (ObjectImage) throws -> Void
  ) throws -> AnswerCompletion {
    try read(seenBy: visibility) { objects, _, head in
      try GraphExporter(objects: objects).export(begin: { try begin(head, $0) }, body: body)
      return AnswerCompletion(at: head, damage: objects.damageFound.notice)
    }
  }

  /// The steps that undo and redo would apply to now.
  /// - Parameter author: the id of the principal.
  public func undoState(of author: String, scope: UniqueID?) throws -> UndoState {
    try read { _, history, _ in
      let stacks = UndoStacks(history: history)
      let next = try stacks.next(of: author, scope: scope)
      func described(_ step: UndoStacks.Step?) throws -> UndoStep? {
        guard let step else { return nil }
        let revisions = try stacks.revisions(of: step)
        return UndoStep(
          group: step.group, oldest: revisions.first ?? step.revision, newest: step.revision, count: revisions.count)
      }
      return UndoState(undo: try described(next.undo), redo: try described(next.redo))
    }
  }

  /// The transactions of a client in history; nil if there are none.
  public func replica(_ id: UniqueID) throws -> KnownReplica? {
    try read { objects, _, _ in try ReplicaTable(objects.connection).known(id) }
  }

  /// Whether history has the token's revision with the token's fingerprint.
  public func recognizes(_ token: Token) throws -> Bool {
    // Before a migration, the client held objects of another model.
    try token.store == storeID && token.revision >= layout.since
      && read { _, history, _ in try history.fingerprint(of: token.revision) == token.fingerprint }
  }

  /// The location, the size and the next sequence numbers of the store. If it can't be read, only the failure, the
  /// location and the sizes are known.
  public func statistics() throws -> StoreStatistics {
    var statistics = StoreStatistics(
      head: Token(store: storeID, revision: 0, fingerprint: 0), location: files.location,
      size: StoreFiles.size(of: path), sequences: [])
    if let gathered { statistics.commitLogSize = gathered.log.bytesOnDisk }
    // Acknowledged commits that SQLite can't commit are missing in the figures.
    do { try commitUnread() } catch { statistics.failure = "\(readFailure(error))" }
    do { try readFigures(into: &statistics) } catch { statistics.failure = "\(readFailure(error))" }
    if let failure = fileFailure() { statistics.failure = failure.description }
    return statistics
  }

  private func readFigures(into statistics: inout StoreStatistics) throws {
    let (head, oldest, counters) = try pool.read { database in
      let history = HistoryReader(objects: reader(database))
      let counters = try Data.fetchOne(database, sql: "SELECT counters FROM _commit ORDER BY revision DESC LIMIT 1")
      return (try history.head(), try history.oldest(), counters)
    }
    var next = [PropertyNumber: Int64]()
    for property in model.entities.flatMap(\.attributes) where property.attribute?.assignment == .sequence {
      next[property.number] = 1
    }
    if let counters {
      for (number, counter) in try SequenceCounters.decode(Array(counters), layout.numbers)
      where model.property(number) != nil {
        next[number] = counter
      }
    }
    statistics.head = Token(store: storeID, revision: head.revision, fingerprint: head.fingerprint)
    statistics.oldest = oldest
    statistics.sequences = next.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
  }
}
