// Tests: PastOptionTests.swift, PastCostTests.swift, PastDamageTests.swift
import GraphModel

/// The tables of a past graph, on a read-only connection, in SQLite's TEMP schema. The file stays untouched. They show
/// to SQL the objects that `GraphRollback` found.
///
/// For each entity table with changes since the revision
/// - `_gone.Note` has the rows of the present to hide: rows of objects that were changed or inserted since;
/// - `_past.Note` has the objects changed or deleted since, as they were then. Existing objects keep their row
///   numbers, so that references in untouched rows stay valid; deleted ones get negative numbers, which no present
///   row has;
/// - the view `Note` combines the present without the hidden rows with all past ones. It shadows the table of that
///   name unless a statement says `main`, so every statement for the present works unchanged on the past. Past rows
///   have no checksum; the changes from which they result were verified.
///
/// Tables of many-to-manys are treated alike; their rows belong to the owner. A table without changes needs no view
/// and costs nothing.
struct PastTables {
  let connection: Connection
  let layout: StoreLayout
  /// The schema of the tables. The views are always in TEMP.
  var schema = "temp"

  static func gone(_ table: EntityTable, in schema: String) -> String {
    "\(schema).\(quoted("_gone.\(table.name)"))"
  }

  func gone(_ table: EntityTable) -> String { Self.gone(table, in: schema) }
  func past(_ name: String) -> String { "\(schema).\(quoted("_past.\(name)"))" }

  // MARK: - Views

  /// The view of a table of the whole past graph, if the table's own name resolves to the part that a class sees.
  private static func whole(_ name: String) -> String { quoted("_then.\(name)") }

  /// Drops the views, so that table names resolve to the present.
  func hide() throws {
    for name in layout.orderedTables.flatMap({ [$0.name] + $0.edges.map(\.name) }) {
      try connection.run("DROP VIEW IF EXISTS temp.\(quoted(name))")
      try connection.run("DROP VIEW IF EXISTS temp.\(Self.whole(name))")
    }
  }

  /// Fills the tables and creates the views, which must be hidden.
  /// - Parameters:
  ///   - images: every object touched since the revision, as it was then; nil if it did not exist.
  ///   - unreadable: the objects that results omit.
  ///   - visibility: the class to whose objects the graph is reduced; nil for the whole graph.
  func show(
    _ images: [ObjectID: ObjectImage?], unreadable: [ObjectID: PastDamage], seenBy visibility: Visibility?,
    objects: ObjectReader
  ) throws -> ShadowedTables {
    var touched = [EntityNumber: [ObjectID]]()
    for id in images.keys.sorted() {
      let entity = try invariant(objects.model.entity(id.entity), "a past state has objects of the model's entities")
      touched[entity.root, default: []].append(id)
    }
    var scope = ShadowedTables()
    var rows = [ObjectID: Int64]()
    for table in layout.orderedTables {
      guard let ids = touched[table.root.number] else { continue }
      scope.tables.insert(table.name)
      try create(table)
      try empty(table)
      var newRow: Int64 = 0
      for id in ids {
        let present = try objects.find(id)
        if let present { try insertGone(present.row, table) }
        guard case .some(.some(let image)) = images[id] else { continue }
        if present == nil { newRow -= 1 }
        rows[image.id] = present?.row ?? newRow
        scope.objects.append(image.id)
      }
    }
    // References need row numbers, all of which are known now.
    for id in scope.objects {
      guard case .some(.some(let image)) = images[id] else { continue }
      let row = try invariant(rows[id], "each past object has a row number")
      let table = try invariant(layout.table(of: id.entity), "a past object has a table")
      try insert(image, row: row, table) { try rows[$0] ?? objects.find($0)?.row }
    }
    for (id, cause) in unreadable {
      // The entity of a damaged row may be unknown.
      guard let table = layout.table(of: id.entity), let row = try rows[id] ?? objects.find(id)?.row else { continue }
      scope.unreadable[id] = cause
      scope.omittedRows[table.name, default: []].append(row)
    }
    let changed = layout.orderedTables.filter { scope.tables.contains($0.name) }
    for table in changed { try createViews(table, isWhole: visibility != nil) }
    if let visibility {
      var views = VisibleViews(connection: connection, layout: layout, visibility: visibility)
      for name in changed.flatMap({ [$0.name] + $0.edges.map(\.name) }) {
        views.sources[name] = "temp.\(Self.whole(name))"
      }
      try views.show()
      // Whether the class would see them is unknown, so it does not learn of them.
      scope.unreadable = [:]
    }
    return scope
  }

  func createViews(_ table: EntityTable, isWhole: Bool) throws {
    func view(_ name: String) -> String { isWhole ? Self.whole(name) : quoted(name) }
    let columns = Self.columns(of: table) + ", _sum"
    try connection.run(
      """
      CREATE TEMP VIEW \(view(table.name)) AS SELECT \(columns) FROM main.\(quoted(table.name)) \
      WHERE _row NOT IN (SELECT _row FROM \(gone(table))) \
      UNION ALL SELECT \(columns) FROM \(past(table.name))
      """)
    for edge in table.edges {
      try connection.run(
        """
        CREATE TEMP VIEW \(view(edge.name)) AS SELECT member, owner FROM main.\(quoted(edge.name)) \
        WHERE owner NOT IN (SELECT _row FROM \(gone(table))) UNION ALL \
        SELECT member, owner FROM \(past(edge.name))
        """)
    }
  }

  // MARK: - Tables

  private static func columns(of table: EntityTable) -> String {
    (["_row", "_id", "_entity", "_revision"] + table.columns.map(\.name)).map(quoted).joined(separator: ", ")
  }

  /// Creates the tables on first use.
  ///
  /// Recreating them would invalidate all prepared statements of the connection.
  func create(_ table: EntityTable) throws {
    let name = table.name
    try connection.run("CREATE TABLE IF NOT EXISTS \(gone(table)) (_row INTEGER PRIMARY KEY)")
    let columns = table.columns.map { "\(quoted($0.name)) \($0.type)" }
    // The checksum stays null. A constant in the view would keep SQLite from merging its halves.
    let fixed = [
      "_row INTEGER PRIMARY KEY", "_id BLOB NOT NULL UNIQUE", "_entity INTEGER", "_revision INTEGER", "_sum INTEGER",
    ]
    try connection.run(
      "CREATE TABLE IF NOT EXISTS \(past(name)) (\((fixed + columns).joined(separator: ", ")))")
    for column in table.columns where column.destination != nil || column.property.attribute?.isIndexed == true {
      let keys = table.indexKeys(of: column)
      try connection.run(
        """
        CREATE INDEX IF NOT EXISTS \(schema).\(quoted("_past.\(name).\(column.name)")) \
        ON \(quoted("_past.\(name)")) (\(keys))
        """)
    }
    for edge in table.edges {
      try connection.run(
        """
        CREATE TABLE IF NOT EXISTS \(past(edge.name)) \
        (member INTEGER NOT NULL, owner INTEGER NOT NULL, PRIMARY KEY (member, owner)) WITHOUT ROWID
        """)
      try connection.run(
        """
        CREATE INDEX IF NOT EXISTS \(schema).\(quoted("_past.\(edge.name).owner")) \
        ON \(quoted("_past.\(edge.name)")) (owner)
        """)
    }
  }

  /// Empties the tables.
  func empty(_ table: EntityTable) throws {
    for edge in table.edges { try connection.run("DELETE FROM \(past(edge.name))") }
    try connection.run("DELETE FROM \(past(table.name))")
    try connection.run("DELETE FROM \(gone(table))")
  }

  func insertGone(_ row: Int64, _ table: EntityTable) throws {
    let insert = try connection.statement("INSERT INTO \(gone(table)) (_row) VALUES (?)")
    insert.bind(1, row)
    try connection.run(insert)
  }

  func insert(
    _ image: ObjectImage, row: Int64, _ table: EntityTable, rowOf: (ObjectID) throws -> Int64?
  ) throws {
    let shape = try invariant(table.shape(of: image.id.entity), "a past object has columns")
    let placeholders = Array(repeating: "?", count: EntityTable.fixedColumns + table.columns.count).joined(
      separator: ", ")
    let insert = try connection.statement(
      "INSERT INTO \(past(table.name)) (\(Self.columns(of: table))) VALUES (\(placeholders))")
    insert.bind(1, row)
    insert.bind(2, image.id.key)
    insert.bind(3, Int64(layout.numbers.stored(entity: image.id.entity)))
    insert.bind(4, image.revision)
    for (slot, column) in shape.columns.enumerated() where slot < image.values.count {
      let position = Int32(EntityTable.fixedColumns + column.index + 1)
      if column.form != .reference {
        insert.bind(position, layout.numbers.stored(image.values[slot]))
      } else if let target = image.values[slot].objectID, let found = try rowOf(target) {
        insert.bind(position, found)
      }
    }
    try connection.run(insert)
    for edge in shape.edges {
      let sql = "INSERT INTO \(past(edge.name)) (member, owner) VALUES (?, ?)"
      for member in image[edge.property].objectIDs {
        guard let found = try rowOf(member) else { continue }
        let insert = try connection.statement(sql)
        insert.bind(1, found)
        insert.bind(2, row)
        try connection.run(insert)
      }
    }
  }
}

/// The past tables that a statement must take into account.
struct ShadowedTables {
  /// The tables that a view shadows.
  var tables = Set<String>()
  /// The schema of their rows.
  var schema = "temp"
  /// The objects that existed then and have been touched since, in ascending order within their tables.
  var objects = [ObjectID]()
  /// The objects whose state is unknown. They have rows, so that references to them stay valid.
  var unreadable = [ObjectID: PastDamage]()
  /// The rows of these objects, by table.
  var omittedRows = [String: [Int64]]()
}
