import GRDBSQLite
import GraphModel

/// Writes a plan's objects in an order that no constraint of SQL can object to half-way: foreign keys are checked at
/// each statement, unique indexes at each row.
///
/// 1. Keys that change hands are let go. 2. Inserts; a reference to an object that comes later waits. 3. Updates, and
/// the references that waited. 4. Deletes, whoever refers to others first.
struct RowWriter {
  let objects: ObjectReader
  let words: WordFeed
  let changes: [ObjectChange]
  /// The checksum of each change's image.
  let sums: [UInt64]
  /// Some inserts bring deleted objects back: their tombstones go.
  let revives: Bool
  /// Keys that are left null until all objects of a batch are written.
  var deferredKeys = Set<PropertyNumber>()

  private var connection: Connection { objects.connection }
  private var layout: StoreLayout { objects.layout }

  func write() throws {
    if changes.count > 1 || !deferredKeys.isEmpty { try releaseUniqueKeys() }
    var waiting = [(ObjectImage, Int)]()
    for (change, sum) in zip(changes, sums) where change.kind == .inserted {
      if let image = change.after { try insert(image, sum: sum, waiting: &waiting) }
    }
    for (image, slot) in waiting { try writeReference(of: image, slot: slot) }
    for change in changes where change.kind == .inserted {
      if let image = change.after { try writeEdges(of: image, since: nil) }
    }
    for (change, sum) in zip(changes, sums) where change.kind == .updated {
      guard let image = change.after, let before = change.before else { continue }
      try update(image, sum: sum, before: before, edits: change.edits)
    }
    try delete(changes.compactMap { $0.kind == .deleted ? $0.before : nil })
  }

  // MARK: - Inserts and updates

  private func insert(_ image: ObjectImage, sum: UInt64, waiting: inout [(ObjectImage, Int)]) throws {
    guard let table = layout.table(of: image.id.entity), let columns = table.columnOfSlot[image.id.entity] else {
      return
    }
    let row = try connection.statement(table.insert)
    row.bind(1, image.id.key)
    row.bind(2, Int64(layout.numbers.stored(entity: image.id.entity)))
    row.bind(3, image.revision)
    row.bind(4, Int64(bitPattern: sum))
    for number in 0..<table.columns.count where columns.count < table.columns.count {
      row.bindNull(Int32(EntityTable.fixedColumns + number + 1))
    }
    for (slot, index) in columns.enumerated() {
      let column = table.columns[index]
      let position = Int32(EntityTable.fixedColumns + index + 1)
      if column.destination == nil {
        row.bind(position, layout.numbers.stored(image.values[slot]))
      } else if let target = image.values[slot].objectID {
        if let found = try objects.find(target) {
          row.bind(position, found.row)
        } else {
          // It comes later in this transaction, or is this object itself.
          row.bindNull(position)
          waiting.append((image, slot))
        }
      } else {
        row.bindNull(position)
      }
    }
    try connection.run(row)
    let number = connection.lastRow
    objects.remember(image.id, row: number, root: table.root.number)
    if revives {
      let tombstone = try connection.statement("DELETE FROM _tombstone WHERE id = ?")
      tombstone.bind(1, image.id.key)
      try connection.run(tombstone)
    }
    for table in table.wordTablesOfEntity[image.id.entity] ?? [] {
      words.inserted(image[table.property].stringValue, row: number, table)
    }
  }

  private func update(_ image: ObjectImage, sum: UInt64, before: ObjectImage, edits: [Edit]) throws {
    guard let table = layout.table(of: image.id.entity) else { return }
    let changed = edits.compactMap { edit in
      deferredKeys.contains(edit.property) ? nil : table.columns.firstIndex { $0.property.number == edit.property }
    }
    let names = ["_revision", "_sum"] + changed.map { table.columns[$0].name }
    let row = try connection.statement(
      "UPDATE \(quoted(table.name)) SET \(names.map { "\(quoted($0)) = ?" }.joined(separator: ", ")) WHERE _row = ?")
    row.bind(1, image.revision)
    row.bind(2, Int64(bitPattern: sum))
    for (offset, index) in changed.enumerated() {
      let column = table.columns[index]
      let position = Int32(offset + 3)
      let value = image[column.property]
      if column.destination == nil {
        row.bind(position, layout.numbers.stored(value))
      } else if let target = value.objectID {
        row.bind(position, try self.row(of: target))
      }
    }
    let number = try self.row(of: image.id)
    row.bind(Int32(names.count + 1), number)
    try connection.run(row)
    for table in table.wordTablesOfEntity[image.id.entity] ?? [] where before[table.property] != image[table.property] {
      words.updated(
        from: before[table.property].stringValue, to: image[table.property].stringValue, row: number, table)
    }
    try writeEdges(of: image, since: before)
  }

  private func row(of id: ObjectID) throws -> Int64 {
    guard let found = try objects.find(id) else {
      throw StoreFailure(.corrupt, "an object that was just there has no row", advice: "Run stickiesd check.")
    }
    return found.row
  }

  private func writeReference(of image: ObjectImage, slot: Int) throws {
    guard let table = layout.table(of: image.id.entity), let columns = table.columnOfSlot[image.id.entity],
      let target = image.values[slot].objectID
    else { return }
    let name = quoted(table.columns[columns[slot]].name)
    let row = try connection.statement("UPDATE \(quoted(table.name)) SET \(name) = ? WHERE _row = ?")
    row.bind(1, try self.row(of: target))
    row.bind(2, try self.row(of: image.id))
    try connection.run(row)
  }

  private func writeEdges(of image: ObjectImage, since before: ObjectImage?) throws {
    guard let table = layout.table(of: image.id.entity) else { return }
    for edge in table.edgesOfEntity[image.id.entity] ?? [] {
      let new = image[edge.property].objectIDs
      let old = before?[edge.property].objectIDs ?? []
      if new == old { continue }
      let owner = try row(of: image.id)
      let (newSet, oldSet) = (Set(new), Set(old))
      for member in old where !newSet.contains(member) {
        try run("DELETE FROM \(quoted(edge.name)) WHERE member = ? AND owner = ?", try row(of: member), owner)
      }
      for member in new where !oldSet.contains(member) {
        try run("INSERT INTO \(quoted(edge.name)) (member, owner) VALUES (?, ?)", try row(of: member), owner)
      }
    }
  }

  private func run(_ sql: String, _ first: Int64, _ second: Int64) throws {
    let row = try connection.statement(sql)
    row.bind(1, first)
    row.bind(2, second)
    try connection.run(row)
  }

  // MARK: - Unique keys and deletes

  /// When several objects change at once, one may take the key that another gives up: all changed keys are set to
  /// null first, which no unique index minds.
  private func releaseUniqueKeys() throws {
    for change in changes {
      guard let before = change.before, let table = layout.table(of: change.id.entity),
        let entity = layout.model.entity(change.id.entity)
      else { continue }
      for number in Set(entity.uniquenessConstraints.joined()).sorted() {
        guard let column = table.column(of: number), !before[column.property].isNull,
          change.after.map({ $0[column.property] != before[column.property] }) ?? true
        else { continue }
        let row = try connection.statement(
          "UPDATE \(quoted(table.name)) SET \(quoted(column.name)) = NULL WHERE _row = ?")
        row.bind(1, try self.row(of: before.id))
        try connection.run(row)
      }
    }
  }

  private func delete(_ images: [ObjectImage]) throws {
    guard !images.isEmpty else { return }
    let deleted = images.count > 1 ? Set(images.map(\.id)) : []
    for image in images {
      guard let table = layout.table(of: image.id.entity), let columns = table.columnOfSlot[image.id.entity] else {
        continue
      }
      let number = try row(of: image.id)
      for edge in table.edgesOfEntity[image.id.entity] ?? [] where !image[edge.property].objectIDs.isEmpty {
        let row = try connection.statement("DELETE FROM \(quoted(edge.name)) WHERE owner = ?")
        row.bind(1, number)
        try connection.run(row)
      }
      // Objects that go together may refer to each other in a circle: no order of deletes would do.
      for (slot, index) in columns.enumerated() {
        guard let column = Optional(table.columns[index]), column.destination != nil,
          let target = image.values[slot].objectID, deleted.contains(target)
        else { continue }
        let row = try connection.statement(
          "UPDATE \(quoted(table.name)) SET \(quoted(column.name)) = NULL WHERE _row = ?")
        row.bind(1, number)
        try connection.run(row)
      }
      for table in table.wordTablesOfEntity[image.id.entity] ?? [] {
        try words.deleted(image[table.property].stringValue, row: number, table)
      }
    }
    for image in images {
      guard let table = layout.table(of: image.id.entity) else { continue }
      let row = try connection.statement(table.delete)
      row.bind(1, try self.row(of: image.id))
      try connection.run(row)
      objects.forget(image.id)
      let tombstone = try connection.statement(
        "INSERT OR REPLACE INTO _tombstone (id, entity, revision) VALUES (?, ?, (SELECT coalesce(max(revision), 0) + 1 FROM _commit))"
      )
      tombstone.bind(1, image.id.key)
      tombstone.bind(2, Int64(layout.numbers.stored(entity: image.id.entity)))
      try connection.run(tombstone)
    }
  }
}
