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
    /// Whether the row has another value instead, and not none.
    package var isReplaced = false

    package static func == (left: Problem, right: Problem) -> Bool {
      left.property.number == right.property.number && left.reason == right.reason
        && left.isReplaced == right.isReplaced
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
  private var tables = [Int: Table]()

  /// The columns of a table that are read, and a statement for the row of a key, after its entity and its version.
  private struct Table {
    let columns: [Int]
    /// The places of the columns in the statement.
    let places: [Int: Int]
    let statement: StoreStatement
  }

  /// A value of a row.
  private enum Cell {
    case value(StoreValue)
    /// A value that SQLite does not return, with its size if that is known.
    case tooLarge(Int64?)
  }

  /// The entity of the row, its version, and the values of the read columns.
  private struct Cells {
    var entity: Int64?
    var version: Int64?
    var values: [Cell]
  }

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

  /// The first row for which `isMatch` is true, with its entity in the model; rows without one are left out.
  package func firstRow(
    where isMatch: (StoreLayout.RowKey, Entity) -> Bool
  ) throws -> (key: StoreLayout.RowKey, entity: Entity)? {
    for (index, table) in file.tables.enumerated() {
      let rows = try file.database.statement("SELECT Z_PK, Z_ENT FROM \(StoreDatabase.quoted(table.name)) ORDER BY 1")
      while try rows.step() {
        guard let number = rows.integer(0), let entity = rows.integer(1).flatMap({ layout.columns[$0]?.entity }) else {
          continue
        }
        let key = StoreLayout.RowKey(table: index, key: number)
        if isMatch(key, entity) { return (key, entity) }
      }
    }
    return nil
  }

  /// The name of a row in messages: its root entity and its primary key.
  package func name(_ key: StoreLayout.RowKey) -> String { "\(file.tables[key.table].root) \(key.key)" }

  /// The root entity of a row's table.
  package func root(_ key: StoreLayout.RowKey) -> String { file.tables[key.table].root }

  /// The key of a row by the name of its root entity; nil if the store no longer has that table.
  package func key(root: String, key: Int64) -> StoreLayout.RowKey? {
    file.tables.firstIndex { $0.root == root }.map { StoreLayout.RowKey(table: $0, key: key) }
  }

  /// The entities of the model whose rows are in the table of a root entity.
  package func entities(in root: String) -> [Entity] {
    guard let table = file.tables.firstIndex(where: { $0.root == root }) else { return [] }
    return file.entities.filter { $0.table == table }.compactMap { layout.entity($0.name) }
  }

  /// The numbers in the model of the entities that have rows in the table of a root entity.
  package func usedEntities(in root: String) throws -> Set<EntityNumber> {
    guard let table = file.tables.first(where: { $0.root == root }) else { return [] }
    var numbers = Set<EntityNumber>()
    let rows = try file.database.statement("SELECT DISTINCT Z_ENT FROM \(StoreDatabase.quoted(table.name))")
    while try rows.step() {
      if let columns = rows.integer(0).flatMap({ layout.columns[$0] }) { numbers.insert(columns.entity.number) }
    }
    return numbers
  }

  /// The root entities of the store's tables.
  package var roots: [String] { file.tables.map(\.root) }

  /// The entity of the model with the name of one of the store.
  package func entity(_ stored: String) -> Entity? { layout.entity(stored) }

  /// The names that an entity had in earlier versions: the one that the caller gave, and the one in the model.
  package func earlierNames(of entity: Entity) -> [String] { layout.earlierNames(of: entity) }

  /// The names that a property had in earlier versions: the one that the caller gave, the one in the model, and those
  /// in its documentation.
  package func earlierNames(of property: Property) -> [String] { layout.earlierNames(of: property) }

  /// Whether the app may have a property with a name, of the entity of a row.
  package func hasProperty(_ name: String, in key: StoreLayout.RowKey) -> Bool {
    StoreNames.isStored(name, in: file.tables[key.table], file)
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
    let table = try self.table(key.table)
    let cells = try self.cells(key, table)
    guard let number = cells.entity, let stored = file.entity(number) else {
      throw UnreadableRow(reason: "Z_PRIMARYKEY does not list the entity of the row")
    }
    guard stored.table == key.table else {
      throw UnreadableRow(
        reason: "its Z_ENT is \(number), \(stored.name), whose rows are not in the table \(file.tables[key.table].name)"
      )
    }
    guard let columns = layout.columns[number] else {
      throw UnreadableRow(reason: "the model has no entity of the row")
    }
    let version: Int64 = if let version = cells.version { version } else { 0 }
    var row = SourceRow(key: key, entity: columns.entity, version: version, fields: [], problems: [])
    row.fields.reserveCapacity(columns.attributes.count + columns.references.count)
    func cell(_ column: Int) -> Cell {
      guard let place = table.places[column] else { preconditionFailure("the columns of entities are read") }
      return cells.values[place]
    }
    for attribute in columns.attributes { add(attribute, cell(attribute.column), to: &row) }
    for reference in columns.references { add(reference, cell(reference.column), to: &row) }
    try RowSize.fit(&row)
    return row
  }

  private func table(_ index: Int) throws -> Table {
    if let known = tables[index] { return known }
    // A value of another column may be too large to be read, and nothing needs it.
    let used = layout.columns.filter { file.entity($0.key)?.table == index }.values
    let columns = Set(used.flatMap { $0.attributes.map(\.column) + $0.references.map(\.column) }).sorted()
    let table = file.tables[index]
    let list =
      (["Z_ENT", table.columns.contains("Z_OPT") ? "Z_OPT" : "NULL"]
      + columns.map { StoreDatabase.quoted(table.columns[$0]) }).joined(separator: ", ")
    let statement = try file.database.statement(
      "SELECT \(list) FROM \(StoreDatabase.quoted(table.name)) WHERE Z_PK = ?")
    let places = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
    let made = Table(columns: columns, places: places, statement: statement)
    tables[index] = made
    return made
  }

  private func cells(_ key: StoreLayout.RowKey, _ table: Table) throws -> Cells {
    let statement = table.statement
    statement.reset()
    statement.bind(1, key.key)
    defer { statement.reset() }
    do {
      guard try statement.step() else { throw UnreadableRow(reason: "it can't be found by its key") }
    } catch is StoreDatabase.ValueTooLarge {
      return try cellsOneByOne(key, table)
    }
    return Cells(
      entity: statement.integer(0), version: statement.integer(1),
      values: table.columns.indices.map { .value(statement.value($0 + 2)) })
  }

  /// Reads each column of a row by itself, so that a value that is too large costs only itself.
  private func cellsOneByOne(_ key: StoreLayout.RowKey, _ table: Table) throws -> Cells {
    let stored = file.tables[key.table]
    func read(_ expression: String) throws -> StoreValue {
      let statement = try file.database.statement(
        "SELECT \(expression) FROM \(StoreDatabase.quoted(stored.name)) WHERE Z_PK = ?")
      statement.bind(1, key.key)
      guard try statement.step() else { throw UnreadableRow(reason: "it can't be found by its key") }
      return statement.value(0)
    }
    var cells = Cells(
      entity: try read("Z_ENT").integer, version: stored.columns.contains("Z_OPT") ? try read("Z_OPT").integer : nil,
      values: [])
    for column in table.columns {
      let name = StoreDatabase.quoted(stored.columns[column])
      do {
        cells.values.append(.value(try read(name)))
      } catch is StoreDatabase.ValueTooLarge {
        // SQLite knows the size of bytes without reading them, but not that of a text.
        cells.values.append(.tooLarge(try read("CASE WHEN typeof(\(name)) = 'blob' THEN length(\(name)) END").integer))
      }
    }
    return cells
  }

  private func add(_ column: StoreLayout.AttributeColumn, _ cell: Cell, to row: inout SourceRow) {
    let property = column.property
    guard case .value(var stored) = cell else {
      let size: String =
        if case .tooLarge(let size?) = cell { String(size) } else { "more than \(StoreDatabase.maximumValueSize)" }
      row.problems.append(SourceRow.Problem(property: property, reason: RowSize.reason(size)))
      return
    }
    do {
      if column.isTagged, case .blob(let bytes) = stored { stored = .blob(try file.external.value(bytes)) }
      let value = try AttributeConversion.value(stored, column.attribute, from: column.type)
      let content = SourceRow.Content.value(value)
      guard RowSize.bytes(content) <= RowSize.maximum else {
        row.problems.append(
          SourceRow.Problem(property: property, reason: RowSize.reason(String(RowSize.bytes(content)))))
        return
      }
      row.fields.append((property, content))
    } catch let failure as ExternalStorage.Failure {
      row.problems.append(SourceRow.Problem(property: property, reason: failure.reason))
    } catch let failure as AttributeConversion.Failure {
      guard let nearest = failure.nearest else {
        row.problems.append(SourceRow.Problem(property: property, reason: failure.reason))
        return
      }
      // An app uses such a date for "never", which is null here if it can be.
      row.fields.append((property, .value(property.isOptional ? .null : .date(nearest))))
      row.problems.append(
        SourceRow.Problem(
          property: property,
          reason: failure.reason + (property.isOptional ? "" : "; it is \(RFC3339.text(nearest)) here"),
          isReplaced: !property.isOptional))
    } catch {
      preconditionFailure("a value is converted or has a reason: \(error)")
    }
  }

  private func add(_ column: StoreLayout.ReferenceColumn, _ cell: Cell, to row: inout SourceRow) {
    let stored: StoreValue = if case .value(let value) = cell { value } else { .blob([]) }
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
