import GraphModel

/// The tables of a past graph, on one connection that only reads: in SQLite's TEMP schema, where nothing reaches the file.
///
/// For each table of entities of which something has changed since the revision
/// - `_gone.Note` has the rows of the present that are not to be seen: of objects that were changed or made since;
/// - `_past.Note` has the objects that were changed or deleted since, as they were then. What is still there keeps its
///   row number, so that references of untouched rows lead to it; what was deleted gets a negative one, which no present
///   row has;
/// - the view `Note` is the present without the gone rows and all of the past ones. It hides the table of that name from
///   whoever does not say `main`: every statement that reads the present reads the past here, as it stands.
///
/// Tables of many-to-manys are treated alike; their rows go with their owner. A table of which nothing has changed has no
/// view, and costs nothing.
struct PastTables {
  let connection: Connection
  let layout: StoreLayout

  static func gone(_ table: EntityTable) -> String { "temp.\(quoted("_gone.\(table.name)"))" }
  private static func past(_ name: String) -> String { "temp.\(quoted("_past.\(name)"))" }

  // MARK: - Showing

  /// Takes the views away: from here on names mean the present.
  func hide() throws {
    for name in layout.orderedTables.flatMap({ [$0.name] + $0.edges.map(\.name) }) {
      try connection.run("DROP VIEW IF EXISTS temp.\(quoted(name))")
    }
  }

  /// Fills the tables and puts the views before the present. Call while they are hidden.
  /// - Parameter images: every object that was touched since the revision, as it was then; nil where it was not there.
  func show(_ images: [ObjectID: ObjectImage?], objects: ObjectReader) throws -> PastScope {
    var touched = [EntityNumber: [ObjectID]]()
    for id in images.keys.sorted() {
      guard let root = objects.model.entity(id.entity)?.root else { continue }
      touched[root, default: []].append(id)
    }
    var scope = PastScope()
    var rows = [ObjectID: Int64]()
    for table in layout.orderedTables {
      guard let ids = touched[table.root.number] else { continue }
      scope.tables.insert(table.name)
      try prepare(table)
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
    // References name rows, which now all are known.
    for id in scope.objects {
      guard case .some(.some(let image)) = images[id], let row = rows[id], let table = layout.table(of: id.entity)
      else {
        continue
      }
      try insert(image, row: row, table) { try rows[$0] ?? objects.find($0)?.row }
    }
    for table in layout.orderedTables where scope.tables.contains(table.name) { try createViews(table) }
    return scope
  }

  private func createViews(_ table: EntityTable) throws {
    let columns = Self.columns(of: table)
    try connection.run(
      """
      CREATE TEMP VIEW \(quoted(table.name)) AS SELECT \(columns) FROM main.\(quoted(table.name)) \
      WHERE _row NOT IN (SELECT _row FROM \(Self.gone(table))) UNION ALL SELECT \(columns) FROM \(Self.past(table.name))
      """)
    for edge in table.edges {
      try connection.run(
        """
        CREATE TEMP VIEW \(quoted(edge.name)) AS SELECT member, owner FROM main.\(quoted(edge.name)) \
        WHERE owner NOT IN (SELECT _row FROM \(Self.gone(table))) UNION ALL \
        SELECT member, owner FROM \(Self.past(edge.name))
        """)
    }
  }

  // MARK: - Tables

  private static func columns(of table: EntityTable) -> String {
    (["_row", "_id", "_entity", "_revision"] + table.columns.map(\.name)).map(quoted).joined(separator: ", ")
  }

  /// Made at the first need, then emptied: making them anew would have every statement of the connection prepared again.
  private func prepare(_ table: EntityTable) throws {
    let name = table.name
    try connection.run("CREATE TABLE IF NOT EXISTS \(Self.gone(table)) (_row INTEGER PRIMARY KEY)")
    let columns = table.columns.map { "\(quoted($0.name)) \($0.type)" }
    let fixed = ["_row INTEGER PRIMARY KEY", "_id BLOB NOT NULL UNIQUE", "_entity INTEGER", "_revision INTEGER"]
    try connection.run(
      "CREATE TABLE IF NOT EXISTS \(Self.past(name)) (\((fixed + columns).joined(separator: ", ")))")
    for column in table.columns where column.destination != nil || column.property.attribute?.isIndexed == true {
      let keys = table.indexKeys(of: column)
      try connection.run(
        "CREATE INDEX IF NOT EXISTS temp.\(quoted("_past.\(name).\(column.name)")) ON \(quoted("_past.\(name)")) (\(keys))"
      )
    }
    for edge in table.edges {
      try connection.run(
        """
        CREATE TABLE IF NOT EXISTS \(Self.past(edge.name)) \
        (member INTEGER NOT NULL, owner INTEGER NOT NULL, PRIMARY KEY (member, owner)) WITHOUT ROWID
        """)
      try connection.run(
        """
        CREATE INDEX IF NOT EXISTS temp.\(quoted("_past.\(edge.name).owner")) \
        ON \(quoted("_past.\(edge.name)")) (owner)
        """)
      try connection.run("DELETE FROM \(Self.past(edge.name))")
    }
    try connection.run("DELETE FROM \(Self.past(name))")
    try connection.run("DELETE FROM \(Self.gone(table))")
  }

  private func insertGone(_ row: Int64, _ table: EntityTable) throws {
    let insert = try connection.statement("INSERT INTO \(Self.gone(table)) (_row) VALUES (?)")
    insert.bind(1, row)
    try connection.run(insert)
  }

  private func insert(
    _ image: ObjectImage, row: Int64, _ table: EntityTable, rowOf: (ObjectID) throws -> Int64?
  ) throws {
    guard let shape = table.shape(of: image.id.entity) else { return }
    let marks = Array(repeating: "?", count: EntityTable.fixedColumns + table.columns.count).joined(separator: ", ")
    let insert = try connection.statement(
      "INSERT INTO \(Self.past(table.name)) (\(Self.columns(of: table))) VALUES (\(marks))")
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
      let sql = "INSERT INTO \(Self.past(edge.name)) (member, owner) VALUES (?, ?)"
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

/// What a statement over a past graph has to know.
struct PastScope {
  /// The tables that have a view before them.
  var tables = Set<String>()
  /// The objects that were there then and have been touched since, ascending within their tables.
  var objects = [ObjectID]()
}
