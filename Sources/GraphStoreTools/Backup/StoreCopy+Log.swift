// Tests: UnappliedLogTests.swift
import GRDB
import GraphLog
import GraphModel
import GraphStore

/// The commits that only the commit log of the source has.
///
/// A daemon acknowledges a commit when it is in the log, and commits it in SQLite later. The copy therefore consists of
/// a snapshot of SQLite at revision R and the log's entries after R. They are read at once after the snapshot has
/// begun: afterwards the daemon commits them in SQLite and reuses their segments.
extension StoreCopy {
  /// The number of snapshots before the failure of the log is reported. `LogReader.attempt` argues that another attempt
  /// fails only if the daemon changes the log's files again meanwhile; a log has at most eight of them, by default.
  private static let maximumSnapshots = 20

  /// Runs `body` in a read transaction of the source.
  /// - Returns: the head of the transaction's snapshot, and the records of the log after it; nil if the store needs no
  ///   log.
  func withSnapshot(
    _ queue: DatabaseQueue, _ body: (Database) throws -> Void
  ) throws -> (head: Token, records: [LogRecord]?) {
    var lastFailure: StoreFailure?
    for _ in 0..<Self.maximumSnapshots {
      let snapshot = try queue.read { database -> (Token, [LogRecord]?)? in
        let head = try readHead(database)
        var records: [LogRecord]?
        if try needsLog(database) {
          do {
            records = try LogReader.attempt(
              folder: StoreFiles.logFolder(ofStoreAt: source), store: head.store, after: head.revision)
          } catch let failure as StoreFailure {
            lastFailure = failure
            return nil
          }
        }
        try body(database)
        return (head, records)
      }
      if let snapshot { return snapshot }
    }
    throw try invariant(lastFailure, "an attempt without a result has failed")
  }

  /// - Throws: `StoreFailure(.readOnly)` for a store on a read-only file system that needs its log. The next start
  ///   syncs the newest commits, and can't write there.
  private func needsLog(_ database: Database) throws -> Bool {
    guard try LogMark.isSet(database) else { return false }
    guard ReadOnlyMedium.holds(source) else { return true }
    throw ReadOnlyMedium.refusal(
      source, cause: "its newest commits may be in its commit log, which is applied on a writable file system only")
  }

  /// Applies records to the draft, which needs no log then.
  func apply(_ records: [LogRecord], _ head: inout Token) throws {
    let state = try CopyRedo.apply(records, to: draft, model: model)
    assert(state.revision >= head.revision, "the log follows the snapshot")
    (head.revision, head.fingerprint) = (state.revision, state.fingerprint)
  }
}
