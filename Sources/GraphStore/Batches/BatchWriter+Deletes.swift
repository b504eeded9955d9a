// Tests: BatchDeleteTests.swift, CascadeTests.swift
import GRDBSQLite
import GraphModel

/// Deletes all matching objects.
///
/// The steps are: find the final set of deletes; check `deny` and `noAction` on it; remove the references of the
/// surviving objects; write the history of the deleted objects, while every reference still leads to its object;
/// delete their rows.
extension BatchWriter {
  /// - Returns: the complete batch as a transaction if it is small; nil if it has been written in slices.
  func delete(_ predicate: GraphPredicate, _ entity: Entity, _ table: EntityTable) throws -> Transaction? {
    let matched = try selectVisible(predicate, entity, table)
    let deleted = DeleteSet(connection, layout: writer.layout)
    try deleted.add(matched, of: table)
    let consequences = try deleted.consequences { try collect([try visible($0)]) }
    try refuseIfViolated()
    let total = deleted.count + consequences.survivorCount
    if total <= writer.sliceObjects {
      return transaction(try matched.map { Change(.delete, try deleted.id($0, table)) })
    }
    try report(done: 0, of: total)
    // Deleted objects may refer to each other in a cycle, and to objects of an earlier slice. Not a prepared
    // statement: the pragma takes effect when it is prepared, and until the transaction ends.
    try connection.database.execute(sql: "PRAGMA defer_foreign_keys = ON")
    try clearReferences(consequences, deleted, of: total)
    try checkCounts(consequences, deleted)
    try refuseIfViolated()
    // A reference is a row number; its id can be read only while the row exists.
    var steps = 2 * consequences.survivorCount
    for (table, rows) in deleted.tables {
      try forEachSlice(of: rows, in: table) { images in
        try writeHistory(ofDeleted: images, table)
        steps += images.count
        try report(done: steps / 2, of: total)
      }
    }
    for (table, rows) in deleted.tables {
      var sinceReport = 0
      for row in rows {
        try deleteRow(row, of: table)
        sinceReport += 1
        guard sinceReport == writer.sliceObjects else { continue }
        steps += sinceReport
        sinceReport = 0
        try report(done: steps / 2, of: total)
      }
      steps += sinceReport
    }
    writer.objects.forgetAll()
    try Self.refuseDangling(connection)
    try report(done: total, of: total)
    return nil
  }

  // MARK: - Surviving objects

  private func clearReferences(_ consequences: DeleteSet.DeleteEffects, _ deleted: DeleteSet, of total: Int) throws {
    var done = 0
    for table in writer.layout.orderedTables {
      guard let rows = consequences.survivors[table.root.number] else { continue }
      try forEachSlice(of: rows, in: table) { images in
        let changes = try images.map { Change(.update, $0.id, base: .max, edits: try edits(of: $0, deleted)) }
        try write(slice: changes, reader: BatchReader(writer, known: images, deleted: deleted), recounts: true)
        done += images.count
        try report(done: done, of: total)
      }
    }
  }

  private func edits(of image: ObjectImage, _ deleted: DeleteSet) throws -> [Edit] {
    var edits = [Edit]()
    for property in model.relationships(of: image.id.entity) where property.slot != nil {
      let gone = try image[property].objectIDs.filter { id in
        guard let root = model.entity(id.entity)?.root, let found = try writer.objects.find(id) else { return false }
        return deleted.contains(found.row, of: root)
      }
      guard !gone.isEmpty else { continue }
      let isToMany = property.relationship?.isToMany == true
      edits.append(Edit(property.number, isToMany ? .members(added: [], removed: gone) : .set(.null)))
    }
    return edits
  }

  private func checkCounts(_ consequences: DeleteSet.DeleteEffects, _ deleted: DeleteSet) throws {
    let reader = BatchReader(writer, deleted: deleted)
    for (number, rows) in consequences.counts.sorted(by: { $0.key < $1.key }) {
      let property = try invariant(model.property(number), "a counted relationship is a property of the model")
      let table = try invariant(writer.layout.table(of: property.owner), "an entity with counted objects has a table")
      for row in rows {
        try collect(RuleValidator.violations(ofCounts: [(try deleted.id(row, table), number)], reader: reader))
      }
    }
  }

  // MARK: - Deleted objects

  private func writeHistory(ofDeleted images: [ObjectImage], _ table: EntityTable) throws {
    try checkDeletes(images)
    var size = 0
    let sums = try images.map { try writer.sum($0, &size) }
    var texts = [FullTextIndexer.DeletedText]()
    for image in images {
      let tombstone = try connection.statement(RowWriter.insertTombstone)
      tombstone.bind(1, image.id.key)
      tombstone.bind(2, Int64(writer.layout.numbers.stored(entity: image.id.entity)))
      tombstone.bind(3, revision)
      try connection.run(tombstone)
      let shape = try invariant(table.shape(of: image.id.entity), "an object that a batch deletes has columns")
      if shape.fullTextTables.isEmpty { continue }
      guard let found = try writer.objects.find(image.id) else { throw RowWriter.missing }
      for words in shape.fullTextTables {
        texts.append(FullTextIndexer.DeletedText(text: image[words.property].stringValue, row: found.row, table: words))
      }
    }
    if !texts.isEmpty { try writer.fullText.deleted(texts) }
    let changes = images.map { ObjectChange(kind: .deleted, id: $0.id, before: $0, after: nil) }
    try writePart(changes, sums: sums, size: size)
  }

  private func deleteRow(_ row: Int64, of table: EntityTable) throws {
    for edge in table.edges {
      let edges = try connection.statement(edge.removeAll)
      edges.bind(1, row)
      try connection.run(edges)
    }
    let object = try connection.statement(table.delete)
    object.bind(1, row)
    try connection.run(object)
  }

  /// Refuses dangling references: a backstop, because the foreign-key checks are deferred.
  static func refuseDangling(_ connection: Connection) throws {
    var (present, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(connection.database.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &present, &highest, 0)
    if present != 0 { throw SQLConstraintFailure(message: "FOREIGN KEY constraint failed") }
  }
}
