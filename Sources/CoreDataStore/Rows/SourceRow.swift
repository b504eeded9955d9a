import GraphModel

/// A row of the store in the graph's terms.
package struct SourceRow: Sendable {
  /// The content of a property.
  package enum Content: Hashable, Sendable {
    case value(Value)
    /// The row at the other end of a to-one; nil for none.
    case reference(StoreLayout.RowKey?)
    /// The members of a to-many, in order.
    case members([StoreLayout.RowKey])

    /// Whether the value is empty: null, no row, no members.
    package var isEmpty: Bool {
      switch self {
      case .value(let value): value.isNull
      case .reference(let key): key == nil
      case .members(let keys): keys.isEmpty
      }
    }
  }

  /// A value that can't be taken.
  package struct Problem: Hashable, Sendable {
    package let property: Property
    package let reason: String

    package static func == (left: Problem, right: Problem) -> Bool {
      left.property.number == right.property.number && left.reason == right.reason
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(property.number) }
  }

  package let key: StoreLayout.RowKey
  package let entity: Entity
  /// `Z_OPT`: Core Data counts the saves of a row.
  package let version: Int64
  /// The properties that have a column, without those with a problem, and without lists of members.
  package var fields: [(property: Property, content: Content)]
  package var problems: [Problem]
}

/// Reads the rows of a store.
package final class SourceReader {
  /// The reason why a row has no counterpart.
  package struct UnreadableRow: Error {
    package let reason: String
  }

  private let file: CoreDataFile
  private let layout: StoreLayout
  /// A statement for the row of a key, and the places of the columns in it, by table.
  private var statements = [Int: StoreStatement]()

  package init(_ file: CoreDataFile, _ layout: StoreLayout) { (self.file, self.layout) = (file, layout) }

  /// The keys of all rows whose entity the model has, or the store itself does not know, in order.
  package func keys() throws -> [StoreLayout.RowKey] {
    let others = file.entities.map(\.number).filter { layout.columns[$0]?.entity.isAbstract != false }
    let list = others.map(String.init).joined(separator: ", ")
    var keys = [StoreLayout.RowKey]()
    for (index, table) in file.tables.enumerated() {
      let rows = try file.database.statement(
        "SELECT Z_PK FROM \(StoreDatabase.quoted(table.name)) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(list)) "
          + "ORDER BY Z_PK")
      while try rows.step() {
        if let key = rows.integer(0) { keys.append(StoreLayout.RowKey(table: index, key: key)) }
      }
    }
    return keys
  }

  /// The name of a row in messages: its root entity and its primary key.
  package func name(_ key: StoreLayout.RowKey) -> String { "\(file.tables[key.table].root) \(key.key)" }

  /// The root entity of a row's table.
  package func root(_ key: StoreLayout.RowKey) -> String { file.tables[key.table].root }

  /// The key of a row by the name of its root entity; nil if the store no longer has that table.
  package func key(root: String, key: Int64) -> StoreLayout.RowKey? {
    file.tables.firstIndex { $0.root == root }.map { StoreLayout.RowKey(table: $0, key: key) }
  }

  /// Whether the store has a row, of any entity.
  package func exists(_ key: StoreLayout.RowKey) throws -> Bool {
    let rows = try file.database.statement(
      "SELECT 1 FROM \(StoreDatabase.quoted(file.tables[key.table].name)) WHERE Z_PK = ?")
    rows.bind(1, key.key)
    return try rows.step()
  }

  /// The members of all lists, by list and owner.
  package func members() throws -> [PropertyNumber: [StoreLayout.RowKey: [StoreLayout.RowKey]]] {
    var members = [PropertyNumber: [StoreLayout.RowKey: [StoreLayout.RowKey]]]()
    for list in layout.lists {
      var lists = [StoreLayout.RowKey: [StoreLayout.RowKey]]()
      let rows = try file.database.statement(list.sql)
      while try rows.step() {
        guard let owner = rows.integer(0), let member = rows.integer(1) else { continue }
        let key = StoreLayout.RowKey(table: list.ownerTable, key: owner)
        lists[key, default: []].append(StoreLayout.RowKey(table: list.memberTable, key: member))
      }
      members[list.property.number] = lists
    }
    return members
  }

  /// Reads a row.
  /// - Throws: `UnreadableRow` if it can't be taken as a whole; `Refusal` if the store can't be read.
  package func row(_ key: StoreLayout.RowKey) throws -> SourceRow {
    let table = file.tables[key.table]
    let statement: StoreStatement
    if let known = statements[key.table] {
      statement = known
    } else {
      let columns =
        (["Z_ENT", table.columns.contains("Z_OPT") ? "Z_OPT" : "NULL"]
        + table.columns.map(StoreDatabase.quoted)).joined(separator: ", ")
      statement = try file.database.statement(
        "SELECT \(columns) FROM \(StoreDatabase.quoted(table.name)) WHERE Z_PK = ?")
      statements[key.table] = statement
    }
    statement.reset()
    statement.bind(1, key.key)
    defer { statement.reset() }
    do {
      guard try statement.step() else { throw UnreadableRow(reason: "it can't be found by its key") }
    } catch is StoreDatabase.ValueTooLarge {
      throw UnreadableRow(reason: "a value has more than \(StoreDatabase.maximumValueSize) bytes")
    }
    guard let number = statement.integer(0), let columns = layout.columns[number] else {
      throw UnreadableRow(reason: "Z_PRIMARYKEY does not list the entity of the row")
    }
    let version: Int64 = if let version = statement.integer(1) { version } else { 0 }
    var row = SourceRow(key: key, entity: columns.entity, version: version, fields: [], problems: [])
    row.fields.reserveCapacity(columns.attributes.count + columns.references.count)
    for attribute in columns.attributes { add(attribute, statement.value(attribute.column + 2), to: &row) }
    for reference in columns.references { add(reference, statement.value(reference.column + 2), to: &row) }
    return row
  }

  private func add(_ column: StoreLayout.AttributeColumn, _ stored: StoreValue, to row: inout SourceRow) {
    do {
      var stored = stored
      if column.isTagged, case .blob(let bytes) = stored { stored = .blob(try file.external.value(bytes)) }
      let value = try AttributeConversion.value(stored, column.attribute)
      row.fields.append((column.property, .value(value)))
    } catch let failure as ExternalStorage.Failure {
      row.problems.append(SourceRow.Problem(property: column.property, reason: failure.reason))
    } catch let failure as AttributeConversion.Failure {
      row.problems.append(SourceRow.Problem(property: column.property, reason: failure.reason))
    } catch {
      preconditionFailure("a value is converted or has a reason: \(error)")
    }
  }

  private func add(_ column: StoreLayout.ReferenceColumn, _ stored: StoreValue, to row: inout SourceRow) {
    switch stored {
    case .null: row.fields.append((column.property, .reference(nil)))
    case .integer(let key):
      row.fields.append((column.property, .reference(StoreLayout.RowKey(table: column.table, key: key))))
    default:
      row.problems.append(
        SourceRow.Problem(
          property: column.property, reason: "the column has \(stored.kind), and a row's key is expected")
      )
    }
  }
}
