// Tests: CommitTests.swift, RowsWrittenTests.swift
import GraphModel

/// Writes a plan's objects in an order that never violates an SQL constraint in between.
///
/// SQLite checks foreign keys after each statement, and unique indexes at each row. So the order is:
/// 1. Release keys that other objects take.
/// 2. Insert objects; references to objects inserted later are deferred.
/// 3. Update objects, and write the deferred references.
/// 4. Delete objects, after clearing references among them.
struct RowWriter {
  let objects: ObjectReader
  let fullText: FullTextIndexer
  let changes: [ObjectChange]
  /// The checksum of each change's image.
  let sums: [UInt64]
  /// The revision of the commit.
  let revision: Revision
  let updates: UpdateTexts
  /// Whether some inserts revive deleted objects, whose tombstones are then removed.
  let hasRevivals: Bool
  /// Unique keys that stay null until all objects of a batch are written.
  var deferredKeys = Set<PropertyNumber>()
  /// Whether each object keeps the revision that its server gave it, as while a mirror is loaded.
  var keepsRevisions = false

  private var connection: Connection { objects.connection }
  private var layout: StoreLayout { objects.layout }

  func write() throws {
    try invariant(changes.count == sums.count, "each object that a commit writes has a checksum")
    // A save without changes makes a commit, too.
    if changes.isEmpty { return }
    if changes.count > 1 || !deferredKeys.isEmpty { try releaseUniqueKeys() }
    var waiting = [(ObjectImage, Int)]()
    var deleted = [Int]()
    // Access in place, because a copy of a change costs more than some steps of its processing.
    try changes.withUnsafeBufferPointer { buffer in
      let changes = try invariant(buffer.baseAddress, "a buffer with changes has an address")
      for index in buffer.indices where changes[index].kind == .inserted {
        let image = try invariant(changes[index].after, "an insert has the object after it")
        try invariant(image.id == changes[index].id, "a change has the image of its own object")
        try insert(image, sum: sums[index], waiting: &waiting)
      }
      for (image, slot) in waiting { try writeReference(of: image, slot: slot) }
      for index in buffer.indices {
        switch changes[index].kind {
        case .inserted:
          let shape = try invariant(
            layout.shape(of: changes[index].id.entity), "an object that a commit inserts has columns")
          try writeEdges(of: changes + index, shape, isNew: true)
        case .updated: try updateObject(changes + index, sum: sums[index])
        case .deleted: deleted.append(index)
        }
      }
    }
    try delete(deleted)
  }

  // MARK: - Inserts and updates

  private func insert(_ image: ObjectImage, sum: UInt64, waiting: inout [(ObjectImage, Int)]) throws {
    let table = try invariant(layout.table(of: image.id.entity), "an object that a commit inserts has a table")
    let shape = try invariant(layout.shape(of: image.id.entity), "an object that a commit inserts has columns")
    try invariant(!image.id.isTemporary, "an object is stored under a permanent id")
    try checkImage(image, shape)
    let row = try connection.statement(table.insert)
    row.bind(1, image.id.key)
    row.bind(2, Int64(layout.numbers.stored(entity: image.id.entity)))
    row.bind(3, image.revision)
    row.bind(4, Int64(bitPattern: sum))
    for number in 0..<table.columns.count where shape.columns.count < table.columns.count {
      row.bindNull(Int32(EntityTable.fixedColumns + number + 1))
    }
    for slot in shape.places.indices {
      let place = shape.places[slot]
      let position = Int32(EntityTable.fixedColumns + 1) + place.column
      switch place.form {
      case .members: row.bind(position, layout.numbers.stored(image.values[slot]))
      case .reference:
        let target = image.values[slot].objectID
        if let target, let found = try objects.find(target) {
          row.bind(position, found.row)
        } else {
          row.bindNull(position)
          // The target is inserted later in this transaction, or is the object itself.
          if target != nil { waiting.append((image, slot)) }
        }
      default: row.bind(position, image.values[slot])
      }
    }
    try connection.run(row)
    let number = connection.lastRow
    // The row is needed to write its members. Objects without members are not cached, because a table with all
    // inserted objects would make each lookup slow.
    if shape.edgePlaces.contains(where: { !image.values[$0.slot].hasNoObjects }) {
      objects.remember(image.id, row: number)
    } else {
      objects.keepLatest(image.id, row: number)
    }
    if hasRevivals {
      let tombstone = try connection.statement(Self.deleteTombstone)
      tombstone.bind(1, image.id.key)
      try connection.run(tombstone)
    }
    for words in shape.fullTextTables {
      fullText.inserted(image[words.property].stringValue, row: number, words)
    }
  }

  private func updateObject(_ place: UnsafePointer<ObjectChange>, sum: UInt64) throws {
    let id = place.pointee.id
    let table = try invariant(layout.table(of: id.entity), "an object that a commit updates has a table")
    let shape = try invariant(layout.shape(of: id.entity), "an object that a commit updates has columns")
    let image = try invariant(place.pointee.after, "an update has the object after it")
    let before = try invariant(place.pointee.before, "an update has the object before it")
    try invariant(image.id == id && before.id == id, "a change has the image of its own object")
    try checkImage(image, shape)
    let edits = place.pointee.edits
    let row = objects.nextRow(of: id, in: table)
    if edits.count == 1, !deferredKeys.contains(edits[0].property), let column = table.column(of: edits[0].property) {
      try updateColumn(column, image, row: row, sum: sum)
    } else {
      let changed = edits.compactMap { edit in
        deferredKeys.contains(edit.property) ? nil : table.column(of: edit.property)
      }
      try updateColumns(changed, of: table, image, row: row, sum: sum)
    }
    for words in shape.fullTextTables where edits.contains(where: { $0.property == words.property.number }) {
      fullText.updated(
        from: before[words.property].stringValue, to: image[words.property].stringValue,
        row: try self.row(of: image.id),
        words)
    }
    try writeEdges(of: place, shape, isNew: false)
  }

  /// Checks an image before its row changes.
  private func checkImage(_ image: ObjectImage, _ shape: EntityTable.EntityColumns) throws {
    try invariant(keepsRevisions || image.revision == revision, "the objects that a commit writes have its revision")
    try invariant(
      image.values.count == shape.places.count, "an object that a commit writes has a value for each column")
  }

  /// - Parameter row: the object's row, if known; then no lookup by id is necessary.
  private func updateColumns(
    _ columns: [EntityTable.Column], of table: EntityTable, _ image: ObjectImage, row known: Int64?, sum: UInt64
  ) throws {
    guard let sql = updates.update(columns, of: table, byRow: known != nil) else {
      for column in columns { try updateColumn(column, image, row: known, sum: sum) }
      return
    }
    let row = try connection.statement(sql)
    for (offset, column) in columns.enumerated() { try bind(image[column.property], of: column, to: row, offset + 3) }
    try runUpdate(row, last: columns.count + 3, image, row: known, sum: sum)
  }

  private func updateColumn(_ column: EntityTable.Column, _ image: ObjectImage, row known: Int64?, sum: UInt64) throws {
    let row = try connection.statement(known == nil ? column.update : column.updateByRow)
    try bind(image[column.property], of: column, to: row, 3)
    try runUpdate(row, last: 4, image, row: known, sum: sum)
  }

  private func runUpdate(_ row: Row, last: Int, _ image: ObjectImage, row known: Int64?, sum: UInt64) throws {
    row.bind(1, image.revision)
    row.bind(2, Int64(bitPattern: sum))
    if let known { row.bind(Int32(last), known) } else { row.bind(Int32(last), image.id.key) }
    try runOnOne(row)
  }

  private func bind(_ value: Value, of column: EntityTable.Column, to row: Row, _ position: Int) throws {
    if column.form == .members {
      row.bind(Int32(position), layout.numbers.stored(value))
    } else if column.form != .reference {
      row.bind(Int32(position), value)
    } else if let target = value.objectID {
      row.bind(Int32(position), try self.row(of: target))
    } else {
      row.bindNull(Int32(position))
    }
  }

  /// Runs a statement that must affect exactly one row.
  private func runOnOne(_ row: Row) throws {
    try connection.run(row)
    if connection.changes != 1 { throw Self.missing }
  }

  /// The failure for an object that was read a moment ago, of which only a damaged store has no row.
  static let missing = StoreFailure(
    .corrupt, "an object that was just there has no row", advice: "Run stickiesd check.")

  private func row(of id: ObjectID) throws -> Int64 {
    guard let found = try objects.find(id) else { throw Self.missing }
    return found.row
  }

  private func writeReference(of image: ObjectImage, slot: Int) throws {
    let shape = try invariant(layout.shape(of: image.id.entity), "an object that a commit inserts has columns")
    let target = try invariant(image.values[slot].objectID, "a reference that waits for its object has one")
    let column = shape.columns[slot]
    let row = try connection.statement(column.set)
    row.bind(1, try self.row(of: target))
    row.bind(2, image.id.key)
    try runOnOne(row)
  }

  private func writeEdges(
    of place: UnsafePointer<ObjectChange>, _ shape: EntityTable.EntityColumns, isNew: Bool
  ) throws {
    for index in shape.edgePlaces.indices {
      let (slot, property) = shape.edgePlaces[index]
      guard isNew || place.pointee.edits.contains(where: { $0.property == property }) else { continue }
      let image = try invariant(place.pointee.after, "an object that a commit writes has an image")
      if isNew, image.values[slot].hasNoObjects { continue }
      let new = image.values[slot].objectIDs
      let old =
        isNew ? [] : try invariant(place.pointee.before, "an update has the object before it").values[slot].objectIDs
      if new == old { continue }
      let edge = shape.edges[index]
      let owner = try row(of: image.id)
      let (newSet, oldSet) = (Set(new), Set(old))
      for member in old where !newSet.contains(member) { try runEdge(edge.remove, try row(of: member), owner) }
      for member in new where !oldSet.contains(member) { try runEdge(edge.insert, try row(of: member), owner) }
    }
  }

  private func runEdge(_ sql: SQL, _ first: Int64, _ second: Int64) throws {
    let row = try connection.statement(sql)
    row.bind(1, first)
    row.bind(2, second)
    try connection.run(row)
  }

  // MARK: - Unique keys and deletes

  /// Sets unique keys to null that another object of the same commit takes.
  ///
  /// These are all changed keys in tables where a key is taken, because unique indexes accept any number of nulls. An
  /// object of another slice may take a deferred key (``deferredKeys``); with such keys all changed keys are
  /// released.
  private func releaseUniqueKeys() throws {
    // Only objects that were there before hold keys.
    guard layout.hasUniqueKeys, changes.contains(where: { $0.kind != .inserted }) else { return }
    let taking = deferredKeys.isEmpty ? try tablesThatTakeKeys() : nil
    if let taking, taking.isEmpty { return }
    for index in changes.indices {
      // An insert holds no key that another object could take.
      guard let before = changes[index].before else { continue }
      let shape = try invariant(
        layout.shape(of: changes[index].id.entity), "an object that a commit changes has columns")
      let table = try invariant(layout.table(of: before.id.entity), "an object that a commit changes has a table")
      if shape.uniqueSlots.isEmpty { continue }
      if let taking, !taking.contains(table.root.number) { continue }
      for slot in shape.uniqueSlots where !before.values[slot].isNull {
        if let after = changes[index].after, after.values[slot] == before.values[slot] { continue }
        try setNull(shape.columns[slot], of: before.id)
      }
    }
  }

  /// The root entities of the tables in which an object gets a new key.
  private func tablesThatTakeKeys() throws -> Set<EntityNumber> {
    var found = Set<EntityNumber>()
    for index in changes.indices {
      // A deleted object takes no key.
      guard let after = changes[index].after else { continue }
      let entity = changes[index].id.entity
      let shape = try invariant(layout.shape(of: entity), "an object that a commit changes has columns")
      let table = try invariant(layout.table(of: entity), "an object that a commit changes has a table")
      if shape.uniqueSlots.isEmpty || found.contains(table.root.number) { continue }
      let takes = shape.uniqueSlots.contains { slot in
        !after.values[slot].isNull && after.values[slot] != changes[index].before?.values[slot]
      }
      if takes { found.insert(table.root.number) }
    }
    return found
  }

  private func setNull(_ column: EntityTable.Column, of id: ObjectID) throws {
    let row = try connection.statement(column.set)
    row.bindNull(1)
    row.bind(2, id.key)
    try runOnOne(row)
  }

  /// - Parameter indices: the indices of the deletes among the changes.
  private func delete(_ indices: [Int]) throws {
    if indices.isEmpty { return }
    var entities = Set<EntityNumber>()
    for index in indices where indices.count > 1 { entities.insert(changes[index].id.entity) }
    // Needed only for objects that refer to an entity with deletes.
    lazy var deleted = Set(indices.map { changes[$0].id })
    var texts = [FullTextIndexer.DeletedText]()
    for index in indices {
      let image = try invariant(changes[index].before, "a delete has the object before it")
      let shape = try invariant(layout.shape(of: image.id.entity), "an object that a commit deletes has columns")
      try invariant(image.id == changes[index].id, "a change has the image of its own object")
      for index in shape.edgePlaces.indices where !image.values[shape.edgePlaces[index].slot].hasNoObjects {
        let row = try connection.statement(shape.edges[index].removeAll)
        row.bind(1, try self.row(of: image.id))
        try connection.run(row)
      }
      // Deleted objects may refer to each other in a cycle, for which no order of deletes works.
      for slot in shape.referenceSlots {
        guard let target = image.values[slot].objectID, entities.contains(target.entity), deleted.contains(target)
        else { continue }
        try setNull(shape.columns[slot], of: image.id)
      }
      for words in shape.fullTextTables {
        let row = try self.row(of: image.id)
        texts.append(FullTextIndexer.DeletedText(text: image[words.property].stringValue, row: row, table: words))
      }
    }
    if !texts.isEmpty { try fullText.deleted(texts) }
    for index in indices {
      let id = changes[index].id
      let table = try invariant(layout.table(of: id.entity), "an object that a commit deletes has a table")
      if let known = objects.nextRow(of: id, in: table) {
        let row = try connection.statement(table.delete)
        row.bind(1, known)
        try runOnOne(row)
      } else {
        let row = try connection.statement(table.deleteByID)
        row.bind(1, id.key)
        try runOnOne(row)
      }
      objects.forget(id, in: table)
      let tombstone = try connection.statement(Self.insertTombstone)
      tombstone.bind(1, id.key)
      tombstone.bind(2, Int64(layout.numbers.stored(entity: id.entity)))
      tombstone.bind(3, revision)
      try connection.run(tombstone)
    }
  }

  private static let deleteTombstone = SQL("DELETE FROM _tombstone WHERE id = ?")
  /// Also used by batches, which write their tombstones slice by slice.
  static let insertTombstone = SQL("INSERT OR REPLACE INTO _tombstone (id, entity, revision) VALUES (?, ?, ?)")
}
