import CSQLite

/// The limit of one large transaction: inserts the same rows as the store, including history, through the C functions
/// into a copy of the earlier store. All values are read beforehand; nothing is planned or checked. History also
/// contains old values, so an update or delete must read the object's row first, and the limit does too.
final class RawTransaction {
  private let database: RawDatabase
  private var steps = [(statement: Statement, rows: [[OpaquePointer]])]()
  /// Reads the row of the object whose id is the last value of a step's row.
  private let read: Statement?

  /// - Parameters:
  ///   - before: a copy of the store before the transaction.
  ///   - after: the store after the transaction.
  init(_ kind: OneTransaction.Kind, before: String, after: String) throws {
    database = try RawDatabase(before)
    let source = try RawDatabase(after)
    let revision = try source.integer("SELECT max(revision) FROM _commit")
    guard try database.integer("SELECT max(revision) FROM _commit") == revision - 1 else {
      throw BenchmarkError(description: "the limit needs the store of one commit before")
    }
    let table = kind == .cascade ? "Node" : "Person"
    read = kind == .insert ? nil : try Statement(database, "SELECT * FROM \(table) WHERE _id = ?")
    switch kind {
    case .insert:
      let names = try Statement(source, "SELECT * FROM Person LIMIT 1").columnNames.filter { $0 != "_row" }
      try insert(into: "Person", names, from: source, "_revision = \(revision) ORDER BY _row")
    case .update:
      try add(
        "UPDATE Person SET _revision = ?, _sum = ?, age = ? WHERE _id = ?", from: source,
        "SELECT _revision, _sum, age, _id FROM Person WHERE _revision = \(revision) ORDER BY _row")
    case .delete, .cascade:
      let gone = "FROM _tombstone WHERE revision = \(revision) ORDER BY id"
      // No order of deletes satisfies the foreign keys of a ring.
      if kind == .cascade { try add("UPDATE Node SET next = NULL WHERE _id = ?", from: source, "SELECT id \(gone)") }
      try add("DELETE FROM \(table) WHERE _id = ?", from: source, "SELECT id \(gone)")
      try add(
        "INSERT INTO _tombstone (id, entity, revision) VALUES (?, ?, ?)", from: source,
        "SELECT id, entity, revision \(gone)")
    }
    let names = try Statement(source, "SELECT * FROM _commit LIMIT 1").columnNames
    try insert(into: "_commit", names, from: source, "revision = \(revision)")
    // History marks the changes that are keyframes.
    if kind == .update {
      try insert(into: "_whole", ["id", "revision"], from: source, "revision = \(revision) ORDER BY id")
    }
  }

  private func insert(into table: String, _ names: [String], from source: RawDatabase, _ condition: String) throws {
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    try add(
      "INSERT INTO \(table) (\(list)) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))", from: source,
      "SELECT \(list) FROM \(table) WHERE \(condition)")
  }

  /// Prepares a statement and the rows of a query to run it with.
  private func add(_ sql: String, from source: RawDatabase, _ query: String) throws {
    let found = try Statement(source, query)
    var rows = [[OpaquePointer]]()
    while try found.step() {
      rows.append(
        (0..<sqlite3_column_count(found.pointer)).compactMap { column in
          sqlite3_value_dup(sqlite3_column_value(found.pointer, column))
        })
    }
    guard !rows.isEmpty else { throw BenchmarkError(description: "nothing was written that \(query) could find") }
    steps.append((try Statement(database, sql), rows))
  }

  /// - Parameter reads: false to measure the writes alone, as if the old values were known.
  func run(reads: Bool = true) throws {
    try database.execute("BEGIN IMMEDIATE")
    for (number, (statement, rows)) in steps.enumerated() {
      for row in rows {
        if number == 0, reads, let read, let id = row.last { try readAll(read, id) }
        for (index, value) in row.enumerated() { sqlite3_bind_value(statement.pointer, Int32(index + 1), value) }
        try statement.run()
        guard sqlite3_changes(database.handle) == 1 else {
          throw BenchmarkError(description: "the limit meets another store than the transaction did")
        }
      }
    }
    try database.execute("COMMIT")
  }

  private func readAll(_ read: Statement, _ id: OpaquePointer) throws {
    sqlite3_bind_value(read.pointer, 1, id)
    guard try read.step() else { throw BenchmarkError(description: "the limit misses an object") }
    for column in 0..<sqlite3_column_count(read.pointer) {
      switch sqlite3_column_type(read.pointer, column) {
      case SQLITE_INTEGER: _ = sqlite3_column_int64(read.pointer, column)
      case SQLITE_FLOAT: _ = sqlite3_column_double(read.pointer, column)
      default: _ = sqlite3_column_blob(read.pointer, column)
      }
    }
    _ = try read.step()
    sqlite3_reset(read.pointer)
  }

  deinit { for row in steps.flatMap(\.rows) { for value in row { sqlite3_value_free(value) } } }
}
