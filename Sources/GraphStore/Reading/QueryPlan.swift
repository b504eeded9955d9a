// Tests: ExplainTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// SQLite's plan for a statement, described in words.
struct QueryPlan {
  /// The steps, indented if a step is part of the preceding one.
  private(set) var steps = [String]()
  /// The indexes used for a search or an order.
  private(set) var indexes = [String]()
  /// Those of the indexes with which whole tables are scanned.
  private(set) var orders = [String]()
  /// The tables that are scanned completely.
  private(set) var scans = [String]()
  /// Whether the rows are sorted because no index provides the order.
  private(set) var sorts = false

  private let statement: String
  private let names: [String: String]
  private var sizes = [String: Int]()

  init(_ statement: String, _ connection: Connection) throws {
    self.statement = statement
    names = Self.names(in: statement)
    // Stepped directly, because GRDB requires the statement's arguments, which a plan does not need.
    let query = try connection.makeStatement(Self.explainQuery(statement))
    defer { withExtendedLifetime(query) {} }
    let row = Row(statement: query.sqliteStatement)
    defer { sqlite3_reset(row.statement) }
    var details = [(id: Int64, parent: Int64, text: String)]()
    while try connection.step(row) { details.append((row.integer(0), row.integer(1), row.text(3))) }
    var depths = [Int64: Int]()
    for (id, parent, text) in details {
      // The parent of an outermost step is 0, which is no step.
      let depth = if let outer = depths[parent] { outer + 1 } else { 0 }
      depths[id] = depth
      steps.append(String(repeating: "  ", count: depth) + (try words(text, connection.database)))
    }
  }

  private static func explainQuery(_ statement: String) -> String { "EXPLAIN QUERY PLAN " + statement }

  /// - Throws: `Refusal` with `.limit` if the EXPLAIN statement, which is slightly deeper, exceeds SQLite's limits.
  static func prepare(_ statement: String, _ connection: Connection) throws {
    _ = try connection.makeStatement(explainQuery(statement))
  }

  /// The tables of the aliases `t`, `t1`, …: the names before AS.
  private static func names(in statement: String) -> [String: String] {
    var names = [String: String]()
    let parts = statement.split(separator: "\" AS ", omittingEmptySubsequences: false)
    for (left, right) in zip(parts, parts.dropFirst()) {
      let alias = right.prefix { $0.isLetter || $0.isNumber }
      guard let start = left.lastIndex(of: "\"") else { continue }
      names[String(alias)] = String(left[left.index(after: start)...])
    }
    return names
  }

  private mutating func words(_ detail: String, _ database: Database) throws -> String {
    if let half = Self.half(detail) { return half }
    if let rest = detail.removing("SCAN ") {
      if let virtual = rest.firstRange(of: " VIRTUAL TABLE") {
        return fullTextSearch(String(rest[..<virtual.lowerBound]))
      }
      let (name, how) = Self.parts(rest)
      guard let table = table(name) else { return "starts with one empty row" }
      if !scans.contains(table) { scans.append(table) }
      let size = try size(of: table, database)
      guard let index = how.index, !Self.isKey(index) else {
        return
          "reads all \(size) \(Self.kind(table)) of \(table)" + (how.index == nil ? "" : ", in the order of their ids")
      }
      if !indexes.contains(index) { indexes.append(index) }
      orders.append(index)
      return "goes through \(Self.kind(table)) of \(table) in the order of the index \(index), \(size) at most"
    }
    if let rest = detail.removing("SEARCH ") {
      let (name, how) = Self.parts(rest)
      let table = table(name) ?? name
      guard let index = how.index else { return "finds \(Self.kind(table)) of \(table) by their number" }
      if index.hasPrefix("sqlite_autoindex_") {
        return
          "finds \(Self.kind(table)) of \(table) by \(how.terms.contains("_id") ? "their ids" : "their key") \(how.terms)"
      }
      if !indexes.contains(index) { indexes.append(index) }
      return "finds \(Self.kind(table)) of \(table) by the index \(index) \(how.terms)"
    }
    if let purpose = detail.removing("USE TEMP B-TREE FOR ") {
      switch purpose {
      case "ORDER BY":
        sorts = true
        return "sorts the rows found"
      case "GROUP BY": return "sorts the rows found into groups"
      case "DISTINCT": return "removes duplicate rows"
      default: return "sorts rows with equal keys"
      }
    }
    if detail.hasPrefix("CORRELATED SCALAR SUBQUERY") { return "for each of them" }
    if detail.hasPrefix("SCALAR SUBQUERY") || detail.hasPrefix("LIST SUBQUERY") { return "once" }
    if detail == "MULTI-INDEX OR" { return "combines" }
    return detail.hasPrefix("INDEX ") ? "one of them" : detail
  }

  /// The steps of a past table, a view of unchanged and changed rows.
  private static func half(_ detail: String) -> String? {
    switch detail {
    case "COMPOUND QUERY", "MERGE (UNION ALL)": return "combines"
    case "LEFT-MOST SUBQUERY", "LEFT": return "rows that have not changed since"
    case "UNION ALL", "RIGHT": return "rows that have changed since"
    default: break
    }
    if detail.hasPrefix("CO-ROUTINE ") { return "combines, one after the other" }
    if detail.hasPrefix("SCAN (subquery-") { return "reads the combined rows" }
    for verb in ["SCAN ", "SEARCH "] {
      guard let name = detail.removing(verb + "temp._past.") else { continue }
      return "searches the \(kind(parts(name).name)) of \(parts(name).name) that have changed since"
    }
    return detail.hasPrefix("USING ROWID SEARCH ON TABLE _gone.") ? "without rows that have changed since" : nil
  }

  private static let primaryKey = "PRIMARY KEY"

  /// Whether SQLite created the index itself, for ids or for the primary key of a many-to-many.
  private static func isKey(_ index: String) -> Bool { index.hasPrefix("sqlite_autoindex_") || index == primaryKey }

  /// A many-to-many table has a dot in its name, and rows instead of objects.
  private static func kind(_ table: String) -> String { table.contains(".") ? "rows" : "objects" }

  private func table(_ name: String) -> String? {
    // The present half of a past table.
    if let present = name.removing("main.") { return present }
    return names[name] ?? (statement.contains(quoted(name)) ? name : nil)
  }

  private mutating func fullTextSearch(_ name: String) -> String {
    guard statement.contains(quoted(name)) else { return "reads the rows that were matched in memory" }
    if !indexes.contains(name) { indexes.append(name) }
    return "searches the full-text index \(name)"
  }

  /// Parses the form `t USING COVERING INDEX Person.name (name=?)`.
  private static func parts(_ text: String) -> (name: String, how: (index: String?, terms: String)) {
    guard let using = text.firstRange(of: " USING ") else { return (text, (nil, "")) }
    let name = String(text[..<using.lowerBound])
    let how = text[using.upperBound...]
    if how.hasPrefix(primaryKey) { return (name, (primaryKey, String(how.dropFirst(primaryKey.count + 1)))) }
    guard let mark = how.firstRange(of: "INDEX "), !how.hasPrefix("INTEGER PRIMARY KEY") else {
      return (name, (nil, ""))
    }
    let rest = how[mark.upperBound...]
    // An index name may contain a space, but a parenthesis only begins its terms.
    guard let terms = rest.firstRange(of: " (") else { return (name, (String(rest), "")) }
    return (name, (String(rest[..<terms.lowerBound]), "(" + rest[terms.upperBound...]))
  }

  private mutating func size(of table: String, _ database: Database) throws -> Int {
    if let size = sizes[table] { return size }
    let size = try database.count(quoted(table))
    sizes[table] = size
    return size
  }
}

extension String {
  fileprivate func removing(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
