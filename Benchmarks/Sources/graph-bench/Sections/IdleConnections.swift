import Foundation

extension Bench {
  private static let idleCount = 1_000
  /// The maximum for each connection of the daemon, in KiB.
  private static let idleLimit = 12.0

  /// Measures the server's memory for an idle watching connection: before and after 1,000 of them.
  func measureIdleConnections() throws {
    var (daemons, redis) = (Builds<Growth>(), [Double]())
    for _ in 0..<Self.rounds {
      try daemons.measure(self) { try $0.ourGrowth() }
      if let server = try RedisServer(self) {
        let growth = try self.growth(of: server.process) {
          try (0..<Self.idleCount).map { _ in
            let client = try RedisClient(server.tcp)
            try client.subscribe()
            return client
          }
        }
        redis.append(growth.resident)
        server.stop()
      }
    }
    let (resident, proportional) = (daemons.median(\.resident), daemons.median(\.proportional))
    Figure(
      name: "idle watching connection, VmRSS", unit: "KiB", ours: resident.ours, baseline: resident.baseline,
      limit: Self.idleLimit, aim: .atMost(1), peers: redis.isEmpty ? [:] : [.redis: median(redis)],
      peerAims: [.redis: .atMost(0.45)]
    ).report()
    Figure(
      name: "idle watching connection, Pss", unit: "KiB", ours: proportional.ours,
      baseline: proportional.baseline, limit: Self.idleLimit, aim: .atMost(1)
    ).report()
  }

  private func ourGrowth() throws -> Growth {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    let writer = try WireClient(daemon.tcp)
    try writer.commit(try writer.newNotes(1, on: try writer.insertBoard()))
    return try growth(of: daemon.process) {
      try (0..<Self.idleCount).map { _ in
        let client = try WireClient(daemon.tcp)
        try client.subscribe("Note")
        return client
      }
    }
  }

  struct Growth {
    let resident: Double
    let proportional: Double
  }

  /// Returns the growth in KiB per connection. The pauses let the server's timers run and temporary memory be
  /// released.
  func growth<Client>(
    of process: ServerProcess, _ connect: () throws -> [Client]
  ) throws -> Growth {
    usleep(1_500_000)
    let before = (process.memory("VmRSS"), process.proportionalMemory)
    let clients = try connect()
    usleep(2_500_000)
    let after = (process.memory("VmRSS"), process.proportionalMemory)
    return withExtendedLifetime(clients) {
      Growth(
        resident: (after.0 - before.0) / Double(clients.count),
        proportional: (after.1 - before.1) / Double(clients.count))
    }
  }
}
