// Tests: KnownReplicaTests.swift
import GRDBSQLite
import GraphModel

/// Lookups in `_replica`, which interns the ids of clients that have committed.
struct ReplicaTable {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// The number of a replica; nil if it has committed nothing.
  func number(of id: UniqueID) throws -> Int64? {
    try connection.integer("SELECT number FROM _replica WHERE id = ?", .uuid(id))
  }

  /// The highest sequence number that a replica has committed, as stored; nil if history has none.
  /// - Parameter isPruned: whether history has a floor.
  func highestSequence(of number: Int64, isPruned: Bool) throws -> Int64? {
    let newest = try connection.integer("SELECT max(sequence) FROM _commit WHERE replica = ?", .integer(number))
    guard isPruned, let pruned = try HistoryFloor.highestSequence(of: number, connection) else { return newest }
    return newest.map { max($0, pruned) } ?? pruned
  }

  /// The id of the principal of a replica's newest commit; nil if that commit was pruned.
  private func author(of number: Int64) throws -> String? {
    let row = try connection.statement(
      """
      SELECT a.name FROM _commit JOIN _author AS a ON a.number = author WHERE replica = ? ORDER BY sequence DESC \
      LIMIT 1
      """)
    row.bind(1, number)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.text(0) : nil
  }

  /// The transactions of a client; nil if there are none.
  func known(_ id: UniqueID) throws -> KnownReplica? {
    guard let number = try number(of: id),
      let highest = try highestSequence(of: number, isPruned: try HistoryFloor.tableExists(connection))
    else { return nil }
    return KnownReplica(lastSequence: UInt64(bitPattern: highest), author: try author(of: number))
  }
}
