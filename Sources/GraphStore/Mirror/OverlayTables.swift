// Tests: MirrorOverlayTests.swift
import GRDBSQLite
import GraphModel

/// The tables of unsent edits over a mirror: those of `PastTables`, with the future in place of the past, in the
/// attached file of an overlay. Views in TEMP combine them with the mirror, so every statement for the present reads
/// the graph that the user sees.
///
/// An edit adds the objects that it changed; the others stay as they are. Objects of the mirror keep their row numbers,
/// new ones get negative numbers. One instance is used in one transaction.
final class OverlayTables {
  private let tables: PastTables
  private let views: ShownViews
  /// The lowest row number of a new object.
  var lowestRow: Int64

  /// The tables of which a connection has views. It outlives a transaction, like the views.
  final class ShownViews {
    var names = Set<String>()
    /// Whether an error has left it open which views there are.
    var isUnknown = false
  }

  /// Where an object is that plans change.
  struct Place {
    var row: Int64
    /// Its revision in the mirror; nil for a new object.
    var mirrored: Revision?
    var isPresent: Bool
    var entity: EntityNumber
  }

  private static let schema = "overlay"

  private var connection: Connection { tables.connection }
  private var layout: StoreLayout { tables.layout }

  init(_ connection: Connection, layout: StoreLayout, views: ShownViews, lowestRow: Int64) {
    tables = PastTables(connection: connection, layout: layout, schema: Self.schema)
    self.views = views
    self.lowestRow = lowestRow
  }

  // MARK: - Views

  /// The tables with rows of plans, in the file.
  private func shadowedNames() throws -> Set<String> {
    let row = try connection.statement("SELECT name FROM overlay._shadowed")
    defer { sqlite3_reset(row.statement) }
    var names = Set<String>()
    while try connection.step(row) { names.insert(row.text(0)) }
    return names
  }

  /// Lets table names stand for what the user sees.
  func show() throws {
    let wanted = try shadowedNames()
    if !views.isUnknown, views.names == wanted { return }
    if views.isUnknown || !views.names.isEmpty { try tables.hide() }
    for table in layout.orderedTables where wanted.contains(table.name) {
      try tables.createViews(table, isWhole: false)
    }
    (views.names, views.isUnknown) = (wanted, false)
  }

  /// Lets table names stand for the mirror alone.
  func hide() throws {
    if views.names.isEmpty, !views.isUnknown { return }
    try tables.hide()
    (views.names, views.isUnknown) = ([], false)
  }

  /// The tables that a statement must take into account; nil for none.
  /// - Parameter listsObjects: whether the statement searches texts, whose indexes are those of the mirror.
  func shadowed(listsObjects: Bool) throws -> ShadowedTables? {
    if views.names.isEmpty { return nil }
    var shadowed = ShadowedTables()
    shadowed.tables = views.names
    shadowed.schema = Self.schema
    guard listsObjects else { return shadowed }
    let row = try connection.statement("SELECT id, entity FROM overlay._object WHERE present = 1 ORDER BY id")
    defer { sqlite3_reset(row.statement) }
    while try connection.step(row) {
      shadowed.objects.append(ObjectID(key: row.id(0), entity: EntityNumber(row.integer(1))))
    }
    return shadowed
  }

  // MARK: - Objects

  /// Where an object is that plans change; nil for another one.
  func place(of id: ObjectID) throws -> Place? { try place(of: id.key) }

  private func place(of key: UniqueID) throws -> Place? {
    let row = try connection.statement("SELECT row, mirrored, present, entity FROM overlay._object WHERE id = ?")
    defer { sqlite3_reset(row.statement) }
    row.bind(1, key)
    guard try connection.step(row) else { return nil }
    return Place(
      row: row.integer(0), mirrored: row.isNull(1) ? nil : row.integer(1), isPresent: row.integer(2) == 1,
      entity: EntityNumber(row.integer(3)))
  }

  /// Adds what an edit changes.
  func add(_ changes: [ObjectChange], _ objects: ObjectReader) throws {
    for change in changes { try place(change, objects) }
    for change in changes {
      guard let image = change.after else { continue }
      let row = try invariant(place(of: image.id), "a changed object has a row number").row
      try tables.insert(image, row: row, try table(of: image.id.entity)) { other in
        try self.place(of: other)?.row ?? objects.find(other)?.row
      }
    }
  }

  /// Hides the object's row, and gives it a row number.
  private func place(_ change: ObjectChange, _ objects: ObjectReader) throws {
    let table = try table(of: change.id.entity)
    try shadow(table)
    let id = change.id
    var place: Place
    if let known = try self.place(of: id) {
      place = known
      try tables.remove(known.row, table)
    } else if let found = try objects.find(id) {
      place = Place(row: found.row, mirrored: change.before?.revision, isPresent: false, entity: id.entity)
      try tables.insertGone(found.row, table)
    } else {
      lowestRow -= 1
      place = Place(row: lowestRow, mirrored: nil, isPresent: false, entity: id.entity)
    }
    place.isPresent = change.after != nil
    try write(place, of: id)
    if place.isPresent { objects.remember(id, row: place.row) } else { objects.forget(id, in: table) }
  }

  private func write(_ place: Place, of id: ObjectID) throws {
    let row = try connection.statement(
      "INSERT OR REPLACE INTO overlay._object (id, entity, row, mirrored, present) VALUES (?, ?, ?, ?, ?)")
    row.bind(1, id.key)
    row.bind(2, Int64(place.entity))
    row.bind(3, place.row)
    if let mirrored = place.mirrored { row.bind(4, mirrored) }
    row.bind(5, Value.bool(place.isPresent))
    try connection.run(row)
  }

  private func shadow(_ table: EntityTable) throws {
    if views.names.contains(table.name) { return }
    try tables.create(table)
    let row = try connection.statement("INSERT OR IGNORE INTO overlay._shadowed (name) VALUES (?)")
    row.bind(1, table.name)
    try connection.run(row)
    try tables.createViews(table, isWhole: false)
    views.names.insert(table.name)
  }

  private func table(of entity: EntityNumber) throws -> EntityTable {
    try invariant(layout.table(of: entity), "a changed object has a table")
  }

  // MARK: - Removing

  /// Shows an object as the mirror has it.
  /// - Returns: whether it was shown otherwise.
  @discardableResult
  func restore(_ key: UniqueID) throws -> Bool {
    // Another plan may have changed it, too, and was removed before.
    guard let place = try place(of: key) else { return false }
    let table = try table(of: place.entity)
    try tables.remove(place.row, table)
    try tables.removeGone(place.row, table)
    let row = try connection.statement("DELETE FROM overlay._object WHERE id = ?")
    row.bind(1, key)
    try connection.run(row)
    return true
  }

  /// Shows all objects as the mirror has them.
  func clear() throws {
    let names = try shadowedNames()
    try hide()
    for table in layout.orderedTables where names.contains(table.name) { try tables.empty(table) }
    try connection.run("DELETE FROM overlay._object")
    try connection.run("DELETE FROM overlay._shadowed")
    lowestRow = 0
  }
}

extension PastTables {
  private func delete(_ table: String, _ column: String, _ row: Int64) throws {
    let statement = try connection.statement("DELETE FROM \(table) WHERE \(column) = ?")
    statement.bind(1, row)
    try connection.run(statement)
  }

  /// Removes an object that was inserted before.
  fileprivate func remove(_ row: Int64, _ table: EntityTable) throws {
    try delete(past(table.name), "_row", row)
    for edge in table.edges { try delete(past(edge.name), "owner", row) }
  }

  /// Shows a row of the present again.
  fileprivate func removeGone(_ row: Int64, _ table: EntityTable) throws { try delete(gone(table), "_row", row) }
}
