// Tests: RandomGraphTests.swift, DeepQueriesTests.swift
import GraphModel

/// Translates a predicate to SQL that selects the matching rows.
///
/// Operations that SQL lacks (folding, patterns, decimals) are functions that a connection registers
/// (`SQLFunctions`); the file contains none of them. If a predicate is nested too deep for SQLite's parser, `isExact`
/// is false, and the reader also runs the evaluator.
///
/// SQLite reports only when it prepares a statement whether it is within its limits, because the use of its parser's
/// stack depends on the position of each part. So the forms of a statement (`TranslationLevel`) are tried in order,
/// without an estimate.
///
/// Paths compared with constants become `IN (SELECT …)`, so that an index at either end can be used; other paths are
/// correlated subqueries. SQL's unknown truth value never propagates: negation is applied to `coalesce(…, 0)`.
package struct PredicateSQL {
  /// A row from which names are resolved.
  struct Scope {
    let alias: String
    let table: EntityTable
  }

  /// The amount of plain SQL; a statement beyond SQLite's limits in one form is tried in the next.
  enum TranslationLevel: CaseIterable {
    /// Everything that SQL can express, except deeply nested calculations, which become one function call.
    case plain
    /// Every calculation is one function call.
    case flat
    /// Only the outer levels of the predicate are SQL; the evaluator decides the rest.
    case shallow
    /// The evaluator alone decides the predicate; SQL has only orders, columns and groups.
    case bare
  }

  package private(set) var arguments = [Value]()
  var isExact = true
  let form: TranslationLevel
  let layout: StoreLayout
  let recentTexts: UnindexedRows?
  /// Set if table names resolve to a past state, whose tables are views of two halves.
  let past: ShadowedTables?
  /// Whether table names resolve to what a class sees, so that a foreign key may refer to an invisible object.
  let isReduced: Bool
  /// The names under which tables are read, for a condition in a view, whose own names stand for views; empty for the
  /// tables' own names.
  var sources = [String: String]()
  /// The row to test, then the rows of the enclosing subqueries.
  var scopes: [Scope]
  private var aliases = 0
  /// The number of enclosing views of two halves. SQLite expands a join of them half by half, so each doubles its
  /// content.
  var openViews = 0
  /// At most 256 copies; the evaluator handles predicates that need more.
  static let maximumOpenViews = 8

  package init(layout: StoreLayout, table: EntityTable) { self.init(layout: layout, table: table, recentTexts: nil) }

  /// Creates a builder for rows of `table` with the alias `t`.
  /// - Parameter recentTexts: the objects that the full-text indexes lack; required for a predicate that searches.
  init(
    layout: StoreLayout, table: EntityTable, recentTexts: UnindexedRows?, past: ShadowedTables? = nil,
    isReduced: Bool = false, form: TranslationLevel = .plain
  ) {
    self.isReduced = isReduced
    self.form = form
    self.layout = layout
    self.past = past
    self.recentTexts = recentTexts
    scopes = [Scope(alias: "t", table: table)]
  }

  var model: Model { layout.model }
  var scope: Scope { scopes[scopes.count - 1] }

  /// The name under which a table is read.
  func source(_ table: String) -> String { sources[table, default: quoted(table)] }

  /// The condition that a foreign key refers to no row that the statement sees.
  func isMissing(_ reference: String, _ column: EntityTable.Column) -> String {
    guard isReduced, let destination = column.references else { return "\(reference) IS NULL" }
    return "(\(reference) IS NULL OR NOT EXISTS (SELECT 1 FROM \(source(destination)) WHERE _row = \(reference)))"
  }

  func scope(_ level: Int) -> Scope { scopes[max(0, scopes.count - 1 - level)] }

  /// Adds an argument for the part after the condition.
  mutating func append(_ value: Value) { arguments.append(value) }

  package mutating func argument(_ value: Value) -> String {
    arguments.append(value)
    return "?\(arguments.count)"
  }

  /// The number of views of two halves among the tables of these entities.
  func views(_ owners: [EntityTable?]) -> Int {
    guard let past else { return 0 }
    return owners.count { if let owner = $0 { past.tables.contains(owner.name) } else { false } }
  }

  /// Calls `body` inside the given number of views; nil if there would be too many.
  mutating func within(_ views: Int, _ body: (inout PredicateSQL) -> String?) -> String? {
    guard openViews + views <= Self.maximumOpenViews else {
      isExact = false
      return nil
    }
    assert(views >= 0)
    openViews += views
    defer { openViews -= views }
    return body(&self)
  }

  mutating func alias() -> String {
    aliases += 1
    return "t\(aliases)"
  }

  /// The maximum depth, because SQLite's parser stack is limited; the evaluator handles deeper parts.
  static let maximumDepth = 8
  private static let shallowDepth = 2

  /// The maximum number of comparisons in a statement; the evaluator handles the rest. SQLite compares each constant
  /// with all earlier ones, so 1,000 take ten milliseconds, and 20,000 four seconds.
  static let maximumComparisons = 1_000
  private var comparisons = 0

  private var deepest: Int { form == .shallow ? Self.shallowDepth : Self.maximumDepth }

  /// Joins conditions as a balanced tree, because a plain chain of a thousand would be a thousand levels deep.
  static func join(_ parts: ArraySlice<String>, _ word: String) -> String {
    if parts.count <= 16 { return "(" + parts.joined(separator: word) + ")" }
    let middle = parts.startIndex + parts.count / 2
    return "(" + join(parts[..<middle], word) + word + join(parts[middle...], word) + ")"
  }

  /// Returns the condition on a row.
  mutating func condition(_ predicate: GraphPredicate) -> String {
    if form != .bare || predicate == .always, let sql = translate(predicate) { return sql }
    isExact = false
    return "1"
  }

  /// Returns SQL for an expression with one value per row; nil if SQL can't express it.
  package mutating func expression(_ expression: GraphExpression) -> String? {
    attempt { $0.value(expression) }
  }

  /// Calls `body`, and removes its arguments if it returns nil.
  mutating func attempt(_ body: (inout PredicateSQL) -> String?) -> String? {
    let mark = (arguments: arguments.count, comparisons: comparisons)
    if let sql = body(&self) { return sql }
    assert(arguments.count >= mark.arguments && comparisons >= mark.comparisons)
    arguments.removeSubrange(mark.arguments...)
    comparisons = mark.comparisons
    return nil
  }

  /// Counts comparisons; returns false if the statement would have too many.
  mutating func counts(_ more: Int = 1) -> Bool {
    guard comparisons + more <= Self.maximumComparisons else {
      isExact = false
      return false
    }
    comparisons += more
    return true
  }

  /// Returns a condition that all matching rows satisfy; nil if there is no useful one.
  mutating func translate(_ predicate: GraphPredicate, depth: Int = 0) -> String? {
    if depth > deepest {
      isExact = false
      return nil
    }
    switch predicate {
    case .always: return "1"
    case .never: return "0"
    case .and(let parts):
      var sql = [String]()
      for part in PredicateChainSimplifier.and(parts) {
        if let translated = attempt({ $0.translate(part, depth: depth + 1) }) {
          sql.append(translated)
        } else {
          isExact = false
        }
      }
      return sql.isEmpty ? nil : Self.join(sql[...], " AND ")
    case .or(let parts):
      return attempt { builder in
        var sql = [String]()
        for part in PredicateChainSimplifier.or(parts) {
          guard let translated = builder.translate(part, depth: depth + 1) else {
            builder.isExact = false
            return nil
          }
          sql.append(translated)
        }
        return Self.join(sql[...], " OR ")
      }
    case .not(let inner):
      guard let translated = exactly({ $0.translate(inner, depth: depth + 1) }) else { return nil }
      return "NOT coalesce(\(translated), 0)"
    case .comparison(let comparison): return attempt { $0.counts() ? $0.translate(comparison) : nil }
    }
  }

  /// Returns SQL for the complete condition, or nil: the complement of a superset is no superset.
  mutating func exactly(_ body: (inout PredicateSQL) -> String?) -> String? {
    let wasExact = isExact
    isExact = true
    let sql = attempt(body)
    guard let sql, isExact else {
      isExact = false
      return nil
    }
    isExact = wasExact
    return sql
  }
}
