// Tests: CheckTests.swift, BitFlipTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// The check of batch history parts against the summaries in their commits. `checkHistory` checks the changes in
/// them.
extension StoreChecker {
  /// Whether the store has a `_part` table, which older layouts lack.
  func hasPartTable() throws -> Bool { try layoutVersion() >= 2 }

  func layoutVersion() throws -> Int32 { try LayoutVersion.read(database).layout }

  mutating func checkParts() throws {
    guard try hasPartTable() else { return }
    let history = HistoryReader(objects: objects)
    let commits = try connection.statement(
      """
      SELECT revision, CASE WHEN substr(changes, 1, 1) = x'10' THEN changes END FROM _commit
      WHERE substr(changes, 1, 1) = x'10' OR revision IN (SELECT revision FROM _part)
      """)
    while try connection.step(commits) {
      let place = StoreCheck.Place(table: "_commit", row: commits.integer(0))
      guard let parts = try CommitPartSummary(commits.blob(1)) else {
        report(.history, place, "has no parts, but the store has some for it")
        continue
      }
      let found = try readParts(of: commits.integer(0), history)
      if found != parts {
        report(.history, place, "has \(parts.count) parts, which have changed since they were committed")
      }
    }
    let orphans = try connection.statement(
      // An interrupted pruning may leave parts at or below the floor, which have no meaning.
      """
      SELECT DISTINCT revision FROM _part WHERE revision NOT IN (SELECT revision FROM _commit) AND revision > ?
      """)
    orphans.bind(1, try HistoryFloor.revision(connection))
    while try connection.step(orphans) {
      report(.history, .init(table: "_part"), "has parts of revision \(orphans.integer(0)), which does not exist")
    }
  }

  /// Returns the summary that a commit with the stored parts should have.
  private mutating func readParts(of revision: Revision, _ history: HistoryReader) throws -> CommitPartSummary {
    var found = CommitPartSummary()
    var entities = Set<EntityNumber>()
    for part in try history.places(of: revision) {
      let place = StoreCheck.Place(table: "_part", row: revision)
      found.count += 1
      if part.number != found.count { report(.history, place, "has no part \(found.count) before \(part.number)") }
      let bytes = try history.partBytes(part.number, of: revision)
      let changes = try HistoryChange.decode(bytes)
      found.sum = Checksum.of(bytes, seed: found.sum)
      found.changes += changes.count
      for change in changes { entities.insert(change.id.entity) }
      let bounds = CommitPartSummary.bounds(changes.lazy.map(\.id))
      if bounds?.low != part.low || bounds?.high != part.high {
        report(.history, place, "lists other objects for part \(part.number) than the part contains")
      }
    }
    found.entities = entities.sorted()
    return found
  }
}
