/// The attempts to connect again after a lost connection.
struct Reconnection {
  /// Whether attempts are being made.
  var isRunning = false
  /// The pause before the next attempt, in milliseconds.
  private(set) var pause: Int64
  /// The way in which the server was verified at the last connection. A further one requires the same key.
  private(set) var verification: ServerVerification?
  /// Resumed when a new connection is welcomed or lost.
  private var attempt: CheckedContinuation<Void, Never>?
  /// Resumed on reconnect or on close.
  private var waiters = [CheckedContinuation<Void, Never>]()

  init(firstPauseMilliseconds: Int64) { pause = firstPauseMilliseconds }

  mutating func setVerification(_ verification: ServerVerification?) { self.verification = verification }

  /// Resets the pause after a welcome.
  mutating func resetPause(to milliseconds: Int64) { pause = milliseconds }

  /// Doubles the pause, up to the longest.
  mutating func growPause(upTo milliseconds: Int64) { pause = min(2 * pause, milliseconds) }

  /// Sets the continuation to resume when the attempt ends.
  mutating func setAttempt(_ continuation: CheckedContinuation<Void, Never>) {
    assert(attempt == nil, "one attempt is made at a time")
    attempt = continuation
  }

  /// Ends an attempt, because the connection was welcomed or lost. The first connection is not an attempt.
  mutating func endAttempt() {
    attempt?.resume()
    attempt = nil
  }

  mutating func addWaiter(_ waiter: CheckedContinuation<Void, Never>) { waiters.append(waiter) }

  /// Resumes the waiters, on reconnect or on close.
  mutating func resumeWaiters() {
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
