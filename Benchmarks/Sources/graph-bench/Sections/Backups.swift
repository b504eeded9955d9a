import Foundation
import GraphModel
import Synchronization

extension Bench {
  private static let backedUpCounts = [100_000, 1_000_000]
  private static let backupWriters = 16

  private struct BackupRun {
    /// Commits per second, without and during a backup.
    let alone: Double
    let beside: Double
    let seconds: Double
    /// The backup's peak and the daemon's growth, in KiB.
    let peak: Double
    let daemonGrowth: Double
  }

  /// Measures `stickiesd backup`, including verification, while 16 clients write through the daemon.
  func measureBackup() throws {
    let runs = try Self.backedUpCounts.map { try backupRun($0) }
    let baseline = try baseline?.backupRun(Self.backedUpCounts[1])
    guard let few = runs.first, let many = runs.last else { return }
    Figure(
      name: "16 clients during a backup of 1,000,000 objects", unit: "commits/s", ours: many.beside,
      baseline: baseline?.beside, limit: many.alone, aim: .atLeast(0.7)
    ).report()
    Figure(
      name: "– of 100,000 objects", unit: "commits/s", ours: few.beside, limit: few.alone, aim: .atLeast(0.7)
    ).report()
    Figure(
      name: "– how long that of 1,000,000 took, verified", unit: "s", ours: many.seconds,
      baseline: baseline?.seconds
    ).report()
    Figure(
      name: "memory of the backup at most, 1,000,000 objects beside 100,000", unit: "KiB", ours: many.peak,
      limit: few.peak, aim: .atMost(1.3)
    ).report()
    Figure(
      name: "– what the daemon took more meanwhile", unit: "KiB", ours: many.daemonGrowth, limit: few.daemonGrowth
    ).report()
  }

  private func backupRun(_ count: Int) throws -> BackupRun {
    let data = try filledStore(count)
    let daemon = try Daemon(self, data: data)
    let file = place("backup")
    defer {
      daemon.stop()
      remove(data)
      remove(file)
    }
    let board = try WireClient(daemon.unix).insertBoard(named: "Writers")
    let writers = try Writers(
      try (0..<Self.backupWriters).map { _ in
        var mover = try NotesInTurn(try WireClient(daemon.unix), board)
        return { try mover.commit() }
      })
    // Let the log reach its size and the caches warm up before counting.
    usleep(useconds_t(max(1, seconds) * 1e6))
    let first = writers.rate { usleep(useconds_t(seconds * 1e6)) }
    try daemon.process.forgetPeak()
    let before = daemon.process.memory("VmRSS")
    let backup = try ServerProcess(self.daemon, ["backup", "--data", data, file], readsOutput: false)
    var peak = 0.0
    let start = now()
    let beside = writers.rate {
      // A process that has ended reports no memory.
      while true {
        let most = backup.memory("VmHWM")
        guard most.isFinite else { break }
        peak = max(peak, most)
        usleep(5_000)
      }
    }
    let took = now() - start
    backup.wait()
    let growth = daemon.process.memory("VmHWM") - before
    let last = writers.rate { usleep(useconds_t(seconds * 1e6)) }
    try writers.stop()
    guard access(file, R_OK) == 0 else { throw BenchmarkError(description: "the backup was not made") }
    return BackupRun(
      alone: (first + last) / 2, beside: beside, seconds: took, peak: peak, daemonGrowth: growth)
  }

  /// A few notes of one client, which changes one in each commit.
  private struct NotesInTurn {
    private let client: WireClient
    private let notes: [ObjectID]
    private var moves = 0

    init(_ client: WireClient, _ board: ObjectID) throws {
      self.client = client
      notes = try client.committed(try client.newNotes(64, on: board)).identities.map(\.permanent)
    }

    mutating func commit() throws {
      moves += 1
      try client.commit([try client.move(notes[moves % notes.count], base: .max, x: Double(moves))])
    }
  }
}

/// Clients that write until they are stopped, each on its own thread.
private final class Writers: Sendable {
  private let isStopped = Atomic(false)
  private let count = Atomic(0)
  private let failure = Mutex<String?>(nil)
  private let group = DispatchGroup()

  init(_ bodies: [() throws -> Void]) throws {
    for body in bodies {
      // Only the new thread uses the body from here on.
      nonisolated(unsafe) let body = body
      group.enter()
      Thread.detachNewThread { [self] in
        do {
          while !isStopped.load(ordering: .relaxed) {
            try body()
            count.add(1, ordering: .relaxed)
          }
        } catch {
          failure.withLock { $0 = "\(error)" }
        }
        group.leave()
      }
    }
  }

  /// Returns the commits per second while a body runs.
  func rate(while body: () -> Void) -> Double {
    let (before, start) = (count.load(ordering: .relaxed), now())
    body()
    return Double(count.load(ordering: .relaxed) - before) / (now() - start)
  }

  func stop() throws {
    isStopped.store(true, ordering: .relaxed)
    group.wait()
    if let failure = failure.withLock({ $0 }) { throw BenchmarkError(description: "a writer failed: \(failure)") }
  }
}
