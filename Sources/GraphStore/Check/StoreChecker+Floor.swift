// Tests: PruningTests.swift, CheckTests.swift
import GRDBSQLite
import GraphModel

/// The check of a pruned history's floor: the chain proves the fingerprint, a checksum the rest.
extension StoreChecker {
  mutating func checkFloor() throws {
    guard try HistoryFloor.tableExists(connection) else { return }
    let place = StoreCheck.Place(table: "_floor")
    let rows = try connection.statement("SELECT count(*), max(sum) FROM _floor")
    let (count, sum) = try connection.step(rows) ? (rows.integer(0), rows.integer(1)) : (0, 0)
    sqlite3_reset(rows.statement)
    // The table is empty if the first pruning was interrupted at its start.
    if count > 1 { report(.history, place, "has \(count) rows instead of one") }
    guard let floor = try HistoryFloor.read(connection) else { return }
    if floor.sum != sum { report(.history, place, "has changed") }
    if try layoutVersion() < HistoryFloor.layout {
      report(.store, place, "exists, but the file allows older programs to write it")
    }
    // The replica of a pruned commit must not be taken for a new one.
    let strays = try connection.statement(
      "SELECT replica FROM _pruned WHERE replica NOT IN (SELECT number FROM _replica)")
    while try connection.step(strays) {
      report(.history, .init(table: "_pruned", row: strays.integer(0)), "names a missing replica")
    }
    let below = try connection.statement("SELECT id, revision FROM _whole WHERE revision <= ?")
    below.bind(1, floor.revision)
    while try connection.step(below) {
      report(.history, .init(table: "_whole"), "names revision \(below.integer(1)), which was pruned")
    }
  }
}
