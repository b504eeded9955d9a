// Tests: OpeningTests.swift, CommitTests.swift
import GraphModel

extension EntityTable {
  /// The column of one property, with the statements that find objects through it.
  package final class Column: Sendable {
    /// The stored form of a column's values.
    enum StorageForm: UInt8 {
      case bool, integer, double, date, text, decimal, uuid, data, members, reference
    }

    package let property: Property
    package let name: String
    /// The index among the table's property columns, from 0.
    let index: Int
    /// The root of the entity that a foreign key refers to; `references` is the name of its table.
    package let destination: Entity?
    package let references: String?
    let form: StorageForm
    /// Sets revision, checksum and the column, by id.
    let update: SQL
    /// The same, by rowid.
    let updateByRow: SQL
    /// Sets the column alone, by id.
    let set: SQL
    /// The objects that refer to a row, in ascending order; only for a to-one.
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

    private static func form(of property: Property) -> StorageForm {
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

    /// The type in the column's declaration.
    package var type: String {
      switch form {
      case .bool, .integer, .date, .reference: "INTEGER"
      case .double: "REAL"
      case .decimal, .uuid, .data, .members: "BLOB"
      case .text: "TEXT"
      }
    }
  }

  /// The index table of a many-to-many. The owner's row lists the members, this table finds the owners of a member.
  package final class EdgeTable: Sendable {
    package let property: Property
    package let name: String
    let owners: String
    let members: String
    /// Parameters: member, owner.
    let insert: SQL
    /// Parameters: member, owner.
    package let remove: SQL
    /// Removes all rows of an owner.
    let removeAll: SQL
    /// The owners of a member, in ascending order.
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
      // Qualified, because a property of the owners can be called `owner` or `member`, too.
      referrers = SQL(
        """
        SELECT o._id, o._entity FROM \(table) AS e JOIN \(quoted(owners)) AS o ON o._row = e.owner WHERE e.member = ? \
        ORDER BY o._id
        """)
      referrerCount = SQL("SELECT count(*) FROM \(table) WHERE member = ?")
    }
  }

  /// The full-text index of one attribute. It stores only words, already split and folded.
  package final class FullTextTable: Sendable {
    package let property: Property
    package let name: String
    let insert: SQL
    /// A contentless FTS5 table needs the indexed words to delete a row.
    package let remove: SQL

    init(property: Property, name: String) {
      self.property = property
      self.name = name
      let table = quoted(name)
      insert = SQL("INSERT INTO \(table) (rowid, words) VALUES (?, ?)")
      remove = SQL("INSERT INTO \(table) (\(table), rowid, words) VALUES ('delete', ?, ?)")
    }
  }

  /// The columns of one concrete entity in its family's table, without those of sibling entities.
  final class EntityColumns: Sendable {
    /// The column and the stored form of a slot's value. It contains no references, so that a loop over the slots of
    /// thousands of objects retains no columns.
    struct ColumnReference {
      /// The index among the table's property columns, from 0.
      let column: Int32
      let form: Column.StorageForm
      /// The root of the entity that a foreign key refers to; nil for any other form.
      let destination: EntityNumber?
    }

    /// The columns by slot.
    let columns: [Column]
    /// The data of the columns that reading and writing rows needs, by slot.
    let places: [ColumnReference]
    let edges: [EdgeTable]
    /// The slot and the property of each edge table.
    let edgePlaces: [(slot: Int, property: PropertyNumber)]
    let fullTextTables: [FullTextTable]
    /// The slots that are part of a unique key, ordered by property.
    let uniqueSlots: [Int]
    /// The slots of to-ones.
    let referenceSlots: [Int]

    init(_ entity: Entity, columns: [Column], edges: [EdgeTable], fullTextTables: [FullTextTable]) {
      self.columns = columns
      places = columns.map { column in
        ColumnReference(column: Int32(column.index), form: column.form, destination: column.destination?.number)
      }
      // Several sibling entities may use the same slot for different properties.
      self.edges = edges.filter { entity.property($0.property.number) != nil }
      edgePlaces = self.edges.compactMap { edge in edge.property.slot.map { ($0, edge.property.number) } }
      self.fullTextTables = fullTextTables.filter { entity.property($0.property.number) != nil }
      uniqueSlots = Set(entity.uniquenessConstraints.joined()).sorted().compactMap { entity.property($0)?.slot }
      referenceSlots = columns.indices.filter { columns[$0].destination != nil }
      assert(columns.count == entity.slotCount, "each slot has a column")
      assert(edgePlaces.count == self.edges.count, "each list has a slot")
    }
  }
}
