import GraphModel

extension EntityTable {
  /// One property's column, with the statements that reach its objects through it.
  final class Column: Sendable {
    /// How a column keeps what its property holds.
    enum Form: UInt8 {
      case bool, integer, double, date, text, decimal, uuid, data, members, reference
    }

    let property: Property
    let name: String
    /// Its place among the table's columns, from 0.
    let index: Int
    /// The root of the entity that a foreign key names, and what its table is called.
    let destination: Entity?
    let references: String?
    let form: Form
    /// Sets revision, checksum and the column, by id.
    let update: SQL
    /// The same, by row.
    let updateByRow: SQL
    /// Sets the column alone, by id.
    let set: SQL
    /// The objects that refer to a row, ascending; for a to-one only.
    let referrers: SQL
    let referrerCount: SQL

    init(
      property: Property, name: String, index: Int, destination: Entity?, references: String?, table: String
    ) {
      self.property = property
      self.name = name
      self.index = index
      self.destination = destination
      self.references = references
      form = Self.form(of: property)
      let (table, column) = (quoted(table), quoted(name))
      update = SQL("UPDATE \(table) SET _revision = ?, _sum = ?, \(column) = ? WHERE _id = ?")
      updateByRow = SQL("UPDATE \(table) SET _revision = ?, _sum = ?, \(column) = ? WHERE _row = ?")
      set = SQL("UPDATE \(table) SET \(column) = ? WHERE _id = ?")
      referrers = SQL("SELECT _id, _entity FROM \(table) WHERE \(column) = ? ORDER BY _id")
      referrerCount = SQL("SELECT count(*) FROM \(table) WHERE \(column) = ?")
    }

    private static func form(of property: Property) -> Form {
      switch property.attribute?.kind {
      case .bool: .bool
      case .integer: .integer
      case .double: .double
      case .date: .date
      case .decimal: .decimal
      case .uuid: .uuid
      case .data: .data
      case .string, .uri, .enumeration, .json, .text: .text
      case nil: property.relationship?.storage == .members ? .members : .reference
      }
    }

    /// The type that SQLite is told.
    var type: String {
      switch form {
      case .bool, .integer, .date, .reference: "INTEGER"
      case .double: "REAL"
      case .decimal, .uuid, .data, .members: "BLOB"
      case .text: "TEXT"
      }
    }
  }

  /// A many-to-many: the owner's row lists the members, this table finds the owners of a member.
  final class EdgeTable: Sendable {
    let property: Property
    let name: String
    let owners: String
    let members: String
    /// Member, owner.
    let insert: SQL
    /// Member, owner.
    let remove: SQL
    /// All of an owner.
    let removeAll: SQL
    /// The owners of a member, ascending.
    let referrers: SQL
    let referrerCount: SQL

    init(property: Property, name: String, owners: String, members: String) {
      self.property = property
      self.name = name
      self.owners = owners
      self.members = members
      let table = quoted(name)
      insert = SQL("INSERT INTO \(table) (member, owner) VALUES (?, ?)")
      remove = SQL("DELETE FROM \(table) WHERE member = ? AND owner = ?")
      removeAll = SQL("DELETE FROM \(table) WHERE owner = ?")
      referrers = SQL(
        "SELECT _id, _entity FROM \(table) JOIN \(quoted(owners)) ON _row = owner WHERE member = ? ORDER BY _id")
      referrerCount = SQL("SELECT count(*) FROM \(table) WHERE member = ?")
    }
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

  /// How the objects of one concrete entity lie in their family's table: their own columns, and none of a sibling's.
  final class Shape: Sendable {
    /// Where a slot's value lies in a row, and how. Nothing in it is counted: whoever goes through the slots of each of
    /// thousands of objects retains none of their columns.
    struct Place {
      /// The column's place among the table's, from 0.
      let column: Int32
      let form: Column.Form
      /// The root of the entity that a foreign key names; 0 for any other form.
      let destination: EntityNumber
    }

    /// By slot.
    let columns: [Column]
    /// The same, as far as rows are read and written by it.
    let places: [Place]
    let edges: [EdgeTable]
    /// What each is of.
    let edgePlaces: [(slot: Int, property: PropertyNumber)]
    let words: [WordTable]
    /// The slots that are part of a unique key, ascending by property.
    let uniqueSlots: [Int]
    /// The slots of to-ones.
    let referenceSlots: [Int]

    init(_ entity: Entity, columns: [Column], edges: [EdgeTable], words: [WordTable]) {
      self.columns = columns
      places = columns.map { column in
        Place(column: Int32(column.index), form: column.form, destination: column.destination?.number ?? 0)
      }
      // A sibling's property may have the same slot.
      self.edges = edges.filter { entity.property($0.property.number) != nil }
      edgePlaces = self.edges.compactMap { edge in edge.property.slot.map { ($0, edge.property.number) } }
      self.words = words.filter { entity.property($0.property.number) != nil }
      uniqueSlots = Set(entity.uniquenessConstraints.joined()).sorted().compactMap { entity.property($0)?.slot }
      referenceSlots = columns.indices.filter { columns[$0].destination != nil }
    }
  }
}
