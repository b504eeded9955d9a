// Tests: MigrationTests.swift, MigrationLossTests.swift
import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// The changes of values: one UPDATE for all changes of an entity's objects.
extension MigrationWriter {
  /// Computes the new columns from the old ones. The old columns do not change meanwhile, so the order of the updates
  /// does not matter.
  mutating func computeValues() throws {
    for table in new.orderedTables {
      guard let before = before(table) else { continue }
      for owner in table.root.family.compactMap({ plan.new.entity($0) }) {
        guard let earlier = plan.entities[owner.number].flatMap({ plan.old.entity($0) }) else { continue }
        var builder = PredicateSQL(layout: old, table: before)
        var sets = [String]()
        for column in table.columns where column.property.owner == owner.number {
          guard let value = value(of: column, table, before, &builder) else { continue }
          sets.append("\(quoted(draft(column))) = \(value)")
        }
        let isWhole = owner.number == table.root.number
        try update(
          before, sets, condition: isWhole ? nil : "t._entity IN (\(old.numbers.family(of: earlier)))",
          builder.arguments)
      }
    }
  }

  /// Nil for a column that keeps its default.
  private mutating func value(
    of column: EntityTable.Column, _ table: EntityTable, _ before: EntityTable, _ builder: inout PredicateSQL
  ) -> String? {
    let property = column.property
    switch plan.origins[property.number] {
    case .constant(let value)? where literal(column, table) == nil: return builder.argument(value)
    case .mapped(let expression)?:
      guard let sql = builder.expression(expression) else {
        problems.append("mapping.\(property.name): reads more at once than SQL allows")
        return nil
      }
      return converted(sql, expression.type(in: plan.old), property)
    case .converted(let earlier)?:
      guard let from = before.column(of: earlier) else { return nil }
      let name = "t.\(quoted(from.name))"
      guard property.relationship != nil else {
        let kinds = (plan.old.property(earlier)?.attribute?.kind, property.attribute?.kind)
        // An SQL expression is ten times as fast as a function.
        if case (.integer?, .double?) = kinds { return "CAST(\(name) AS REAL)" }
        return "graph_convert(\(property.number), \(name))"
      }
      guard let destination = from.references else { return nil }
      return "(SELECT graph_member(m._id, m._entity) FROM \(quoted(destination)) AS m WHERE m._row = \(name))"
    default: return nil
    }
  }

  /// Converts a computed value to the attribute's form.
  private func converted(_ sql: String, _ type: GraphValueType, _ property: Property) -> String {
    guard let attribute = property.attribute, !attribute.acceptsUnconverted(type) else { return sql }
    // Expressed in SQL, because that is ten times as fast as a function.
    if attribute.kind == .integer, type == .integer { return "iif(typeof(\(sql)) = 'integer', \(sql), NULL)" }
    return "graph_settle(\(property.number), '\(type.letter)', \(sql))"
  }

  private mutating func update(
    _ table: EntityTable, _ sets: [String], condition: String?, _ arguments: [Value]
  ) throws {
    // The entity has no column to fill.
    if sets.isEmpty { return }
    var sql = "UPDATE \(quoted(table.name)) AS t SET \(sets.joined(separator: ", "))"
    if let condition { sql += " WHERE \(condition)" }
    let statement = try connection.makeStatement(sql)
    defer { withExtendedLifetime(statement) {} }
    let row = GraphStore.Row(statement: statement.sqliteStatement)
    for (index, value) in arguments.enumerated() { row.bind(Int32(index + 1), value) }
    try connection.run(row)
    count(database.changesCount)
  }

  /// Fills the index table of a to-many that was a to-one.
  func fillEdgeTables() throws {
    for table in new.orderedTables {
      guard before(table) != nil else { continue }
      for edge in table.edges {
        guard case .converted(let earlier)? = plan.origins[edge.property.number] else { continue }
        let name = quoted(TableNames.ended(old.numbers.stored(property: earlier)))
        try run(
          "INSERT INTO \(quoted(edge.name)) (member, owner) SELECT \(name), _row FROM \(quoted(table.name)) WHERE \(name) IS NOT NULL"
        )
      }
    }
  }

  // MARK: - Removed references, missing values and checksums

  /// Clears references of removed relationships. Otherwise the objects that they refer to could never be deleted.
  mutating func endReferences() throws {
    for table in new.orderedTables {
      guard let before = before(table) else { continue }
      let kept = Set(table.columns.compactMap { self.before($0, in: before)?.property.number })
      for column in before.columns where column.destination != nil && !kept.contains(column.property.number) {
        let name = quoted(TableNames.ended(old.numbers.stored(property: column.property.number)))
        try change(table, "\(name) = NULL", where: "\(name) IS NOT NULL")
      }
    }
  }

  /// Replaces null by the default where null is no longer allowed.
  mutating func fillMissingValues() throws {
    for (property, value) in plan.fills {
      let table = try invariant(new.table(of: property.owner), "a property that gets a value has a table")
      let column = try invariant(table.column(of: property.number), "a property that gets a value has a column")
      let owner = plan.new.owner(of: property)
      let statement = "\(quoted(column.name)) IS NULL AND _entity IN (\(new.numbers.family(of: owner)))"
      try change(table, "\(quoted(column.name)) = ?1", where: statement, [value])
    }
  }

  private mutating func change(
    _ table: EntityTable, _ set: String, where condition: String, _ arguments: [Value] = []
  ) throws {
    let rows = try connection.statement("SELECT _row FROM \(quoted(table.name)) WHERE \(condition)")
    while try connection.step(rows) { touched[table.root.number, default: RowSet()].insert(rows.integer(0)) }
    sqlite3_reset(rows.statement)
    try update(table, [set], condition: condition, arguments)
  }

  /// Rewrites the checksums of changed rows, in the new version's form.
  mutating func rewriteChecksums() throws {
    let objects = ObjectReader(connection, layout: new)
    for (root, rows) in touched.sorted(by: { $0.key < $1.key }) {
      let table = try invariant(new.table(of: root), "a changed row is in a table of the new version")
      let select = try connection.statement(table.select + " WHERE t._row = ?")
      for row in rows {
        select.bind(1, row)
        guard try connection.step(select) else {
          // The row has been deleted since. Without a reset the statement could not be bound again.
          sqlite3_reset(select.statement)
          continue
        }
        let image = try objects.image(select, in: table)
        sqlite3_reset(select.statement)
        let update = try connection.statement("UPDATE \(quoted(table.name)) SET _sum = ? WHERE _row = ?")
        update.bind(1, Int64(bitPattern: Checksum.of(new.numbers.stored(image).binary)))
        update.bind(2, row)
        try connection.run(update)
      }
    }
  }

  // MARK: - Computed values

  /// Orders the members of a relationship that has become ordered, by their ids.
  mutating func assignPositions() throws {
    for table in new.orderedTables {
      guard before(table) != nil else { continue }
      for column in table.columns {
        guard case .place? = plan.origins[column.property.number],
          let reference = table.columns.first(where: {
            $0.destination != nil && $0.property.relationship?.position == column.property.number
          })
        else { continue }
        let (name, to) = (quoted(table.name), quoted(reference.name))
        try run(
          """
          UPDATE \(name) SET \(quoted(column.name)) = place.number FROM (SELECT _row AS member, \
          (row_number() OVER (PARTITION BY \(to) ORDER BY _id) - 1) * \(PositionAllocator.step) AS number FROM \(name) \
          WHERE \(to) IS NOT NULL) AS place WHERE _row = place.member
          """)
        count(database.changesCount)
      }
    }
  }

  mutating func computeDerivedValues() throws {
    for table in new.orderedTables {
      guard before(table) != nil else { continue }
      for owner in table.root.family.compactMap({ plan.new.entity($0) }) {
        var builder = PredicateSQL(layout: new, table: table)
        var sets = [String]()
        for column in table.columns where column.property.owner == owner.number && !column.property.isHidden {
          guard case .derived? = plan.origins[column.property.number],
            let text = column.property.attribute?.derivation?.text
          else { continue }
          let expression = try GraphExpression(parsing: text, entity: owner, model: plan.new)
          guard let sql = builder.expression(expression) else {
            problems.append("\(owner.name).\(column.property.name): reads more at once than SQL allows")
            continue
          }
          sets.append("\(quoted(column.name)) = \(converted(sql, expression.type(in: plan.new), column.property))")
        }
        try update(table, sets, condition: "t._entity IN (\(new.numbers.family(of: owner)))", builder.arguments)
      }
    }
  }

  /// Recomputes kept counts of relationships that have lost objects of a removed entity.
  mutating func recomputeCounts() throws {
    for table in new.orderedTables where before(table) != nil {
      for column in table.columns {
        guard plan.kept(column.property.number) != nil, let derivation = column.property.attribute?.derivation,
          let counted = derivation.counted.flatMap({ plan.new.property($0) }),
          plan.hasLostObjects(counted), let owner = plan.new.entity(column.property.owner)
        else { continue }
        var builder = PredicateSQL(layout: new, table: table)
        let expression = try GraphExpression(parsing: derivation.text, entity: owner, model: plan.new)
        let sql = try invariant(builder.expression(expression), "a count of one relationship can be expressed in SQL")
        let name = quoted(column.name)
        let wrong = "t._entity IN (\(new.numbers.family(of: owner))) AND t.\(name) IS NOT \(sql)"
        let rows = try connection.statement("SELECT t._row FROM \(quoted(table.name)) AS t WHERE \(wrong)")
        for (index, value) in builder.arguments.enumerated() { rows.bind(Int32(index + 1), value) }
        while try connection.step(rows) { touched[table.root.number, default: RowSet()].insert(rows.integer(0)) }
        sqlite3_reset(rows.statement)
        try update(table, ["\(name) = \(sql)"], condition: wrong, builder.arguments)
      }
    }
  }

  // MARK: - Full-text indexes

  private func hasFilledIndex(_ words: EntityTable.FullTextTable) -> Bool {
    let earlier = plan.kept(words.property.number).flatMap { plan.old.property($0)?.attribute }
    return earlier?.isFullText == true
  }

  /// Fills new full-text indexes with the existing texts.
  func fillFullTextIndexes() throws {
    for table in new.orderedTables {
      guard before(table) != nil else { continue }
      for words in table.fullTextTables where !hasFilledIndex(words) {
        try FullTextRebuild.fill(words, of: table, connection)
      }
    }
  }

  /// Removes the words of rows before they are deleted.
  func removeWords(_ condition: String, in table: EntityTable) throws {
    for words in table.fullTextTables where hasFilledIndex(words) {
      let column = try invariant(table.column(of: words.property.number), "a text with an index has a column")
      let rows = try connection.statement(
        "SELECT _row, \(quoted(column.name)) FROM \(quoted(table.name)) WHERE \(condition) AND \(quoted(column.name)) <> ''"
      )
      while try connection.step(rows) {
        let remove = try connection.statement(words.remove)
        remove.bind(1, rows.integer(0))
        remove.bind(2, rows.text(1).wordList)
        try connection.run(remove)
      }
    }
  }
}
