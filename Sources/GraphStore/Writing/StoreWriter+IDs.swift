// Tests: CommitTests.swift, StoreInvariantTests.swift
import GRDBSQLite
import GraphModel

extension StoreWriter {
  /// Returns the upper half of the highest id of any object; the id index provides it in one step per table.
  static func highestID(_ layout: StoreLayout, _ connection: Connection) throws -> UInt64 {
    var highest: UInt64 = 0
    for table in layout.orderedTables {
      let row = try connection.statement("SELECT max(_id) FROM \(quoted(table.name))")
      defer { sqlite3_reset(row.statement) }
      guard try connection.step(row), !row.isNull(0), let key = UniqueID(bytes: row.blob(0)) else { continue }
      highest = max(highest, key.high)
    }
    return highest
  }
}
