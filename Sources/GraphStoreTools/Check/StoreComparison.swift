// Tests: RedoTests.swift
import GRDB
import GRDBSQLite
import GraphStore

/// Compares the files of two stores row by row: one must be the redo of the other.
///
/// The full-text indexes are left out. They lag behind the commits, by as much as was gathered, and `check` compares
/// them with the texts.
package enum StoreComparison {
  /// Returns a description of the first difference in each table; empty if the stores are equal.
  package static func differences(_ directory: String, _ other: String) throws -> [String] {
    let (left, right) = (try tables(directory), try tables(other))
    var differences = [String]()
    for name in Set(left.keys).union(right.keys).sorted() {
      // Some tables are created when they are first needed, which a rollback of their first row does not undo.
      let mine = left[name, default: []]
      let theirs = right[name, default: []]
      if mine == theirs { continue }
      let place = zip(mine, theirs).enumerated().first { $0.element.0 != $0.element.1 }
      differences.append(
        place.map { "\(name): \($0.element.0) and \($0.element.1)" }
          ?? "\(name): \(mine.count) and \(theirs.count) rows")
    }
    return differences
  }

  /// Turns a copy of a store's files into a separate store without a commit log.
  package static func makeIndependent(_ directory: String) throws {
    let queue = try DatabaseQueue(path: directory + "/" + StoreFiles.name)
    try queue.inDatabase { try LogMark.clear($0) }
    try queue.close()
  }

  private static func tables(_ directory: String) throws -> [String: [String]] {
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(path: directory + "/" + StoreFiles.name, configuration: configuration)
    return try queue.read { database in
      let all = try Row.fetchAll(database, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
      let indexes = all.compactMap { row -> String? in
        let (name, sql): (String, String) = (row["name"], row["sql"])
        return sql.hasPrefix("CREATE VIRTUAL") ? name : nil
      }
      let hasFloor = try database.tableExists("_floor") && Row.fetchOne(database, sql: "SELECT 1 FROM _floor") != nil
      var tables = [String: [String]]()
      for row in all {
        let name: String = row["name"]
        // The watermark of the full-text indexes, and the tables in which SQLite keeps each of them.
        if name == "_words" || name == "_log" || indexes.contains(where: { name == $0 || name.hasPrefix($0 + "_") }) {
          continue
        }
        // A pruning removes parts some time after their commits.
        let condition = name == "_part" && hasFloor ? " WHERE revision > (SELECT max(revision) FROM _floor)" : ""
        tables[name] = try Row.fetchAll(database, sql: "SELECT * FROM \"\(name)\"\(condition)").map { $0.description }
      }
      return tables
    }
  }
}
