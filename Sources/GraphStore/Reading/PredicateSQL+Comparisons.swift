// Tests: RandomGraphTests.swift, DeepQueriesTests.swift
import GraphModel

/// Comparisons as SQL. Where an index can be used, one side is the bare column.
extension PredicateSQL {
  mutating func translate(_ comparison: GraphPredicate.Comparison) -> String? {
    if let path = comparison.path, comparison.quantifier != .all, isConstant(comparison.right) {
      // An index at the end of the path may be better: find the matching rows there, then the objects that lead to
      // them.
      if comparison.quantifier == .none {
        guard let any = exactly({ $0.leading(comparison, path, $0.scope(path.level)) }) else {
          return nil
        }
        return "NOT coalesce(\(any), 0)"
      }
      return leading(comparison, path, scope(path.level))
    }
    guard comparison.quantifier != .one, let path = comparison.path else {
      guard let left = value(comparison.left) else { return nil }
      return compare(left, comparison)
    }
    guard let chain = chain(path.hops, from: scope(path.level)),
      let condition = within(
        chain.views,
        { builder in
          builder.end(path.end, chain.end, isNullable: chain.isNullable).flatMap { builder.compare($0, comparison) }
        })
    else { return nil }
    let holds = comparison.quantifier == .all ? "NOT coalesce(\(condition), 0)" : Self.unindexed(condition)
    let exists = "EXISTS (SELECT 1 FROM \(chain.from) WHERE \((chain.conditions + [holds]).joined(separator: " AND ")))"
    return comparison.quantifier == .any ? exists : "NOT \(exists)"
  }

  private func isConstant(_ expression: GraphExpression) -> Bool {
    switch expression {
    case .value, .list: true
    default: false
    }
  }

  /// Whether a missing object at the end of a to-one path, which reads as null, satisfies the comparison.
  static func holdsForNull(_ comparison: GraphPredicate.Comparison) -> Bool {
    switch (comparison.comparator, comparison.right) {
    case (.equal, .value(.null)): true
    case (.notEqual, .value(let value)): !value.isNull
    case (.in, .list(let values)): values.contains(.null)
    default: false
    }
  }

  // MARK: - A path against a constant

  private mutating func leading(
    _ comparison: GraphPredicate.Comparison, _ path: GraphPredicate.Path, _ scope: Scope
  ) -> String? {
    // Each step is nested in the preceding one, within SQLite's parser limit; the steps of a longer path become a
    // WITH clause.
    var tables: [String]? = path.hops.count > Self.maximumDepth / 2 ? [] : nil
    return leading(comparison, path, path.hops[...], scope, &tables)
  }

  /// - Parameter tables: the steps of a path that is too long to nest, from its end on: `name(r) AS (SELECT …)`, each
  ///   of which reads the preceding one.
  private mutating func leading(
    _ comparison: GraphPredicate.Comparison, _ path: GraphPredicate.Path, _ hops: ArraySlice<PropertyNumber>,
    _ scope: Scope, _ tables: inout [String]?
  ) -> String? {
    guard let hop = hops.first else { return constant(comparison, path.end, scope) }
    guard let property = model.property(hop), let relationship = property.relationship,
      let next = layout.table(of: relationship.destination)
    else { return nil }
    let inner = Scope(alias: alias(), table: next)
    let edges = relationship.storage == .members ? property : model.property(relationship.inverse)
    let isOverEdges = edges?.relationship?.storage == .members
    let views = views([next, isOverEdges ? edges.flatMap { layout.table(of: $0.owner) } : nil])
    guard let condition = within(views, { $0.leading(comparison, path, hops.dropFirst(), inner, &tables) }) else {
      return nil
    }
    let isFirst = hops.count == path.hops.count
    /// Returns the values of a column of the matching rows, for an IN.
    func matching(_ column: String) -> String {
      let select = "SELECT \(inner.alias).\(column) FROM \(quoted(next.name)) AS \(inner.alias) WHERE \(condition)"
      guard let before = tables else { return "(\(select))" }
      let all = before + ["s\(inner.alias)(r) AS (\(select))"]
      tables = all
      let rows = "SELECT r FROM s\(inner.alias)"
      return isFirst ? "(WITH \(all.joined(separator: ", ")) \(rows))" : "(\(rows))"
    }
    switch relationship.storage {
    case .reference:
      guard let column = scope.table.column(of: hop) else { return nil }
      let reference = "\(scope.alias).\(quoted(column.name))"
      let found = "\(reference) IN \(matching("_row"))"
      return Self.holdsForNull(comparison) ? "(\(isMissing(reference, column)) OR \(found))" : found
    case .members:
      let edge = quoted(EntityTable.edgeName(property, model))
      return "\(scope.alias)._row IN (SELECT owner FROM \(edge) WHERE member IN \(matching("_row")))"
    case .inverse:
      guard let inverse = model.property(relationship.inverse) else { return nil }
      if inverse.relationship?.storage == .members {
        let edge = quoted(EntityTable.edgeName(inverse, model))
        return "\(scope.alias)._row IN (SELECT member FROM \(edge) WHERE owner IN \(matching("_row")))"
      }
      guard let column = next.column(of: inverse.number) else { return nil }
      return "\(scope.alias)._row IN \(matching(quoted(column.name)))"
    }
  }

  private mutating func constant(
    _ comparison: GraphPredicate.Comparison, _ end: GraphPredicate.Path.End, _ scope: Scope
  ) -> String? {
    switch end {
    case .identifier:
      if comparison.comparator == .beginsWith { return prefix(comparison, "\(scope.alias)._id") }
    case .property(let number):
      guard let column = scope.table.column(of: number) else { return nil }
      if column.destination != nil {
        return reference(comparison, "\(scope.alias).\(quoted(column.name))", column)
      }
      if comparison.comparator == .search { return search(comparison, scope.alias, column.property) }
      guard let sql = compare("\(scope.alias).\(quoted(column.name))", comparison) else { return nil }
      return withKey(sql, comparison, scope, column)
    case .count, .aggregate: break
    }
    guard let left = self.end(end, scope, isNullable: false) else { return nil }
    return compare(left, comparison)
  }

  /// Adds the condition of a unique key's partial index.
  ///
  /// The given condition holds for no row without a key. SQLite uses a partial index only if the statement implies
  /// the index's condition.
  private func withKey(
    _ sql: String, _ comparison: GraphPredicate.Comparison, _ scope: Scope, _ column: EntityTable.Column
  ) -> String {
    guard let family = scope.table.partialKeys[column.property.number], !Self.holdsForNull(comparison) else {
      return sql
    }
    var conditions = [sql]
    if comparison.comparator == .equal { conditions.append("\(scope.alias).\(quoted(column.name)) IS NOT NULL") }
    if !family.isEmpty { conditions.append("\(scope.alias).\(family)") }
    return conditions.count == 1 ? sql : "(" + conditions.joined(separator: " AND ") + ")"
  }

  private mutating func prefix(_ comparison: GraphPredicate.Comparison, _ expression: String) -> String? {
    guard case .value(.string(let prefix)) = comparison.right else { return nil }
    guard let range = UniqueID.range(ofPrefix: prefix) else { return "0" }
    func half(_ bits: UInt128) -> Value {
      .data(Array(UniqueID(high: UInt64(bits >> 64), low: 0).bytes.prefix(8)))
    }
    if prefix.utf8.count > 13 { isExact = false }
    return
      "substr(\(expression), 9) BETWEEN \(argument(half(range.lowerBound))) AND \(argument(half(range.upperBound)))"
  }

  /// Compares a foreign key with the row of a constant object. Only the constant's id must be looked up.
  private mutating func reference(
    _ comparison: GraphPredicate.Comparison, _ expression: String, _ column: EntityTable.Column
  ) -> String? {
    guard let destination = column.references else { return nil }
    func row(_ value: Value) -> String {
      value.isNull ? "NULL" : "(SELECT _row FROM \(source(destination)) WHERE _id = \(argument(value)))"
    }
    switch (comparison.comparator, comparison.right) {
    // A missing object equals no reference, not even null.
    case (.equal, .value(let value)):
      return value.isNull ? isMissing(expression, column) : "\(expression) = \(row(value))"
    case (.notEqual, .value(let value)):
      let isPresent = isReduced ? "NOT \(isMissing(expression, column))" : "\(expression) IS NOT NULL"
      return value.isNull ? isPresent : "NOT coalesce(\(expression) = \(row(value)), 0)"
    case (.in, .list(let values)):
      if values.isEmpty { return "0" }
      let present = values.filter { !$0.isNull }
      let rows: String
      if isShort(present.count) {
        rows = present.map { row($0) }.joined(separator: ", ")
      } else {
        guard let ids = list(present) else { return nil }
        rows = "SELECT _row FROM \(source(destination)) WHERE _id IN (\(ids))"
      }
      let found = "\(expression) IN (\(rows))"
      return values.contains(.null) ? "(\(isMissing(expression, column)) OR \(found))" : found
    default: return nil
    }
  }

  /// The maximum number of terms in a full-text query; the other terms are compared with the texts found.
  private static let maximumSearchTerms = 64

  private mutating func search(_ comparison: GraphPredicate.Comparison, _ alias: String, _ property: Property)
    -> String?
  {
    guard case .value(.string(let text)) = comparison.right, let recentTexts else { return nil }
    let words = text.words
    if words.isEmpty {
      return layout.table(of: property.owner)?.column(of: property.number).map {
        "\(alias).\(quoted($0.name)) IS NOT NULL"
      }
    }
    let terms = Set(words.flatMap(\.searchTerms).map(ByteKey.init))
    // The longest terms find the fewest texts, which are compared with the rest.
    let queried = terms.sorted { ($1.text.utf8.count, $0) < ($0.text.utf8.count, $1) }.prefix(Self.maximumSearchTerms)
    let query = queried.map { "\"\($0.text)\"*" }.sorted().joined(separator: " AND ")
    let table = quoted(EntityTable.fullTextName(property, model))
    let indexed = "\(alias)._row IN (SELECT rowid FROM \(table) WHERE \(table) MATCH \(argument(.string(query))))"
    var known = "\(indexed) AND \(alias)._revision <= \(recentTexts.watermark)"
    if terms.count > queried.count || words.contains(where: \.needsComparison) {
      guard let column = layout.table(of: property.owner)?.column(of: property.number) else { return nil }
      known += " AND graph_search(\(alias).\(quoted(column.name)), \(argument(.string(text))))"
    }
    if let past, let owners = layout.table(of: property.owner), past.tables.contains(owners.name) {
      // The row has the same number now, and the index has its present words.
      known += " AND \(alias)._row NOT IN (SELECT _row FROM \(PastTables.gone(owners, in: past.schema)))"
    }
    var recent = recentTexts.rows(of: property, model: model, words: words).map(String.init).joined(separator: ", ")
    // With an empty list, SQLite would scan the whole table.
    if recent.isEmpty { return "(\(known))" }
    if past != nil {
      // In the past there may be many more such rows than the indexes ever lack in the present.
      recent = "SELECT value FROM json_each(\(argument(.string("[\(recent)]"))))"
    }
    return "(\(known) OR \(alias)._row IN (\(recent)))"
  }

  // MARK: - Two values

  /// - Parameter left: the SQL expression of the left side.
  private mutating func compare(_ left: String, _ comparison: GraphPredicate.Comparison) -> String? {
    let options = comparison.options
    let left = options.isEmpty || comparison.comparator == .matches ? left : "graph_fold(\(left), \(options.rawValue))"
    func folded(_ value: Value) -> Value {
      if case .string(let text) = value, comparison.comparator != .matches {
        .string(text.folded(options))
      } else {
        value
      }
    }
    var rights = [String]()
    switch comparison.right {
    case .value(let value):
      if value.isNull { return withNull(left, comparison.comparator) }
      if case .string(let text) = folded(value), let sql = withText(left, comparison.comparator, text) { return sql }
      rights = [argument(folded(value))]
    case .list(let values):
      if comparison.comparator == .between, values.contains(.null) { return "0" }
      let present = values.filter { !$0.isNull }.map(folded)
      if comparison.comparator == .in {
        guard let list = list(present) else { return nil }
        let found = "\(left) IN (\(list))"
        if !values.contains(.null) { return present.isEmpty ? "0" : found }
        return present.isEmpty ? "\(left) IS NULL" : "(\(left) IS NULL OR \(found))"
      }
      rights = present.map { argument($0) }
    case .expressions(let parts):
      guard counts(parts.count) else { return nil }
      for part in parts {
        guard let right = value(part) else { return nil }
        rights.append(options.isEmpty ? right : "graph_fold(\(right), \(options.rawValue))")
      }
      if comparison.comparator == .in { return Self.join(rights.map { "\(left) IS \($0)" }[...], " OR ") }
    case let other:
      guard let right = value(other) else { return nil }
      rights = [options.isEmpty ? right : "graph_fold(\(right), \(options.rawValue))"]
    }
    guard let right = rights.first else { return nil }
    switch comparison.comparator {
    case .equal: return "\(left) IS \(right)"
    case .notEqual: return "\(left) IS NOT \(right)"
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return "\(left) \(comparison.comparator.rawValue) \(right)"
    case .between: return rights.count == 2 ? "\(left) BETWEEN \(right) AND \(rights[1])" : nil
    case .like: return "graph_like(\(left), \(right))"
    case .matches: return "graph_matches(\(left), \(right), \(options.rawValue))"
    case .contains:
      return Self.isShort(comparison.right) ? "instr(\(left), \(right)) > 0" : "graph_contains(\(left), \(right))"
    case .beginsWith: return part(left, from: "1", right)
    // A start of -0 would be the beginning of the text.
    case .endsWith: return part(left, from: "-length(CAST(\(right) AS BLOB))", right)
    case .in, .search: return nil
    }
  }

  /// Whether a text is so short that SQLite's instr is fastest.
  ///
  /// Its time is proportional to the product of both lengths, and it can't be interrupted.
  private static func isShort(_ expression: GraphExpression) -> Bool {
    if case .value(.string(let text)) = expression { text.utf8.count <= 16 } else { false }
  }

  /// Whether a text has another one at an offset. The empty text is part of every text, but SQLite's substr of an
  /// empty text is null.
  private func part(_ text: String, from start: String, _ other: String) -> String {
    "(length(CAST(\(other) AS BLOB)) = 0 AND \(text) IS NOT NULL OR "
      + "substr(CAST(\(text) AS BLOB), \(start), length(CAST(\(other) AS BLOB))) = CAST(\(other) AS BLOB))"
  }

  /// A comparison with null, for which only equality and inequality can hold.
  private func withNull(_ left: String, _ comparator: GraphPredicate.Comparator) -> String {
    switch comparator {
    case .equal: "\(left) IS NULL"
    case .notEqual: "\(left) IS NOT NULL"
    default: "0"
    }
  }

  /// The forms that can use an index; nil for the others.
  private mutating func withText(
    _ left: String, _ comparator: GraphPredicate.Comparator, _ text: String
  ) -> String? {
    guard [.beginsWith, .endsWith, .contains].contains(comparator) else { return nil }
    if text.isEmpty { return "\(left) IS NOT NULL" }
    guard comparator == .beginsWith else { return nil }
    // The texts with this prefix sort from it up to the prefix with its last character incremented.
    let low = "\(left) >= \(argument(.string(text)))"
    return text.successor.map { "(\(low) AND \(left) < \(argument(.string($0))))" } ?? low
  }
}

extension String {
  /// The first string, in byte order, after all strings with this prefix; nil if there is none.
  fileprivate var successor: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      if let scalar = Unicode.Scalar(next) {
        return String(String.UnicodeScalarView(scalars + [scalar]))
      }
    }
    return nil
  }
}
