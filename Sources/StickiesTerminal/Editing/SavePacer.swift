/// Decides when changes are sent. The first one is sent at once, later ones at most 100 ms after it, and none while a
/// save is unanswered. Typing and dragging therefore have one commit in flight, regardless of their rate and the
/// server's latency.
struct SavePacer: Hashable {
  /// Maximum delay of a change, in milliseconds, while the server answers.
  static let intervalMilliseconds: Int64 = 100

  /// Whether something has changed since the last save.
  private(set) var isWaiting = false
  /// The number of unanswered saves.
  private(set) var inFlight = 0
  private var lastSent: Int64?

  /// Records a change.
  mutating func change() { isWaiting = true }

  /// The time of the next save; nil if nothing has changed, or while a save is unanswered.
  var due: Int64? {
    guard isWaiting, inFlight == 0 else { return nil }
    return lastSent.map { $0 + Self.intervalMilliseconds } ?? .min
  }

  func isDue(at now: Int64) -> Bool {
    guard let due else { return false }
    return due <= now
  }

  /// Records that all changes were sent.
  mutating func sent(at now: Int64) {
    (isWaiting, lastSent) = (false, now)
    inFlight += 1
  }

  /// Records an answer.
  mutating func answered() {
    assert(inFlight > 0, "an answer belongs to a save")
    inFlight -= 1
  }
}
