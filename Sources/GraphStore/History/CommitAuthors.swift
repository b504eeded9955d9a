// Tests: RandomHistoryTests.swift, LargeLogTests.swift
import GRDBSQLite
import GraphModel

/// Lookups in `_author`, which interns the names of commits' authors.
struct CommitAuthors {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// The number of a name; nil if no commit was made under it.
  func number(of name: String) throws -> Int64? {
    try connection.integer("SELECT number FROM _author WHERE name = ?", .string(name))
  }

  /// The name with a number; nil if a damaged store lacks it.
  func name(of number: Int64) throws -> String? {
    let row = try connection.statement("SELECT name FROM _author WHERE number = ?")
    row.bind(1, number)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.text(0) : nil
  }

  /// The time and the author of a commit; nil if history does not have it.
  func stamp(of revision: Revision) throws -> (time: Timestamp, author: String)? {
    let row = try connection.statement(
      "SELECT time, a.name FROM _commit JOIN _author AS a ON a.number = author WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? (row.integer(0), row.text(1)) : nil
  }
}
