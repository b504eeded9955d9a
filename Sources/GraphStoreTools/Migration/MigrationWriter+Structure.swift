// Tests: MigrationTests.swift, MigrationFailureTests.swift
import GRDB
import GraphModel
import GraphStore

/// The changes of tables, columns and names.
extension MigrationWriter {
  // MARK: - New columns

  /// Adds the new columns under temporary names. SQLite stores a constant default with the table, so existing rows
  /// get it without being written.
  /// - Parameter toNewTables: whether to add references to new tables; they come last, when every table has its final
  ///   name.
  func addColumns(toNewTables: Bool) throws {
    for table in new.orderedTables {
      guard let before = before(table) else { continue }
      for column in table.columns where self.before(column, in: before) == nil && leadsToNew(column) == toNewTables {
        let name = toNewTables ? column.name : draft(column)
        var definition = "\(quoted(name)) \(column.type)"
        if let destination = destination(of: column) { definition += " REFERENCES \(quoted(destination)) (_row)" }
        if let literal = literal(column, table) { definition += " DEFAULT \(literal)" }
        try run("ALTER TABLE \(quoted(toNewTables ? table.name : before.name)) ADD COLUMN \(definition)")
      }
    }
  }

  private func leadsToNew(_ column: EntityTable.Column) -> Bool {
    guard column.destination != nil, let relationship = column.property.relationship,
      let table = new.table(of: relationship.destination)
    else { return false }
    return before(table) == nil
  }

  /// The destination by its present name; SQLite updates references when it renames a table.
  private func destination(of column: EntityTable.Column) -> String? {
    guard column.destination != nil, let destination = column.property.relationship?.destination,
      let table = new.table(of: destination)
    else { return nil }
    return before(table)?.name ?? table.name
  }

  /// The default for all rows of a table. A subentity's property is null in its siblings' rows, so only its own rows
  /// are written.
  func literal(_ column: EntityTable.Column, _ table: EntityTable) -> String? {
    guard case .constant(let value)? = plan.origins[column.property.number],
      column.property.owner == table.root.number
    else { return nil }
    return Self.literal(value)
  }

  /// Returns an SQL literal; nil for a value that SQL text can't represent.
  static func literal(_ value: Value) -> String? {
    func blob(_ bytes: [UInt8]) -> String {
      "x'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }
    switch value {
    case .null: return "NULL"
    case .bool(let flag): return flag ? "1" : "0"
    case .integer(let number), .date(let number): return "\(number)"
    case .double(let number): return "\(number)"
    case .decimal(let number): return blob(number.orderedBytes)
    case .uuid(let id): return blob(id.bytes)
    case .data(let bytes): return blob(bytes)
    case .string(let text):
      guard !text.utf8.contains(0) else { return nil }
      return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    case .object, .objects: return nil
    }
  }

  // MARK: - Names

  private struct ColumnRename { let table, from, to: String }

  /// Renames in two steps, through unused names, so that two names can be swapped.
  func rename() throws {
    var columns = [ColumnRename]()
    var tables = [(from: String, to: String)]()
    for table in new.orderedTables {
      guard let before = before(table) else { continue }
      for column in before.columns {
        let successor = table.columns.first { self.before($0, in: before)?.property.number == column.property.number }
        let stored = old.numbers.stored(property: column.property.number)
        let name = successor?.name ?? TableNames.ended(stored)
        if name != column.name { columns.append(ColumnRename(table: before.name, from: column.name, to: name)) }
      }
      for column in table.columns where self.before(column, in: before) == nil && !leadsToNew(column) {
        columns.append(ColumnRename(table: before.name, from: draft(column), to: column.name))
      }
      tables.append((before.name, table.name))
    }
    for (index, column) in columns.enumerated() {
      try run(
        "ALTER TABLE \(quoted(column.table)) RENAME COLUMN \(quoted(column.from)) TO \(quoted("_moved.\(index)"))")
    }
    for (index, column) in columns.enumerated() {
      try run("ALTER TABLE \(quoted(column.table)) RENAME COLUMN \(quoted("_moved.\(index)")) TO \(quoted(column.to))")
    }
    tables += renamedParts()
    let moved = tables.filter { $0.from != $0.to }
    for (index, table) in moved.enumerated() {
      try run("ALTER TABLE \(quoted(table.from)) RENAME TO \(quoted("_moved.\(index)"))")
    }
    for (index, table) in moved.enumerated() {
      try run("ALTER TABLE \(quoted("_moved.\(index)")) RENAME TO \(quoted(table.to))")
    }
  }

  /// The index tables and full-text indexes that are kept, with their old and new names.
  private func renamedParts() -> [(from: String, to: String)] {
    var parts = [(from: String, to: String)]()
    for table in new.orderedTables {
      guard let before = before(table) else { continue }
      for edge in table.edges {
        if let old = before.edges.first(where: { $0.property.number == plan.kept(edge.property.number) }) {
          parts.append((old.name, edge.name))
        }
      }
      for words in table.fullTextTables {
        if let old = before.fullTextTables.first(where: { $0.property.number == plan.kept(words.property.number) }) {
          parts.append((old.name, words.name))
        }
      }
    }
    return parts
  }

  // MARK: - New and removed tables

  /// Creates the new tables. Index tables and full-text indexes that are not kept must be dropped before, because new
  /// ones may have their names.
  func makeTables() throws {
    let going = Set(renamedParts().map(\.to))
    let statements = new.orderedTables.flatMap { table -> [String] in
      let isNew = before(table) == nil
      return table.creation(model: plan.new).filter { statement in
        if statement.hasPrefix("CREATE TABLE \(quoted(table.name)) ") { return isNew }
        guard statement.hasPrefix("CREATE TABLE") || statement.hasPrefix("CREATE VIRTUAL TABLE") else { return false }
        return !going.contains {
          statement.hasPrefix("CREATE TABLE \(quoted($0)) ")
            || statement.hasPrefix("CREATE VIRTUAL TABLE \(quoted($0)) ")
        }
      }
    }
    for statement in statements { try run(statement) }
  }

  /// Drops the index tables and full-text indexes of removed tables and properties.
  func dropParts() throws {
    let kept = Set(renamedParts().map(\.from))
    for table in old.orderedTables {
      for name in table.edges.map(\.name) + table.fullTextTables.map(\.name) where !kept.contains(name) {
        try run("DROP TABLE \(quoted(name))")
      }
    }
  }

  /// Deletes the rows of removed subentities from tables that are kept.
  mutating func removeRows() throws {
    for entity in plan.removedEntities where entity.root != entity.number {
      guard let before = old.table(of: entity.root), let root = root(of: before), let table = new.table(of: root) else {
        continue
      }
      let condition = "_entity = \(old.numbers.stored(entity: entity.number))"
      for edge in table.edges {
        try run(
          "DELETE FROM \(quoted(edge.name)) WHERE owner IN (SELECT _row FROM \(quoted(table.name)) WHERE \(condition))")
      }
      try removeWords(condition, in: table)
      try run("DELETE FROM \(quoted(table.name)) WHERE \(condition)")
      count(database.changesCount)
    }
  }

  private func root(of before: EntityTable) -> EntityNumber? {
    plan.entities.first { $0.value == before.root.number }?.key
  }

  /// Empties and renames the tables of removed root entities. An empty table is kept, because ended columns still
  /// refer to it, and SQLite prepares no statement over a reference to a missing table.
  mutating func endTables() throws {
    for entity in plan.removedEntities where entity.root == entity.number {
      for index in try indexes() where index.text.contains(" ON \(quoted(entity.name)) (") {
        try run("DROP INDEX \(quoted(index.name))")
      }
      try run("DELETE FROM \(quoted(entity.name))")
      let name = "_ended.entity.\(old.numbers.stored(entity: entity.number))"
      try run("ALTER TABLE \(quoted(entity.name)) RENAME TO \(quoted(name))")
    }
  }

  // MARK: - Indexes

  /// Indexes are compared by their definition, because a renamed one keeps its original name.
  private func indexes() throws -> [(name: String, text: String)] {
    let rows = try GRDB.Row.fetchAll(
      database, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid")
    return rows.map { ($0[0], Self.definition($0[1])) }
  }

  /// An index definition without the index's name.
  private static func definition(_ statement: String) -> String {
    guard let on = statement.range(of: " ON ") else { return statement }
    return (statement.hasPrefix("CREATE UNIQUE") ? "UNIQUE" : "") + statement[on.lowerBound...]
  }

  private var wantedIndexes: [String] {
    new.orderedTables.flatMap { table in
      table.creation(model: plan.new).filter { $0.hasPrefix("CREATE INDEX") || $0.hasPrefix("CREATE UNIQUE INDEX") }
    }
  }

  /// Drops the indexes that the new version lacks. Call it after columns have their final names, because tables and
  /// indexes share a namespace.
  func dropIndexes() throws {
    let wanted = Set(wantedIndexes.filter { !isKeyOfMovedValues($0) }.map(Self.definition))
    for index in try indexes() where !index.name.hasPrefix("_") && !wanted.contains(index.text) {
      try run("DROP INDEX \(quoted(index.name))")
    }
  }

  /// Whether the index is a unique key over filled or computed values. Objects may share such a key now, and all of
  /// them are reported.
  private func isKeyOfMovedValues(_ statement: String) -> Bool {
    guard statement.hasPrefix("CREATE UNIQUE") else { return false }
    return new.orderedTables.contains { table in
      statement.contains(" ON \(quoted(table.name))")
        && table.columns.contains { isMoved($0.property) && statement.contains(quoted($0.name)) }
    }
  }

  /// Whether the migration may change the property's values while it keeps its number.
  func isMoved(_ property: Property) -> Bool {
    property.attribute?.isDerived == true || plan.fills.contains { $0.property.number == property.number }
  }

  func makeIndexes(withKeys: Bool) throws {
    var present = try indexes()
    let wanted = wantedIndexes.filter { withKeys || !$0.hasPrefix("CREATE UNIQUE") }
    for statement in wanted where !present.contains(where: { $0.text == Self.definition(statement) }) {
      try run(try named(statement, besides: present.map(\.name)))
      present = try indexes()
    }
  }

  /// Returns the statement with an unused index name.
  private func named(_ statement: String, besides taken: [String]) throws -> String {
    guard let on = statement.range(of: " ON "), let start = statement.range(of: "INDEX \"") else { return statement }
    let name = String(statement[start.upperBound..<statement.index(before: on.lowerBound)])
    var (free, number) = (name, 2)
    while taken.contains(free) { (free, number) = ("\(name).\(number)", number + 1) }
    return statement.replacing("INDEX \(quoted(name)) ON", with: "INDEX \(quoted(free)) ON", maxReplacements: 1)
  }
}
