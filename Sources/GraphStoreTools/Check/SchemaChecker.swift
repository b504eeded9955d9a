// Tests: CheckTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// The check of the file: SQLite's own check, the statements that created the tables, and the rows that belong to no
/// object and no commit.
struct SchemaChecker {
  private let store: CheckedStore
  private let database: Database
  private let model: Model

  init(_ store: CheckedStore) { (self.store, database, model) = (store, store.database, store.model) }

  // MARK: - SQLite's own checks

  /// A severely damaged file would have more lines than are useful.
  private static let maximumIntegrityLines = 1_000

  func checkDatabase() throws {
    let lines = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.maximumIntegrityLines))")
    for line in lines where line != "ok" { store.report(.integrity, .init(), line) }
  }

  func checkForeignKeys() throws {
    let rows = try GRDB.Row.fetchCursor(database, sql: "PRAGMA foreign_key_check")
    while let row = try rows.next() {
      let (table, parent): (String?, String) = (row[0], row[2])
      store.report(.foreignKey, .init(table: table, row: row[1]), "refers to a missing row of \(parent)")
    }
  }

  /// Compares the statements that created the tables with those that the stored models produce.
  func checkSchema() throws {
    // Usually there is one model, with exactly the source of the given one. Sources are compared by bytes, because
    // canonically equivalent ones can have different defaults.
    let models = try String.fetchAll(database, sql: "SELECT source FROM _model ORDER BY number").compactMap { source in
      UTF8Comparison.equal(source, model.source) ? model : try? Model(parsing: source.utf8)
    }
    guard let first = models.first, try models.count == Int.fetchOne(database, sql: "SELECT count(*) FROM _model")
    else {
      return store.report(.store, .init(table: "_model"), "holds no readable model")
    }
    let isPruned = try HistoryFloor.tableExists(store.connection)
    let hasSetbacks = try ClockSetbacks.tableExists(store.connection)
    let hasReadRules = try ReadRulesMark.tableExists(store.connection)
    let hasNames = try store.connection.hasTable("_name")
    // Repeats the migrations without objects, which produces the same statements.
    var expected = try DatabaseQueue().inDatabase { database in
      for statement in StoreLayout(model: first).creation { try database.execute(sql: statement) }
      try database.execute(
        sql: "INSERT INTO _model (number, hash, source, sum) VALUES (1, ?, ?, 0)",
        arguments: [Data(first.hash.bytes), first.source])
      for (before, model) in zip(models, models.dropFirst()) {
        try MigrationWriter.rehearse(database, from: before, to: model)
      }
      if isPruned { for statement in HistoryFloor.creation { try database.execute(sql: statement) } }
      if hasNames { try database.execute(sql: ShownNames.creation) }
      if hasReadRules { try database.execute(sql: ReadRulesMark.creation) }
      if hasSetbacks { try database.execute(sql: ClockSetbacks.creation) }
      return try Self.schema(of: database)
    }
    let present = try Self.schema(of: database)
    if try !store.hasPartTable() { expected = expected.filter { $0.value[1] != "_part" } }
    if try store.layoutVersion() < 3 { expected = expected.filter { $0.value[1] != "_whole" } }
    // A store of an older layout gets this table with its first log.
    if try present["_log"] == nil && store.layoutVersion() < StoreLayout.version {
      expected = expected.filter { $0.value[1] != "_log" }
    }
    // An older store gets this table with its first lost value.
    if present["_lost"] == nil { expected = expected.filter { $0.value[1] != "_lost" } }
    for (name, sql) in expected.sorted(by: { $0.key < $1.key }) where present[name] != sql {
      store.report(.schema, .init(table: name), present[name] == nil ? "is missing" : "has changed")
    }
    for name in present.keys.sorted() where expected[name] == nil {
      store.report(.schema, .init(table: name), "does not belong to the store")
    }
  }

  private static func schema(of database: Database) throws -> [String: [String?]] {
    var schema = [String: [String?]]()
    // Any program may have run ANALYZE.
    let sql = "SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat*'"
    for row in try GRDB.Row.fetchAll(database, sql: sql) {
      // Only a damaged file has a part without a name.
      let name = if let name = row[0] as String? { name } else { "" }
      schema[name] = [row[1], row[2], row[3]]
    }
    return schema
  }

  // MARK: - The store's own rows

  /// The part of the message about another version of the same model.
  private func versions(_ source: String) -> String {
    guard let json = try? JSON(parsing: source), json["name"]?.stringValue == model.name,
      let version = json["version"]?.integerValue, version != Int64(model.version)
    else { return "" }
    return ": the store has version \(version) of \(model.name), and the given model is version \(model.version)"
      + (version < Int64(model.version) ? "; stickiesd migrate updates the store" : "")
  }

  func checkOwnRows() throws {
    let own = try store.connection.statement("SELECT id, created, sum FROM _store")
    var count = 0
    while try store.connection.step(own) {
      count += 1
      let isWhole = sqlite3_column_bytes(own.statement, 0) == 16
      if !isWhole || own.integer(2) != StoreLayout.sum(store: own.id(0), created: own.integer(1)) {
        store.report(.store, .init(table: "_store"), "has changed: the store's id is not the original one")
      }
    }
    if count != 1 { store.report(.store, .init(table: "_store"), "has \(count) rows instead of one") }
    let marks = try database.count("_words")
    if marks != 1 { store.report(.store, .init(table: "_words"), "has \(marks) rows instead of one") }
    let models = try store.connection.statement("SELECT number, hash, source, sum FROM _model ORDER BY number")
    var (newest, source) = ([UInt8](), "")
    while try store.connection.step(models) {
      (newest, source) = (models.blob(1), models.text(2))
      if models.integer(3) != StoreLayout.sum(model: newest, source: models.text(2)) {
        store.report(.store, .init(table: "_model", row: models.integer(0)), "has changed")
      }
    }
    // Under another model the versions are unknown, which is reported below.
    for version in store.layout.versions where newest == model.hash.bytes {
      let known = try Int64.fetchOne(
        database, sql: "SELECT sum FROM _version WHERE model = ?", arguments: [version.number])
      if known != StoreVersions.sum(version) {
        store.report(.store, .init(table: "_version", row: version.number), "has changed")
      }
    }
    if newest != model.hash.bytes {
      store.report(.model, .init(), "the store was made with another model than the one given" + versions(source))
    }
  }
}
