import Foundation
import GraphModel

extension Bench {
  /// The maximum memory of an event stream, in KiB.
  private static let streamLimit = 24.0
  private static let streamCount = 1_000
  /// The maximum growth of memory while all notes are sent, in KiB.
  private static let linesLimit = 16_384.0

  /// Measures HTTP: a GET of one object beside a bare server of Hummingbird, all notes as lines of JSON, and event
  /// streams.
  func measureHTTP() throws {
    if selection.includes(.http, "1") { try measureGets(connections: 1) }
    if selection.includes(.http, "16") { try measureGets(connections: 16) }
    if selection.includes(.http, "lines") { try measureLines() }
    if selection.includes(.http, "streams") { try measureStreams() }
    if selection.includes(.http, "sockets") { try measureWebSockets() }
  }

  // MARK: - One object

  private func measureGets(connections: Int) throws {
    var (ours, limit) = (Builds<Double>(), [Double]())
    for _ in 0..<Self.rounds {
      var answer = ""
      try ours.measure(self) { bench in
        let daemon = try Daemon(bench, data: bench.place("data"), servesHTTP: true)
        defer { daemon.stop() }
        let client = try WireClient(daemon.tcp)
        try client.commit(try client.newNotes(1, on: try client.insertBoard()))
        let port = try bench.httpPort(of: daemon)
        let page = try HTTPClient(port: port)
        let notes = try JSON(parsing: Array(try page.get(page.request("/v1/objects/Note"))))
        guard let id = notes["objects"]?.arrayValue?.first?["id"]?.stringValue else {
          throw BenchmarkError(description: "there is no note")
        }
        let target = "/v1/objects/Note/\(id)"
        answer = String(decoding: try page.get(page.request(target)), as: UTF8.self)
        return try bench.requestRate(port, target, connections)
      }
      let server = try ServerProcess(mode: ["http-server", answer])
      defer { server.kill() }
      guard let port = Int(try server.line().dropFirst("listening ".count)) else {
        throw BenchmarkError(description: "the limit does not listen")
      }
      limit.append(try requestRate(port, "/v1/objects/Note/x", connections))
    }
    let figures = ours.median { $0 }
    Figure(
      name: "GET of one object, \(connections == 1 ? "one connection" : "\(connections) connections")",
      unit: "requests/s", ours: figures.ours, baseline: figures.baseline, limit: median(limit), aim: .atLeast(0.5)
    ).report()
  }

  private func requestRate(_ port: Int, _ target: String, _ connections: Int) throws -> Double {
    let bodies = try (0..<connections).map { _ in
      let client = try HTTPClient(port: port)
      let request = client.request(target)
      return { _ = try client.get(request) }
    }
    return rate(for: seconds, bodies)
  }

  private func httpPort(of daemon: Daemon) throws -> Int {
    guard let port = daemon.httpPort else { throw BenchmarkError(description: "the daemon serves no HTTP") }
    return port
  }

  // MARK: - All objects

  private struct LinesRun {
    let milliseconds: Double
    let peak: Double
    let pausedPeak: Double
  }

  private func measureLines() throws {
    let stores = try filledStores(Self.largeStore)
    defer { for store in stores { remove(store.data) } }
    var runs = Builds<LinesRun>()
    for _ in 0..<Self.rounds {
      try runs.measure(stores) { bench, data in
        let daemon = try Daemon(bench, data: data, servesHTTP: true)
        defer { daemon.stop() }
        let port = try bench.httpPort(of: daemon)
        var time = 0.0
        let peak = try bench.peakGrowth(of: daemon.process) { time = try timed { try bench.readLines(port) } }
        let pausedPeak = try bench.peakGrowth(of: daemon.process) { try bench.readLines(port, pausing: 1) }
        return LinesRun(milliseconds: time * 1e3, peak: peak, pausedPeak: pausedPeak)
      }
    }
    func report(_ name: String, _ unit: String, limit: Double? = nil, _ value: (LinesRun) -> Double) {
      let (ours, baseline) = runs.median(value)
      let aim: Figure.Aim = limit == nil ? .none : .atMost(1)
      Figure(name: name, unit: unit, ours: ours, baseline: baseline, limit: limit, aim: aim).report()
    }
    report("100,000 notes as lines of JSON", "ms") { $0.milliseconds }
    report("– daemon's memory above its start, at most", "KiB", limit: Self.linesLimit) { $0.peak }
    report("– the same, a client that pauses for a second", "KiB", limit: Self.linesLimit) { $0.pausedPeak }
  }

  private func readLines(_ port: Int, pausing seconds: Double = 0) throws {
    let client = try HTTPClient(port: port)
    var (lines, pause) = (0, seconds)
    try client.getParts(client.request("/v1/objects/Note", accept: "application/x-ndjson")) { bytes in
      lines += bytes.count { $0 == 10 }
      if pause > 0 { usleep(UInt32(pause * 1e6)) }
      pause = 0
    }
    guard lines == Self.largeStore else { throw BenchmarkError(description: "\(lines) notes were read") }
  }

  // MARK: - Streams

  private func measureStreams() throws {
    var growths = Builds<Growth>()
    for _ in 0..<Self.rounds {
      try growths.measure(self) { bench in
        let daemon = try Daemon(bench, data: bench.place("data"), servesHTTP: true)
        defer { daemon.stop() }
        let writer = try WireClient(daemon.tcp)
        try writer.commit(try writer.newNotes(1, on: try writer.insertBoard()))
        let port = try bench.httpPort(of: daemon)
        return try bench.growth(of: daemon.process) {
          try (0..<Self.streamCount).map { _ in
            let client = try HTTPClient(port: port)
            try client.follow("Note")
            return client
          }
        }
      }
    }
    let (resident, proportional) = (growths.median(\.resident), growths.median(\.proportional))
    Figure(
      name: "event stream, VmRSS", unit: "KiB", ours: resident.ours, baseline: resident.baseline,
      limit: Self.streamLimit, aim: .atMost(1)
    ).report()
    Figure(
      name: "event stream, Pss", unit: "KiB", ours: proportional.ours, baseline: proportional.baseline,
      limit: Self.streamLimit, aim: .atMost(1)
    ).report()
  }
}
