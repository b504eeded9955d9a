import Synchronization

/// Counts statements that ran on readers' connections: give `add` to `SQLiteStore.Options.willRunStatement`.
public final class StatementCount: Sendable {
  private let number = Mutex(0)

  /// A count of none.
  public init() {}

  /// A statement runs; only those of readers count.
  public func add(isReader: Bool) { if isReader { number.withLock { $0 += 1 } } }

  /// How many there were since this was asked last.
  public func take() -> Int {
    number.withLock { number in
      defer { number = 0 }
      return number
    }
  }
}
