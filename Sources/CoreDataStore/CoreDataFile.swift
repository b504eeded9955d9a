import GraphModel

/// A Core Data store in SQLite, as this library reads it: entities in tables of their roots, rows with numbered keys,
/// and join tables. It works on a private copy, so that the store's own files never change.
package final class CoreDataFile {
  /// An entity of the store.
  package struct StoredEntity: Sendable {
    package let number: Int64
    package let name: String
    /// The number of its parent; 0 for a root.
    package let parent: Int64
    /// The index in ``tables`` of the table with its rows; nil if the table is missing.
    package var table: Int?
  }

  /// The table of a root entity and all that inherit from it.
  package struct RowTable: Sendable {
    package let root: String
    package let name: String
    package let columns: [String]
    /// The declared type of each column.
    let types: [String]
  }

  /// The table of a many-to-many relationship: pairs of keys, and perhaps an order.
  package struct JoinTable: Sendable {
    package let name: String
    package let columns: [String]
  }

  /// The store's id, which every copy of it has.
  package let uuid: String
  package let entities: [StoredEntity]
  package let tables: [RowTable]
  package let joins: [JoinTable]
  /// The model that the store contains; nil if there is none, or if it can't be read.
  package let model: CachedModel?
  /// Whether the store's model can't be read, although it is there.
  package let isModelUnreadable: Bool
  let external: ExternalStorage
  let database: StoreDatabase
  /// Whether the store uses a write-ahead log that is not beside it.
  let isLogMissing: Bool
  private let entityIndexes: [Int64: Int]

  /// Entities from this number on are the framework's own, such as those of persistent history.
  private static let firstFrameworkEntity: Int64 = 16_001

  /// Opens a store.
  /// - Parameter name: the path of its main file. The write-ahead log beside the file is read, too.
  /// - Throws: `Refusal`: `notFound`, `invalid` for anything but a Core Data store, `unavailable` for a disk error.
  package init(_ name: String) throws {
    let snapshot = try StoreSnapshot(of: name)
    defer { snapshot.remove() }
    database = try StoreDatabase(copy: snapshot.copy, name: name)
    external = ExternalStorage(store: snapshot.path)
    isLogMissing = snapshot.isLogMissing
    let (schema, types) = try Self.schema(database)
    guard !schema.isEmpty else {
      throw Refusal(
        .invalid, "\(name) has no tables: the newest data of an app are in \(name)-wal; copy that file with the store")
    }
    do {
      uuid = try Self.readUUID(database)
      let content = try Self.readModel(database, isThere: schema["Z_MODELCACHE"] != nil)
      model = content.flatMap { CachedModel(content: $0) }
      isModelUnreadable = content != nil && model == nil
      var tables = [RowTable]()
      var entities = try Self.readEntities(database)
      let byNumber = Dictionary(entities.enumerated().map { ($1.number, $0) }, uniquingKeysWith: { first, _ in first })
      for (index, entity) in entities.enumerated() {
        guard let root = Self.root(of: index, entities, byNumber) else {
          throw Refusal(.invalid, "\(name) is damaged: Z_PRIMARYKEY has no root of the entity \(entity.name)")
        }
        let table = "Z" + entities[root].name.uppercased()
        if let known = tables.firstIndex(where: { $0.name == table }) {
          entities[index].table = known
        } else if let columns = schema[table], columns.contains("Z_PK"), columns.contains("Z_ENT") {
          entities[index].table = tables.count
          tables.append(
            RowTable(root: entities[root].name, name: table, columns: columns, types: types[table, default: []]))
        }
      }
      (self.tables, self.entities, entityIndexes) = (tables, entities, byNumber)
    } catch let error as StoreDatabase.UnknownSQL {
      throw Refusal(
        .invalid,
        "\(name) is a SQLite database, but not a Core Data store, or of a format that this program does not know: "
          + error.message)
    }
    joins = schema.filter { Self.isJoin($0.key, $0.value) }.map { JoinTable(name: $0.key, columns: $0.value) }
      .sorted { $0.name < $1.name }
    if entities.isEmpty { throw Refusal(.invalid, "\(name) has no entities: Z_PRIMARYKEY is empty") }
  }

  /// The entity with a number.
  package func entity(_ number: Int64) -> StoredEntity? { entityIndexes[number].map { entities[$0] } }

  /// Whether an entity is another one or inherits from it.
  package func entity(_ number: Int64, isKindOf ancestor: Int64) -> Bool {
    var next = number
    // No hierarchy is deeper than the number of entities; a damaged one may be a circle.
    for _ in entities.indices {
      if next == ancestor { return true }
      guard let entity = entity(next) else { return false }
      next = entity.parent
    }
    return false
  }

  // MARK: - Bookkeeping tables

  /// The columns of all tables, and their types.
  private static func schema(
    _ database: StoreDatabase
  ) throws -> (columns: [String: [String]], types: [String: [String]]) {
    var (schema, types) = ([String: [String]](), [String: [String]]())
    let rows = try database.statement(
      """
      SELECT t.name, c.name, c.type FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' \
      AND t.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY t.name, c.cid
      """)
    while try rows.step() {
      guard let table = rows.text(0), let column = rows.text(1), let type = rows.text(2) else { continue }
      schema[table, default: []].append(column)
      types[table, default: []].append(type)
    }
    return (schema, types)
  }

  private static func readUUID(_ database: StoreDatabase) throws -> String {
    let rows = try database.statement("SELECT Z_UUID FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
    guard try rows.step(), let uuid = rows.text(0), !uuid.isEmpty else {
      throw StoreDatabase.UnknownSQL(message: "Z_METADATA has no Z_UUID")
    }
    return uuid
  }

  private static func readModel(_ database: StoreDatabase, isThere: Bool) throws -> [UInt8]? {
    guard isThere else { return nil }
    let rows = try database.statement("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
    guard try rows.step(), case .blob(let bytes) = rows.value(0) else { return nil }
    return bytes.isEmpty ? nil : bytes
  }

  private static func readEntities(_ database: StoreDatabase) throws -> [StoredEntity] {
    var entities = [StoredEntity]()
    let rows = try database.statement("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    while try rows.step() {
      guard let number = rows.integer(0), let name = rows.text(1), number < firstFrameworkEntity else { continue }
      entities.append(StoredEntity(number: number, name: name, parent: rows.integer(2).orRoot))
    }
    return entities
  }

  /// The index of an entity's root; nil if its parents are missing or form a circle.
  private static func root(of index: Int, _ entities: [StoredEntity], _ byNumber: [Int64: Int]) -> Int? {
    var root = index
    for _ in entities.indices {
      if entities[root].parent == 0 { return root }
      guard let parent = byNumber[entities[root].parent] else { return nil }
      root = parent
    }
    return nil
  }

  /// Whether a table has the name and the columns of a join: `Z_1BOOKS (Z_1AUTHORS, Z_2BOOKS)`.
  private static func isJoin(_ name: String, _ columns: [String]) -> Bool {
    JoinColumn(name) != nil && columns.filter { !$0.hasPrefix("Z_FOK_") }.count == 2
  }
}

extension Int64? {
  /// The number of a parent entity; 0 for none.
  fileprivate var orRoot: Int64 { if let self { self } else { 0 } }
}

/// The name of a join table or of one of its columns: an entity's number and a relationship's name in capitals.
struct JoinColumn {
  let number: Int64
  let name: String

  /// Parses `Z_12BOOKS`; nil for any other name.
  init?(_ text: String) {
    guard text.hasPrefix("Z_") else { return nil }
    let rest = text.dropFirst(2)
    let digits = rest.prefix { ("0"..."9").contains($0) }
    guard let number = Int64(digits), digits.count < rest.count else { return nil }
    self.number = number
    name = String(rest.dropFirst(digits.count))
  }

  /// Whether the name is the name of a relationship, possibly with digits that Core Data appends to avoid a collision.
  func isNamed(_ relationship: String) -> Bool {
    guard name.hasPrefix(relationship) else { return false }
    return name.dropFirst(relationship.count).allSatisfy { ("0"..."9").contains($0) }
  }
}
