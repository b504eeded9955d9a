#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Decides which of the signals that ask the program to end must end it at once.
///
/// SIGTERM and SIGHUP do not ask the user, so any further signal means that the program hangs. SIGINT may have asked
/// the user, who stayed: a later SIGINT asks again, and only one soon after it counts as the second. A service manager
/// sends SIGHUP immediately after SIGTERM; both are one request.
struct TerminationSignals: Hashable {
  /// The time after a SIGINT in which the next signal counts as the second one, in milliseconds.
  static let secondMilliseconds = 5_000

  /// The time after a signal in which a different signal belongs to the same request, in milliseconds.
  static let sameRequestMilliseconds = 100

  private var lastSignal: CInt?
  private var lastTime = 0

  /// Records a signal.
  /// - Parameter now: milliseconds of a monotonic clock.
  /// - Returns: whether the signal must end the program at once.
  mutating func endsAtOnce(_ signal: CInt, at now: Int) -> Bool {
    defer { (self.lastSignal, lastTime) = (signal, now) }
    guard let lastSignal else { return false }
    if signal != lastSignal, now - lastTime <= Self.sameRequestMilliseconds { return false }
    return lastSignal != SIGINT || now - lastTime <= Self.secondMilliseconds
  }
}
