import Foundation
import GraphModel
import GraphWire

extension Bench {
  static let largeStore = 100_000

  /// The seconds, and the growth of memory in KiB, of each run.
  private struct SnapshotRuns {
    var (ours, limit, library) = ([Double](), [Double](), [Double]())
    var (peaks, pausedPeaks, libraryPeaks) = ([Double](), [Double](), [Double]())
    /// PostgreSQL's, by SELECT and by COPY; empty without PostgreSQL.
    var (selects, copies) = ([Double](), [Double]())
  }

  /// Measures 100,000 notes to one client over the Unix-domain socket, beside SQLite and the encoder alone, and
  /// beside PostgreSQL.
  func measureSnapshot() throws {
    let data = try filledStore(Self.largeStore)
    let postgres = try filledPostgres()
    defer {
      postgres?.stop()
      remove(data)
    }
    var runs = SnapshotRuns()
    for _ in 0..<Self.rounds {
      try addOurSnapshot(of: data, to: &runs)
      if let postgres {
        let client = try postgres.postgresClient()
        runs.selects.append(try timed { try check(client.readAll(), of: "PostgreSQL's SELECT") })
        runs.copies.append(try timed { try check(client.copyAll(), of: "PostgreSQL's COPY") })
      }
    }
    report(runs)
  }

  private func addOurSnapshot(of data: String, to runs: inout SnapshotRuns) throws {
    let daemon = try Daemon(self, data: data)
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    runs.peaks.append(
      try peakGrowth(of: daemon.process) { runs.ours.append(try timed { try snapshot(client, pausing: 0) }) })
    // A client that pauses after its first chunk.
    let patient = try WireClient(daemon.unix)
    runs.pausedPeaks.append(try peakGrowth(of: daemon.process) { try snapshot(patient, pausing: 1) })

    let limit = try RawSnapshot(data + "/graph.sqlite", client: client)
    runs.limit.append(try timed { try check(limit.run().count, of: "the limit") })

    let reader = try ServerProcess(mode: ["snapshot-client", "\(daemon.unix)"])
    let words = try reader.line().split(separator: " ").compactMap { Double($0) }
    reader.wait()
    guard words.count == 3 else { throw BenchmarkError(description: "the client library's reader fails") }
    try check(Int(words[0]), of: "the client library")
    runs.library.append(words[1])
    runs.libraryPeaks.append(words[2])
  }

  private func report(_ runs: SnapshotRuns) {
    let (ours, hasPostgres) = (median(runs.ours) * 1e3, !runs.selects.isEmpty)
    Figure(
      name: "snapshot of 100,000 notes, last chunk read", unit: "ms", ours: ours, limit: median(runs.limit) * 1e3,
      aim: .atMost(1.5), peers: hasPostgres ? [.postgres: median(runs.selects) * 1e3] : [:],
      peerAims: [.postgres: .atMost(1)]
    ).report()
    if hasPostgres {
      Figure(
        name: "– beside PostgreSQL's COPY, which does not sort", unit: "ms", ours: ours,
        peers: [.postgres: median(runs.copies) * 1e3]
      ).report()
    }
    Figure(name: "– daemon's memory above its start, at most", unit: "KiB", ours: median(runs.peaks)).report()
    Figure(name: "– the same, a client that pauses for a second", unit: "KiB", ours: median(runs.pausedPeaks)).report()
    Figure(name: "– read with the client library, decoded", unit: "ms", ours: median(runs.library) * 1e3).report()
    Figure(
      name: "– that client's memory above its start, at most", unit: "KiB", ours: median(runs.libraryPeaks)
    ).report()
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
    guard let server = try PostgresServer(self) else { return nil }
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
  private func peakGrowth(of process: ServerProcess, _ body: () throws -> Void) throws -> Double {
    try process.forgetPeak()
    let before = process.memory("VmRSS")
    try body()
    return process.memory("VmHWM") - before
  }
}
