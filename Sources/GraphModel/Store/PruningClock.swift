/// Decides whether the wall clock can be trusted for the age of commits. A clock may be set to any time, and history
/// that a wrong clock prunes is lost; the wall clock is therefore compared with the monotonic clock and the store.
///
/// 1. A wall clock that jumps relative to the monotonic clock is not trusted until it has run without a jump for
///    `settlingTime`, or until it returns to its former time. Several steps within that time count as one jump.
/// 2. If the wall clock is far ahead of the newest commit when the program starts, either it is wrong or there was no
///    commit for a long time. It is not trusted before the same time has passed. Commits of the last `settlingTime` may
///    have been made by the same wrong clock, so they confirm it only if an earlier commit lies close before them
///    (``confirmedTime(of:wall:retention:)``).
/// 3. Commits of this run are no older than the run. They are kept as long as the monotonic clock requires,
///    regardless of their times (``Decision/prune(now:through:)``).
///
/// A clock that lags prunes too little, so it is trusted at the start.
public struct PruningClock: Sendable {
  /// The two clocks and the newest commit at one moment.
  public struct Reading: Hashable, Sendable {
    /// The wall clock, in microseconds since 1970.
    public var wall: Timestamp
    /// A clock in microseconds that can't be set and that runs while the machine sleeps.
    public var monotonic: Timestamp
    /// The newest revision; 0 for none.
    public var head: Revision
    /// The time of its commit; nil for none. At the start, the clock is compared with it.
    public var newest: Timestamp?

    /// Creates a reading.
    public init(wall: Timestamp, monotonic: Timestamp, head: Revision, newest: Timestamp?) {
      self.wall = wall
      self.monotonic = monotonic
      self.head = head
      self.newest = newest
    }

    /// The difference of the clocks; it is almost constant unless the wall clock is set.
    fileprivate var offset: Timestamp { wall.subtractingReportingOverflow(monotonic).partialValue }
  }

  /// The decision which commits may be pruned.
  public enum Decision: Hashable, Sendable {
    /// Prune by ages relative to `now`, but keep commits after `through`.
    case prune(now: Timestamp, through: Revision)
    /// Prune nothing, because the clock may be wrong.
    case refuse(Reason)
  }

  /// The reason why a clock is not trusted.
  public enum Reason: Hashable, Sendable {
    /// The clock was set by this many microseconds, forward or back.
    case jumped(Timestamp)
    /// The clock is this many microseconds ahead of the newest commit.
    case aheadOfNewest(Timestamp)
  }

  /// The largest trusted jump, and lead over the newest commit: 10 minutes. Time synchronization makes smaller
  /// adjustments.
  public static let tolerance: Timestamp = 600 * 1_000_000
  /// The time without a jump after which a clock is trusted again: a day, or the retention time if that is shorter.
  /// By then the monotonic clock itself shows that earlier commits are old enough.
  public static let settlingTime: Timestamp = 86_400 * 1_000_000
  /// The maximum number of marks.
  static let maximumMarks = 64

  /// The retention time of commits, in microseconds.
  private let retention: Timestamp
  /// The trusted offset; nil if there is none.
  private var trustedOffset: Timestamp?
  /// The offset with which readings are compared, and the monotonic time since which it holds. Small steps do not move
  /// it, because many of them would be a jump.
  private var present: (offset: Timestamp, since: Timestamp)
  /// The reason why the present offset is not trusted.
  private var distrustReason: Reason?
  /// The store's revision at several monotonic times, oldest first. Never empty; only the first may be older than the
  /// retention time.
  private var marks: [(head: Revision, monotonic: Timestamp)]

  /// - Parameters:
  ///   - start: a reading from before the first commit of this run.
  ///   - retention: the retention time of commits, in microseconds.
  public init(_ start: Reading, retention: Timestamp) {
    assert(retention >= 0, "a retention time is not negative")
    self.retention = retention
    present = (start.offset, start.monotonic)
    marks = [(start.head, start.monotonic)]
    if let lead = Self.lead(wall: start.wall, newest: start.newest, retention: retention) {
      distrustReason = .aheadOfNewest(lead)
    } else {
      trustedOffset = start.offset
    }
  }

  /// Decides about a reading. All readings must be passed: an unseen jump is indistinguishable from elapsed time.
  public mutating func decide(_ reading: Reading) -> Decision {
    // Only the number of commits counts, not their age.
    guard retention > 0 else { return .prune(now: .max, through: .max) }
    let through = newestAgedRevision(reading)
    let change = Self.distance(reading.offset, present.offset)
    if change.magnitude > Self.tolerance.magnitude {
      distrustReason = .jumped(change)
      present = (reading.offset, reading.monotonic)
    }
    let isAsBefore =
      trustedOffset.map { Self.distance(reading.offset, $0).magnitude <= Self.tolerance.magnitude } == true
    let hasSettled = reading.monotonic - present.since >= min(Self.settlingTime, retention)
    guard !isAsBefore, !hasSettled, let distrustReason else {
      distrustReason = nil
      // Gradual corrections of the clock move the reference, by at most the tolerance in each settling time.
      if hasSettled || trustedOffset == nil {
        (trustedOffset, present) = (reading.offset, (reading.offset, reading.monotonic))
      }
      if let trustedOffset { present.offset = trustedOffset }
      return .prune(now: reading.wall, through: through)
    }
    return .refuse(distrustReason)
  }

  /// The time for ages if only the wall clock is known: at most a tenth of the retention time after the newest
  /// commit.
  public static func time(wall: Timestamp, newest: Timestamp?, retention: Timestamp) -> Timestamp {
    guard let newest, lead(wall: wall, newest: newest, retention: retention) != nil else { return wall }
    return newest + allowance(retention)
  }

  /// The clock's lead over the newest commit; nil if it is within the tolerance.
  public static func lead(wall: Timestamp, newest: Timestamp?, retention: Timestamp) -> Timestamp? {
    guard retention > 0, let newest else { return nil }
    let lead = distance(wall, newest)
    return lead > allowance(retention) ? lead : nil
  }

  /// The time of the newest commit that confirms a clock; nil if there is no commit.
  ///
  /// This is usually the newest commit. If a gap larger than the tolerated error precedes the commits of the last
  /// `settlingTime`, it is the last commit before the gap: the later commits may have their times from the same wrong
  /// clock, before a restart, and so confirm nothing.
  /// - Parameters:
  ///   - wall: the clock's time.
  ///   - retention: the retention time of commits, in microseconds.
  package static func confirmedTime(
    of store: any GraphStoring, wall: Timestamp, retention: Timestamp
  ) throws -> Timestamp? {
    let newest = try store.revision(at: .max)
    guard newest.revision > 0 else { return nil }
    let settled: RevisionAtTime
    do {
      settled = try store.revision(at: distance(wall, min(settlingTime, retention)))
    } catch let refusal as Refusal where refusal.code == .pruned {
      return newest.time
    }
    guard settled.revision > 0, settled.revision < newest.revision else { return newest.time }
    var next: Timestamp?
    let request = LogRequest(after: settled.revision, limit: 1, through: settled.revision + 1, changes: 0)
    _ = try store.log(request, maximumChanges: 1_000_000, while: { true }) { next = $0.time }
    // The present clock cannot have dated a commit in its future.
    guard let next, next <= wall else { return newest.time }
    return lead(wall: next, newest: settled.time, retention: retention) == nil ? newest.time : settled.time
  }

  /// The tolerated error of an age: a tenth of the retention time, or `tolerance` if that is more.
  private static func allowance(_ retention: Timestamp) -> Timestamp { max(tolerance, retention / 10) }

  private static func distance(_ time: Timestamp, _ other: Timestamp) -> Timestamp {
    let (difference, overflows) = time.subtractingReportingOverflow(other)
    return overflows ? (time > other ? .max : -.max) : difference
  }

  /// The newest revision that is older than the retention time by the monotonic clock, from the newest mark of that
  /// age. The first mark is the start of the run; until it has that age, only earlier commits may be pruned.
  private mutating func newestAgedRevision(_ reading: Reading) -> Revision {
    assert(!marks.isEmpty, "a clock has the mark of its start")
    while marks.count > 1, reading.monotonic - marks[1].monotonic >= retention { marks.removeFirst() }
    defer {
      let spacing = retention / Timestamp(Self.maximumMarks)
      if reading.monotonic - marks[marks.count - 1].monotonic >= spacing {
        marks.append((reading.head, reading.monotonic))
      }
    }
    return marks[0].head
  }
}
