/// How much of history is kept. A commit goes only when everything here lets it go; the newest one always stays.
public struct HistoryPolicy: Hashable, Sendable {
  /// So many of the newest commits stay; nil where their number keeps none.
  public var commits: Int?
  /// Commits stay that are no older than so many microseconds; nil where their age keeps none.
  public var age: Timestamp?
  /// A replica that has been silent for so many microseconds is overdue. Whatever is no older stays, whatever the rest
  /// says: a replica that was heard of since then may still ask for it.
  public var overdue: Timestamp = usualOverdue

  /// 30 days.
  public static let usualOverdue: Timestamp = 30 * 86_400_000_000

  /// Keeps everything, unless something is said.
  public init(commits: Int? = nil, age: Timestamp? = nil, overdue: Timestamp = usualOverdue) {
    self.commits = commits
    self.age = age
    self.overdue = overdue
  }

  /// Whether anything may go at all: nobody prunes by leaving both out.
  public var prunes: Bool { commits != nil || age != nil }

  /// Commits that are no older than so many microseconds stay, replicas considered.
  public var kept: Timestamp { max(0, max(age ?? 0, overdue)) }

  /// The newest revision that its number lets go.
  public func highest(head: Revision) -> Revision {
    prunes ? max(0, head - Revision(max(1, commits ?? 1))) : 0
  }

  /// Commits that are older than this may go; `forReplicas` false leaves out what replicas may ask for.
  public func boundary(now: Timestamp, forReplicas: Bool = true) -> Timestamp {
    let kept = forReplicas ? kept : max(0, age ?? 0)
    let (time, overflows) = now.subtractingReportingOverflow(kept)
    return overflows ? .min : time
  }
}

extension Refusal {
  /// Of a state that can't be told any more.
  public static func pruned(_ revision: Revision, oldest: Revision) -> Refusal {
    Refusal(.pruned, "revision \(revision) was pruned; the oldest that is kept is \(oldest)")
  }

  /// Of a commit that is gone; `oldest` is the oldest state that can be told, which the oldest commit came after.
  public static func prunedCommit(_ revision: Revision, oldest: Revision) -> Refusal {
    Refusal(.pruned, "the commit of revision \(revision) was pruned; the oldest that is kept is \(oldest + 1)")
  }
}

/// What pruning takes away, or has taken.
public struct HistoryPruning: Hashable, Sendable {
  /// The oldest state that could be told before: 0 where nothing had been pruned.
  public var oldest: Revision
  /// The oldest that can be told after: commits up to this one go.
  public var floor: Revision
  /// The newest revision.
  public var head: Revision
  /// What commits and ages alone would let go up to; more than `floor` where replicas that are not overdue keep the rest.
  public var wanted: Revision
  /// Bytes of the changes and outcomes that go.
  public var bytes: Int

  /// What goes, and what stays.
  public init(oldest: Revision, floor: Revision, head: Revision, wanted: Revision, bytes: Int = 0) {
    self.oldest = oldest
    self.floor = floor
    self.head = head
    self.wanted = wanted
    self.bytes = bytes
  }

  /// How many commits go.
  public var commits: Int { Int(max(0, floor - oldest)) }
}
