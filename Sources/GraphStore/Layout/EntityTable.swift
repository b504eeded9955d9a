import GraphModel

/// The table of one inheritance root: which column holds which property, and the SQL that every access shares.
///
/// `_row` is what foreign keys name, `_id` is the object's identity, `_entity` its concrete entity, `_revision` that
/// of its last change, `_sum` a checksum of the whole image. Names that begin with an underscore can't be properties.
///
/// A class, as the parts of a model: it is handed around on every path, and never changes.
final class EntityTable: Sendable {
  let root: Entity
  let name: String
  /// The stored properties of the whole family, each once.
  let columns: [Column]
  /// For each concrete entity, the column of every slot.
  let columnOfSlot: [EntityNumber: [Int]]
  let edges: [EdgeTable]
  /// For each concrete entity, those of its own properties: a sibling's may have the same slot.
  let edgesOfEntity: [EntityNumber: [EdgeTable]]
  let wordTablesOfEntity: [EntityNumber: [WordTable]]
  /// Every column but the checksum, of the rows called `t`.
  let select: String
  let selectByID: SQL
  let insert: SQL
  /// An object's row by its id, and its id by its row.
  let findRow: SQL
  let findID: SQL
  let delete: SQL
  let wordTables: [WordTable]
  let numbers: StoredNumbers

  final class Column: Sendable {
    let property: Property
    let name: String
    /// The table that a foreign key names.
    let destination: String?

    init(property: Property, name: String, destination: String?) {
      self.property = property
      self.name = name
      self.destination = destination
    }
  }

  /// A many-to-many: the owner's row lists the members, this table finds the owners of a member.
  struct EdgeTable: Sendable {
    let property: Property
    let name: String
    let owners: String
    let members: String
  }

  /// The full-text index of one attribute. It stores words only, already split and folded.
  final class WordTable: Sendable {
    let property: Property
    let name: String
    let insert: SQL
    /// A table without content is told what to forget: the same words that it was given.
    let remove: SQL

    init(property: Property, name: String) {
      self.property = property
      self.name = name
      let table = quoted(name)
      insert = SQL("INSERT INTO \(table) (rowid, words) VALUES (?, ?)")
      remove = SQL("INSERT INTO \(table) (\(table), rowid, words) VALUES ('delete', ?, ?)")
    }
  }

  /// How many columns come before the properties in `select`.
  static let fixedColumns = 4

  init(root: Entity, model: Model, numbers: StoredNumbers, names: StoredNames? = nil) {
    self.root = root
    self.numbers = numbers
    name = names?.table(numbers.stored(entity: root.number)) ?? root.name
    let family = root.family.compactMap { model.entity($0) }
    var columns = [Column]()
    var position = [PropertyNumber: Int]()
    for entity in family.sorted(by: { $0.slotCount < $1.slotCount }) {
      for property in entity.storedProperties where position[property.number] == nil {
        position[property.number] = columns.count
        let destination = property.relationship.flatMap { relationship in
          relationship.storage == .reference
            ? model.entity(relationship.destination).flatMap { model.entity($0.root) }.map {
              names?.table(numbers.stored(entity: $0.number)) ?? $0.name
            } : nil
        }
        columns.append(
          Column(
            property: property,
            name: names?.column(numbers.stored(property: property.number))
              ?? Self.columnName(property, root: root, model),
            destination: destination))
      }
    }
    self.columns = columns
    var columnOfSlot = [EntityNumber: [Int]]()
    for entity in family {
      columnOfSlot[entity.number] = entity.storedProperties.compactMap { position[$0.number] }
    }
    self.columnOfSlot = columnOfSlot
    let all = ["_row", "_id", "_entity", "_revision"] + columns.map(\.name)
    let table = quoted(name)
    select = "SELECT " + all.map { "t.\(quoted($0))" }.joined(separator: ", ") + " FROM \(table) AS t"
    let written = ["_id", "_entity", "_revision", "_sum"] + columns.map(\.name)
    selectByID = SQL(select + " WHERE t._id = ?")
    insert = SQL(
      "INSERT INTO \(table) (\(written.map(quoted).joined(separator: ", "))) VALUES "
        + "(\(written.map { _ in "?" }.joined(separator: ", ")))")
    findRow = SQL("SELECT _row, _entity FROM \(table) WHERE _id = ?")
    findID = SQL("SELECT _id, _entity FROM \(table) WHERE _row = ?")
    delete = SQL("DELETE FROM \(table) WHERE _row = ?")
    edges = columns.compactMap { column in
      guard let relationship = column.property.relationship, relationship.storage == .members,
        let destination = model.entity(relationship.destination), let members = model.entity(destination.root)
      else { return nil }
      return EdgeTable(
        property: column.property, name: Self.edgeName(column.property, model), owners: root.name,
        members: members.name)
    }
    wordTables = columns.compactMap { column in
      column.property.attribute?.isFullText == true
        ? WordTable(property: column.property, name: Self.wordName(column.property, model)) : nil
    }
    let (edges, wordTables) = (edges, wordTables)
    edgesOfEntity = Dictionary(
      uniqueKeysWithValues: family.map { entity in
        (entity.number, edges.filter { entity.property($0.property.number) != nil })
      })
    wordTablesOfEntity = Dictionary(
      uniqueKeysWithValues: family.map { entity in
        (entity.number, wordTables.filter { entity.property($0.property.number) != nil })
      })
  }

  static func edgeName(_ property: Property, _ model: Model) -> String {
    "\(model.entity(property.owner)?.name ?? "").\(property.name)"
  }

  static func wordName(_ property: Property, _ model: Model) -> String {
    "\(model.entity(property.owner)?.name ?? "").\(property.name).words"
  }

  func column(of property: PropertyNumber) -> Column? { columns.first { $0.property.number == property } }

  /// The place beside the to-one `project` is the column `project._order`: with a name that a property may have, it could
  /// be that of a subentity's property.
  static func columnName(_ property: Property, root: Entity, _ model: Model) -> String {
    let owner = property.owner == root.number ? "" : (model.entity(property.owner)?.name ?? "") + "."
    return owner + ownName(property)
  }

  private static func ownName(_ property: Property) -> String {
    guard property.attribute?.assignment == .position else { return property.name }
    return property.name.split(separator: ".").joined(separator: "._")
  }

  // MARK: - SQL

  /// Every statement that makes the table, in order.
  func creation(model: Model) -> [String] {
    var statements = [String]()
    var definitions = [
      "_row INTEGER PRIMARY KEY", "_id BLOB NOT NULL UNIQUE", "_entity INTEGER NOT NULL",
      "_revision INTEGER NOT NULL", "_sum INTEGER NOT NULL",
    ]
    for column in columns {
      let reference = column.destination.map { " REFERENCES \(quoted($0)) (_row)" } ?? ""
      definitions.append("\(quoted(column.name)) \(Self.type(of: column.property))\(reference)")
    }
    statements.append("CREATE TABLE \(quoted(name)) (\(definitions.joined(separator: ", ")))")
    for column in columns where column.destination != nil || column.property.attribute?.isIndexed == true {
      // The members of an ordered relationship are found in their order.
      let position = column.property.relationship?.position.flatMap { self.column(of: $0) }
      let keys = [column, position].compactMap { $0 }.map { quoted($0.name) }.joined(separator: ", ")
      statements.append("CREATE INDEX \(quoted("\(name).\(column.name)")) ON \(quoted(name)) (\(keys))")
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
    for words in wordTables {
      statements.append(
        "CREATE VIRTUAL TABLE \(quoted(words.name)) USING fts5(words, content='', detail=none, tokenize='ascii')")
    }
    return statements
  }

  /// The family's constraints, each once, with the entity that declares it.
  static func constraints(of root: Entity, _ model: Model) -> [(owner: Entity, constraint: [PropertyNumber])] {
    var found = [(owner: Entity, constraint: [PropertyNumber])]()
    for entity in root.family.compactMap({ model.entity($0) }) {
      for constraint in entity.uniquenessConstraints
      where model.owner(of: constraint, in: entity).number == entity.number {
        found.append((entity, constraint))
      }
    }
    return found
  }

  /// Rows with a null in the key have no key: they stay out of the index.
  func uniqueIndex(_ constraint: [PropertyNumber], of owner: Entity) -> String {
    let keys = constraint.compactMap { column(of: $0) }
    let index = quoted("\(owner.name).unique.\(keys.map(\.name).joined(separator: "."))")
    let optional = keys.filter { $0.property.isOptional || $0.property.owner != root.number }
    var conditions = optional.map { "\(quoted($0.name)) IS NOT NULL" }
    if owner.number != root.number {
      conditions.append("_entity IN (\(numbers.family(of: owner)))")
    }
    let condition = conditions.joined(separator: " AND ")
    return "CREATE UNIQUE INDEX \(index) ON \(quoted(name)) (\(keys.map { quoted($0.name) }.joined(separator: ", ")))"
      + (condition.isEmpty ? "" : " WHERE \(condition)")
  }

  static func type(of property: Property) -> String {
    switch property.attribute?.kind {
    case .bool, .integer, .date: "INTEGER"
    case .double: "REAL"
    case .decimal, .uuid, .data: "BLOB"
    case .string, .uri, .enumeration, .json, .text: "TEXT"
    case nil: property.relationship?.storage == .members ? "BLOB" : "INTEGER"
    }
  }
}

/// A name as SQL wants it.
func quoted(_ name: String) -> String {
  "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
}
