import GRDB
import GraphModel

/// The versions of the model that a migrated store has had, kept in `_version` beside `_model`. A store that was never
/// migrated has no such table, and the layout that it was made with: older programs open it as before.
enum StoreVersions {
  static let creation = """
    CREATE TABLE IF NOT EXISTS _version (model INTEGER PRIMARY KEY, revision INTEGER NOT NULL, numbers TEXT NOT NULL, \
    sum INTEGER NOT NULL)
    """

  /// A migrated store's; a program that does not know it would take the numbers of rows for its model's.
  static let layout: Int32 = 4

  static func sum(_ version: StoreVersion) -> Int64 {
    sum(number: version.number, since: version.since, numbers: StoreVersion.text(version.model, version.numbers))
  }

  static func sum(number: Int64, since: Revision, numbers: String) -> Int64 {
    let seed = Checksum.of(Array("\(number) \(since)".utf8))
    return Int64(bitPattern: Checksum.of(Array(numbers.utf8), seed: seed))
  }

  /// Oldest first; empty for a store that was never migrated.
  ///
  /// Of the newest, too, the text is read that the migration was carried out with: another text of the same hash may have
  /// other defaults, and no `renamed` and no mapping any more. What was made of values then is what that text says.
  /// - Parameter model: the newest, as it was given: transients, documentation and limits may differ from what is kept.
  static func load(_ database: Database, model: Model) throws -> [StoreVersion] {
    // A store that was pruned has a higher layout, migrated or not.
    guard try LayoutMark.read(database).layout >= layout,
      try Int.fetchOne(database, sql: "SELECT 1 FROM sqlite_schema WHERE name = '_version'") != nil
    else { return [] }
    let rows = try GRDB.Row.fetchAll(
      database,
      sql: """
        SELECT v.model, v.revision, v.numbers, m.source FROM _version AS v JOIN _model AS m ON m.number = v.model
        ORDER BY v.model
        """)
    return try rows.enumerated().map { index, row in
      let source: String = row[3]
      let isNewest = index == rows.count - 1
      var read: Model? = source == model.source ? model : try? Model(parsing: source.utf8)
      // Whether it is the store's own model is told elsewhere.
      if isNewest, read?.hash != model.hash { read = model }
      // Numbers alike, but for transients, which come last: the present ones may be others.
      guard let kept = read, let numbers = StoreVersion.numbers(of: isNewest ? model : kept, in: row[2]) else {
        throw StoreFailure(
          .corrupt, "the store's model number \(row[0] as Int64) can't be read",
          advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
      }
      return StoreVersion(number: row[0], since: row[1], model: kept, numbers: numbers)
    }
  }

  /// The layout of a store whose newest model this is.
  static func layout(_ database: Database, model: Model) throws -> StoreLayout {
    let versions = try load(database, model: model)
    return StoreLayout(model: model, numbers: versions.last?.numbers, versions: versions)
  }
}

/// What the present tables and columns are called, by the store's numbers: an older version of the model reads them so.
struct StoredNames: Sendable {
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

  /// The column of a property that the present model does not have. It stays, so that the rows that were written with it
  /// keep their checksums and need not be rewritten.
  static func ended(_ stored: PropertyNumber) -> String { "_ended.\(stored)" }
}

extension SQLiteStore {
  /// The versions of the model that the store was migrated from, oldest first.
  public var olderModels: [Model] { layout.versions.dropLast().map(\.model) }
}
