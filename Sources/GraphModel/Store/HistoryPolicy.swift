/// The minimum amount of history to keep. Only a commit that no condition keeps is pruned; the newest commit always
/// stays.
public struct HistoryPolicy: Hashable, Sendable {
  /// The number of newest commits to keep; nil for no condition.
  public var commits: Int?
  /// The age in microseconds up to which commits are kept; nil for no condition.
  public var age: Timestamp?
  /// The age in microseconds up to which commits are kept for replicas, regardless of the other conditions. A replica
  /// that was active since then may still need them; a client that was silent longer reloads.
  public var minimumRetention: Timestamp = defaultMinimumRetention

  /// 30 days, in microseconds.
  public static let defaultMinimumRetention: Timestamp = 30 * 86_400_000_000

  /// Creates a policy. By default it keeps all commits.
  public init(commits: Int? = nil, age: Timestamp? = nil, minimumRetention: Timestamp = defaultMinimumRetention) {
    self.commits = commits
    self.age = age
    self.minimumRetention = minimumRetention
  }

  /// Whether anything may be pruned; false if both conditions are nil.
  public var prunes: Bool { commits != nil || age != nil }

  /// The age in microseconds up to which commits are kept, including those for replicas.
  public var retention: Timestamp { max(requestedRetention, minimumRetention) }

  private var requestedRetention: Timestamp { max(0, age ?? 0) }

  /// The newest revision that `commits` allows pruning up to.
  public func highest(head: Revision) -> Revision {
    prunes ? max(0, head - Revision(max(1, commits ?? 1))) : 0
  }

  /// The time before which commits may be pruned; with `forReplicas` false, without regard to replicas.
  public func boundary(now: Timestamp, forReplicas: Bool = true) -> Timestamp {
    let kept = forReplicas ? retention : requestedRetention
    let (time, overflows) = now.subtractingReportingOverflow(kept)
    return overflows ? .min : time
  }
}

extension Refusal {
  /// A refusal for a revision that can no longer be read.
  public static func pruned(_ revision: Revision, oldest: Revision) -> Refusal {
    Refusal(.pruned, "revision \(revision) was pruned; the oldest that is kept is \(oldest)")
  }

  /// A refusal for a pruned commit. `oldest` is the oldest readable revision, which precedes the oldest commit.
  public static func prunedCommit(_ revision: Revision, oldest: Revision) -> Refusal {
    Refusal(.pruned, "the commit of revision \(revision) was pruned; the oldest that is kept is \(oldest + 1)")
  }
}

/// The extent of a pruning, planned or completed.
public struct HistoryPruning: Hashable, Sendable {
  /// The oldest readable revision before it; 0 if nothing was pruned.
  public var oldest: Revision
  /// The oldest readable revision after it; commits up to this one are pruned.
  public var floor: Revision
  /// The newest revision.
  public var head: Revision
  /// The revision up to which `commits` and `age` alone allow pruning. Above `floor` if replicas keep the rest.
  public var wanted: Revision
  /// The pruned bytes of changes and outcomes.
  public var bytes: Int

  /// Creates the extent of a pruning.
  public init(oldest: Revision, floor: Revision, head: Revision, wanted: Revision, bytes: Int = 0) {
    self.oldest = oldest
    self.floor = floor
    self.head = head
    self.wanted = wanted
    self.bytes = bytes
  }

  /// The number of pruned commits.
  public var commits: Int { Int(max(0, floor - oldest)) }
}
