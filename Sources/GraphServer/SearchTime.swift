import GraphModel

/// How long a fetch may search without finding anything. The time begins anew with everything that it finds, so a long
/// result has as long as it takes; a count and an explanation find nothing before their end.
struct SearchTime {
  private let limit: Duration
  private var last: ContinuousClock.Instant
  /// Stays true once the search has been given up.
  private(set) var isOver = false

  init(_ limit: Duration, from now: ContinuousClock.Instant) {
    self.limit = limit
    last = now
  }

  mutating func found(at now: ContinuousClock.Instant) { last = now }

  /// Whether the search may go on.
  mutating func goesOn(at now: ContinuousClock.Instant) -> Bool {
    if now - last > limit { isOver = true }
    return !isOver
  }

  var refusal: Refusal {
    let seconds = limit.formattedSeconds
    return Refusal(
      .limit,
      "the search has gone on for \(seconds) s without finding anything and was given up; narrow it, index what it "
        + "compares, or let the server search for longer")
  }
}

extension Duration {
  fileprivate var formattedSeconds: String {
    let (seconds, attoseconds) = components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    return milliseconds == 0 ? "\(seconds)" : "\(Double(seconds) + Double(milliseconds) / 1_000)"
  }
}
