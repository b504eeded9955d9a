import GraphModel
import GraphWire

extension Bench {
  private static let watcherCount = 1_000

  private struct Window {
    /// The number of updates in flight.
    let updates: Int
    /// The required ratio to Redis's rate.
    let redisAim: Double

    var row: String { "\(updates)" }
  }

  private static let allWindows = [Window(updates: 1, redisAim: 1), Window(updates: 16, redisAim: 1.5)]

  /// The selected windows.
  private var windows: [Window] { Self.allWindows.filter { selection.includes(.fanout, $0.row) } }

  /// Measures deliveries per second to 1,000 connections over TCP: ours, with each update durable and matched against
  /// live queries; those of a bare SwiftNIO server with the same bytes; and Redis's, with each update durable and
  /// published.
  func measureFanOut() throws {
    var (daemons, bare, redis) = (Builds<[Double]>(), [[Double]](), [[Double]]())
    var size = 0
    for _ in 0..<Self.rounds {
      var delta = [UInt8]()
      try daemons.measure(self) { bench in
        let (rates, frame) = try bench.ourFanOut()
        // The peers send what our daemon sends.
        if delta.isEmpty { delta = frame }
        return rates
      }
      size = delta.count
      bare.append(try bareFanOut(delta))
      if let rates = try redisFanOut(delta) { redis.append(rates) }
    }
    for (index, window) in windows.enumerated() {
      let (ours, baseline) = daemons.median { $0[index] }
      let name = window.updates == 1 ? "one update at a time" : "\(window.updates) updates in flight"
      Figure(
        name: "1,000 watchers, \(name)", unit: "deliveries/s", ours: ours, baseline: baseline,
        limit: median(bare.map { $0[index] }), aim: .atLeast(0.7),
        peers: redis.isEmpty ? [:] : [.redis: median(redis.map { $0[index] })],
        peerAims: [.redis: .atLeast(window.redisAim)]
      ).report()
    }
    Figure(name: "– size of an update", unit: "bytes", ours: Double(size)).report()
  }

  private func rates(_ watchers: Watchers, send: (Int) throws -> Void) throws -> [Double] {
    try windows.map { window in
      try watchers.deliveries(to: Self.watcherCount, window: window.updates, seconds: seconds, send: send)
    }
  }

  private func ourFanOut() throws -> (rates: [Double], delta: [UInt8]) {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    let writer = try WireClient(daemon.tcp)
    // Many more notes than updates in flight, so that a note's next move is based on a committed one.
    var mover = try NoteMover(writer, making: 64, on: try writer.insertBoard())
    let clients = try (0..<Self.watcherCount).map { _ in
      let client = try WireClient(daemon.tcp)
      try client.subscribe("Note")
      return client
    }
    try mover.move()
    var delta = [UInt8]()
    for client in clients { delta = Array(try client.skip(to: .delta)) }
    let watchers = try Watchers()
    for client in clients { try watchers.add(client.socket, counting: .frames) }
    try watchers.add(writer.socket, counting: .none)
    let rates = try rates(watchers) { count in
      var frames = [UInt8]()
      for _ in 0..<count { frames += try mover.nextFrame() }
      try writer.socket.write(frames)
    }
    let length = UInt32(delta.count)
    return (rates, [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) } + delta)
  }

  private func bareFanOut(_ frame: [UInt8]) throws -> [Double] {
    let server = try ServerProcess(mode: ["nio-fanout-server"])
    defer { server.kill() }
    let line = try server.line()
    guard let port = line.split(separator: " ").last.flatMap({ Int($0) }) else {
      throw BenchmarkError(description: "the bare server says: \(line)")
    }
    let address = ServerAddress.tcp(host: "127.0.0.1", port: port)
    let watchers = try Watchers()
    for _ in 0..<Self.watcherCount { try watchers.add(try Socket(address), counting: .frames) }
    let writer = try Socket(address)
    // One event loop accepts connections in order, so the writer's arrival implies that of all others before it.
    return try rates(watchers) { count in
      try writer.write(Array(repeatElement(frame, count: count).joined()))
    }
  }

  private func redisFanOut(_ delta: [UInt8]) throws -> [Double]? {
    guard let server = try RedisServer(self) else { return nil }
    defer { server.stop() }
    let watchers = try Watchers()
    let size = RedisClient.messageSize(payload: delta.count)
    for _ in 0..<Self.watcherCount {
      let client = try RedisClient(server.tcp)
      try client.subscribe()
      try watchers.add(client.socket, counting: .ofSize(size))
    }
    let writer = try RedisClient(server.tcp)
    try watchers.add(writer.socket, counting: .none)
    return try rates(watchers) { count in
      var frames = [UInt8]()
      for _ in 0..<count { frames += writer.update(payload: delta) }
      try writer.socket.write(frames)
    }
  }
}
