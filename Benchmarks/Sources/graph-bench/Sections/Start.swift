import Foundation

extension Bench {
  private static let startLimit = 100.0
  private static let memoryLimit = 48.0
  private static let commandLimit = 40.0

  /// Measures the time from exec to the first "listening" line, on a store of 100,000 notes; and that of a command
  /// from exec to exit. The limits are the required times. Each daemon is a new process; the store's file is in the
  /// system's cache.
  func measureStart() throws {
    let data = try filledStore(Self.largeStore)
    var (clean, killed, memory, leftBehind) = ([Double](), [Double](), [Double](), [Double]())
    for _ in 0..<Self.rounds {
      let daemon = try Daemon(self, data: data)
      clean.append(daemon.startSeconds)
      memory.append(residentMebibytes(daemon))
      try killUnderLoad(daemon)
      leftBehind.append(Double(fileSize(data + "/graph.sqlite-wal")) / 1024)
      let next = try Daemon(self, data: data)
      killed.append(next.startSeconds)
      memory.append(residentMebibytes(next))
      next.stop()
    }
    Figure(
      name: "daemon's start on 100,000 notes", unit: "ms", ours: median(clean) * 1e3, limit: Self.startLimit,
      aim: .atMost(1)
    ).report()
    Figure(
      name: "daemon's start after kill -9 under load", unit: "ms", ours: median(killed) * 1e3,
      limit: Self.startLimit, aim: .atMost(1)
    ).report()
    Figure(name: "– the log that was left behind", unit: "KiB", ours: median(leftBehind)).report()
    Figure(
      name: "daemon's resident memory then", unit: "MiB", ours: median(memory), limit: Self.memoryLimit,
      aim: .atMost(1)
    ).report()
    remove(data)
    try measureCommand()
  }

  /// Returns the resident memory one second after the start, when starting has finished.
  private func residentMebibytes(_ daemon: Daemon) -> Double {
    usleep(1_000_000)
    return daemon.process.memory("VmRSS") / 1024
  }

  private func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Lets four clients commit as fast as they can for a second, and kills the daemon meanwhile.
  private func killUnderLoad(_ daemon: Daemon) throws {
    let board = try WireClient(daemon.unix).insertBoard(named: "Load \(now())")
    let clients = try (0..<4).map { _ in try WireClient(daemon.unix) }
    let notes = try clients.map { try $0.newNotes(1, on: board) }
    let group = DispatchGroup()
    for (client, note) in zip(clients, notes) {
      group.enter()
      Thread.detachNewThread {
        // Ends with the connection.
        while (try? client.commit(note)) != nil {}
        group.leave()
      }
    }
    usleep(1_000_000)
    daemon.process.kill()
    guard group.wait(timeout: .now() + 10) == .success else {
      throw BenchmarkError(description: "a client did not notice that the daemon is gone")
    }
  }

  private func measureCommand() throws {
    guard access(shell, X_OK) == 0 else { return say("There is no \(shell): a command's time was not taken.") }
    let daemon = try Daemon(self, data: place("small"))
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    try client.commit(try client.newNotes(20, on: try client.insertBoard()))
    let times = try (0..<(Self.rounds * 10)).map { _ in
      let start = now()
      let command = try ServerProcess(shell, ["list", "--server", "\(daemon.unix)"], readsOutput: false)
      command.wait()
      return now() - start
    }
    Figure(
      name: "stickies list of 20 notes, exec to exit", unit: "ms", ours: median(times) * 1e3,
      limit: Self.commandLimit, aim: .atMost(1)
    ).report()
  }
}
