/// When changes are sent: the first one at once, those that follow at most 100 ms behind, and nothing while an answer is
/// awaited. So typing and dragging are one commit in flight, however fast they are and however slow the server is.
struct SavePacer: Hashable {
  /// How far a change may lag behind, in milliseconds, while the server answers.
  static let intervalMilliseconds: Int64 = 100

  /// Something has changed since the last save.
  private(set) var isWaiting = false
  /// Saves that are not answered.
  private(set) var inFlight = 0
  private var lastSent: Int64?

  /// Something changed.
  mutating func change() { isWaiting = true }

  /// When to save; nil when there is nothing to, or an answer is awaited.
  var due: Int64? {
    guard isWaiting, inFlight == 0 else { return nil }
    return lastSent.map { $0 + Self.intervalMilliseconds } ?? .min
  }

  func isDue(at now: Int64) -> Bool { due.map { $0 <= now } ?? false }

  /// All that changed has been handed over.
  mutating func sent(at now: Int64) {
    (isWaiting, lastSent) = (false, now)
    inFlight += 1
  }

  /// An answer came.
  mutating func answered() { inFlight = max(0, inFlight - 1) }
}
