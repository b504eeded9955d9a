import GraphModel

/// Turns a predicate into SQL that selects what matches. What SQL has no words for (folding, patterns, decimals) is said
/// by functions of ours that a connection brings (`SQLFunctions`): nothing of them is in the file. What is nested deeper
/// than SQLite's parser takes leaves `isExact` false, and the reader asks the evaluator as well.
///
/// SQLite tells only while it reads a statement whether it can hold it: its parser's stack depends on where everything
/// stands. So a statement is tried in one form after the other (`Form`), and there is no estimate that could be wrong.
///
/// Paths against constants become `IN (SELECT …)`, so that an index on either end can be used; other paths are
/// subqueries that the row is joined to. SQL's third truth value never escapes: a negation is taken of `coalesce(…, 0)`.
struct PredicateSQL {
  /// A row that names start from.
  struct Scope {
    let alias: String
    let table: EntityTable
  }

  /// How much becomes SQL's own words: what SQLite can't hold in one form is tried in the next.
  enum Form: CaseIterable {
    /// All that SQL has words for, but for calculations that lie deep in each other, which are calls of one function.
    case plain
    /// Every calculation is one call.
    case flat
    /// Of the predicate only what lies near its surface is SQL; the evaluator is asked for the rest.
    case shallow
    /// The evaluator alone judges the predicate; what SQL is left with are orders, columns and groups.
    case bare
  }

  private(set) var arguments = [Value]()
  var isExact = true
  let form: Form
  let layout: StoreLayout
  let recentTexts: RecentTexts?
  /// Set where names mean the graph as it was, whose tables are views of two halves.
  let past: PastScope?
  /// The row that is judged, then those of the subqueries around this place.
  var scopes: [Scope]
  private var aliases = 0
  /// Views of two halves around this place. SQLite writes a join of them out half by half: each doubles what is inside.
  var openViews = 0
  /// 256 times at most; what needs more is left to the evaluator.
  static let maximumOpenViews = 8

  /// For rows of `table` called `t`.
  /// - Parameter recentTexts: what the full-text indexes do not know yet; needed by a predicate that searches.
  init(
    layout: StoreLayout, table: EntityTable, recentTexts: RecentTexts? = nil, past: PastScope? = nil,
    form: Form = .plain
  ) {
    self.form = form
    self.layout = layout
    self.past = past
    self.recentTexts = recentTexts
    scopes = [Scope(alias: "t", table: table)]
  }

  var model: Model { layout.model }
  var scope: Scope { scopes[scopes.count - 1] }

  func scope(_ level: Int) -> Scope { scopes[max(0, scopes.count - 1 - level)] }

  /// For what follows the condition.
  mutating func append(_ value: Value) { arguments.append(value) }

  mutating func argument(_ value: Value) -> String {
    arguments.append(value)
    return "?\(arguments.count)"
  }

  /// How many of these tables, which entities of these roots own, are views of two halves.
  func views(_ owners: [EntityTable?]) -> Int {
    guard let past else { return 0 }
    return owners.count { $0.map { past.tables.contains($0.name) } ?? false }
  }

  /// Nil where there would be too many views around what `body` says.
  mutating func within(_ views: Int, _ body: (inout PredicateSQL) -> String?) -> String? {
    guard openViews + views <= Self.maximumOpenViews else {
      isExact = false
      return nil
    }
    openViews += views
    defer { openViews -= views }
    return body(&self)
  }

  mutating func alias() -> String {
    aliases += 1
    return "t\(aliases)"
  }

  /// SQLite's parser has a stack of its own; what lies deeper is left to the evaluator.
  static let maximumDepth = 8
  private static let shallowDepth = 2

  /// Comparisons of a statement, at most; the evaluator is asked for the rest. SQLite looks for each constant among all
  /// before it, so 1,000 take it ten milliseconds, and 20,000 four seconds.
  static let maximumComparisons = 1_000
  private var comparisons = 0

  private var deepest: Int { form == .shallow ? Self.shallowDepth : Self.maximumDepth }

  /// Joins as a balanced tree: a chain of a thousand would be a thousand deep.
  static func join(_ parts: ArraySlice<String>, _ word: String) -> String {
    if parts.count <= 16 { return "(" + parts.joined(separator: word) + ")" }
    let middle = parts.startIndex + parts.count / 2
    return "(" + join(parts[..<middle], word) + word + join(parts[middle...], word) + ")"
  }

  /// The condition on a row.
  mutating func condition(_ predicate: GraphPredicate) -> String {
    if form != .bare || predicate == .always, let sql = translate(predicate) { return sql }
    isExact = false
    return "1"
  }

  /// An expression that has one value for each row; nil when SQL can't say it.
  mutating func expression(_ expression: GraphExpression) -> String? {
    attempt { $0.value(expression) }
  }

  /// Arguments taken on the way to nothing are given back.
  mutating func attempt(_ body: (inout PredicateSQL) -> String?) -> String? {
    let mark = (arguments: arguments.count, comparisons: comparisons)
    if let sql = body(&self) { return sql }
    arguments.removeSubrange(mark.arguments...)
    comparisons = mark.comparisons
    return nil
  }

  /// False where there would be more comparisons than a statement has.
  mutating func counts(_ more: Int = 1) -> Bool {
    guard comparisons + more <= Self.maximumComparisons else {
      isExact = false
      return false
    }
    comparisons += more
    return true
  }

  /// Nil when nothing useful can be said.
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
      for part in PredicateChain.and(parts) {
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
        for part in PredicateChain.or(parts) {
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

  /// SQL that says it all, or nothing: the complement of a superset is no superset.
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
