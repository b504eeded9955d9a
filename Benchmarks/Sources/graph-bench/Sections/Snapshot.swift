import Foundation
import GraphModel
import GraphWire

extension Bench {
  static let largeStore = 100_000

  /// The seconds, and the growth of memory in KiB, of one run.
  private struct SnapshotRun {
    let ours: Double
    let limit: Double
    let library: Double
    let peak: Double
    let pausedPeak: Double
    let libraryPeak: Double
  }

  /// The seconds of PostgreSQL's runs; empty without PostgreSQL.
  private struct PostgresRuns {
    var (selects, copies) = ([Double](), [Double]())
  }

  /// Measures 100,000 notes to one client over the Unix-domain socket, beside SQLite and the encoder alone, and
  /// beside PostgreSQL.
  func measureSnapshot() throws {
    let stores = try filledStores(Self.largeStore)
    let postgres = try filledPostgres()
    defer {
      postgres?.stop()
      for store in stores { remove(store.data) }
    }
    var (runs, postgresRuns) = (Builds<SnapshotRun>(), PostgresRuns())
    for _ in 0..<Self.rounds {
      try runs.measure(stores) { try $0.ourSnapshot(of: $1) }
      guard let postgres else { continue }
      let client = try postgres.postgresClient()
      postgresRuns.selects.append(try timed { try check(client.readAll(), of: "PostgreSQL's SELECT") })
      postgresRuns.copies.append(try timed { try check(client.copyAll(), of: "PostgreSQL's COPY") })
    }
    report(runs, postgresRuns)
  }

  private func ourSnapshot(of data: String) throws -> SnapshotRun {
    let daemon = try Daemon(self, data: data)
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    var ours = 0.0
    let peak = try peakGrowth(of: daemon.process) { ours = try timed { try snapshot(client, pausing: 0) } }
    // A client that pauses after its first chunk.
    let patient = try WireClient(daemon.unix)
    let pausedPeak = try peakGrowth(of: daemon.process) { try snapshot(patient, pausing: 1) }

    let raw = try RawSnapshot(data + "/graph.sqlite", client: client)
    let limit = try timed { try check(raw.run().count, of: "the limit") }

    let reader = try ServerProcess(mode: ["snapshot-client", "\(daemon.unix)"])
    let words = try reader.line().split(separator: " ").compactMap { Double($0) }
    reader.wait()
    guard words.count == 3 else { throw BenchmarkError(description: "the client library's reader fails") }
    try check(Int(words[0]), of: "the client library")
    return SnapshotRun(
      ours: ours, limit: limit, library: words[1], peak: peak, pausedPeak: pausedPeak, libraryPeak: words[2])
  }

  private func report(_ runs: Builds<SnapshotRun>, _ postgres: PostgresRuns) {
    let ((ours, baseline), hasPostgres) = (runs.median { $0.ours * 1e3 }, !postgres.selects.isEmpty)
    Figure(
      name: "snapshot of 100,000 notes, last chunk read", unit: "ms", ours: ours, baseline: baseline,
      limit: median(runs.ours.map(\.limit)) * 1e3, aim: .atMost(1.5),
      peers: hasPostgres ? [.postgres: median(postgres.selects) * 1e3] : [:], peerAims: [.postgres: .atMost(1)]
    ).report()
    if hasPostgres {
      Figure(
        name: "– beside PostgreSQL's COPY, which does not sort", unit: "ms", ours: ours, baseline: baseline,
        peers: [.postgres: median(postgres.copies) * 1e3]
      ).report()
    }
    func report(_ name: String, _ unit: String, _ value: (SnapshotRun) -> Double) {
      let (ours, baseline) = runs.median(value)
      Figure(name: name, unit: unit, ours: ours, baseline: baseline).report()
    }
    report("– daemon's memory above its start, at most", "KiB") { $0.peak }
    report("– the same, a client that pauses for a second", "KiB") { $0.pausedPeak }
    report("– read with the client library, decoded", "ms") { $0.library * 1e3 }
    report("– that client's memory above its start, at most", "KiB") { $0.libraryPeak }
  }

  /// Creates a store with this many notes and stops its daemon properly.
  func filledStore(_ count: Int) throws -> String {
    let data = place("filled")
    let daemon = try Daemon(self, data: data)
    var filler = try StoreFiller(try WireClient(daemon.unix))
    try filler.fill(to: count)
    daemon.stop()
    return data
  }

  /// Returns PostgreSQL with as many notes, or nil without PostgreSQL.
  private func filledPostgres() throws -> PostgresServer? {
    guard peers.contains(.postgres), let server = try PostgresServer(self) else { return nil }
    let client = try server.postgresClient()
    for _ in 0..<(Self.largeStore / 1_000) { try client.write(notes: 1_000) }
    // Otherwise the first reader would pay for marking all rows as committed.
    try client.run("VACUUM ANALYZE note")
    return server
  }

  private func check(_ count: Int, of reader: String) throws {
    guard count == Self.largeStore else { throw BenchmarkError(description: "\(reader) read \(count) notes") }
  }

  /// Reads all notes, requesting a chunk for each one received, without decoding them.
  private func snapshot(_ client: WireClient, pausing seconds: Double) throws {
    let request = try client.send(.fetch(Fetch(entity: client.number(of: "Note"))))
    var (count, pause) = (0, seconds)
    while true {
      let chunk = try client.nextChunk()
      count += chunk.objects
      if chunk.isLast { break }
      if pause > 0 { usleep(UInt32(pause * 1e6)) }
      pause = 0
      try client.send(.more(of: request))
    }
    try check(count, of: "the client")
  }

  /// Returns the peak growth of a process while a body runs, in KiB.
  func peakGrowth(of process: ServerProcess, _ body: () throws -> Void) throws -> Double {
    try process.forgetPeak()
    let before = process.memory("VmRSS")
    try body()
    return process.memory("VmHWM") - before
  }
}
