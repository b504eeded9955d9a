/// The attempts to connect again after a lost connection.
struct Reconnection {
  /// Whether attempts are being made.
  var isRunning = false
  /// The pause before the next attempt, in milliseconds.
  private(set) var pause: Int64
  /// Resumed when a new connection is welcomed or lost.
  private var attempt: CheckedContinuation<Void, Never>?
  /// Resumed on reconnect or on close.
  private var waiters = [CheckedContinuation<Void, Never>]()

  init(firstPauseMilliseconds: Int64) { pause = firstPauseMilliseconds }

  /// Resets the pause after a welcome.
  mutating func resetPause(to milliseconds: Int64) { pause = milliseconds }

  /// Doubles the pause, up to the longest.
  mutating func growPause(upTo milliseconds: Int64) { pause = min(2 * pause, milliseconds) }

  /// Waits for the outcome of an attempt.
  mutating func setAttempt(_ continuation: CheckedContinuation<Void, Never>) {
    assert(attempt == nil, "one attempt is made at a time")
    attempt = continuation
  }

  /// Ends an attempt: the connection was welcomed or lost. The first connection is no attempt.
  mutating func endAttempt() {
    attempt?.resume()
    attempt = nil
  }

  mutating func addWaiter(_ waiter: CheckedContinuation<Void, Never>) { waiters.append(waiter) }

  /// Resumes the waiters: there is a connection again, or never will be.
  mutating func resumeWaiters() {
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
