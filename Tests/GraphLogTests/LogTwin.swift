#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import GraphLog
import GraphModel
import GraphStoreFaults
import GraphTesting

/// A naive twin of a log: arrays of entries. A random run drives both through faults, kills and power cuts.
///
/// A failed call leaves several possible contents of the log. The next opening must find exactly one of them.
struct LogTwin {
  /// A violation of the log's contract.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private typealias Entry = [LogRecord]

  private struct World {
    /// The entry of revision n is at n - 1.
    var entries: [Entry]
    /// The store holds the entries through this revision durably.
    var durable: Int

    var kept: ArraySlice<Entry> { entries[durable...] }
  }

  private var random: SeededGenerator
  private let simulated: SimulatedLogDisk
  private let disk: any LogDisk
  private let bug: PlantedLogBug?
  private let options = LocalCommitLog.Options(segmentBytes: 8192, maximumSegments: 4)
  private var log: LocalCommitLog
  private var world = World(entries: [], durable: 0)
  /// The contents that are possible instead after a failed call.
  private var otherWorlds = [World]()
  private var attempts = 0

  /// The situations that a run has reached.
  private(set) var counts = [String: Int]()

  init(seed: UInt64, bug: PlantedLogBug? = nil) throws {
    random = SeededGenerator(seed: seed)
    let simulated = SimulatedLogDisk(seed: seed &+ 1000)
    self.simulated = simulated
    disk = if let bug { BuggyLogDisk(simulated, bug) } else { simulated }
    self.bug = bug
    log = try LocalCommitLog(
      beginning: disk, store: LogFixture.store, after: Self.state(0), options: options,
      salt: LogFixture.salt)
  }

  private static func state(_ revision: Int) -> LogPosition {
    LogPosition(revision: Revision(revision), fingerprint: UInt64(revision))
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps { try step() }
    try cutPower()
  }

  private mutating func step() throws {
    if random.chance(15) { planFault() }
    switch random.below(100) {
    case 0..<68: try append()
    case 68..<80: try forget(through: random.below(world.entries.count - world.durable + 1) + world.durable)
    case 80..<86: try reopen()
    case 86..<91: try cutPower()
    case 91..<95: try restart()
    case 95..<97: try move()
    default: try restore()
    }
  }

  private mutating func planFault() {
    let calls = random.below(6)
    switch random.below(4) {
    case 0: simulated.plan(.powerCut, after: calls)
    case 1: simulated.plan(.error(ENOSPC), after: calls)
    case 2: simulated.plan(.error(EIO), after: calls)
    default: simulated.plan(.error(EIO), after: random.below(2), kind: .synchronize)
    }
  }

  private mutating func count(_ event: String) { counts[event, default: 0] += 1 }

  // MARK: Calls

  /// Entries that follow the present contents. Each attempt has other bodies.
  private mutating func group() -> [Entry] {
    (0..<random.below(4) + 1).map { place in
      let parts = random.chance(15) ? random.below(5) + 2 : 1
      let revision = Revision(world.entries.count + place + 1)
      return (0..<parts).map { part in
        attempts += 1
        let bytes = bodyBytes()
        let mark = withUnsafeBytes(of: UInt64(attempts)) { Array($0) }
        return LogRecord(
          revision: revision, isLast: part == parts - 1,
          body: mark + (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      }
    }
  }

  /// Often the same size, so that a record can begin exactly where an older one began. With header and mark, such a
  /// record fills a sector, so that a torn group can have complete records after a lost one.
  private mutating func bodyBytes() -> Int {
    switch random.below(10) {
    case 0: random.below(4000)
    case 1, 2: random.below(120)
    case 3..<6: 24
    default: 464
    }
  }

  private mutating func append() throws {
    let group = group()
    do {
      try log.append(group.flatMap { $0 })
      world.entries += group
      try log.verify()
      count("append")
    } catch let refusal as LogRefusal {
      count("refusal")
      // A group that is too large for the log is not sent again.
      guard case .full = refusal else { return }
      try forget(through: world.entries.count)
    } catch {
      guard log.status.needsRestart || simulated.isOff else {
        count("failed preparation")
        return
      }
      count("failed append")
      guard log.status.last == Revision(world.entries.count) else {
        throw Failure(description: "a failed group counts: \(log.status)")
      }
      otherWorlds = (1...group.count).map { length in
        World(entries: world.entries + group.prefix(length), durable: world.durable)
      }
      try repair()
    }
  }

  private mutating func forget(through revision: Int) throws {
    if bug != .recycledBeforeForget { world.durable = revision }
    do {
      try log.forget(through: Revision(bug == .recycledBeforeForget ? world.entries.count : revision))
      count("forget")
    } catch {
      count("failed forget")
      if simulated.isOff { try cutPower() }
    }
  }

  private mutating func restart() throws {
    do {
      let kept = world.kept.flatMap { $0 }
      // Acknowledged entries can be read although a later group failed.
      let records = random.chance(50) ? try log.records(after: Revision(world.durable)) : kept
      guard records == kept else { throw Failure(description: "the log reads \(records) instead of \(kept)") }
      try log.restart(after: Self.state(world.durable), with: records)
      otherWorlds = []
      count("restart")
    } catch let failure as Failure {
      throw failure
    } catch {
      count("failed restart")
      try repair()
    }
  }

  /// Begins again after an earlier state, as a restored store does. The same revisions are then used a second time.
  private mutating func restore() throws {
    let revision = random.below(world.entries.count + 1)
    let restored = World(entries: Array(world.entries.prefix(revision)), durable: revision)
    do {
      try log.restart(after: Self.state(revision), with: [])
      (world, otherWorlds) = (restored, [])
      count("restore")
    } catch {
      count("failed restore")
      otherWorlds.append(restored)
      try repair()
    }
  }

  /// Another program removes the folder, or replaces all files. The store makes everything durable, and the log begins
  /// again.
  private mutating func move() throws {
    simulated.plan(nil)
    if random.chance(50) {
      simulated.removeFolder()
    } else {
      for name in try simulated.names() ?? [] { simulated.replace(name) }
    }
    do {
      try log.verify()
      throw Failure(description: "a moved log is not noticed")
    } catch let failure as StoreFailure where failure.code == .moved {
      count("move")
    }
    world.durable = world.entries.count
    if random.chance(50) { planFault() }
    while true {
      do {
        return try log.restart(after: Self.state(world.durable), with: [])
      } catch {
        count("failed restart after a move")
        guard simulated.isOff else { continue }
        // The store holds all records, so a lost log begins again.
        simulated.recover()
        log = try LocalCommitLog(
          beginning: disk, store: LogFixture.store, after: Self.state(world.durable), options: options,
          salt: LogFixture.salt)
        return
      }
    }
  }

  /// Continues after a failed call, as a store may: it begins again, or its process ends, or the power fails.
  private mutating func repair() throws {
    if simulated.isOff { return try cutPower() }
    switch random.below(10) {
    case 0..<6: try restart()
    case 6..<8: try reopen()
    default: try cutPower()
    }
  }

  // MARK: Opening

  private mutating func cutPower() throws {
    count("power cut")
    simulated.recover()
    try reopen()
  }

  private mutating func reopen() throws {
    count("opening")
    while true {
      let hadPlan = simulated.hasPlan
      do {
        log = try LocalCommitLog(opening: disk, store: LogFixture.store, options: options, salt: LogFixture.salt)
        break
      } catch {
        guard hadPlan, !simulated.hasPlan else { throw Failure(description: "the log can't be opened: \(error)") }
        count("failed opening")
        if simulated.isOff { simulated.recover() }
      }
    }
    simulated.plan(nil)
    try compare()
  }

  /// Finds out which of the possible contents the log has. A program that has opened the log may answer with any of
  /// them.
  private mutating func compare() throws {
    var found = [String]()
    for candidate in [world] + otherWorlds {
      do {
        let records = try log.records(after: Revision(candidate.durable))
        if records == candidate.kept.flatMap({ $0 }), log.status.last == Revision(candidate.entries.count) {
          if candidate.entries.count > world.entries.count { count("unanswered entry survived") }
          (world, otherWorlds) = (candidate, [])
          return
        }
        found.append("\(records.map(\.revision))")
      } catch { found.append("\(error)") }
    }
    throw Failure(
      description: "after revision \(world.durable) the log must hold the revisions through \(world.entries.count), "
        + "or those of \(otherWorlds.count) other worlds; it holds \(found)")
  }
}
