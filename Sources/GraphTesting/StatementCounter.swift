import Synchronization

/// Counts the statements on readers' connections: pass `add` to `SQLiteStore.Options.hooks.willRunStatement`.
public final class StatementCounter: Sendable {
  private let number = Mutex(0)

  /// Creates a counter at 0.
  public init() {}

  /// Counts a statement, if it runs on a reader's connection.
  public func add(isReader: Bool) { if isReader { number.withLock { $0 += 1 } } }

  /// Returns the count since the last call.
  public func reset() -> Int {
    number.withLock { number in
      defer { number = 0 }
      return number
    }
  }
}
