// Tests: CheckTests.swift, ValueOriginTests.swift
import GRDBSQLite
import GraphModel

/// The check of `_lost` against the outcomes of commits, to which its rows only point. The outcomes are sealed.
extension StoreChecker {
  mutating func checkOverwrittenValues() throws {
    let table = try connection.statement("SELECT 1 FROM sqlite_schema WHERE name = '_lost'")
    defer { sqlite3_reset(table.statement) }
    guard try connection.step(table) else { return }
    let row = try connection.statement(
      """
      SELECT id, property, l.revision, outcome FROM _lost AS l LEFT JOIN _commit AS c ON c.revision = l.revision
      """)
    while try connection.step(row) {
      let (id, property) = (row.id(0), PropertyNumber(truncatingIfNeeded: row.integer(1)))
      let conflicts = row.isNull(3) ? [] : try CommitResult(binary: row.blob(3)).conflicts
      guard !conflicts.contains(where: { $0.isLoss && $0.id.key == id && $0.property == property }) else { continue }
      report(
        .history, .init(table: "_lost"),
        "lists a lost value for revision \(row.integer(2)), but the outcome of that revision has none")
    }
  }
}
