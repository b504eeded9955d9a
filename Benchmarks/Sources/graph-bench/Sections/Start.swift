import Foundation

extension Bench {
  static let startLimit = 100.0
  static let memoryLimit = 48.0
  private static let commandLimit = 40.0

  /// A start of the daemon on a store.
  struct Start {
    /// The seconds from exec to the first "listening" line, and to the first answered request.
    let listening: Double
    let answer: Double
    /// Its resident memory in MiB, one second later.
    let memory: Double
    /// The running daemon.
    let daemon: Daemon
  }

  /// Measures the time from exec to the first "listening" line, on a store of 100,000 notes: after a clean end, after
  /// kill -9, and after a power cut; the daemon's memory and its commit log; and the time of a command from exec to
  /// exit. The limits are the required values. Each daemon is a new process; the store's file is in the system's cache.
  func measureStart() throws {
    if selection.includes(.start, "kill") { try measureKills() }
    if selection.includes(.start, "cut") { try measurePowerCuts() }
    if selection.includes(.start, "log") { try measureLogSize() }
    if selection.includes(.start, "command") { try measureCommand() }
  }

  /// - Parameter note: the number of a note that the store must have.
  func start(on data: String, finding note: Int = 1) throws -> Start {
    let daemon = try Daemon(self, data: data)
    let client = try WireClient(daemon.unix)
    try client.fetchNote(note)
    let answer = now() - daemon.process.startedAt
    // By then, starting has finished.
    usleep(1_000_000)
    return Start(listening: daemon.startSeconds, answer: answer, memory: residentMebibytes(daemon), daemon: daemon)
  }

  func residentMebibytes(_ daemon: Daemon) -> Double { daemon.process.memory("VmRSS") / 1024 }

  // MARK: - Kills

  private struct KillRun {
    let clean: Start
    let killed: Start
    /// The daemon's memory under load, in MiB.
    let loaded: Double
    /// The size of the write-ahead log that was left behind, in KiB.
    let leftBehind: Double
  }

  private func measureKills() throws {
    let stores = try filledStores(Self.largeStore)
    var runs = Builds<KillRun>()
    for _ in 0..<Self.rounds { try runs.measure(stores) { try $0.killRun(on: $1) } }
    func report(_ name: String, _ unit: String, limit: Double? = nil, _ value: (KillRun) -> Double) {
      let (ours, baseline) = runs.median(value)
      Figure(name: name, unit: unit, ours: ours, baseline: baseline, limit: limit, aim: .atMost(1)).report()
    }
    report("daemon's start on 100,000 notes", "ms", limit: Self.startLimit) { $0.clean.listening * 1e3 }
    report("– to the first answer", "ms") { $0.clean.answer * 1e3 }
    report("daemon's start after kill -9 under load", "ms", limit: Self.startLimit) { $0.killed.listening * 1e3 }
    report("– to the first answer", "ms", limit: Self.startLimit) { $0.killed.answer * 1e3 }
    report("– SQLite's log that was left behind", "KiB") { $0.leftBehind }
    report("daemon's resident memory on 100,000 notes", "MiB", limit: Self.memoryLimit) { $0.clean.memory }
    report("– under load", "MiB", limit: Self.memoryLimit) { $0.loaded }
    report("– after kill -9", "MiB", limit: Self.memoryLimit) { $0.killed.memory }
    for store in stores { remove(store.data) }
  }

  private func killRun(on data: String) throws -> KillRun {
    let clean = try start(on: data)
    let loaded = try killUnderLoad(clean.daemon)
    let leftBehind = Double(fileSize(data + "/graph.sqlite-wal")) / 1024
    let killed = try start(on: data)
    killed.daemon.stop()
    return KillRun(clean: clean, killed: killed, loaded: loaded, leftBehind: leftBehind)
  }

  private func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Lets four clients commit as fast as they can for a second, and kills the daemon meanwhile.
  /// - Returns: the daemon's resident memory before, in MiB.
  private func killUnderLoad(_ daemon: Daemon) throws -> Double {
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
    let memory = residentMebibytes(daemon)
    daemon.process.kill()
    guard group.wait(timeout: .now() + 10) == .success else {
      throw BenchmarkError(description: "a client did not notice that the daemon is gone")
    }
    return memory
  }

  // MARK: - Commands

  private func measureCommand() throws {
    guard access(shell, X_OK) == 0 else { return say("There is no \(shell): a command's time was not taken.") }
    let daemon = try Daemon(self, data: place("small"))
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    try client.commit(try client.newNotes(20, on: try client.insertBoard()))
    var times = Builds<Double>()
    for _ in 0..<(Self.rounds * 10) {
      try times.measure(self) { bench in
        // The baseline's folder may have the daemon only.
        guard access(bench.shell, X_OK) == 0 else { return .nan }
        let start = now()
        let command = try ServerProcess(bench.shell, ["list", "--server", "\(daemon.unix)"], readsOutput: false)
        command.wait()
        return (now() - start) * 1e3
      }
    }
    let (ours, baseline) = times.median
    Figure(
      name: "stickies list of 20 notes, exec to exit", unit: "ms", ours: ours,
      baseline: baseline.flatMap { $0.isFinite ? $0 : nil },
      limit: Self.commandLimit, aim: .atMost(1)
    ).report()
  }
}
