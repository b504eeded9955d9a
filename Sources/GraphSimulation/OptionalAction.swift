/// A kind of act that only some runs have. Each has a random generator of its own, so that a seed gives the same run
/// without it.
public enum OptionalAction: String, Sendable, CaseIterable {
  /// Clients increment counters under preconditions.
  case counters
  /// The server's clock is set ahead and back, and history is pruned by age.
  case clockJumps
  /// The server's store has a commit log, whose disk fails and loses power.
  case commitLog
}

extension PlantedBug {
  /// The acts without which the bug has no effect.
  var acts: Set<OptionalAction> {
    switch self {
    case .ignoredPreconditions: [.counters]
    case .trustedClock: [.clockJumps]
    case .unsyncedLog, .earlyRelease, .hiddenCommits: [.commitLog]
    default: []
    }
  }
}
