// Tests: OpeningTests.swift, CommitTests.swift
import GraphModel

/// The table of one inheritance root: the column of each property, and the SQL that all accesses share.
///
/// Foreign keys refer to `_row`. `_id` is the object's identity, `_entity` its concrete entity, `_revision` the
/// revision of its last change, and `_sum` a checksum of the complete image. Properties can't begin with an
/// underscore.
///
/// A class, like the parts of a model: every path passes it around, and it never changes.
package final class EntityTable: Sendable {
  package let root: Entity
  package let name: String
  /// The stored properties of the complete family, each once.
  package let columns: [Column]
  private let shapes: [EntityNumber: EntityColumns]
  /// The column index of each property, by the property's number; -1 for a property of another family.
  private let positions: [Int]
  package let edges: [EdgeTable]
  /// All columns except the checksum, for rows named `t`. `select` adds the FROM clause.
  let selectList: String
  package let select: String
  let selectByID: SQL
  /// The same with the checksum as the last column; it is null in the changed rows of a past view.
  let selectWithSum: String
  let selectWithSumByID: SQL
  /// The index of the checksum in these statements.
  var sumColumn: Int32 { Int32(Self.fixedColumns + columns.count) }
  let insert: SQL
  /// Finds an object's row by its id; `findID` finds the id by the row.
  let findRow: SQL
  let findID: SQL
  /// By row; `deleteByID` by id.
  let delete: SQL
  let deleteByID: SQL
  package let fullTextTables: [FullTextTable]
  /// The attributes of unique keys whose index is partial. The value is the condition of the index for the entities
  /// that alone have the attribute; empty if there is no such condition, or if an ancestor's objects have the
  /// attribute too.
  let partialKeys: [PropertyNumber: String]
  /// For each entity, the statements that find id and entity by the values of its unique keys.
  private let keyLookups: [EntityNumber: [(constraint: [PropertyNumber], sql: SQL)]]
  let numbers: NumberAssignment

  /// The number of columns before the properties in `select`.
  static let fixedColumns = 4

  init(root: Entity, model: Model, numbers: NumberAssignment, names: TableNames? = nil) {
    self.root = root
    self.numbers = numbers
    name = names?.table(numbers.stored(entity: root.number)) ?? root.name
    let family = root.family.compactMap { model.entity($0) }
    let columns = Self.columns(of: family, root: root, model: model, numbers: numbers, names: names, table: name)
    self.columns = columns
    assert(names != nil || Set(columns.map(\.name)).count == columns.count, "no two columns share a name")
    var position = [PropertyNumber: Int]()
    var positions = [Int](repeating: -1, count: model.propertyCount + 1)
    for column in columns {
      position[column.property.number] = column.index
      positions[Int(column.property.number)] = column.index
    }
    self.positions = positions
    let all = ["_row", "_id", "_entity", "_revision"] + columns.map(\.name)
    let table = quoted(name)
    selectList = "SELECT " + all.map { "t.\(quoted($0))" }.joined(separator: ", ")
    select = selectList + " FROM \(table) AS t"
    let written = ["_id", "_entity", "_revision", "_sum"] + columns.map(\.name)
    selectByID = SQL(select + " WHERE t._id = ?")
    selectWithSum = selectList + ", t._sum FROM \(table) AS t"
    selectWithSumByID = SQL(selectWithSum + " WHERE t._id = ?")
    insert = SQL(
      "INSERT INTO \(table) (\(written.map(quoted).joined(separator: ", "))) VALUES "
        + "(\(written.map { _ in "?" }.joined(separator: ", ")))")
    findRow = SQL("SELECT _row, _entity FROM \(table) WHERE _id = ?")
    findID = SQL("SELECT _id, _entity FROM \(table) WHERE _row = ?")
    delete = SQL("DELETE FROM \(table) WHERE _row = ?")
    deleteByID = SQL("DELETE FROM \(table) WHERE _id = ?")
    edges = columns.compactMap { column in
      guard let relationship = column.property.relationship, relationship.storage == .members,
        let destination = model.entity(relationship.destination), let members = model.entity(destination.root)
      else { return nil }
      return EdgeTable(
        property: column.property, name: Self.edgeName(column.property, model), owners: root.name,
        members: members.name)
    }
    fullTextTables = columns.compactMap { column in
      column.property.attribute?.isFullText == true
        ? FullTextTable(property: column.property, name: Self.fullTextName(column.property, model)) : nil
    }
    partialKeys = Self.partialKeys(of: root, model: model, numbers: numbers)
    keyLookups = Dictionary(
      uniqueKeysWithValues: family.map { [columns] entity in
        let lookups = entity.uniquenessConstraints.map { constraint in
          let keys = constraint.compactMap { position[$0].map { "\(quoted(columns[$0].name)) = ?" } }
          precondition(keys.count == constraint.count, "each property of a unique key has a column")
          let members = entity.number == entity.root ? "" : " AND _entity IN (\(numbers.family(of: entity)))"
          let sql = SQL("SELECT _id, _entity FROM \(table) WHERE \(keys.joined(separator: " AND "))\(members)")
          return (constraint: constraint, sql: sql)
        }
        return (entity.number, lookups)
      })
    shapes = Dictionary(
      uniqueKeysWithValues: family.map { [columns, edges, fullTextTables] entity in
        let own = entity.storedProperties.compactMap { position[$0.number].map { columns[$0] } }
        return (entity.number, EntityColumns(entity, columns: own, edges: edges, fullTextTables: fullTextTables))
      })
  }

  /// The columns of a family, those of the parents first.
  private static func columns(
    of family: [Entity], root: Entity, model: Model, numbers: NumberAssignment, names: TableNames?, table: String
  ) -> [Column] {
    var columns = [Column]()
    var known = Set<PropertyNumber>()
    for entity in family.sorted(by: { $0.slotCount < $1.slotCount }) {
      for property in entity.storedProperties where known.insert(property.number).inserted {
        let destination = property.relationship.flatMap { relationship in
          relationship.storage == .reference
            ? model.entity(relationship.destination).flatMap { model.entity($0.root) } : nil
        }
        columns.append(
          Column(
            property: property,
            name: names?.column(numbers.stored(property: property.number)) ?? columnName(property, root: root, model),
            index: columns.count, destination: destination,
            references: destination.map { names?.table(numbers.stored(entity: $0.number)) ?? $0.name }, table: table))
      }
    }
    return columns
  }

  /// The value of `partialKeys`.
  private static func partialKeys(
    of root: Entity, model: Model, numbers: NumberAssignment
  ) -> [PropertyNumber: String] {
    var partialKeys = [PropertyNumber: String]()
    for (owner, constraint) in constraints(of: root, model) {
      let family = owner.number == root.number ? "" : "_entity IN (\(numbers.family(of: owner)))"
      let parts = constraint.compactMap { model.property($0) }
      guard !family.isEmpty || parts.contains(where: \.isOptional) else { continue }
      for part in parts where partialKeys[part.number, default: ""].isEmpty {
        partialKeys[part.number] = part.owner == owner.number ? family : ""
      }
    }
    return partialKeys
  }

  /// The layout of an entity's objects; nil for an entity of another family.
  func shape(of entity: EntityNumber) -> EntityColumns? { shapes[entity] }

  /// The statement that finds id and entity by the values of a unique key; nil if the entity has no such key.
  func lookup(of constraint: [PropertyNumber], in entity: EntityNumber) -> SQL? {
    keyLookups[entity, default: []].first { $0.constraint == constraint }?.sql
  }

  /// The statements that find the objects that refer to a row through a stored relationship.
  func referrers(through property: Property) -> (all: SQL, count: SQL)? {
    switch property.relationship?.storage {
    case .reference: column(of: property.number).map { ($0.referrers, $0.referrerCount) }
    case .members: edges.first { $0.property.number == property.number }.map { ($0.referrers, $0.referrerCount) }
    case .inverse, nil: nil
    }
  }

  static func edgeName(_ property: Property, _ model: Model) -> String {
    model.qualifiedName(of: property)
  }

  static func fullTextName(_ property: Property, _ model: Model) -> String {
    model.qualifiedName(of: property) + ".words"
  }

  package func column(of property: PropertyNumber) -> Column? {
    guard property < positions.count, positions[Int(property)] >= 0 else { return nil }
    return columns[positions[Int(property)]]
  }

  /// The column of a property. The position beside the to-one `project` is `project._order`, because a name without
  /// the underscore could be that of a subentity's property.
  static func columnName(_ property: Property, root: Entity, _ model: Model) -> String {
    let owner = property.owner == root.number ? "" : model.owner(of: property).name + "."
    return owner + ownName(property)
  }

  private static func ownName(_ property: Property) -> String {
    guard property.attribute?.assignment == .position else { return property.name }
    return property.name.split(separator: ".").joined(separator: "._")
  }

  // MARK: - SQL

  /// The statements that create the table, in order.
  package func creation(model: Model) -> [String] {
    var statements = [String]()
    var definitions = [
      "_row INTEGER PRIMARY KEY", "_id BLOB NOT NULL UNIQUE", "_entity INTEGER NOT NULL",
      "_revision INTEGER NOT NULL", "_sum INTEGER NOT NULL",
    ]
    for column in columns {
      var definition = "\(quoted(column.name)) \(column.type)"
      if let references = column.references { definition += " REFERENCES \(quoted(references)) (_row)" }
      definitions.append(definition)
    }
    statements.append("CREATE TABLE \(quoted(name)) (\(definitions.joined(separator: ", ")))")
    for column in columns where column.destination != nil || column.property.attribute?.isIndexed == true {
      statements.append(
        "CREATE INDEX \(quoted("\(name).\(column.name)")) ON \(quoted(name)) (\(indexKeys(of: column)))")
    }
    for (owner, constraint) in Self.constraints(of: root, model) {
      statements.append(uniqueIndex(constraint, of: owner))
    }
    for edge in edges {
      statements.append(
        "CREATE TABLE \(quoted(edge.name)) (member INTEGER NOT NULL REFERENCES \(quoted(edge.members)) (_row), "
          + "owner INTEGER NOT NULL REFERENCES \(quoted(edge.owners)) (_row), PRIMARY KEY (member, owner)) WITHOUT ROWID"
      )
      statements.append("CREATE INDEX \(quoted(edge.name + ".owner")) ON \(quoted(edge.name)) (owner)")
    }
    for words in fullTextTables {
      statements.append(
        "CREATE VIRTUAL TABLE \(quoted(words.name)) USING fts5(words, content='', detail=none, tokenize='ascii')")
    }
    return statements
  }

  /// The columns of the index on a column; the index of an ordered relationship includes the position.
  func indexKeys(of column: Column) -> String {
    let position = column.property.relationship?.position.flatMap { self.column(of: $0) }
    return [column, position].compactMap { $0 }.map { quoted($0.name) }.joined(separator: ", ")
  }

  /// The family's uniqueness constraints, each once, with the entity that declares it.
  package static func constraints(of root: Entity, _ model: Model) -> [(owner: Entity, constraint: [PropertyNumber])] {
    var found = [(owner: Entity, constraint: [PropertyNumber])]()
    for entity in root.family.compactMap({ model.entity($0) }) {
      for constraint in entity.uniquenessConstraints
      where model.owner(of: constraint, in: entity).number == entity.number {
        found.append((entity, constraint))
      }
    }
    return found
  }

  /// The unique index of a constraint. Rows with a null in the key are not in the index.
  func uniqueIndex(_ constraint: [PropertyNumber], of owner: Entity) -> String {
    let keys = constraint.compactMap { column(of: $0) }
    let index = quoted("\(owner.name).unique.\(keys.map(\.name).joined(separator: "."))")
    let optional = keys.filter { $0.property.isOptional || $0.property.owner != root.number }
    var conditions = optional.map { "\(quoted($0.name)) IS NOT NULL" }
    if owner.number != root.number { conditions.append("_entity IN (\(numbers.family(of: owner)))") }
    let condition = conditions.joined(separator: " AND ")
    return "CREATE UNIQUE INDEX \(index) ON \(quoted(name)) (\(keys.map { quoted($0.name) }.joined(separator: ", ")))"
      + (condition.isEmpty ? "" : " WHERE \(condition)")
  }
}

/// Returns a quoted SQL identifier.
package func quoted(_ name: String) -> String {
  "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
}
