import GraphModel

/// The time limit of a search.
///
/// For a fetch, the limit restarts with every result, so a long result may take as long as it needs. A count and an
/// explanation find nothing before their end. For the selection of a batch it does not restart, because other commits
/// wait for its end.
struct SearchTimeLimit {
  private let limit: Duration
  private var last: ContinuousClock.Instant
  /// Whether the limit was exceeded; stays true.
  private(set) var isExceeded = false

  init(_ limit: Duration, from now: ContinuousClock.Instant) {
    self.limit = limit
    last = now
  }

  mutating func restart(at now: ContinuousClock.Instant) { last = now }

  /// Checks the limit and returns whether the search may continue.
  mutating func mayContinue(at now: ContinuousClock.Instant) -> Bool {
    if now - last > limit { isExceeded = true }
    return !isExceeded
  }

  /// The refusal of a search that has found nothing since the last restart.
  var refusal: Refusal { refusal("the search found nothing for") }

  /// The refusal of a batch whose selection has found some of its objects.
  var incompleteSelection: Refusal { refusal("the search for the objects of the batch did not end within") }

  private func refusal(_ reason: String) -> Refusal {
    Refusal(
      .limit,
      "\(reason) \(limit.formattedSeconds) s and was cancelled; narrow it, index the attributes that it compares, or "
        + "raise the server's --search-seconds")
  }
}

extension Duration {
  fileprivate var formattedSeconds: String {
    let (seconds, attoseconds) = components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    return milliseconds == 0 ? "\(seconds)" : "\(Double(seconds) + Double(milliseconds) / 1_000)"
  }
}
