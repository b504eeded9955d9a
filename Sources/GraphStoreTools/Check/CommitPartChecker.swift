// Tests: CheckTests.swift, BitFlipTests.swift
import GraphModel
import GraphStore

/// The check of batch history parts against the summaries in their commits. `HistoryChecker` checks the changes in
/// them.
struct CommitPartChecker {
  private let store: CheckedStore

  init(_ store: CheckedStore) { self.store = store }

  func check() throws {
    // A store of an older layout has no parts.
    guard try store.hasPartTable() else { return }
    let history = HistoryReader(objects: store.objects)
    let commits = try store.connection.statement(
      """
      SELECT revision, CASE WHEN substr(changes, 1, 1) = x'10' THEN changes END FROM _commit
      WHERE substr(changes, 1, 1) = x'10' OR revision IN (SELECT revision FROM _part)
      """)
    while try store.connection.step(commits) {
      let place = StoreFinding.Place(table: "_commit", row: commits.integer(0))
      guard let parts = try CommitPartSummary(commits.blob(1)) else {
        store.report(.history, place, "has no parts, but the store has some for it")
        continue
      }
      var found = try readParts(of: commits.integer(0), history)
      // Commits of earlier versions have one checksum of all parts.
      if parts.sums.isEmpty { found.sums = [] }
      if parts.boundsSum == nil { found.boundsSum = nil }
      if found != parts {
        store.report(.history, place, "has \(parts.count) parts, which have changed since they were committed")
      }
    }
    let orphans = try store.connection.statement(
      // An interrupted pruning may leave parts at or below the floor, which have no meaning.
      """
      SELECT DISTINCT revision FROM _part WHERE revision NOT IN (SELECT revision FROM _commit) AND revision > ?
      """)
    orphans.bind(1, try HistoryFloor.revision(store.connection))
    while try store.connection.step(orphans) {
      store.report(.history, .init(table: "_part"), "has parts of revision \(orphans.integer(0)), which does not exist")
    }
  }

  /// Returns the summary that a commit with the stored parts should have.
  private func readParts(of revision: Revision, _ history: HistoryReader) throws -> CommitPartSummary {
    var found = CommitPartSummary()
    var entities = Set<EntityNumber>()
    for part in try history.places(of: revision) {
      let place = StoreFinding.Place(table: "_part", row: revision)
      if part.number != found.count + 1 {
        store.report(.history, place, "has no part \(found.count + 1) before \(part.number)")
      }
      let bytes = try history.partBytes(part.number, of: revision)
      let changes = try HistoryChange.decode(bytes)
      for change in changes { entities.insert(change.id.entity) }
      let stored = (low: part.low, high: part.high)
      let bounds = CommitPartSummary.bounds(changes.lazy.map(\.id))
      if bounds?.low != stored.low || bounds?.high != stored.high {
        store.report(.history, place, "lists other objects for part \(part.number) than the part contains")
      }
      // Ranges that differ are reported above, and not as changed parts, too.
      found.add(bytes, changes: changes.count, bounds: bounds ?? stored)
    }
    found.entities = entities.sorted()
    return found
  }
}
