// Tests: SearchTests.swift
import GRDB
import GraphModel

/// Rebuilds a store's full-text indexes if another version of `WordSplitter` has split their words.
///
/// The program that opens or migrates the store does this in one transaction with the new mark in `user_version`. So
/// after a crash both the indexes and the mark are unchanged.
package enum FullTextRebuild {
  package static func isDue(_ database: Database) throws -> Bool {
    try LayoutVersion.read(database).words != WordSplitter.version
  }

  /// Rebuilds all indexes; call it within a transaction.
  package static func perform(_ connection: Connection, layout: StoreLayout, head: Revision) throws {
    for table in layout.orderedTables {
      for words in table.fullTextTables {
        try connection.run("INSERT INTO \(quoted(words.name)) (\(quoted(words.name))) VALUES ('delete-all')")
        try fill(words, of: table, connection)
      }
    }
    let mark = try connection.statement("UPDATE _words SET revision = ?")
    mark.bind(1, head)
    try connection.run(mark)
  }

  /// Fills an empty index with all existing texts.
  package static func fill(_ words: EntityTable.FullTextTable, of table: EntityTable, _ connection: Connection) throws {
    let column = try invariant(table.column(of: words.property.number), "a text with an index has a column")
    let name = quoted(column.name)
    let rows = try connection.statement(
      "SELECT _row, \(name) FROM \(quoted(table.name)) WHERE \(name) <> '' ORDER BY _row")
    while try connection.step(rows) {
      let insert = try connection.statement(words.insert)
      insert.bind(1, rows.integer(0))
      insert.bind(2, rows.text(1).wordList)
      try connection.run(insert)
    }
  }
}
