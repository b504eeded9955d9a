import GRDBSQLite
import GraphModel

/// Statements that nobody waits for any more. A search may step through rows for minutes before it finds one, and its
/// thread is one of a few: when whoever asked is gone, SQLite has to hear of it in the middle of a step.
extension Connection {
  /// SQLite's instructions between two questions: about a millisecond.
  private static let instructions: Int32 = 20_000

  /// Runs `body`, whose statements fail as interrupted as soon as `isWanted` says no: between two instructions, and in the
  /// middle of a function over a long text.
  func run<Result>(while isWanted: () -> Bool, _ body: () throws -> Result) throws -> Result {
    try Interruption.run(while: isWanted) {
      // The statement runs on this thread, inside of this.
      sqlite3_progress_handler(
        database.sqliteConnection, Self.instructions, { _ in Interruption.goesOn() ? 0 : 1 }, nil)
      defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
      let result = try body()
      try checkInterruption()
      return result
    }
  }

  /// - Throws: what an interrupted statement throws, when what was calculated last may mean nothing.
  func checkInterruption() throws {
    if Interruption.isOver { throw SQLiteStore.failure(code: SQLITE_INTERRUPT, message: "interrupted") }
  }
}
