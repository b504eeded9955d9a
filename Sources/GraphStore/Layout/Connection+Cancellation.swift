// Tests: FetchCancellationTests.swift
import GRDBSQLite
import GraphModel

/// Cancellation of statements whose result is no longer needed. A search may step through rows for minutes before it
/// finds one, and it occupies one of few threads. So when its client disconnects, it must be interrupted in the
/// middle of a step.
extension Connection {
  /// The number of SQLite instructions between two checks: about a millisecond.
  private static let instructions: Int32 = 20_000

  /// Runs `body`; its statements fail as interrupted as soon as `isWanted` returns false. Also checks during a
  /// function's work on a long text.
  func run<Result>(while isWanted: () -> Bool, _ body: () throws -> Result) throws -> Result {
    try Cancellation.run(while: isWanted) {
      // The statements run on this thread, inside this call.
      sqlite3_progress_handler(
        database.sqliteConnection, Self.instructions, { _ in Cancellation.poll() ? 0 : 1 }, nil)
      defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
      let result = try body()
      try checkInterruption()
      return result
    }
  }

  /// - Throws: the error of an interrupted statement, if the last calculation may be incomplete.
  func checkInterruption() throws {
    if Cancellation.isCancelled { throw SQLiteFailure.of(code: SQLITE_INTERRUPT, message: "interrupted") }
  }
}
