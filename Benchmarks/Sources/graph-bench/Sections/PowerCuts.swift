import Foundation

extension Bench {
  private static let cutLimit = 1_000.0
  private static let logLimit = 64.0
  /// The frames of SQLite's log at which the next checkpoint is near; the daemon makes one at 4,000 pages.
  private static let framesBeforeCheckpoint = 3_600
  private static let loggedNotes = 300_000

  /// The commits that SQLite loses at a power cut. The commit log has them.
  private enum Lost: CaseIterable {
    /// Everything since the last checkpoint: SQLite syncs only then.
    case sinceCheckpoint
    /// Everything since the start, as with a read that prevents checkpoints.
    case sinceStart

    var name: String {
      switch self {
      case .sinceCheckpoint: "daemon's start after a power cut, without the commits since a checkpoint"
      case .sinceStart: "daemon's start after a power cut, without any commit of a full log"
      }
    }
  }

  private struct CutRun {
    let start: Start
    /// The commits of the load, which include those that only the log had.
    let commits: Double
    /// The daemon's memory before the cut, in MiB.
    let loaded: Double
  }

  /// Measures the start after a power cut. A cut is played: the daemon is killed, and the files of SQLite are replaced
  /// by those of an earlier state that was synced. The log keeps everything, because each commit was synced there.
  func measurePowerCuts() throws {
    let stores = try filledStores(Self.largeStore)
    defer { for store in stores { remove(store.data) } }
    // Without a commit log, each commit is synced in SQLite, and a power cut is a kill.
    let logged = stores.filter { CommitLogFolder(data: $0.data).exists }
    guard logged.first?.data == stores[0].data else {
      return say("\(daemon) has no commit log: no power cut was played.")
    }
    let perSegment = try commitsPerSegment(on: stores[0].data)
    for lost in Lost.allCases {
      var runs = Builds<CutRun>()
      for _ in 0..<Self.rounds { try runs.measure(logged) { try $0.cutRun(on: $1, lost, perSegment) } }
      report(runs, lost)
    }
  }

  private func report(_ runs: Builds<CutRun>, _ lost: Lost) {
    func report(_ name: String, _ unit: String, limit: Double? = nil, _ value: (CutRun) -> Double) {
      let (ours, baseline) = runs.median(value)
      Figure(name: name, unit: unit, ours: ours, baseline: baseline, limit: limit, aim: .atMost(1)).report()
    }
    report(lost.name, "ms", limit: Self.cutLimit) { $0.start.listening * 1e3 }
    report("– to the first answer", "ms", limit: Self.cutLimit) { $0.start.answer * 1e3 }
    report("– commits since the daemon's start before", "commits") { $0.commits }
    report("– daemon's resident memory before the cut", "MiB", limit: Self.memoryLimit) { $0.loaded }
    report("– daemon's resident memory then", "MiB", limit: Self.memoryLimit) { $0.start.memory }
  }

  /// The commits that fill the log's first segment.
  private func commitsPerSegment(on base: String) throws -> Int {
    let data = try copy(base)
    defer { remove(data) }
    let daemon = try Daemon(self, data: data)
    defer { daemon.stop() }
    var load = try LogLoad(daemon, data: data)
    try load.fillSegment()
    return load.commits
  }

  /// - Parameters:
  ///   - base: a closed store with `largeStore` notes, which is not changed.
  ///   - perSegment: the commits that fill the log's first segment.
  private func cutRun(on base: String, _ lost: Lost, _ perSegment: Int) throws -> CutRun {
    let data = try copy(base)
    let saved = place("saved")
    defer { for path in [data, saved] { remove(path) } }
    let daemon = try Daemon(self, data: data)
    // The daemon has synced its files to mark that the log is needed, and nothing has been committed since.
    try FileManager.default.createDirectory(atPath: saved, withIntermediateDirectories: true)
    try copyStore(from: data, to: saved)
    let frames = try WriteAheadLogFrames(data: data)
    var (load, hasCheckpoint) = (try LogLoad(daemon, data: data), false)
    try load.run(perSegment: perSegment) {
      hasCheckpoint = frames.advance().restarted || hasCheckpoint
      return lost == .sinceCheckpoint && hasCheckpoint && frames.frames >= Self.framesBeforeCheckpoint
    }
    let loaded = residentMebibytes(daemon)
    daemon.process.kill()
    for suffix in ["-wal", "-shm"] { remove(data + "/graph.sqlite" + suffix) }
    // After a checkpoint, the database file alone is what has been synced.
    if lost == .sinceStart || !hasCheckpoint { try copyStore(from: saved, to: data) }
    // The last note of the load must be there.
    let next = try start(on: data, finding: Self.largeStore + load.commits)
    next.daemon.stop()
    return CutRun(start: next, commits: Double(load.commits), loaded: loaded)
  }

  /// Copies the database file and SQLite's log.
  private func copyStore(from folder: String, to other: String) throws {
    for name in ["graph.sqlite", "graph.sqlite-wal"] where access("\(folder)/\(name)", F_OK) == 0 {
      remove("\(other)/\(name)")
      try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(other)/\(name)")
    }
    // Otherwise the first sync that is measured would wait for the copy to reach the disk.
    sync()
  }

  // MARK: - The log

  /// Measures the largest size of the commit log's folder, and the daemon's memory, while more is committed than the
  /// log may hold.
  func measureLogSize() throws {
    let data = place("logged")
    defer { remove(data) }
    let daemon = try Daemon(self, data: data)
    defer { daemon.stop() }
    let log = CommitLogFolder(data: data)
    guard log.exists else { return say("\(self.daemon) has no commit log: its size was not taken.") }
    var (filler, most, segments) = (try StoreFiller(try WireClient(daemon.unix)), 0.0, Set<UInt64>())
    for count in stride(from: 10_000, through: Self.loggedNotes, by: 10_000) {
      try filler.fill(to: count)
      most = max(most, log.mebibytes)
      segments.formUnion(log.begunSegments)
    }
    Figure(
      name: "the commit log on disk, at most", unit: "MiB", ours: most, limit: Self.logLimit, aim: .atMost(1)
    ).report()
    Figure(name: "– segments that were begun", unit: "files", ours: Double(segments.count)).report()
    Figure(
      name: "daemon's resident memory after 300,000 notes", unit: "MiB", ours: residentMebibytes(daemon),
      limit: Self.memoryLimit, aim: .atMost(1)
    ).report()
  }
}
