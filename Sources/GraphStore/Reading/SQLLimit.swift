// Tests: DeepQueriesTests.swift, LongChainsTests.swift
import GRDBSQLite
import GraphModel

/// The error of a statement that exceeds SQLite's limits. Neither a retry nor a repair helps. SQLite has a single
/// code for all errors in a statement, so the error message decides.
enum SQLLimit {
  /// Parts of SQLite's messages about exceeded limits.
  ///
  /// The limits are those of the parser's stack, the depth of an expression, the tables of a join, the arguments of a
  /// statement and of a function, the columns of a result, an order or a group, and the parts of a compound SELECT.
  private static let sentences = [
    "parser stack overflow", "Expression tree is too large", "at most 64 tables in a join",
    "too many FROM clause terms",
    "too many SQL variables", "variable number must be between", "too many arguments on function",
    "too many columns in", "too many terms in", "too many references to",
  ]

  static func isReached(code: Int32, message: String) -> Bool {
    switch code & 0xFF {
    case SQLITE_TOOBIG: true
    case SQLITE_ERROR: sentences.contains { message.contains($0) }
    default: false
    }
  }

  /// The refusal, without the statement's text, which is not the client's.
  static let refusal = Refusal(
    .limit, "this is nested deeper or has more parts than SQL allows: nest it less deep, or split it")
}
