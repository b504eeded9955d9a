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
  /// End on reconnect or on close.
  private var waits = [ObjectIdentifier: CancellableWait]()

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

  /// The number of waits that have not ended.
  var waitCount: Int { waits.count }

  mutating func add(_ wait: CancellableWait) { waits[ObjectIdentifier(wait)] = wait }

  /// Removes a wait that has ended, or was cancelled.
  mutating func remove(_ wait: CancellableWait) { waits[ObjectIdentifier(wait)] = nil }

  /// Ends all waits, on reconnect or on close.
  mutating func endWaits() {
    for wait in waits.values { wait.end() }
    waits = [:]
  }
}
