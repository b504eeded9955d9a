import GraphModel

/// Turns a predicate into SQL that selects at least what matches. Where SQL can't say the same (folding without a
/// custom function, patterns), `isExact` is false and the reader asks the evaluator as well.
///
/// Paths become `IN (SELECT …)`, so that an index on either end can be used. SQL's third truth value never escapes:
/// a negation is taken of `coalesce(…, 0)`.
struct PredicateSQL {
  private(set) var arguments = [Value]()
  private(set) var isExact = true
  private let layout: StoreLayout
  private let recentTexts: RecentTexts?
  private var aliases = 0

  /// - Parameter recentTexts: what the full-text indexes do not know yet; needed by a predicate that searches.
  init(layout: StoreLayout, recentTexts: RecentTexts? = nil) {
    self.layout = layout
    self.recentTexts = recentTexts
  }

  private var model: Model { layout.model }

  /// For what follows the condition.
  mutating func append(_ value: Value) { arguments.append(value) }

  /// SQLite's parser has a stack of its own; what lies deeper is left to the evaluator.
  private static let maximumDepth = 8

  /// Joins as a balanced tree: a chain of a thousand would be a thousand deep.
  private static func join(_ parts: ArraySlice<String>, _ word: String) -> String {
    if parts.count <= 16 { return "(" + parts.joined(separator: word) + ")" }
    let middle = parts.startIndex + parts.count / 2
    return "(" + join(parts[..<middle], word) + word + join(parts[middle...], word) + ")"
  }

  /// The condition on a row of `table` called `t`.
  mutating func condition(_ predicate: GraphPredicate, on alias: String = "t", in table: EntityTable) -> String {
    translate(predicate, alias, table)
      ?? {
        isExact = false
        return "1"
      }()
  }

  /// Nil when nothing useful can be said; arguments taken on the way are given back.
  private mutating func translate(
    _ predicate: GraphPredicate, _ alias: String, _ table: EntityTable, depth: Int = 0
  ) -> String? {
    let mark = arguments.count
    if depth > Self.maximumDepth {
      isExact = false
      return nil
    }
    switch predicate {
    case .always: return "1"
    case .never: return "0"
    case .and(let parts):
      var sql = [String]()
      for part in parts {
        if let translated = translate(part, alias, table, depth: depth + 1) {
          sql.append(translated)
        } else {
          isExact = false
        }
      }
      return sql.isEmpty ? nil : Self.join(sql[...], " AND ")
    case .or(let parts):
      var sql = [String]()
      for part in parts {
        guard let translated = translate(part, alias, table, depth: depth + 1) else {
          arguments.removeSubrange(mark...)
          isExact = false
          return nil
        }
        sql.append(translated)
      }
      return Self.join(sql[...], " OR ")
    case .not(let inner):
      // The complement of a superset is no superset.
      let wasExact = isExact
      isExact = true
      guard let translated = translate(inner, alias, table, depth: depth + 1), isExact else {
        arguments.removeSubrange(mark...)
        isExact = false
        return nil
      }
      isExact = wasExact
      return "NOT coalesce(\(translated), 0)"
    case .comparison(let comparison): return translate(comparison, alias, table)
    }
  }

  private mutating func translate(
    _ comparison: GraphPredicate.Comparison, _ alias: String, _ table: EntityTable
  ) -> String? {
    switch comparison.quantifier {
    case .one:
      return exists(comparison, comparison.path.hops[...], alias, table, missing: Self.holdsForNull(comparison))
    case .any:
      return exists(comparison, comparison.path.hops[...], alias, table, missing: Self.holdsForNull(comparison))
    case .none:
      let mark = arguments.count
      let wasExact = isExact
      isExact = true
      guard
        let any = exists(
          comparison, comparison.path.hops[...], alias, table, missing: Self.holdsForNull(comparison)),
        isExact
      else {
        arguments.removeSubrange(mark...)
        isExact = false
        return nil
      }
      isExact = wasExact
      return "NOT coalesce(\(any), 0)"
    case .all: return nil
    }
  }

  /// Whether a missing object at the end of a to-one path, which reads as null, satisfies the comparison.
  private static func holdsForNull(_ comparison: GraphPredicate.Comparison) -> Bool {
    switch (comparison.comparator, comparison.operand) {
    case (.equal, .value(.null)): true
    case (.notEqual, .value(let value)): !value.isNull
    case (.in, .list(let values)): values.contains(.null)
    default: false
    }
  }

  private mutating func exists(
    _ comparison: GraphPredicate.Comparison, _ hops: ArraySlice<PropertyNumber>, _ alias: String, _ table: EntityTable,
    missing: Bool
  ) -> String? {
    guard let hop = hops.first else { return leaf(comparison, alias, table) }
    guard hops.count <= Self.maximumDepth / 2 else { return nil }
    guard let property = model.property(hop), let relationship = property.relationship,
      let next = layout.table(of: relationship.destination)
    else { return nil }
    aliases += 1
    let inner = "t\(aliases)"
    guard let condition = exists(comparison, hops.dropFirst(), inner, next, missing: missing) else { return nil }
    let matching = "FROM \(quoted(next.name)) AS \(inner) WHERE \(condition)"
    switch relationship.storage {
    case .reference:
      guard let column = table.column(of: hop) else { return nil }
      let reference = "\(alias).\(quoted(column.name))"
      let found = "\(reference) IN (SELECT \(inner)._row \(matching))"
      return missing ? "(\(reference) IS NULL OR \(found))" : found
    case .members:
      let edge = quoted(EntityTable.edgeName(property, model))
      return "\(alias)._row IN (SELECT owner FROM \(edge) WHERE member IN (SELECT \(inner)._row \(matching)))"
    case .inverse:
      guard let inverse = model.property(relationship.inverse) else { return nil }
      if inverse.relationship?.storage == .members {
        let edge = quoted(EntityTable.edgeName(inverse, model))
        return "\(alias)._row IN (SELECT member FROM \(edge) WHERE owner IN (SELECT \(inner)._row \(matching)))"
      }
      guard let column = next.column(of: inverse.number) else { return nil }
      return "\(alias)._row IN (SELECT \(inner).\(quoted(column.name)) \(matching))"
    }
  }

  // MARK: - The end of a path

  private mutating func leaf(_ comparison: GraphPredicate.Comparison, _ alias: String, _ table: EntityTable) -> String?
  {
    switch comparison.path.end {
    case .identifier: return identifier(comparison, "\(alias)._id")
    case .count(let number):
      guard let count = count(number, alias) else { return nil }
      return compare(count, comparison) { .some($0) }
    case .property(let number):
      guard let column = table.column(of: number) else { return nil }
      let name = "\(alias).\(quoted(column.name))"
      if column.destination != nil { return reference(comparison, name, column) }
      if comparison.comparator == .search { return search(comparison, alias, column.property) }
      guard comparison.options.isEmpty else { return nil }
      // A whole number's bound may be a fraction; SQLite compares the two by value, as the evaluator does.
      return compare(name, comparison) { $0 }
    }
  }

  private mutating func argument(_ value: Value) -> String {
    arguments.append(value)
    return "?\(arguments.count)"
  }

  private mutating func compare(
    _ expression: String, _ comparison: GraphPredicate.Comparison, _ convert: (Value) -> Value?
  ) -> String? {
    switch (comparison.comparator, comparison.operand) {
    case (.equal, .value(let value)): return "\(expression) IS \(argument(value))"
    case (.notEqual, .value(let value)): return "\(expression) IS NOT \(argument(value))"
    case (.less, .value(let value)), (.lessOrEqual, .value(let value)), (.greater, .value(let value)),
      (.greaterOrEqual, .value(let value)):
      return value.isNull ? "0" : "\(expression) \(comparison.comparator.rawValue) \(argument(value))"
    case (.between, .list(let values)):
      guard values.count == 2, !values.contains(.null) else { return "0" }
      return "\(expression) BETWEEN \(argument(values[0])) AND \(argument(values[1]))"
    case (.in, .list(let values)):
      let present = values.filter { !$0.isNull }.map { argument($0) }.joined(separator: ", ")
      let found = "\(expression) IN (\(present))"
      return present.count == 0 && !values.contains(.null)
        ? "0" : values.contains(.null) ? "(\(expression) IS NULL OR \(found))" : found
    case (.beginsWith, .value(.string(let prefix))):
      if prefix.isEmpty { return "\(expression) IS NOT NULL" }
      // Text that begins with the prefix sorts from it on; where it ends, the evaluator knows.
      isExact = false
      return "\(expression) >= \(argument(.string(prefix)))"
    case (.contains, .value(.string(let part))):
      return part.isEmpty ? "\(expression) IS NOT NULL" : "instr(\(expression), \(argument(.string(part)))) > 0"
    default: return nil
    }
  }

  private mutating func identifier(_ comparison: GraphPredicate.Comparison, _ expression: String) -> String? {
    if case (.beginsWith, .value(.string(let prefix))) = (comparison.comparator, comparison.operand) {
      guard let range = UniqueID.range(ofPrefix: prefix) else { return "0" }
      func half(_ bits: UInt128) -> Value {
        .data(Array(UniqueID(high: UInt64(bits >> 64), low: 0).bytes.prefix(8)))
      }
      if prefix.utf8.count > 13 { isExact = false }
      return
        "substr(\(expression), 9) BETWEEN \(argument(half(range.lowerBound))) AND \(argument(half(range.upperBound)))"
    }
    return compare(expression, comparison) { $0 }
  }

  private mutating func reference(
    _ comparison: GraphPredicate.Comparison, _ expression: String, _ column: EntityTable.Column
  ) -> String? {
    guard let destination = column.destination else { return nil }
    func row(_ value: Value) -> String {
      value.isNull ? "NULL" : "(SELECT _row FROM \(quoted(destination)) WHERE _id = \(argument(value)))"
    }
    switch (comparison.comparator, comparison.operand) {
    // An object that is not there equals no reference, not even a null one.
    case (.equal, .value(let value)): return value.isNull ? "\(expression) IS NULL" : "\(expression) = \(row(value))"
    case (.notEqual, .value(let value)):
      return value.isNull ? "\(expression) IS NOT NULL" : "NOT coalesce(\(expression) = \(row(value)), 0)"
    case (.in, .list(let values)):
      if values.isEmpty { return "0" }
      let rows = values.filter { !$0.isNull }.map { row($0) }.joined(separator: ", ")
      let found = "\(expression) IN (\(rows))"
      return values.contains(.null) ? "(\(expression) IS NULL OR \(found))" : found
    default: return nil
    }
  }

  private func count(_ number: PropertyNumber, _ alias: String) -> String? {
    guard let property = model.property(number), let relationship = property.relationship else { return nil }
    switch relationship.storage {
    case .reference: return nil
    case .members:
      return "(SELECT count(*) FROM \(quoted(EntityTable.edgeName(property, model))) WHERE owner = \(alias)._row)"
    case .inverse:
      guard let inverse = model.property(relationship.inverse), let table = layout.table(of: relationship.destination)
      else { return nil }
      if inverse.relationship?.storage == .members {
        return "(SELECT count(*) FROM \(quoted(EntityTable.edgeName(inverse, model))) WHERE member = \(alias)._row)"
      }
      guard let column = table.column(of: inverse.number) else { return nil }
      return "(SELECT count(*) FROM \(quoted(table.name)) AS c WHERE c.\(quoted(column.name)) = \(alias)._row)"
    }
  }

  private mutating func search(_ comparison: GraphPredicate.Comparison, _ alias: String, _ property: Property)
    -> String?
  {
    guard case .value(.string(let text)) = comparison.operand, let recentTexts else { return nil }
    let words = text.words
    if words.isEmpty {
      return layout.table(of: property.owner)?.column(of: property.number).map {
        "\(alias).\(quoted($0.name)) IS NOT NULL"
      }
    }
    let query = words.map { "\"\($0)\"*" }.joined(separator: " AND ")
    let table = quoted(EntityTable.wordName(property, model))
    let indexed = "\(alias)._row IN (SELECT rowid FROM \(table) WHERE \(table) MATCH \(argument(.string(query))))"
    let recent = recentTexts.rows(of: property, model: model, words: words).map(String.init).joined(separator: ", ")
    return "(\(indexed) AND \(alias)._revision <= \(recentTexts.watermark) OR \(alias)._row IN (\(recent)))"
  }
}
