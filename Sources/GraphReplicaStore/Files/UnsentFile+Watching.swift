// Tests: UnsentFileTests.swift, LiveConflictsTests.swift
import GRDB
import GraphModel
import GraphStore

/// Reads of a watcher: the state, the counts and the parked edits, without the queued edits themselves.
extension UnsentFile {
  /// The state of the replica, the numbers of its edits, and the parked ones.
  package struct Overview: Sendable {
    /// Differs from that of every earlier state of the file.
    package var version: Int64
    package var state: SyncState
    package var kept: KeptScopes?
    package var unsent: Int
    package var parked: [Entry]
  }

  /// Reads the overview, after the write that is in progress.
  ///
  /// A watcher is notified when a writer's bytes arrive, which is before its commit: taking the writer's lock for a
  /// moment waits for the end of it. Nothing is written.
  /// - Parameter version: that of the overview that the caller has; nil for none.
  /// - Returns: nil if the file has not changed since.
  package func overview(_ form: IntentForm, unless version: Int64? = nil) throws -> Overview? {
    try read { database in
      var overview: Overview?
      try database.inTransaction(.immediate) {
        let present = try invariant(
          Int64.fetchOne(database, sql: "PRAGMA data_version"), "SQLite has a version of the data")
        if present != version {
          let rows = try GRDB.Row.fetchAll(
            database, sql: "SELECT number, form, used FROM intent WHERE state = 'parked' ORDER BY number")
          let unsent = try Int.fetchOne(database, sql: "SELECT count(*) FROM intent WHERE state <> 'parked'")
          let replica = try Self.replica(database, path)
          overview = Overview(
            version: present, state: replica.state, kept: replica.kept,
            unsent: try invariant(unsent, "a count of rows is a number"),
            parked: rows.map { Self.parkedEntry($0, form) })
        }
        return .rollback
      }
      return overview
    }
  }

  private static func parkedEntry(_ row: GRDB.Row, _ form: IntentForm) -> Entry {
    var entry = Entry(number: row[0], form: row[1], intent: nil, used: row[2], isParked: true)
    do throws(Refusal) {
      entry.intent = try form.intent(parsing: entry.form)
    } catch {
      entry.failure = error
    }
    return entry
  }
}

extension ReplicaStore {
  /// Changes whenever another connection has written to the file of unsent edits.
  package var unsentVersion: Int64 { get throws { try unsent.version } }
}
