import Glibc

/// Signals that ask the program to end, and which of them end it at once because whoever should have ended it does not.
///
/// On SIGTERM and SIGHUP nobody is asked, so any further one means that. On SIGINT somebody may have been asked and
/// have stayed: one that comes hours later asks anew, and only one soon behind it is the second.
struct EndingSignals: Hashable {
  /// So long behind a SIGINT the next signal is its second, in milliseconds.
  static let secondMilliseconds = 5_000

  private var lastSignal: CInt?
  private var lastTime = 0

  /// Another one has come.
  /// - Parameter now: milliseconds of a clock that never goes back.
  mutating func endsAtOnce(_ signal: CInt, at now: Int) -> Bool {
    defer { (self.lastSignal, lastTime) = (signal, now) }
    guard let lastSignal else { return false }
    return lastSignal != SIGINT || now - lastTime <= Self.secondMilliseconds
  }
}
