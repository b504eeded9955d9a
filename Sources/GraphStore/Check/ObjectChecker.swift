// Tests: CheckTests.swift, BitFlipTests.swift
import GRDBSQLite
import GraphModel

/// The check of the present: every object against its checksum, its model, and its index rows.
///
/// `check` runs it on a whole store, and an import of a graph before its COMMIT.
package struct ObjectChecker {
  private let store: CheckedStore
  private let model: Model
  private let layout: StoreLayout
  private let objects: ObjectReader
  private let connection: Connection

  package init(_ store: CheckedStore) {
    self.store = store
    (model, layout, objects, connection) = (store.model, store.layout, store.objects, store.connection)
  }

  /// Checks the objects of a table, and the tables that index their to-manys.
  /// - Parameter visit: called with each object that can be read, and its row number.
  package func checkObjects(of table: EntityTable, _ visit: (ObjectImage, Int64) -> Void = { _, _ in }) throws {
    let sums = try connection.statement("SELECT _sum FROM \(quoted(table.name)) WHERE _row = ?")
    let rows = try connection.statement(table.select + " ORDER BY t._row")
    var members = [String: Int]()
    while try connection.step(rows) {
      let number = rows.integer(0)
      var place = StoreFinding.Place(table: table.name, row: number)
      // First of all, because reading a column may convert its value and change its reported type.
      let forms = wrongForms(rows, table)
      let image: ObjectImage
      do {
        image = try objects.image(rows, in: table)
      } catch let failure as StoreFailure where failure.code == .corrupt {
        report(.rule, place, "has an entity that the model does not have")
        continue
      }
      place.object = image.id
      sums.bind(1, number)
      let sum = try connection.step(sums) ? Optional(UInt64(bitPattern: sums.integer(0))) : nil
      sqlite3_reset(sums.statement)
      let isPresent = sum == Checksum.of(layout.numbers.stored(image).binary)
      // A row from before a migration is as its version and the migrations since have left it.
      if !isPresent, try !store.olderRows.contain(image, sum: sum) {
        report(.checksum, place, "has changed outside a commit")
      }
      for name in forms { report(.form, place, "stores \(name) in another form than its type requires") }
      checkForms(image, rows, table, place)
      let entity = try entity(of: image)
      checkRules(image, entity, place)
      try checkCounts(image, entity, place)
      try checkDerived(image, place)
      try checkScope(image, place)
      try checkEdges(image, number, table, place, &members)
      visit(image, number)
    }
    for edge in table.edges {
      let count = try connection.statement("SELECT count(*) FROM \(quoted(edge.name))")
      let total = try connection.step(count) ? Int(count.integer(0)) : 0
      sqlite3_reset(count.statement)
      let expected = members[edge.name, default: 0]
      if total != expected {
        report(.edges, .init(table: edge.name), "has \(total) rows, but the objects have \(expected) members")
      }
    }
  }

  /// Returns the model's rules that an object violates, each as the rest of a sentence about it.
  package func violations(of image: ObjectImage) throws -> [String] {
    let findings = FindingList()
    let checker = ObjectChecker(CheckedStore(store, findings: findings))
    let entity = try entity(of: image)
    checker.checkRules(image, entity, .init())
    try checker.checkCounts(image, entity, .init())
    return findings.all.map(\.text)
  }

  private func entity(of image: ObjectImage) throws -> Entity {
    try invariant(model.entity(image.id.entity), "an object that was read has an entity of the model")
  }

  private func report(_ kind: StoreFinding.Kind, _ place: StoreFinding.Place, _ text: String) {
    store.report(kind, place, text)
  }

  // MARK: - Forms

  /// The names of columns whose storage class differs from the property's. A reader would convert most of them, an
  /// SQL predicate would not.
  private func wrongForms(_ row: Row, _ table: EntityTable) -> [String] {
    let entity = layout.numbers.entity(row, 2)
    // The objects of an unknown entity have no columns.
    var own = Set<Int>()
    if let shape = table.shape(of: entity) { own = Set(shape.columns.map(\.index)) }
    var wrong = [String]()
    for (column, expected) in zip(["_row", "_id", "_entity", "_revision"], [1, 4, 1, 1]).enumerated()
    where sqlite3_column_type(row.statement, Int32(column)) != Int32(expected.1) {
      wrong.append(expected.0)
    }
    for (index, column) in table.columns.enumerated() {
      let type = sqlite3_column_type(row.statement, Int32(EntityTable.fixedColumns + index))
      if type == SQLITE_NULL { continue }
      if !own.contains(index) || type != Self.form(of: column) { wrong.append(column.name) }
    }
    return wrong
  }

  private static func form(of column: EntityTable.Column) -> Int32 {
    switch column.property.attribute?.kind {
    case .bool, .integer, .date: SQLITE_INTEGER
    case .double: SQLITE_FLOAT
    case .decimal, .uuid, .data: SQLITE_BLOB
    case .string, .uri, .enumeration, .json, .text: SQLITE_TEXT
    case nil: column.destination == nil ? SQLITE_BLOB : SQLITE_INTEGER
    }
  }

  /// Checks values that several encodings can represent. They must have the canonical one, which the writer uses.
  private func checkForms(
    _ image: ObjectImage, _ row: Row, _ table: EntityTable, _ place: StoreFinding.Place
  ) {
    guard let shape = table.shape(of: image.id.entity) else {
      return assertionFailure("an object that was read from a table has columns there")
    }
    for column in shape.columns {
      let property = column.property
      let position = Int32(EntityTable.fixedColumns + column.index)
      let isCanonical: Bool =
        switch image[property] {
        case .bool(let value): row.integer(position) == (value ? 1 : 0)
        case .decimal(let value): row.blob(position) == value.orderedBytes
        case .uuid(let value): row.blob(position) == value.bytes
        case .objects(let ids):
          row.blob(position) == Row.packed(ids.map { layout.numbers.stored($0) })
            && Self.isList(ids, of: property)
        default: true
        }
      if !isCanonical { report(.form, place, "stores \(property.name) in another form than its type requires") }
    }
  }

  /// Whether the list has no duplicates and, unless it is ordered, ascending ids.
  private static func isList(_ ids: [ObjectID], of property: Property) -> Bool {
    if property.relationship?.isOrdered == true { return Set(ids).count == ids.count }
    return zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
  }

  // MARK: - The model's rules

  private func checkRules(_ image: ObjectImage, _ entity: Entity, _ place: StoreFinding.Place) {
    if entity.isAbstract { report(.rule, place, "belongs to the abstract entity \(entity.name)") }
    for property in entity.storedProperties {
      let value = image[property]
      if value.isNull, !property.isOptional { report(.rule, place, "has no \(property.name), which is required") }
      if let reference = property.relationship, let position = reference.position.flatMap({ entity.property($0) }),
        value.isNull != image[position].isNull
      {
        let (what, lack) = value.isNull ? (position.name, property.name) : (property.name, position.name)
        report(.rule, place, "has \(what), but no \(lack)")
      }
      guard let attribute = property.attribute else { continue }
      guard attribute.checked(value) == value else {
        report(.rule, place, "breaks a rule: \(property.name) is no \(attribute.typeDescription)")
        continue
      }
      for violation in attribute.violations(of: value) {
        report(.rule, place, "breaks a rule: \(property.name) \(violation)")
      }
    }
    for rule in model.rules(of: entity.number) where !rule.holds(for: image) {
      report(.rule, place, "breaks the rule \(rule.name)")
    }
  }

  private func checkCounts(_ image: ObjectImage, _ entity: Entity, _ place: StoreFinding.Place) throws {
    for property in entity.relationships {
      guard let relationship = property.relationship else { continue }
      let isFoundByInverse = relationship.storage == .inverse
      // For a to-one stored only at its inverse, the rules alone guarantee a single object.
      let maximum = relationship.maximumCount ?? (isFoundByInverse && !relationship.isToMany ? 1 : nil)
      guard relationship.minimumCount != nil || maximum != nil else { continue }
      var count = image[property].objectIDs.count
      if isFoundByInverse, let inverse = model.property(relationship.inverse) {
        count = try objects.readReferrers(to: image.id, through: inverse).count
      }
      if let minimum = relationship.minimumCount, count < minimum {
        let objects = count == 1 ? "1 object" : "\(count) objects"
        report(.count, place, "has \(objects) in \(property.name) and needs \(minimum)")
      }
      if let maximum, count > maximum {
        report(.count, place, "has \(count) objects in \(property.name) and takes \(maximum)")
      }
    }
  }

  /// Recomputes derived attributes: counts from the stored relationships, expressions from the object.
  private func checkDerived(_ image: ObjectImage, _ place: StoreFinding.Place) throws {
    for property in model.attributes(of: image.id.entity) where property.attribute?.isDerived == true {
      let expected = try model.derivedValue(of: property, in: image) { relationship in
        guard relationship.relationship?.storage == .inverse,
          let inverse = (relationship.relationship?.inverse).flatMap({ model.property($0) })
        else { return image[relationship].objectIDs.count }
        return try objects.readReferrers(to: image.id, through: inverse).count
      }
      if image[property] != expected {
        report(.derived, place, "has a \(property.name) that differs from its calculated value")
      }
    }
  }

  /// Compares the stored scope with the scope of the object to which the scope's to-one refers.
  private func checkScope(_ image: ObjectImage, _ place: StoreFinding.Place) throws {
    if case .stored(let number, let through)? = try entity(of: image).scope {
      try checkScope(image, model.ownProperty(number), model.ownProperty(through), place)
    }
  }

  private func checkScope(
    _ image: ObjectImage, _ scope: Property, _ reference: Property, _ place: StoreFinding.Place
  ) throws {
    var expected = Value.null
    if let target = image[reference].objectID {
      // A damaged object has a finding of its own.
      let read = try objects.unlessDamaged { try objects.readImage(of: target) }
      if read == nil { return }
      expected = read.flatMap { $0 }.flatMap { model.scope(of: $0) }.map(Value.uuid).orNull
    }
    if image[scope] != expected {
      report(.derived, place, "has a scope that differs from that of its \(reference.name)")
    }
  }

  /// Finds keys that several objects share, without the unique indexes, which should have prevented it.
  package func checkKeys(of table: EntityTable) throws {
    for (owner, constraint) in EntityTable.constraints(of: table.root, model) {
      let columns = constraint.compactMap { table.column(of: $0) }
      let keys = columns.map { quoted($0.name) }
      let family = layout.numbers.family(of: owner)
      let rows = try connection.statement(
        """
        SELECT max(_row), count(*) FROM \(quoted(table.name)) NOT INDEXED
        WHERE \(keys.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) AND _entity IN (\(family))
        GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1
        """)
      while try connection.step(rows) {
        let (row, count) = (rows.integer(0), rows.integer(1))
        let names = columns.map(\.property.name).joined(separator: " and ")
        report(
          .unique, .init(table: table.name, row: row, object: try objects.id(ofRow: row, in: table)),
          "shares its \(names) with \(count - 1) other object\(count == 2 ? "" : "s")")
      }
    }
  }

  /// Finds one-to-ones that are stored at both ends and do not match.
  package func checkPairs(of table: EntityTable) throws {
    for column in table.columns {
      guard let name = column.references, let relationship = column.property.relationship,
        let inverse = layout.table(of: relationship.destination)?.column(of: relationship.inverse),
        inverse.references != nil
      else { continue }
      let rows = try connection.statement(
        """
        SELECT t._row FROM \(quoted(table.name)) AS t JOIN \(quoted(name)) AS o ON o._row = t.\(quoted(column.name))
        WHERE o.\(quoted(inverse.name)) IS NOT t._row
        """)
      while try connection.step(rows) {
        let row = rows.integer(0)
        report(
          .dangling, .init(table: table.name, row: row, object: try objects.id(ofRow: row, in: table)),
          "names an object in \(column.property.name) whose \(inverse.property.name) is another object, or none")
      }
    }
  }

  // MARK: - To-many index

  private func checkEdges(
    _ image: ObjectImage, _ row: Int64, _ table: EntityTable, _ place: StoreFinding.Place, _ counts: inout [String: Int]
  ) throws {
    for edge in table.edges {
      for member in model.value(of: edge.property, in: image).objectIDs {
        counts[edge.name, default: 0] += 1
        guard let found = try objects.find(member) else {
          report(.dangling, place, "names \(member) in \(edge.property.name), which does not exist")
          continue
        }
        let statement = try connection.statement("SELECT 1 FROM \(quoted(edge.name)) WHERE member = ? AND owner = ?")
        statement.bind(1, found.row)
        statement.bind(2, row)
        if try !connection.step(statement) {
          report(.edges, place, "names \(member) in \(edge.property.name), but the index does not")
        }
        sqlite3_reset(statement.statement)
      }
    }
  }
}

extension Model {
  /// The property's value; null for another entity's property, because the slot holds another value here.
  package func value(of property: Property, in image: ObjectImage) -> Value {
    entity(image.id.entity)?.property(property.number) == nil ? .null : image[property]
  }
}
