// Tests: FetchTests.swift, ExplainTests.swift
import GraphModel

/// A fetch request as SQL: one statement, or two that are run one after the other until there are enough rows.
///
/// A page after a cursor is a condition on the sort keys, key by key, instead of an OFFSET, so earlier rows are not
/// read if an index has the order. The first key is alone in the condition, so that its index is used; a unary plus
/// keeps the other keys from indexes. Nulls come first, and in a descending order last: after a non-null value, the
/// nulls of a descending key need a second statement, because one index scan can't read both in order.
///
/// Every statement that reads objects begins with the columns with which `EntityTable.select` begins.
struct FetchSQL {
  private(set) var statements = [String]()
  /// False if SQL can't express the complete predicate; then the statements have neither limit nor offset.
  let isExact: Bool
  private var builder: PredicateSQL
  private let table: EntityTable

  var arguments: [Value] { builder.arguments }

  /// - Parameters:
  ///   - rows: a JSON array of the matching rows, if they are known already.
  ///   - form: how much is expressed in plain SQL.
  /// - Throws: `Refusal` with `.limit` if a part that must be SQL can't be expressed in this form.
  init(
    _ request: FetchRequest, _ entity: Entity, _ table: EntityTable, layout: StoreLayout, recentTexts: UnindexedRows?,
    past: ShadowedTables? = nil, isReduced: Bool = false, rows: String? = nil,
    form: PredicateSQL.TranslationLevel = .plain
  ) throws(Refusal) {
    builder = PredicateSQL(
      layout: layout, table: table, recentTexts: recentTexts, past: past, isReduced: isReduced, form: form)
    self.table = table
    var conditions = [String]()
    if let rows {
      conditions.append("t._row IN (SELECT value FROM json_each(\(builder.argument(.string(rows)))))")
    } else {
      let condition = builder.condition(request.predicate)
      if condition != "1" { conditions.append(condition) }
      if entity.family.count != layout.model.entity(entity.root)?.family.count {
        conditions.append("t._entity IN (\(layout.numbers.family(of: entity)))")
      }
    }
    if let omitted = past?.omittedRows[table.name] {
      let list = builder.argument(.string("[" + omitted.map(String.init).joined(separator: ",") + "]"))
      conditions.append("t._row NOT IN (SELECT value FROM json_each(\(list)))")
    }
    isExact = builder.isExact
    switch request.result {
    // Includes the checksum.
    case .objects: try page(request, select: table.selectList + ", t._sum", conditions)
    case .identifiers where isExact: try page(request, select: Self.head, conditions)
    case .identifiers: try page(request, select: table.selectList, conditions)
    case .count where isExact: count(request, conditions)
    case .count: statements = [table.select + Self.clause(conditions)]
    case .rows(let rows) where rows.hasRowPerObject:
      // The whole object is read, because its checksum covers all values.
      var select = table.selectList + ", t._sum"
      for column in rows.columns { select += ", " + (try value(column)) }
      try page(request, select: select, conditions)
    case .rows(let rows): try group(rows, request, conditions)
    }
  }

  private static let head = "SELECT t._row, t._id, t._entity, t._revision"
  private var from: String { " FROM \(quoted(table.name)) AS t" }

  private static func clause(_ conditions: [String]) -> String {
    conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
  }

  // MARK: - Pages

  private mutating func page(_ request: FetchRequest, select: String, _ conditions: [String]) throws(Refusal) {
    var keys = [(sql: String, key: SortKey)]()
    for key in request.sort {
      guard let value = builder.expression(key.expression) else {
        throw Refusal(.limit, "the order by \([key].text(in: builder.model)) reads more at once than SQL allows")
      }
      keys.append((key.collation.map { "graph_key(\(value), '\($0.rawValue)')" } ?? value, key))
    }
    var select = select
    if builder.past != nil {
      // ORDER BY result columns only lets SQLite merge the halves of a past table, each read by its index.
      for (index, key) in keys.enumerated() { select += ", \(key.sql) AS _k\(index)" }
    }
    let order =
      keys.enumerated().map { index, key in
        (builder.past == nil ? key.sql : "_k\(index)") + (key.key.ascending ? "" : " DESC")
      } + ["t._id"]
    // A past table has two halves, whose merge needs an order.
    let isUnordered =
      request.isUnordered && keys.isEmpty && request.limit == nil && request.offset == 0 && request.after == nil
      && builder.past == nil
    var tail = isUnordered ? "" : " ORDER BY " + order.joined(separator: ", ")
    // The conditions of each statement.
    let parts = if let after = request.after { behind(after, keys) } else { [[String]()] }
    // One row more than requested shows whether there is a next page.
    if isExact, request.limit != nil || request.offset > 0 { tail += limit(request, ahead: 1) }
    statements = parts.map { select + from + Self.clause(conditions + $0) + tail }
  }

  private mutating func limit(_ request: FetchRequest, ahead: Int) -> String {
    // SQLite's limit for all rows is -1.
    var most = -1
    if let limit = request.limit { most = limit < .max - ahead ? limit + ahead : limit }
    let count = builder.argument(.integer(Int64(most)))
    return " LIMIT \(count) OFFSET \(builder.argument(.integer(Int64(request.offset))))"
  }

  /// The conditions of each statement for the rows after a cursor.
  private mutating func behind(_ cursor: FetchCursor, _ keys: [(sql: String, key: SortKey)]) -> [[String]] {
    let id = builder.argument(.object(cursor.id))
    guard let first = keys.first, let value = cursor.values.first else { return [["t._id > \(id)"]] }
    let arguments = cursor.values.map { $0.isNull ? "NULL" : builder.argument($0) }
    var rest = "+t._id > \(id)"
    for (index, (sql, key)) in keys.enumerated().reversed() {
      let (sql, argument) = ("+\(sql)", arguments[index])
      // Nesting at the beginning costs SQLite's parser least, but there it is evaluated for every row.
      if builder.form != .plain {
        rest =
          switch (key.ascending, cursor.values[index].isNull) {
          case (true, true): "(\(rest) OR \(sql) IS NOT NULL)"
          case (true, false): "(\(rest) AND \(sql) = \(argument) OR \(sql) > \(argument))"
          case (false, true): "(\(rest) AND \(sql) IS NULL)"
          case (false, false): "(\(rest) AND \(sql) = \(argument) OR \(sql) < \(argument) OR \(sql) IS NULL)"
          }
        continue
      }
      rest =
        switch (key.ascending, cursor.values[index].isNull) {
        case (true, true): "(\(sql) IS NOT NULL OR \(rest))"
        case (true, false): "(\(sql) > \(argument) OR \(sql) = \(argument) AND \(rest))"
        // No value comes after null.
        case (false, true): "(\(sql) IS NULL AND \(rest))"
        case (false, false): "(\(sql) < \(argument) OR \(sql) IS NULL OR \(sql) = \(argument) AND \(rest))"
        }
    }
    switch (first.key.ascending, value.isNull) {
    case (true, true): return [[rest]]
    case (true, false): return [["\(first.sql) >= \(arguments[0])", rest]]
    case (false, true): return [["\(first.sql) IS NULL", rest]]
    case (false, false):
      let values = ["\(first.sql) <= \(arguments[0])", rest]
      return mayBeNull(first.key) ? [values, ["\(first.sql) IS NULL"]] : [values]
    }
  }

  private func mayBeNull(_ key: SortKey) -> Bool {
    guard key.path.hops.isEmpty, case .property(let number) = key.path.end else {
      return key.path != GraphPredicate.Path(end: .identifier)
    }
    return builder.model.property(number)?.isOptional != false
  }

  // MARK: - Counts and groups

  private mutating func count(_ request: FetchRequest, _ conditions: [String]) {
    let found = from + Self.clause(conditions)
    statements =
      request.limit == nil && request.offset == 0
      ? [builder.oneValue("count(*)", of: "1", found)]
      : ["SELECT count(*) FROM (SELECT 1\(found)\(limit(request, ahead: 0)))"]
  }

  private mutating func group(_ rows: RowRequest, _ request: FetchRequest, _ conditions: [String]) throws(Refusal) {
    var groups = [(expression: GraphExpression, sql: String)]()
    for expression in rows.groups { groups.append((expression, try value(expression))) }
    var columns = [String]()
    for (index, column) in rows.columns.enumerated() {
      // Exactly the text in GROUP BY, including arguments; otherwise SQLite takes it for another expression.
      let sql =
        if case .expression(let expression) = column.value,
          let group = groups.first(where: { $0.expression == expression })
        {
          group.sql
        } else {
          try value(column)
        }
      columns.append("\(sql) AS _c\(index)")
    }
    var sql = "SELECT " + (rows.isDistinct ? "DISTINCT " : "") + columns.joined(separator: ", ")
    let found = from + Self.clause(conditions)
    sql += builder.past == nil ? found : " FROM (SELECT *\(found) LIMIT -1) AS t"
    if !groups.isEmpty { sql += " GROUP BY " + groups.map(\.sql).joined(separator: ", ") }
    let order = rows.order.map { key in
      let name = "_c\(key.column)"
      return (key.collation.map { "graph_key(\(name), '\($0.rawValue)')" } ?? name) + (key.ascending ? "" : " DESC")
    }
    let ties = rows.columns.indices.map { "_c\($0)" }
    sql += " ORDER BY " + (order + ties).joined(separator: ", ")
    if request.limit != nil || request.offset > 0 { sql += limit(request, ahead: 0) }
    statements = [sql]
  }

  private mutating func value(_ column: RowRequest.Column) throws(Refusal) -> String {
    switch column.value {
    case .expression(let expression): return try value(expression)
    case .count: return "count(*)"
    case .aggregate(let aggregate, let expression):
      let type = expression.type(in: builder.model)
      let sql = try value(expression)
      switch aggregate {
      case .minimum: return "min(\(sql))"
      case .maximum: return "max(\(sql))"
      // An empty group has no type, so its sum is given explicitly. A sum that overflows is null.
      case .sum:
        let none = builder.argument(aggregate.value(of: [], type: type))
        return "iif(count(\(sql)), graph_sum(\(sql), '\(type.letter)'), \(none))"
      case .average: return "graph_avg(\(sql), '\(type.letter)')"
      }
    }
  }

  private mutating func value(_ expression: GraphExpression) throws(Refusal) -> String {
    guard let sql = builder.expression(expression) else {
      throw Refusal(.limit, "\(expression.text(in: builder.model).excerpt) reads more at once than SQL allows")
    }
    return sql
  }
}
