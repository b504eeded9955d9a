// Tests: PruningTests.swift, PruningTwinTests.swift, PruningFailureTests.swift
import GRDBSQLite
import GraphModel

/// The record of pruned commits. All commits up to one revision, the *floor*, were removed; the state at the floor is
/// the oldest readable one.
///
/// - `_floor` has one row: the last pruned commit's revision, fingerprint, time and author. The chain of the
///   remaining commits begins with that fingerprint, and a token of that revision is verified with it.
/// - `_pruned` has, for each replica with pruned commits, the highest sequence number among them: a transaction at or
///   below it that is not in history is never taken for a new one.
///
/// Only the first pruning creates these tables.
package struct HistoryFloor: Equatable {
  package var revision: Revision
  package var fingerprint: UInt64
  package var time: Timestamp
  /// The author's number in `_author`.
  var author: Int64

  /// The least layout of a pruned store. A program that does not know it would commit a transaction again whose outcome
  /// was pruned.
  package static let layout: Int32 = 5

  package static let creation = [
    """
    CREATE TABLE IF NOT EXISTS _floor (revision INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL, \
    time INTEGER NOT NULL, author INTEGER NOT NULL, sum INTEGER NOT NULL)
    """,
    "CREATE TABLE IF NOT EXISTS _pruned (replica INTEGER PRIMARY KEY, sequence INTEGER NOT NULL)",
  ]

  /// The checksum of the row; the chain covers only the fingerprint.
  package var sum: Int64 {
    var writer = BinaryWriter()
    writer.field(1, revision)
    writer.fixed(2, fingerprint)
    writer.field(3, time)
    writer.field(4, author)
    return Int64(bitPattern: Checksum.of(writer.bytes))
  }

  package static func tableExists(_ connection: Connection) throws -> Bool {
    try connection.hasTable("_floor")
  }

  /// Reads the floor; nil if nothing was pruned.
  package static func read(_ connection: Connection) throws -> HistoryFloor? {
    guard try tableExists(connection) else { return nil }
    let row = try connection.statement("SELECT revision, fingerprint, time, author FROM _floor")
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return nil }
    return HistoryFloor(
      revision: row.integer(0), fingerprint: UInt64(bitPattern: row.integer(1)), time: row.integer(2),
      author: row.integer(3))
  }

  /// The revision of the floor; 0 if nothing was pruned.
  package static func revision(_ connection: Connection) throws -> Revision {
    if let floor = try read(connection) { floor.revision } else { 0 }
  }

  func write(_ connection: Connection) throws {
    try invariant(revision > 0, "the floor of history is a commit")
    try connection.run("DELETE FROM _floor")
    let row = try connection.statement(
      "INSERT INTO _floor (revision, fingerprint, time, author, sum) VALUES (?, ?, ?, ?, ?)")
    row.bind(1, revision)
    row.bind(2, Int64(bitPattern: fingerprint))
    row.bind(3, time)
    row.bind(4, author)
    row.bind(5, sum)
    try connection.run(row)
  }

  /// The highest sequence number among a replica's pruned transactions, as stored; nil for none.
  static func highestSequence(of replica: Int64, _ connection: Connection) throws -> Int64? {
    try connection.integer("SELECT sequence FROM _pruned WHERE replica = ?", .integer(replica))
  }
}

extension HistoryReader {
  /// The refusal for a pruned commit.
  func prunedCommit(_ revision: Revision) throws -> Refusal { .prunedCommit(revision, oldest: try oldest()) }

  /// - Throws: `Refusal(.pruned)` for a pruned commit; the state after it may still be readable.
  func refusePrunedCommit(_ revision: Revision) throws {
    let oldest = try oldest()
    if revision > 0, revision <= oldest { throw Refusal.prunedCommit(revision, oldest: oldest) }
  }

  /// - Throws: `Refusal(.pruned)` for a revision whose state is no longer readable.
  func refusePruned(_ revision: Revision) throws {
    let oldest = try oldest()
    if revision < oldest { throw Refusal.pruned(revision, oldest: oldest) }
  }
}
