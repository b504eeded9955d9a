// Tests: CommitTests.swift
import GRDBSQLite
import GraphModel

/// The newest commit of a store, as its row has it; zeros and no counters for a store without commits.
struct StoredHead {
  private(set) var revision: Revision = 0
  private(set) var fingerprint: UInt64 = 0
  private(set) var time: Timestamp = 0
  private(set) var sequences = [PropertyNumber: Int64]()

  init(_ connection: Connection, _ layout: StoreLayout) throws {
    let row = try connection.statement(
      "SELECT revision, fingerprint, time, counters FROM _commit ORDER BY revision DESC LIMIT 1")
    if try connection.step(row) {
      revision = row.integer(0)
      fingerprint = UInt64(bitPattern: row.integer(1))
      time = row.integer(2)
      sequences = try SequenceCounters.decode(row.blob(3), layout.numbers)
    }
    sqlite3_reset(row.statement)
  }
}
