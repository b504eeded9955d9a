// Tests: RandomGraphTests.swift, DeepQueriesTests.swift
import GraphModel

/// Expressions and paths as SQL.
extension PredicateSQL {
  /// The maximum depth of calculations in plain SQL; each deeper one becomes one function call.
  private static let maximumExpressionDepth = 3

  /// Returns SQL for the expression's value in its stored form; an object is its id.
  mutating func value(_ expression: GraphExpression, depth: Int = 0) -> String? {
    if expression.isCalculated, form != .plain || depth >= Self.maximumExpressionDepth {
      return attempt { $0.call(expression) }
    }
    switch expression {
    case .value(let value): return value.isNull ? "NULL" : argument(value)
    case .list, .expressions, .variable: return nil
    case .path(let path):
      let scope = scope(path.level)
      if path.hops.isEmpty { return end(path.end, scope, isNullable: false) }
      guard let chain = chain(path.hops, from: scope, isInner: true),
        let end = within(chain.views, { $0.end(path.end, chain.end, isNullable: false) })
      else { return nil }
      return "(SELECT \(end) FROM \(chain.from) WHERE \(chain.conditions.joined(separator: " AND ")))"
    case .arithmetic(let operation, let kind, let left, let right):
      guard let left = value(left, depth: depth + 1), let right = value(right, depth: depth + 1) else { return nil }
      switch kind {
      case .decimal: return "graph_calculate('\(operation.rawValue)', \(left), \(right))"
      case .date: return "graph_date(\(left) \(operation.rawValue) \(right))"
      case .integer, .duration: return "(\(left) \(operation.rawValue) \(right))"
      // SQLite keeps infinities; the evaluator has null instead. `nullif` evaluates the operands once.
      case .double: return "nullif(nullif(\(left) \(operation.rawValue) \(right), 9e999), -9e999)"
      }
    case .function(let function, let arguments):
      var texts = [String]()
      for argument in arguments {
        guard let text = value(argument, depth: depth + 1) else { return nil }
        texts.append(text)
      }
      // A bound `now()` is a constant; an unbound one is null.
      if function == .now { return "NULL" }
      if function == .ifNull { return "coalesce(\(texts.joined(separator: ", ")))" }
      if function == .given { return "CASE WHEN \(texts[0]) IS NOT NULL THEN \(texts[1]) END" }
      if function == .oneOf, texts.count > 2 {
        let names = texts[2...].joined(separator: ", ")
        return
          "(SELECT CASE WHEN v IS NULL OR v IN (\(names)) THEN v ELSE \(texts[1]) END FROM (SELECT \(texts[0]) AS v))"
      }
      let types = arguments.map { $0.type(in: model).letter }.joined()
      return "graph_call('\(function.rawValue)', '\(types)', \(texts.joined(separator: ", ")))"
    case .subquery(let level, let hops, let predicate):
      guard scopes.count < GraphPredicate.maximumSubqueries, let chain = chain(hops, from: scope(level)) else {
        return nil
      }
      scopes.append(chain.end)
      defer { scopes.removeLast() }
      guard let condition = within(chain.views, { $0.exactly { $0.translate(predicate, depth: depth) } }) else {
        return nil
      }
      let conditions = chain.conditions + ["\(chain.end.alias)._row IS NOT NULL", Self.unindexed(condition)]
      return "("
        + oneValue("count(*)", of: "1", " FROM \(chain.from) WHERE \(conditions.joined(separator: " AND "))") + ")"
    }
  }

  /// Adds a unary plus to a condition on the rows at the end of a chain, which keeps it from indexes. Without
  /// statistics SQLite might otherwise scan the condition's index, and everything that it leads to, again for each
  /// row, instead of reading the few rows of the chain.
  static func unindexed(_ condition: String) -> String { "+(\(condition))" }

  // MARK: - Paths

  /// The tables of a path, to be joined to the row at its start.
  struct PathJoin {
    var from: String
    var conditions: [String]
    var end: Scope
    /// Whether a to-one on the path may be null; then the row at the end has nulls.
    var isNullable: Bool
    /// The number of tables that are views of two halves.
    var views = 0
  }

  /// - Parameter isInner: whether the path has only to-ones and produces no row if one is null.
  mutating func chain(_ hops: [PropertyNumber], from scope: Scope, isInner: Bool = false) -> PathJoin? {
    // A path to a single value joins one row to the next. To-many paths multiply rows, and the evaluator handles deep
    // ones.
    guard isInner || hops.count <= Self.maximumDepth else { return nil }
    var chain = PathJoin(from: "", conditions: [], end: scope, isNullable: false)
    for hop in hops {
      guard let property = model.property(hop), let relationship = property.relationship,
        let table = layout.table(of: relationship.destination),
        let join = join(property, relationship, from: chain.end, to: table)
      else { return nil }
      let next = Scope(alias: join.alias, table: table)
      chain.views += join.views
      let isFirst = chain.from.isEmpty
      // If no earlier object can be null, a to-many is an inner join. This matters for a view of two halves, which
      // SQLite materializes completely for an outer join.
      if isInner || relationship.isToMany && (isFirst || past != nil && !chain.isNullable) {
        chain.from += (isFirst ? "" : ", ") + join.tables.joined(separator: ", ")
        chain.conditions += join.conditions
      } else {
        // A null to-one produces one null, however many relationships follow; a to-many without members produces
        // nothing.
        if isFirst { chain.from = "(SELECT 1)" }
        for (table, condition) in zip(join.tables, join.conditions) {
          chain.from += " LEFT JOIN \(table) ON \(condition)"
        }
        if relationship.isToMany {
          chain.conditions.append(
            chain.isNullable
              ? "(\(chain.end.alias)._row IS NULL OR \(next.alias)._row IS NOT NULL)" : "\(next.alias)._row IS NOT NULL"
          )
        } else {
          chain.isNullable = true
        }
      }
      chain.end = next
    }
    if chain.conditions.isEmpty { chain.conditions = ["1"] }
    return chain
  }

  private mutating func join(
    _ property: Property, _ relationship: Relationship, from scope: Scope, to table: EntityTable
  ) -> (tables: [String], conditions: [String], alias: String, views: Int)? {
    let next = alias()
    let destination = "\(quoted(table.name)) AS \(next)"
    switch relationship.storage {
    case .reference:
      guard let column = scope.table.column(of: property.number) else { return nil }
      return ([destination], ["\(next)._row = \(scope.alias).\(quoted(column.name))"], next, views([table]))
    case .members, .inverse:
      let stored = relationship.storage == .members ? property : model.property(relationship.inverse)
      guard let stored else { return nil }
      if stored.relationship?.storage == .reference {
        guard let column = table.column(of: stored.number) else { return nil }
        return ([destination], ["\(next).\(quoted(column.name)) = \(scope.alias)._row"], next, views([table]))
      }
      let (here, there) = relationship.storage == .members ? ("owner", "member") : ("member", "owner")
      let edge = alias()
      return (
        ["\(quoted(EntityTable.edgeName(stored, model))) AS \(edge)", destination],
        ["\(edge).\(here) = \(scope.alias)._row", "\(next)._row = \(edge).\(there)"], next,
        views([layout.table(of: stored.owner), table])
      )
    }
  }

  // MARK: - Path ends

  /// The SQL of the value at the end of a path.
  mutating func end(_ end: GraphPredicate.Path.End, _ scope: Scope, isNullable: Bool) -> String? {
    switch end {
    case .identifier: return "\(scope.alias)._id"
    case .property(let number):
      guard let column = scope.table.column(of: number) else { return nil }
      let name = "\(scope.alias).\(quoted(column.name))"
      return column.references.map { "(SELECT _id FROM \(source($0)) WHERE _row = \(name))" } ?? name
    case .count(let number):
      return count(number, scope.alias).map { Self.guarded($0, scope, isNullable) }
    case .aggregate(let aggregate, let number, let attribute):
      guard let property = model.property(number), let relationship = property.relationship,
        let table = layout.table(of: relationship.destination), let column = table.column(of: attribute),
        let join = join(property, relationship, from: scope, to: table),
        openViews + join.views <= Self.maximumOpenViews
      else { return nil }
      let value = "\(join.alias).\(quoted(column.name))"
      let aggregated = past == nil ? value : "x"
      let type: GraphValueType =
        if let attribute = column.property.attribute { .init(attribute.kind) } else { .integer }
      let call =
        switch aggregate {
        case .minimum: "min(\(aggregated))"
        case .maximum: "max(\(aggregated))"
        // An empty group has no type, so its sum is given explicitly. A sum that overflows is null.
        case .sum:
          "iif(count(\(aggregated)), graph_sum(\(aggregated), '\(type.letter)'), \(argument(aggregate.value(of: [], type: type))))"
        case .average: "graph_avg(\(aggregated), '\(type.letter)')"
        }
      let found =
        " FROM \(join.tables.joined(separator: ", ")) WHERE \(join.conditions.joined(separator: " AND "))"
      let sql = "(" + oneValue(call, of: "\(value) AS x", found) + ")"
      return Self.guarded(sql, scope, isNullable)
    }
  }

  private static func guarded(_ sql: String, _ scope: Scope, _ isNullable: Bool) -> String {
    isNullable ? "CASE WHEN \(scope.alias)._row IS NULL THEN NULL ELSE \(sql) END" : sql
  }

  private func count(_ number: PropertyNumber, _ alias: String) -> String? {
    guard let property = model.property(number), let relationship = property.relationship else { return nil }
    switch relationship.storage {
    case .reference: return nil
    case .members:
      return counted(quoted(EntityTable.edgeName(property, model)), "owner = \(alias)._row")
    case .inverse:
      guard let inverse = model.property(relationship.inverse), let table = layout.table(of: relationship.destination)
      else { return nil }
      if inverse.relationship?.storage == .members {
        return counted(quoted(EntityTable.edgeName(inverse, model)), "member = \(alias)._row")
      }
      guard let column = table.column(of: inverse.number) else { return nil }
      return counted(quoted(table.name) + " AS c", "c.\(quoted(column.name)) = \(alias)._row")
    }
  }

  private func counted(_ table: String, _ condition: String) -> String {
    "(" + oneValue("count(*)", of: "1", " FROM \(table) WHERE \(condition)") + ")"
  }

  /// A statement for an aggregate. For a past state the rows come from a subquery with an unlimited LIMIT, which
  /// keeps SQLite from flattening the subquery. So SQLite can read each half of the tables by its index; directly
  /// under an aggregate it would first materialize every table.
  /// - Parameters:
  ///   - call: the aggregate of the rows' values, by the names that `value` gives them for a past state.
  ///   - rows: the FROM clause of the rows, with their condition.
  func oneValue(_ call: String, of value: String, _ rows: String) -> String {
    past == nil ? "SELECT \(call)\(rows)" : "SELECT \(call) FROM (SELECT \(value)\(rows) LIMIT -1)"
  }
}

extension GraphExpression {
  /// Whether the expression consists of other expressions.
  var isCalculated: Bool {
    switch self {
    case .arithmetic, .function: true
    case .value, .list, .expressions, .path, .subquery, .variable: false
    }
  }
}
