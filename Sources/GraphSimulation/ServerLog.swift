import GraphLog
import GraphModel
import GraphStoreFaults

/// The commit log of the simulated server, on a disk of its own. Its random generator is its own, too.
struct ServerLog {
  let disk: SimulatedLogDisk
  private var random: SeededRandom

  /// The generator of the disk, used on the thread of the simulation.
  private final class DiskRandom: @unchecked Sendable {  // One thread runs a simulation.
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }
  }

  /// - Parameter isSynced: whether the disk keeps the synced bytes of the log.
  init(seed: UInt64, isSynced: Bool) {
    random = SeededRandom(seed: seed ^ 0x10_6106)
    let source = DiskRandom(seed: seed ^ 0xD15C)
    disk = SimulatedLogDisk { source.random.next() }
    if !isSynced { disk.ignoreSyncs() }
  }

  /// So small that segments are reused, and that some commits do not fit.
  static let options = LocalCommitLog.Options(segmentBytes: 3 * 4_096, maximumSegments: 4)

  static let heldBytes = 4_096

  /// Opens the log, or begins it.
  var open: @Sendable (_ store: UniqueID, _ beginning: LogPosition?) throws -> any CommitLog {
    { [disk] store, beginning in
      guard let beginning else { return try LocalCommitLog(opening: disk, store: store, options: Self.options) }
      return try LocalCommitLog(beginning: disk, store: store, after: beginning, options: Self.options)
    }
  }

  /// Plans a fault for the next write, rarely.
  /// - Returns: the failure; nil if there is none.
  mutating func planFault() -> String? {
    guard random.chance(4) else { return nil }
    let calls = random.below(8)
    if random.chance(50) {
      disk.plan(.powerCut, after: calls)
      return "the log's power fails after \(calls) calls"
    }
    let (kind, code): (SimulatedLogDisk.Call, Int32) =
      random.chance(50) ? (.synchronize, 5) : (.write, random.chance(50) ? 28 : 5)
    disk.plan(.error(code), after: random.below(2), kind: kind)
    return "the log's \(kind) fails with \(code)"
  }
}
