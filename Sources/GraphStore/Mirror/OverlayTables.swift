// Tests: MirrorOverlayTests.swift
import GraphModel

/// The tables of unsent edits over a mirror, in the TEMP schema of a read-only connection: those of `PastTables`, with
/// the future in place of the past. Every statement for the present reads the graph that the user sees.
///
/// An edit adds the objects that it changed; the others stay as they are. Objects of the mirror keep their row numbers,
/// new ones get negative numbers.
struct OverlayTables {
  private let tables: PastTables
  /// The changed objects with their row numbers.
  private var rows = [ObjectID: Int64]()
  /// The changed objects that exist.
  private var present = Set<ObjectID>()
  /// The revisions that the changed objects have in the mirror; none for new objects.
  private(set) var mirrored = [ObjectID: Revision]()
  /// The objects that inserts turned out to be, because they have the same unique key.
  var merged = [ObjectID: ObjectID]()
  private var names = Set<String>()
  private var lowestRow: Int64 = 0

  init(_ connection: Connection, layout: StoreLayout) throws {
    tables = PastTables(connection: connection, layout: layout)
    try tables.hide()
  }

  /// Whether an unsent edit has changed the object.
  func contains(_ id: ObjectID) -> Bool { rows[id] != nil }

  /// The tables that a statement must take into account; nil for none.
  var shadowed: ShadowedTables? {
    if names.isEmpty { return nil }
    var shadowed = ShadowedTables()
    shadowed.tables = names
    shadowed.objects = present.sorted()
    return shadowed
  }

  /// Adds what an edit changes.
  mutating func add(_ changes: [ObjectChange], _ objects: ObjectReader) throws {
    for change in changes { try place(change, objects) }
    for change in changes {
      guard let image = change.after else { continue }
      let row = try invariant(rows[image.id], "a changed object has a row number")
      let known = rows
      try tables.insert(image, row: row, try table(of: image.id)) { try known[$0] ?? objects.find($0)?.row }
    }
  }

  /// Hides the object's row, and gives it a row number.
  private mutating func place(_ change: ObjectChange, _ objects: ObjectReader) throws {
    let table = try table(of: change.id)
    if names.insert(table.name).inserted {
      try tables.prepare(table)
      try tables.createViews(table, isWhole: false)
    }
    let row: Int64
    if let known = rows[change.id] {
      row = known
      try tables.remove(row, table)
    } else if let found = try objects.find(change.id) {
      row = found.row
      mirrored[change.id] = change.before?.revision
      try tables.insertGone(row, table)
    } else {
      lowestRow -= 1
      row = lowestRow
    }
    rows[change.id] = row
    if change.after == nil {
      present.remove(change.id)
      objects.forget(change.id, in: table)
    } else {
      present.insert(change.id)
      objects.remember(change.id, row: row)
    }
  }

  private func table(of id: ObjectID) throws -> EntityTable {
    try invariant(tables.layout.table(of: id.entity), "a changed object has a table")
  }
}

extension PastTables {
  /// Removes an object that was inserted before.
  fileprivate func remove(_ row: Int64, _ table: EntityTable) throws {
    func delete(_ name: String, _ column: String) throws {
      let statement = try connection.statement("DELETE FROM \(Self.past(name)) WHERE \(column) = ?")
      statement.bind(1, row)
      try connection.run(statement)
    }
    try delete(table.name, "_row")
    for edge in table.edges { try delete(edge.name, "owner") }
  }
}
