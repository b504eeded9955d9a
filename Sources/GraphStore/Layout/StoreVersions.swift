// Tests: MigrationTests.swift, PastMigrationTests.swift
import GRDB
import GraphModel

/// The model versions of a migrated store, kept in `_version` beside `_model`. A store that was never migrated has no
/// such table.
package enum StoreVersions {
  package static let creation = """
    CREATE TABLE IF NOT EXISTS _version (model INTEGER PRIMARY KEY, revision INTEGER NOT NULL, numbers TEXT NOT NULL, \
    sum INTEGER NOT NULL)
    """

  /// The least layout of a migrated store. An older program would take the numbers in its rows for the model's.
  package static let layout: Int32 = 4

  package static func sum(_ version: StoreVersion) -> Int64 {
    sum(number: version.number, since: version.since, numbers: StoreVersion.text(version.model, version.numbers))
  }

  static func sum(number: Int64, since: Revision, numbers: String) -> Int64 {
    let seed = Checksum.of(Array("\(number) \(since)".utf8))
    return Int64(bitPattern: Checksum.of(Array(numbers.utf8), seed: seed))
  }

  /// Reads the versions, oldest first; empty for a store that was never migrated.
  ///
  /// The newest version, too, is read from the text that the migration used. Another text of the same hash may have
  /// other defaults, and no `renamed` or mapping; only the text of the migration determines how values were
  /// converted.
  /// - Parameter model: the newest model as given, whose transients, documentation and limits may differ from the
  ///   stored text.
  /// - Throws: `StoreFailure(.corrupt)` if a version lacks one of its two rows: without a version, rows and commits of
  ///   its time would be read with the numbers of another one.
  static func load(_ database: Database, model: Model) throws -> [StoreVersion] {
    // Stores that were never migrated have a higher layout, too.
    guard try LayoutVersion.read(database).layout >= layout,
      try Int.fetchOne(database, sql: "SELECT 1 FROM sqlite_schema WHERE name = '_version'") != nil
    else { return [] }
    let rows = try GRDB.Row.fetchAll(
      database,
      sql: """
        SELECT v.model, v.revision, v.numbers, m.source FROM _version AS v LEFT JOIN _model AS m ON m.number = v.model
        ORDER BY v.model
        """)
    let unnumbered = try Int64.fetchOne(
      database, sql: "SELECT min(number) FROM _model WHERE number NOT IN (SELECT model FROM _version)")
    if let unnumbered { throw damaged("lacks the numbers of its model number \(unnumbered)") }
    return try rows.enumerated().map { index, row in
      let number: Int64 = row[0]
      guard let source = row[3] as String? else { throw damaged("lacks its model number \(number)") }
      let isNewest = index == rows.count - 1
      // By bytes: canonically equivalent texts have different defaults.
      var read: Model? = UTF8Comparison.equal(source, model.source) ? model : try? Model(parsing: source.utf8)
      // The caller checks whether this is the store's own model.
      if isNewest, read?.hash != model.hash { read = model }
      // Equal hashes mean equal numbers, except for transient properties, which come last and may differ.
      guard let kept = read, let numbers = StoreVersion.numbers(of: isNewest ? model : kept, in: row[2]) else {
        throw damaged("has a model number \(number) that can't be read")
      }
      return StoreVersion(number: number, since: row[1], model: kept, numbers: numbers)
    }
  }

  private static func damaged(_ what: String) -> StoreFailure {
    StoreFailure(
      .corrupt, "the store \(what)", advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
  }

  /// The layout of a store whose newest model is the given one.
  package static func layout(_ database: Database, model: Model) throws -> StoreLayout {
    let versions = try load(database, model: model)
    return StoreLayout(model: model, numbers: versions.last?.numbers, versions: versions)
  }
}

/// The names of the present tables and columns by the store's numbers, with which older model versions read them.
package struct TableNames: Sendable {
  private var tables = [EntityNumber: String]()
  private var columns = [PropertyNumber: String]()

  init(_ layout: StoreLayout) {
    for table in layout.orderedTables {
      tables[layout.numbers.stored(entity: table.root.number)] = table.name
      for column in table.columns { columns[layout.numbers.stored(property: column.property.number)] = column.name }
    }
  }

  func table(_ stored: EntityNumber) -> String? { tables[stored] }

  func column(_ stored: PropertyNumber) -> String { columns[stored] ?? Self.ended(stored) }

  /// The column of a property that the present model lacks. The table keeps it, so that the checksums of older
  /// rows stay valid and no row is rewritten.
  package static func ended(_ stored: PropertyNumber) -> String { "_ended.\(stored)" }
}
