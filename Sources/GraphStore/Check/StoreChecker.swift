// Tests: CheckTests.swift, BitFlipTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphModel

/// One check of a store over one connection: the steps in order, and their shared state.
struct StoreChecker {
  let database: Database
  let model: Model
  let layout: StoreLayout
  let objects: ObjectReader
  /// The rows of the model versions before the present one.
  let olderRows: UnmigratedRows
  var older: [ObjectReader] { olderRows.readers }
  var findings: FindingList
  /// The number of past objects in memory.
  let heldObjects: Int
  /// The page limit of the temporary file; nil for none.
  let temporaryPages: Int?
  /// The failure because of which the check has no result; nil if it has one.
  private(set) var failure: StoreFailure?
  /// The newest objects' texts as the full-text indexes should have them.
  private(set) var indexed = IndexedImages()

  init(
    _ database: Database, model: Model, findings: FindingList, heldObjects: Int = StoreCheck.heldObjects,
    temporaryPages: Int? = nil
  ) {
    (self.heldObjects, self.temporaryPages) = (heldObjects, temporaryPages)
    self.database = database
    self.model = model
    self.findings = findings
    // If the layout can't be read, the steps report it.
    layout = (try? StoreVersions.layout(database, model: model)) ?? StoreLayout(model: model)
    objects = ObjectReader(Connection(database), layout: layout)
    olderRows = UnmigratedRows(objects.connection, layout: layout)
  }

  var connection: Connection { objects.connection }

  mutating func report(_ kind: StoreCheck.Kind, _ place: StoreCheck.Place = .init(), _ text: String) {
    findings.add(kind, place, text: text)
  }

  /// Runs a step; a step that fails reports why, and the next one runs anyway.
  mutating func attempt(_ what: String, _ step: (inout StoreChecker) throws -> Void) {
    do {
      try step(&self)
    } catch let failure as TemporaryFileFailure {
      self.failure = failure.failure
    } catch let failure as MalformedMessage {
      report(.integrity, .init(), "\(what) can't be decoded: \(failure.reason)")
    } catch let failure as StoreFailure {
      report(.integrity, .init(), "\(what) can't be read: \(failure.cause.isEmpty ? failure.sentence : failure.cause)")
    } catch let error as DatabaseError {
      report(.integrity, .init(), "\(what) can't be read: \(error.reason)")
    } catch {
      report(.integrity, .init(), "\(what) can't be read: \(error)")
    }
  }

  mutating func run() {
    attempt("the database") { try $0.checkDatabase() }
    attempt("the references") { try $0.checkForeignKeys() }
    attempt("the schema") { try $0.checkSchema() }
    attempt("the store's own rows") { try $0.checkOwnRows() }
    attempt("the floor of history") { try $0.checkFloor() }
    attempt("the chain of commits") { try $0.checkChain() }
    attempt("the parts of commits") { try $0.checkParts() }
    attempt("the complete objects of history") { try $0.checkKeyframes() }
    attempt("the values lost in conflicts") { try $0.checkOverwrittenValues() }
    // Under another model the stored data can't be interpreted.
    guard findings.count(of: .model) == 0 else { return }
    attempt("the newest commits") { try $0.checkWatermark() }
    for table in layout.orderedTables {
      attempt("the table \(table.name)") { try $0.checkObjects(of: table) }
      attempt("the keys of \(table.name)") { try $0.checkKeys(of: table) }
      attempt("the one-to-ones of \(table.name)") { try $0.checkPairs(of: table) }
    }
    attempt("the history") { try $0.checkHistory() }
  }

  // MARK: - SQLite's own checks

  /// A severely damaged file would have more lines than are useful.
  private static let maximumIntegrityLines = 1_000

  private mutating func checkDatabase() throws {
    let lines = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.maximumIntegrityLines))")
    for line in lines where line != "ok" { report(.integrity, .init(), line) }
  }

  private mutating func checkForeignKeys() throws {
    let rows = try GRDB.Row.fetchCursor(database, sql: "PRAGMA foreign_key_check")
    while let row = try rows.next() {
      let (table, parent): (String?, String) = (row[0], row[2])
      report(.foreignKey, .init(table: table, row: row[1]), "refers to a missing row of \(parent)")
    }
  }

  /// Compares the statements that created the tables with those that the stored models produce.
  private mutating func checkSchema() throws {
    // Usually there is one model, with exactly the source of the given one.
    let models = try String.fetchAll(database, sql: "SELECT source FROM _model ORDER BY number").compactMap { source in
      source == model.source ? model : try? Model(parsing: source.utf8)
    }
    guard let first = models.first, try models.count == Int.fetchOne(database, sql: "SELECT count(*) FROM _model")
    else {
      return report(.store, .init(table: "_model"), "holds no readable model")
    }
    let isPruned = try HistoryFloor.tableExists(connection)
    let hasSetbacks = try ClockSetbacks.tableExists(connection)
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
      if hasSetbacks { try database.execute(sql: ClockSetbacks.creation) }
      return try Self.schema(of: database)
    }
    let present = try Self.schema(of: database)
    if try !hasPartTable() { expected = expected.filter { $0.value[1] != "_part" } }
    if try layoutVersion() < 3 { expected = expected.filter { $0.value[1] != "_whole" } }
    // An older store gets this table with its first lost value.
    if present["_lost"] == nil { expected = expected.filter { $0.value[1] != "_lost" } }
    for (name, sql) in expected.sorted(by: { $0.key < $1.key }) where present[name] != sql {
      report(.schema, .init(table: name), present[name] == nil ? "is missing" : "has changed")
    }
    for name in present.keys.sorted() where expected[name] == nil {
      report(.schema, .init(table: name), "does not belong to the store")
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

  private mutating func checkWatermark() throws {
    let history = HistoryReader(objects: objects)
    let (watermark, head) = (try FullTextIndexer.watermark(connection), try history.head().revision)
    guard 0...head ~= watermark else {
      return report(.words, .init(table: "_words"), "says \(watermark), but the newest commit is \(head)")
    }
    // Without an index the watermark never moves, and the texts of all history would be read.
    guard layout.orderedTables.contains(where: { !$0.fullTextTables.isEmpty }) else { return }
    if let floor = try HistoryFloor.read(connection), watermark < floor.revision {
      report(.words, .init(table: "_words"), "says \(watermark), but history goes back to \(floor.revision) only")
    }
    indexed = try IndexedImages(history, watermark: watermark)
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

  private mutating func checkOwnRows() throws {
    let own = try connection.statement("SELECT id, created, sum FROM _store")
    var count = 0
    while try connection.step(own) {
      count += 1
      let isWhole = sqlite3_column_bytes(own.statement, 0) == 16
      if !isWhole || own.integer(2) != StoreLayout.sum(store: own.id(0), created: own.integer(1)) {
        report(.store, .init(table: "_store"), "has changed: the store's id is not the original one")
      }
    }
    if count != 1 { report(.store, .init(table: "_store"), "has \(count) rows instead of one") }
    let marks = try database.count("_words")
    if marks != 1 { report(.store, .init(table: "_words"), "has \(marks) rows instead of one") }
    let models = try connection.statement("SELECT number, hash, source, sum FROM _model ORDER BY number")
    var (newest, source) = ([UInt8](), "")
    while try connection.step(models) {
      (newest, source) = (models.blob(1), models.text(2))
      if models.integer(3) != StoreLayout.sum(model: newest, source: models.text(2)) {
        report(.store, .init(table: "_model", row: models.integer(0)), "has changed")
      }
    }
    // Under another model the versions are unknown, which is reported below.
    for version in layout.versions where newest == model.hash.bytes {
      let known = try Int64.fetchOne(
        database, sql: "SELECT sum FROM _version WHERE model = ?", arguments: [version.number])
      if known != StoreVersions.sum(version) {
        report(.store, .init(table: "_version", row: version.number), "has changed")
      }
    }
    if newest != model.hash.bytes {
      report(.model, .init(), "the store was made with another model than the one given" + versions(source))
    }
  }
}
