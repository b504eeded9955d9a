import GraphModel

/// The clocks of the simulated server: a monotonic one that only the simulation advances, and the clock of the day,
/// which in some runs is set ahead and back.
///
/// It also records the monotonic time of each commit, so that decisions by the wall clock can be compared with it.
struct ServerClock {
  enum Event {
    case set(by: Timestamp)
    case prune
  }

  /// The age up to which commits are kept, in microseconds: about 150 steps of a run.
  static let retention: Timestamp = 1_500_000
  private static let day = 86_400_000_000

  /// The generator of the acts; nil in a run whose clock is never set.
  private var random: SeededRandom?
  /// In milliseconds.
  private(set) var monotonic: Int64 = 1_000
  /// The difference between the clocks, in microseconds.
  private var offset: Timestamp = 0
  private var pruningClock: PruningClock?
  /// The newest revision when the server started.
  private var startHead: Revision = 0
  /// The time at which each commit was recorded, by the monotonic clock.
  private var recorded = [Revision: Int64]()
  /// The clock of the day at each write since the last one whose commits were recorded.
  private var writeTimes = Set<Timestamp>()

  init(seed: UInt64, jumps: Bool) { random = jumps ? SeededRandom(seed: seed ^ 0xC10C) : nil }

  /// Whether the clock of the day is set in this run.
  var jumps: Bool { random != nil }

  /// The clock of the day, in microseconds since 1970.
  var wall: Timestamp { monotonic * 1_000 + offset }

  mutating func advance(by milliseconds: Int64) { monotonic += milliseconds }

  /// Sets the clock of the day, or says that history is to be pruned by age; mostly nil.
  mutating func nextEvent() -> Event? {
    guard var random else { return nil }
    defer { self.random = random }
    switch random.below(100) {
    case 0:
      let before = offset
      // Never before 1970, where no clock starts.
      offset = random.chance(40) ? 0 : Timestamp(random.below(400)) * Timestamp(Self.day)
      return .set(by: offset - before)
    case 1...4: return .prune
    default: return nil
    }
  }

  // MARK: - Commits

  /// Records that the writer commits now.
  mutating func recordWrite() { writeTimes.insert(wall) }

  /// Records new commits and describes the first one with the time of no write; nil if there is none.
  mutating func record(
    _ records: [CommitRecord], after last: CommitRecord?, _ events: inout CoverageEventCounts
  ) -> String? {
    guard jumps, !records.isEmpty else { return nil }
    defer { writeTimes = [] }
    var previous = last
    for record in records {
      recorded[record.revision] = monotonic
      if let previous, previous.time > record.time { events.record(.commitSetBack) }
      if let previous, previous.revision + 1 != record.revision {
        return "revision \(record.revision) follows revision \(previous.revision)"
      }
      if !writeTimes.contains(record.time) {
        return "revision \(record.revision) has the time \(record.time); the clock showed \(writeTimes.sorted())"
      }
      previous = record
    }
    return nil
  }

  // MARK: - Pruning by age

  /// Starts the decisions of a server.
  mutating func started(head: Revision, newest: Timestamp?) {
    startHead = head
    pruningClock = PruningClock(reading(head, newest), retention: Self.retention)
  }

  /// Decides which commits may be pruned by age.
  mutating func decide(head: Revision, newest: Timestamp?) -> PruningClock.Decision {
    guard var clock = pruningClock else { preconditionFailure("the server has started") }
    defer { pruningClock = clock }
    return clock.decide(reading(head, newest))
  }

  private func reading(_ head: Revision, _ newest: Timestamp?) -> PruningClock.Reading {
    PruningClock.Reading(wall: wall, monotonic: monotonic * 1_000, head: head, newest: newest)
  }

  /// Describes a commit of the present server that would be pruned too early; nil if there is none.
  ///
  /// Commits of an earlier run may be: a clock that was wrong before a restart and is still wrong is trusted.
  func failure(ofPruning plan: HistoryPruning) -> String? {
    let first = max(plan.oldest, startHead) + 1
    guard first <= plan.floor else { return nil }
    for revision in first...plan.floor {
      guard let time = recorded[revision] else { return "revision \(revision) was never recorded and is pruned" }
      let age = (monotonic - time) * 1_000
      if age < Self.retention { return "revision \(revision) is \(age) µs old and is pruned by age" }
    }
    return nil
  }
}
