// Tests: VisibleReadTests.swift, VisibleRandomTests.swift
import GraphModel

/// The views of a read-only connection, in SQLite's TEMP schema, that show to SQL what a visibility class sees.
///
/// The view of an entity's table has its name, which shadows the table unless a statement says `main`, and contains the
/// visible rows: those whose scope is among the class's scopes (`_scopes`), and for which the rule for reads holds. The
/// view of a many-to-many contains the pairs of visible objects. Every statement that reads objects therefore reads the
/// reduced graph. SQLite merges such a view with the statement, so that indexes are used as without it.
///
/// A foreign key in a row stays as it is, because an index needs the column itself. Its target is looked up in a
/// view, so that an invisible object is found nowhere; only a comparison with null needs the lookup explicitly
/// (`PredicateSQL.isMissing`).
struct VisibleViews {
  let connection: Connection
  let layout: StoreLayout
  let visibility: Visibility
  /// The tables and views of the whole graph that differ from the present ones, by the name of a table.
  var sources = [String: String]()

  private static let scopes = "temp._scopes"

  // MARK: - Views

  /// Creates the views, which must not exist.
  /// - Throws: `Refusal` if SQL can't express a rule, so that nothing is shown.
  func show() throws {
    try fillScopes()
    for table in layout.orderedTables {
      let columns = (["_row", "_id", "_entity", "_revision"] + table.columns.map(\.name) + ["_sum"])
        .map { "t.\(quoted($0))" }
      let names = (["_row", "_id", "_entity", "_revision"] + table.columns.map(\.name) + ["_sum"]).map(quoted)
      try create(
        """
        CREATE TEMP VIEW \(quoted(table.name)) (\(names.joined(separator: ", "))) AS \
        SELECT \(columns.joined(separator: ", ")) FROM \(source(table.name)) AS t WHERE \(try condition(table))
        """)
    }
    for table in layout.orderedTables {
      for edge in table.edges {
        try create(
          """
          CREATE TEMP VIEW \(quoted(edge.name)) (member, owner) AS SELECT e.member, e.owner \
          FROM \(source(edge.name)) AS e \
          WHERE EXISTS (SELECT 1 FROM temp.\(quoted(edge.members)) WHERE _row = e.member) \
          AND EXISTS (SELECT 1 FROM temp.\(quoted(edge.owners)) WHERE _row = e.owner)
          """)
      }
    }
  }

  /// Runs a statement that no other class needs, so that it is not kept.
  private func create(_ view: String) throws { try connection.makeStatement(view).execute() }

  /// Drops the views.
  static func hide(_ connection: Connection, layout: StoreLayout) throws {
    for name in layout.orderedTables.flatMap({ [$0.name] + $0.edges.map(\.name) }) {
      try connection.run("DROP VIEW IF EXISTS temp.\(quoted(name))")
    }
  }

  private func source(_ name: String) -> String { sources[name, default: "main.\(quoted(name))"] }

  private func fillScopes() throws {
    try connection.run(
      "CREATE TABLE IF NOT EXISTS \(Self.scopes) (role TEXT, key BLOB, PRIMARY KEY (role, key)) WITHOUT ROWID")
    try connection.run("DELETE FROM \(Self.scopes)")
    for (key, role) in visibility.facts.scopes {
      let row = try connection.statement("INSERT INTO \(Self.scopes) (role, key) VALUES (?, ?)")
      row.bind(1, role.rawValue)
      row.bind(2, key)
      try connection.run(row)
    }
  }

  // MARK: - Conditions

  /// The condition on the rows `t` of a table: entities with the same scope and rule share a part.
  private func condition(_ table: EntityTable) throws -> String {
    var parts = [(sql: String, entities: [EntityNumber])]()
    let concrete = table.root.family.filter { layout.model.entity($0)?.isAbstract == false }
    for number in concrete {
      let entity = try invariant(layout.model.entity(number), "a family has entities of the model")
      let sql = try condition(entity, table)
      if let place = parts.firstIndex(where: { $0.sql == sql }) {
        parts[place].entities.append(number)
      } else {
        parts.append((sql, [number]))
      }
    }
    guard let first = parts.first else { return "0" }
    if parts.count == 1 { return first.sql }
    return parts.map { part in
      let numbers = part.entities.map { "\(layout.numbers.stored(entity: $0))" }.joined(separator: ", ")
      return "(t._entity IN (\(numbers)) AND \(part.sql))"
    }.joined(separator: " OR ")
  }

  private func condition(_ entity: Entity, _ table: EntityTable) throws -> String {
    let (facts, rule) = (visibility.facts, layout.model.accessRules(of: entity.number)?.rules[.read])
    func ruled(_ role: Role) throws -> String {
      guard let rule else { return "1" }
      return try self.sql(rule.predicate(user: facts.user, role: role), table)
    }
    if entity.scope == .shared {
      guard let role = facts.sharedRole else { return "0" }
      return try ruled(role)
    }
    var parts = [String]()
    let roles = Set(facts.scopes.values).sorted()
    let member = isMember(entity, table)
    if let member {
      for role in roles { parts.append("(\(member("role = '\(role.rawValue)'")) AND \(try ruled(role)))") }
    }
    if let general = facts.role {
      let elsewhere = member == nil || roles.isEmpty ? "1" : "NOT coalesce(\(member?("1") ?? "0"), 0)"
      parts.append("(\(elsewhere) AND \(try ruled(general)))")
    }
    return parts.isEmpty ? "0" : parts.count == 1 ? parts[0] : "(\(parts.joined(separator: " OR ")))"
  }

  /// Whether the scope of a row is among some of the class's scopes; nil if the entity has no scope.
  ///
  /// The unary plus keeps the condition from the index of the scope: SQLite would prefer it to the index of an order,
  /// and sort all objects of a scope for a page of twenty.
  private func isMember(_ entity: Entity, _ table: EntityTable) -> ((_ condition: String) -> String)? {
    func keys(_ condition: String) -> String { "SELECT key FROM \(Self.scopes) WHERE \(condition)" }
    func column(_ number: PropertyNumber) -> EntityTable.Column? { table.column(of: number) }
    switch entity.scope {
    case nil, .shared: return nil
    case .container: return { "t._id IN (\(keys($0)))" }
    case .reference(let number):
      guard let column = column(number), let container = column.references else { return nil }
      return { condition in
        "+t.\(quoted(column.name)) IN (SELECT _row FROM \(source(container)) WHERE _id IN (\(keys(condition))))"
      }
    case .stored(let number, _):
      guard let column = column(number) else { return nil }
      return { "t.\(quoted(column.name)) IN (\(keys($0)))" }
    }
  }

  /// The rule as SQL. A view has no arguments, so the values are part of the text.
  private func sql(_ predicate: GraphPredicate, _ table: EntityTable) throws -> String {
    for form in [PredicateSQL.TranslationLevel.plain, .flat] {
      var builder = PredicateSQL(layout: layout, table: table, recentTexts: nil, form: form)
      builder.sources = layout.orderedTables.reduce(into: [:]) { $0[$1.name] = source($1.name) }
      let text = builder.condition(predicate)
      guard builder.isExact else { continue }
      let arguments = builder.arguments
      let literals = text.replacing(/\?(\d+)/) { match in
        guard let number = Int(match.1), number > 0, number <= arguments.count else { return "NULL" }
        return arguments[number - 1].sqlLiteral
      }
      return "coalesce(\(literals), 0)"
    }
    throw Refusal(
      .unavailable,
      "a rule of the model for reading \(table.root.name) is too complex for a search: the owner of the store must "
        + "simplify it")
  }
}

extension Value {
  /// The stored form as a literal of SQL. Texts and bytes are in hexadecimal digits, so they contain no quotes.
  fileprivate var sqlLiteral: String {
    func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
      "X'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }
    switch self {
    case .null: return "NULL"
    case .bool(let value): return value ? "1" : "0"
    // The smallest integer has no literal.
    case .integer(let value), .date(let value): return "CAST('\(value)' AS INTEGER)"
    case .double(let value): return "CAST('\(value)' AS REAL)"
    case .decimal(let value): return hexadecimal(value.orderedBytes)
    case .string(let text): return "CAST(\(hexadecimal(text.utf8)) AS TEXT)"
    case .uuid(let key): return hexadecimal(key.bytes)
    case .data(let bytes): return hexadecimal(bytes)
    case .object(let id): return hexadecimal(id.key.bytes)
    case .objects(let ids): return hexadecimal(ids.flatMap(\.key.bytes))
    }
  }
}
