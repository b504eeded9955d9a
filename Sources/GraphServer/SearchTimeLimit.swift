import GraphModel

/// The time limit of a search.
///
/// For a fetch, the limit restarts with every result, so a long result may take as long as it needs. A count and an
/// explanation find nothing before their end. For the selection of a batch it does not restart, because other commits
/// wait for its end. A fetch of a user also has a limit for its total time.
struct SearchTimeLimit {
  private let limit: Duration
  private let total: Duration?
  private let start: ContinuousClock.Instant
  private var last: ContinuousClock.Instant
  /// Whether the total time was exceeded.
  private var isTotalExceeded = false
  /// Whether the limit was exceeded; stays true.
  private(set) var isExceeded = false

  /// - Parameter total: the limit for the total time; nil for none.
  init(_ limit: Duration, total: Duration? = nil, from now: ContinuousClock.Instant) {
    (self.limit, self.total, start) = (limit, total, now)
    last = now
  }

  mutating func restart(at now: ContinuousClock.Instant) { last = now }

  /// Checks the limit and returns whether the search may continue.
  mutating func mayContinue(at now: ContinuousClock.Instant) -> Bool {
    if now - last > limit { isExceeded = true }
    if let total, !isExceeded, now - start > total { (isExceeded, isTotalExceeded) = (true, true) }
    return !isExceeded
  }

  /// The refusal of a search that has found nothing since the last restart.
  var refusal: Refusal {
    guard isTotalExceeded, let total else { return refusal("the search found nothing for") }
    return Refusal(
      .limit,
      "a fetch of a user takes at most \(total.formattedSeconds) s, and this one was cancelled; narrow it, or set a "
        + "limit and continue after it")
  }

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
