/// Decides whether the wall clock may say how old commits are. A clock can be set to any time, and history that was
/// pruned by a wrong one is lost: what a clock says is compared with a clock that cannot be set and with the store.
///
/// 1. A clock that has jumped against the monotonic clock is not believed until it has run without a jump for
///    `settlingTime`, or until it shows its former time again.
/// 2. A clock that is far ahead of the newest commit when the program starts is wrong, or nothing was committed for
///    long: it is not believed before the same time has passed either.
/// 3. Commits of this run are no older than the run. They stay as long as the monotonic clock says, whatever their times
///    are (``Decision/prune(now:through:)``).
///
/// A clock that is behind prunes less than it might, so it is believed at a start.
public struct PruningClock: Sendable {
  /// Both clocks and the newest commit, at one moment.
  public struct Reading: Hashable, Sendable {
    /// Microseconds since 1970 by the clock that people set.
    public var wall: Timestamp
    /// Microseconds by a clock that can't be set and does not stop while the machine sleeps.
    public var monotonic: Timestamp
    /// The newest revision; 0 for none.
    public var head: Revision
    /// The time of its commit; nil for none.
    public var newest: Timestamp?

    /// One look.
    public init(wall: Timestamp, monotonic: Timestamp, head: Revision, newest: Timestamp?) {
      self.wall = wall
      self.monotonic = monotonic
      self.head = head
      self.newest = newest
    }

    /// The difference of the clocks: it changes when the wall clock is set, and else hardly.
    fileprivate var offset: Timestamp { wall.subtractingReportingOverflow(monotonic).partialValue }
  }

  /// What may be pruned.
  public enum Decision: Hashable, Sendable {
    /// Ages count back from `now`; commits behind `through` stay.
    case prune(now: Timestamp, through: Revision)
    /// Nothing, for the clock may be wrong.
    case refuse(Reason)
  }

  /// Why a clock is not believed.
  public enum Reason: Hashable, Sendable {
    /// It was set by so many microseconds, forward or back.
    case jumped(Timestamp)
    /// It is so many microseconds ahead of the newest commit.
    case aheadOfNewest(Timestamp)
  }

  /// So far a clock may be set, or be ahead of the newest commit, without a doubt: 10 minutes. Programs that keep clocks
  /// right set them by less.
  public static let tolerance: Timestamp = 600 * 1_000_000
  /// A clock of which there was a doubt is believed when it has run for so long without a jump: a day, or as long as
  /// commits are kept where that is shorter. Then all commits from before the doubt are old enough by the monotonic
  /// clock itself.
  public static let settlingTime: Timestamp = 86_400 * 1_000_000
  /// Revisions that are remembered with the time of the monotonic clock.
  static let maximumMarks = 64

  /// Commits that are no older stay, in microseconds.
  private let kept: Timestamp
  /// The offset that is believed; nil where none is.
  private var believed: Timestamp?
  /// The present offset, and since when it has been so.
  private var present: (offset: Timestamp, since: Timestamp)
  /// Why the present offset is not the one that is believed.
  private var doubt: Reason?
  /// How far the store was at moments, the oldest first: never empty, and only the first may be older than what is kept.
  private var marks: [(head: Revision, monotonic: Timestamp)]

  /// - Parameters:
  ///   - start: taken before the first commit of this run.
  ///   - kept: commits that are no older stay, in microseconds.
  public init(_ start: Reading, kept: Timestamp) {
    self.kept = kept
    present = (start.offset, start.monotonic)
    marks = [(start.head, start.monotonic)]
    if let lead = Self.lead(wall: start.wall, newest: start.newest, kept: kept) {
      doubt = .aheadOfNewest(lead)
    } else {
      believed = start.offset
    }
  }

  /// Judges a look at the clocks. Every one of them counts: a jump that was not seen can't be told from time that passed.
  public mutating func decide(_ reading: Reading) -> Decision {
    // No age decides: the number of commits does.
    guard kept > 0 else { return .prune(now: .max, through: .max) }
    let through = ceiling(reading)
    let change = Self.distance(reading.offset, present.offset)
    if change.magnitude > Self.tolerance.magnitude {
      doubt = .jumped(change)
      present.since = reading.monotonic
    }
    // A clock that is put right little by little moves what it is compared with.
    present.offset = reading.offset
    let isAsBefore = believed.map { Self.distance(reading.offset, $0).magnitude <= Self.tolerance.magnitude } ?? false
    let hasSettled = reading.monotonic - present.since >= min(Self.settlingTime, kept)
    guard !isAsBefore, !hasSettled, let doubt else {
      (believed, doubt) = (reading.offset, nil)
      return .prune(now: reading.wall, through: through)
    }
    return .refuse(doubt)
  }

  /// The time to count ages from where no clock but the wall clock is known: no later than the newest commit by more than
  /// a tenth of what is kept.
  public static func time(wall: Timestamp, newest: Timestamp?, kept: Timestamp) -> Timestamp {
    guard let newest, lead(wall: wall, newest: newest, kept: kept) != nil else { return wall }
    return newest + allowance(kept)
  }

  /// How far a clock is ahead of the newest commit; nil where that raises no doubt.
  public static func lead(wall: Timestamp, newest: Timestamp?, kept: Timestamp) -> Timestamp? {
    guard kept > 0, let newest else { return nil }
    let lead = distance(wall, newest)
    return lead > allowance(kept) ? lead : nil
  }

  /// So much too much an age may be: a tenth of what is kept, or the tolerance where that is more.
  private static func allowance(_ kept: Timestamp) -> Timestamp { max(tolerance, kept / 10) }

  private static func distance(_ time: Timestamp, _ other: Timestamp) -> Timestamp {
    let (difference, overflows) = time.subtractingReportingOverflow(other)
    return overflows ? (time > other ? .max : -.max) : difference
  }

  /// The newest revision that is older than what is kept, by the monotonic clock: that of the newest mark that is so old.
  /// The first mark is the start of the run; before it is as old, what was there at the start is all that may go.
  private mutating func ceiling(_ reading: Reading) -> Revision {
    while marks.count > 1, reading.monotonic - marks[1].monotonic >= kept { marks.removeFirst() }
    defer {
      let spacing = kept / Timestamp(Self.maximumMarks)
      if marks.last.map({ reading.monotonic - $0.monotonic >= spacing }) ?? true {
        marks.append((reading.head, reading.monotonic))
      }
    }
    return marks[0].head
  }
}
