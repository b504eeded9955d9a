import Foundation
import GraphModel

extension Bench {
  private static let offlineAim = 1.3
  private static let listedNotes = 1_000
  private static let listLimit = 40.0
  private static let unsentEdits = 10_000
  private static let replayLimit = 5_000.0
  private static let keptCommits = 2_000
  /// The notes of the copy. Its limit of 100,000 objects also counts boards and the notes that move.
  private static let copiedNotes = 99_000

  /// Measures `stickies` with a replica: an edit without the daemon beside one with it, a list from the copy, the
  /// replay of a long queue, and the cost of keeping a large copy current.
  func measureOffline() throws {
    guard access(shell, X_OK) == 0 else { return say("There is no \(shell): the replica was not measured.") }
    if selection.includes(.offline, "add") { try measureOfflineAdd() }
    if selection.includes(.offline, "list") { try measureOfflineList() }
    if selection.includes(.offline, "replay") { try measureReplay() }
    if selection.includes(.offline, "current") { try measureKeepingCurrent() }
  }

  // MARK: - A computer with a replica

  /// A daemon, and a computer with a copy of what it has.
  private final class Replica {
    let bench: Bench
    let daemon: Daemon
    private let data: String
    private let home: String
    /// A link to the daemon's socket.
    private var link: String { data + ".link" }

    /// - Parameter data: a store's folder, which is removed at the end.
    init(_ bench: Bench, data: String, fill: (Daemon) throws -> Void = { _ in }) throws {
      (self.bench, self.data, home) = (bench, data, bench.place("computer"))
      daemon = try Daemon(bench, data: data)
      connect()
      try fill(daemon)
    }

    /// Runs `stickies` to its end.
    /// - Parameters:
    ///   - hasCopy: false for a computer without a replica.
    ///   - watchesMemory: whether to ask for the memory all the time, which delays each of the process's page faults.
    /// - Returns: the seconds from exec to exit, the processor time, and the peak of memory in KiB, if it is watched.
    @discardableResult
    func run(
      _ arguments: [String], input: String? = nil, hasCopy: Bool = true, watchesMemory: Bool = false
    ) throws -> (seconds: Double, processor: Double, peak: Double) {
      setenv("XDG_DATA_HOME", hasCopy ? home : home + "-without", 1)
      setenv("STICKIES_AUTHOR", "bench", 1)
      defer {
        unsetenv("XDG_DATA_HOME")
        unsetenv("STICKIES_AUTHOR")
      }
      let words = arguments + ["--server", "unix://\(link)"]
      let before = Self.childrenSeconds
      let start = now()
      let command: ServerProcess
      if let input {
        let line = ([bench.shell] + words).map { "'\($0)'" }.joined(separator: " ")
        command = try ServerProcess("/bin/sh", ["-c", "exec \(line) <'\(input)'"], readsOutput: false)
      } else {
        command = try ServerProcess(bench.shell, words, readsOutput: false)
      }
      let peak = watchesMemory ? Self.peak(of: command) : 0
      command.wait(timeoutSeconds: 600)
      guard command.status == 0 else {
        throw BenchmarkError(description: "stickies \(arguments.joined(separator: " ")) failed")
      }
      return (now() - start, Self.childrenSeconds - before, peak)
    }

    /// Waits for the end of a process, and returns its peak of memory in KiB.
    private static func peak(of command: ServerProcess) -> Double {
      var peak = 0.0
      while true {
        let value = command.memory("VmHWM")
        // A process that has ended has no memory.
        guard value.isFinite, value > 0 else { return peak }
        peak = value
        usleep(200)
      }
    }

    /// The processor time of the children that have ended.
    private static var childrenSeconds: Double {
      var usage = rusage()
      getrusage(RUSAGE_CHILDREN.rawValue, &usage)
      return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// Removes the link, so that no command finds the daemon.
    func disconnect() { unlink(link) }

    func connect() { symlink(data + ".socket", link) }

    func stop() {
      daemon.stop()
      for path in [data, link, home, home + "-without"] { bench.remove(path) }
    }
  }

  private func smallReplica(notes: Int) throws -> (replica: Replica, board: ObjectID) {
    var board = ObjectID.temporary(1, entity: 1)
    let replica = try Replica(self, data: place("offline")) { daemon in
      let client = try WireClient(daemon.unix)
      board = try client.insertBoard()
      try client.commit(try client.newNotes(notes, on: board))
    }
    try replica.run(["sync", "on"])
    return (replica, board)
  }

  // MARK: - Rows

  private func measureOfflineAdd() throws {
    let replica = try smallReplica(notes: 20).replica
    defer { replica.stop() }
    var (online, offline) = ([Double](), [Double]())
    for number in 0..<(Self.rounds * 10) {
      online.append(try replica.run(["add", "online \(number)"], hasCopy: false).seconds * 1e3)
      replica.disconnect()
      offline.append(try replica.run(["add", "offline \(number)"]).seconds * 1e3)
      replica.connect()
    }
    Figure(
      name: "stickies add without the daemon, exec to exit, beside the same with it", unit: "ms", ours: median(offline),
      limit: median(online), aim: .atMost(Self.offlineAim)
    ).report()
  }

  private func measureOfflineList() throws {
    let replica = try smallReplica(notes: Self.listedNotes).replica
    defer { replica.stop() }
    replica.disconnect()
    let times = try (0..<(Self.rounds * 4)).map { _ in try replica.run(["list"]).seconds * 1e3 }
    Figure(
      name: "stickies list of 1,000 notes from the copy, exec to exit", unit: "ms", ours: median(times),
      limit: Self.listLimit, aim: .atMost(1)
    ).report()
  }

  /// A long queue: its last edits beside its first ones, an edit of a program that starts behind it, and its replay.
  private func measureReplay() throws {
    let (replica, board) = try smallReplica(notes: 20)
    defer { replica.stop() }
    let lines = place("edits")
    defer { remove(lines) }
    func insert(_ count: Int, from first: Int) throws -> Double {
      // With positions: the shell looks for free places among all notes of a board.
      let position = "\"board\":\"\(board.key)\",\"x\":10,\"y\":20"
      let text = (first..<(first + count)).map { "{\"text\":\"\(Self.text) \($0)\",\(position)}\n" }.joined()
      try Data(text.utf8).write(to: URL(fileURLWithPath: lines))
      return try replica.run(["graph", "insert", "Note", "-", "--batch", "1"], input: lines).seconds
    }
    let part = Self.unsentEdits / 10
    replica.disconnect()
    let parts = try (0..<10).map { try insert(part, from: $0 * part) / Double(part) * 1e6 }
    let behind = try (0..<Self.rounds).map { try replica.run(["add", "behind \($0)"]).seconds * 1e3 }
    replica.connect()
    let replay = try replica.run(["sync", "now"], watchesMemory: true)
    let client = try WireClient(replica.daemon.unix)
    try client.fetchNote(20 + Self.unsentEdits + Self.rounds)
    Figure(
      name: "replay of 10,000 unsent edits", unit: "edits/s",
      ours: Double(Self.unsentEdits + Self.rounds) / replay.seconds, limit: Self.replayLimit, aim: .atLeast(1)
    ).report()
    Figure(
      name: "– memory at most", unit: "MiB", ours: replay.peak / 1024, limit: Self.memoryLimit, aim: .atMost(1)
    ).report()
    Figure(
      name: "– an edit behind 9,000 others, beside one behind none", unit: "µs", ours: parts[9], limit: parts[0],
      aim: .atMost(Self.offlineAim)
    ).report()
    Figure(name: "– stickies add behind 10,000 unsent edits, exec to exit", unit: "ms", ours: median(behind)).report()
  }

  /// The processor time of a client that follows almost 100,000 notes, without and with a copy that it keeps current.
  private func measureKeepingCurrent() throws {
    let data = try filledStore(Self.copiedNotes)
    let replica = try Replica(self, data: data)
    defer { replica.stop() }
    let load = try replica.run(["sync", "on"], watchesMemory: true)
    var (following, keeping, peaks) = ([Double](), [Double](), [Double]())
    for _ in 0..<Self.rounds {
      let writer = try WireClient(replica.daemon.unix)
      var mover = try NoteMover(writer, making: 100, on: try writer.insertBoard(named: "Moved \(now())"))
      try replica.run(["sync", "now"])
      let follower = try ServerProcess(
        mode: ["live-follower", "\(replica.daemon.unix)", LiveFollower.Way.live.rawValue, "\(Self.keptCommits)"])
      _ = try follower.line()
      for _ in 0..<Self.keptCommits { try mover.move() }
      guard let seconds = Double(try follower.line()) else {
        throw BenchmarkError(description: "the follower reports no time")
      }
      follower.wait()
      let idle = try replica.run(["sync", "status"]).processor
      let sync = try replica.run(["sync", "now"], watchesMemory: true)
      following.append(seconds / Double(Self.keptCommits) * 1e6)
      keeping.append((seconds + max(0, sync.processor - idle)) / Double(Self.keptCommits) * 1e6)
      peaks.append(sync.peak / 1024)
    }
    Figure(
      name: "keeping a copy of 99,000 notes current, processor time of a commit, beside following alone",
      unit: "µs", ours: median(keeping), limit: median(following), aim: .atMost(1.25)
    ).report()
    Figure(
      name: "– memory at most", unit: "MiB", ours: median(peaks), limit: Self.memoryLimit, aim: .atMost(1)
    ).report()
    Figure(
      name: "– while the copy is loaded", unit: "MiB", ours: load.peak / 1024, limit: Self.memoryLimit, aim: .atMost(1)
    ).report()
    Figure(name: "– time of that load", unit: "ms", ours: load.seconds * 1e3).report()
  }
}
