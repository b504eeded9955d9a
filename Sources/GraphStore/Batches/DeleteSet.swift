// Tests: BatchDeleteTests.swift, CascadeTests.swift
import GRDBSQLite
import GraphModel

/// The final set of a delete: the matching objects and those that cascade, cycles included.
///
/// Only rows are held: no complete object is read before the delete rules allow all deletes.
final class DeleteSet {
  /// A relationship with the statement that finds the objects at its other end.
  private struct InverseLookup {
    let property: Property
    let relationship: Relationship
    let inverse: Property
    /// Whether objects at the other end have a derived count of this side.
    let isCounted: Bool
    /// The root entity of the other end's table.
    let root: EntityNumber
    /// The statement that selects the other end's rows for a row.
    let sql: String
  }

  private let connection: Connection
  private let layout: StoreLayout
  private var rows = [EntityNumber: RowSet]()
  private var links = [EntityNumber: [InverseLookup]]()
  private(set) var count = 0

  init(_ connection: Connection, layout: StoreLayout) {
    self.connection = connection
    self.layout = layout
  }

  func contains(_ row: Int64, of root: EntityNumber) -> Bool { rows[root]?.contains(row) == true }

  /// The rows by table, in the order of the entity numbers.
  var tables: [(table: EntityTable, rows: RowSet)] {
    layout.orderedTables.compactMap { table in rows[table.root.number].map { (table, $0) } }
  }

  // MARK: - Final set

  /// Adds rows and all rows that cascade from them.
  func add(_ matched: RowSet, of table: EntityTable) throws {
    var pending = [(table: EntityTable, row: Int64)]()
    func insert(_ row: Int64, _ table: EntityTable) throws {
      // A cycle, or a second path to the object.
      guard rows[table.root.number, default: RowSet()].insert(row) else { return }
      count += 1
      guard count <= Batch.maximumObjects else { throw BatchWriter.tooMany }
      pending.append((table, row))
    }
    for row in matched {
      try insert(row, table)
      while let next = pending.popLast() {
        for link in try links(of: next.row, in: next.table) where link.relationship.deleteRule == .cascade {
          let other = try invariant(layout.table(of: link.root), "the other end of a relationship has a table")
          for row in try others(link, of: next.row) { try insert(row, other) }
        }
      }
    }
  }

  // MARK: - Surviving objects

  /// The effects of a delete on surviving objects.
  struct DeleteEffects {
    /// Objects that refer to deleted objects or count them, by root entity.
    var survivors = [EntityNumber: RowSet]()
    /// Objects whose to-many loses members although they are not updated, by property.
    var counts = [PropertyNumber: RowSet]()
    var survivorCount: Int { survivors.values.reduce(0) { $0 + $1.count } }

    fileprivate mutating func keep(_ rows: [Int64], of root: EntityNumber, besides deleted: Int) throws {
      for row in rows { survivors[root, default: RowSet()].insert(row) }
      guard deleted + survivorCount <= Batch.maximumObjects else { throw BatchWriter.tooMany }
    }
  }

  /// Checks `deny` and `noAction` on the final set and collects the affected surviving objects.
  /// - Parameter violate: called with each violation.
  func consequences(_ violate: (Violation) throws -> Void) throws -> DeleteEffects {
    var found = DeleteEffects()
    for (table, rows) in tables {
      for row in rows {
        for link in try links(of: row, in: table) where Self.matters(link) {
          let remaining = try others(link, of: row).filter { !contains($0, of: link.root) }
          guard !remaining.isEmpty else { continue }
          if link.isCounted, link.relationship.deleteRule != .deny {
            try found.keep(remaining, of: link.root, besides: count)
          }
          switch link.relationship.deleteRule {
          case .cascade: break
          case .deny: try deny(row, table, link, remaining, violate)
          case .noAction where link.inverse.slot != nil: try dangle(row, table, link, remaining, violate)
          case .nullify where link.inverse.relationship?.storage != .inverse:
            try found.keep(remaining, of: link.root, besides: count)
          case .noAction, .nullify:
            guard link.inverse.relationship?.minimumCount != nil else { continue }
            for other in remaining { found.counts[link.inverse.number, default: RowSet()].insert(other) }
          }
        }
      }
    }
    return found
  }

  private static func matters(_ link: InverseLookup) -> Bool {
    if link.isCounted { return link.relationship.deleteRule != .cascade }
    return switch link.relationship.deleteRule {
    case .cascade: false
    case .deny: true
    // If the other end stores nothing, the reference disappears with the deleted object.
    case .noAction: link.inverse.slot != nil || link.inverse.relationship?.minimumCount != nil
    case .nullify:
      link.inverse.relationship?.storage != .inverse || link.inverse.relationship?.minimumCount != nil
    }
  }

  private func deny(
    _ row: Int64, _ table: EntityTable, _ link: InverseLookup, _ remaining: [Int64],
    _ violate: (Violation) throws -> Void
  ) throws {
    let id = try id(row, table)
    let other = try invariant(layout.table(of: link.root), "the other end of a relationship has a table")
    let name = layout.model.displayName(of: id.entity)
    for row in remaining.prefix(Batch.maximumViolations) {
      try violate(.denied(id, name, by: try self.id(row, other), of: remaining.count, link.property))
    }
  }

  private func dangle(
    _ row: Int64, _ table: EntityTable, _ link: InverseLookup, _ remaining: [Int64],
    _ violate: (Violation) throws -> Void
  ) throws {
    let other = try invariant(layout.table(of: link.root), "the other end of a relationship has a table")
    let (id, first) = (try id(row, table), try self.id(remaining[0], other))
    let name = layout.model.displayName(of: id.entity)
    try violate(.dangling(id, name, from: first, of: remaining.count, link.property))
  }

  // MARK: - Rows

  /// - Throws: `RowWriter.missing`; only a damaged index leads to a missing row.
  func id(_ row: Int64, _ table: EntityTable) throws -> ObjectID {
    let found = try connection.statement(table.findID)
    found.bind(1, row)
    defer { sqlite3_reset(found.statement) }
    guard try connection.step(found) else { throw RowWriter.missing }
    return ObjectID(key: found.id(0), entity: layout.numbers.entity(found, 1))
  }

  private func others(_ link: InverseLookup, of row: Int64) throws -> [Int64] {
    let found = try connection.statement(link.sql)
    found.bind(1, row)
    defer { sqlite3_reset(found.statement) }
    var rows = [Int64]()
    while try connection.step(found) { rows.append(found.integer(0)) }
    return rows
  }

  private func links(of row: Int64, in table: EntityTable) throws -> [InverseLookup] {
    let found = try connection.statement("SELECT _entity FROM \(quoted(table.name)) WHERE _row = ?")
    found.bind(1, row)
    guard try connection.step(found) else { throw RowWriter.missing }
    let entity = layout.numbers.entity(found, 0)
    sqlite3_reset(found.statement)
    if let known = links[entity] { return known }
    let made = try layout.model.relationships(of: entity).map { try link($0, from: table) }
    links[entity] = made
    return made
  }

  private func link(_ property: Property, from table: EntityTable) throws -> InverseLookup {
    let relationship = try invariant(property.relationship, "an entity's relationships are relationships")
    let inverse = try invariant(layout.model.property(relationship.inverse), "a relationship has an inverse")
    let other = try invariant(
      layout.table(of: relationship.destination), "the destination of a relationship has a table")
    func column(_ property: Property, in table: EntityTable) throws -> String {
      quoted(try invariant(table.column(of: property.number), "a stored to-one has a column").name)
    }
    let sql: String
    switch relationship.storage {
    case .reference:
      let column = try column(property, in: table)
      sql = "SELECT \(column) FROM \(quoted(table.name)) WHERE _row = ? AND \(column) IS NOT NULL"
    case .members:
      sql = "SELECT member FROM \(quoted(EntityTable.edgeName(property, layout.model))) WHERE owner = ?"
    case .inverse where inverse.relationship?.storage == .members:
      sql = "SELECT owner FROM \(quoted(EntityTable.edgeName(inverse, layout.model))) WHERE member = ?"
    case .inverse:
      let column = try column(inverse, in: other)
      sql = "SELECT _row FROM \(quoted(other.name)) WHERE \(column) = ?"
    }
    return InverseLookup(
      property: property, relationship: relationship, inverse: inverse, isCounted: layout.model.isCounted(inverse),
      root: other.root.number, sql: sql)
  }
}
