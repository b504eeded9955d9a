import GraphModel
import GraphWire

extension Bench {
  private static let socketCount = 1_000
  /// The maximum memory of an idle watching WebSocket, in KiB.
  private static let socketLimit = 12.0

  private struct FanOutRates {
    let webSocket: Double
    let socket: Double
  }

  /// Measures WebSockets beside the daemon's own protocol: memory of an idle one, and deliveries to 1,000 of them.
  func measureWebSockets() throws {
    var growths = Builds<Growth>()
    for _ in 0..<Self.rounds {
      try growths.measure(self) { bench in
        let (daemon, port) = try bench.webDaemon()
        defer { daemon.stop() }
        let writer = try WireClient(daemon.tcp)
        try writer.commit(try writer.newNotes(1, on: try writer.insertBoard()))
        return try bench.growth(of: daemon.process) { try bench.webSockets(port) }
      }
    }
    let (resident, proportional) = (growths.median(\.resident), growths.median(\.proportional))
    Figure(
      name: "idle watching WebSocket, VmRSS", unit: "KiB", ours: resident.ours, baseline: resident.baseline,
      limit: Self.socketLimit, aim: .atMost(1)
    ).report()
    Figure(
      name: "idle watching WebSocket, Pss", unit: "KiB", ours: proportional.ours, baseline: proportional.baseline,
      limit: Self.socketLimit, aim: .atMost(1)
    ).report()
    for updates in [1, 16] { try measureWebSocketFanOut(updates) }
  }

  private func webDaemon() throws -> (Daemon, port: Int) {
    let daemon = try Daemon(self, data: place("data"), servesHTTP: true)
    guard let port = daemon.httpPort else { throw BenchmarkError(description: "the daemon serves no HTTP") }
    return (daemon, port)
  }

  private func webSockets(_ port: Int) throws -> [WireClient] {
    try (0..<Self.socketCount).map { _ in
      let client = try WireClient(webSocketAt: port)
      try client.subscribe("Note")
      return client
    }
  }

  private func measureWebSocketFanOut(_ updates: Int) throws {
    var rates = Builds<FanOutRates>()
    for _ in 0..<Self.rounds {
      try rates.measure(self) { bench in
        FanOutRates(
          webSocket: try bench.fanOut(updates, counting: .webSocketFrames) { try bench.webSockets($1) },
          socket: try bench.fanOut(updates, counting: .frames) { daemon, _ in
            try (0..<Self.socketCount).map { _ in
              let client = try WireClient(daemon.tcp)
              try client.subscribe("Note")
              return client
            }
          })
      }
    }
    let (webSocket, socket) = (rates.median(\.webSocket), rates.median(\.socket))
    let name = updates == 1 ? "one update at a time" : "\(updates) updates in flight"
    Figure(
      name: "1,000 WebSockets, \(name), beside sockets", unit: "deliveries/s", ours: webSocket.ours,
      baseline: webSocket.baseline, limit: socket.ours, aim: .atLeast(0.8)
    ).report()
  }

  /// The deliveries per second of a daemon of its own to these clients.
  private func fanOut(
    _ updates: Int, counting messages: Watchers.Messages, _ connect: (Daemon, Int) throws -> [WireClient]
  ) throws -> Double {
    let (daemon, port) = try webDaemon()
    defer { daemon.stop() }
    let writer = try WireClient(daemon.tcp)
    var mover = try NoteMover(writer, making: 64, on: try writer.insertBoard())
    let clients = try connect(daemon, port)
    try mover.move()
    for client in clients { try client.skip(to: .delta) }
    let watchers = try Watchers()
    for client in clients { try watchers.add(client.socket, counting: messages) }
    try watchers.add(writer.socket, counting: .none)
    return try watchers.deliveries(to: Self.socketCount, window: updates, seconds: seconds) { count in
      var frames = [UInt8]()
      for _ in 0..<count { frames += try mover.nextFrame() }
      try writer.socket.write(frames)
    }
  }
}
