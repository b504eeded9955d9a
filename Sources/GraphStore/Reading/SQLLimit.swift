import GRDBSQLite
import GraphModel

/// What SQLite can't hold of a statement, however the disk is: asking again changes nothing, and nothing has to be
/// repaired. SQLite has one code for all mistakes in a statement, so its sentence tells.
enum SQLLimit {
  /// Parts of SQLite's sentences: the parser's stack, the height of an expression, the tables of a join, the arguments of
  /// a statement and of a function, the columns of a result, an order or a group, and the parts of a compound SELECT.
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

  /// What is said of it: nothing of the statement, which is not the client's.
  static let refusal = Refusal(
    .limit, "this is nested deeper, or has more parts, than SQL takes: nest it less deep, or split it")
}
