import GRDBSQLite

/// Statements that nobody waits for any more. A search may step through rows for minutes before it finds one, and its
/// thread is one of a few: when whoever asked is gone, SQLite has to hear of it in the middle of a step.
extension Connection {
  /// SQLite's instructions between two questions: about a millisecond.
  private static let instructions: Int32 = 20_000

  private final class Question {
    let isWanted: () -> Bool

    init(_ isWanted: @escaping () -> Bool) { self.isWanted = isWanted }
  }

  /// Runs `body`, whose statements fail as interrupted as soon as `isWanted` says no.
  func run<Result>(while isWanted: () -> Bool, _ body: () throws -> Result) throws -> Result {
    try withoutActuallyEscaping(isWanted) { isWanted in
      let question = Question(isWanted)
      // Lives as long as the handler is set; the connection is on this thread alone until then.
      sqlite3_progress_handler(
        database.sqliteConnection, Self.instructions,
        { question in
          guard let question else { return 0 }
          return Unmanaged<Question>.fromOpaque(question).takeUnretainedValue().isWanted() ? 0 : 1
        }, Unmanaged.passUnretained(question).toOpaque())
      defer {
        sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
        withExtendedLifetime(question) {}
      }
      return try body()
    }
  }
}
