import GraphModel

extension Bench {
  private static let updates = 2_000
  /// The round trips of the limit: what a commit and its notification need between two clients and the daemon.
  private static let roundTrips = 5.0

  /// Measures the time from a client's commit until another client has read it, over the Unix-domain socket.
  func measureLatency() throws {
    // Each element holds the times of one run.
    var (daemons, redis) = (Builds<[Double]>(), [[Double]]())
    var (commits, appends, trips) = ([Double](), [Double](), [Double]())
    for _ in 0..<Self.rounds {
      try daemons.measure(self) { try $0.ourLatencies() }
      let database = try RawSQLite.fresh(notesEach: 1, in: self)
      commits.append(median(try times { try database.transaction(clients: 1) }))
      let log = try RawLog(recordBytes: database.commitBytes, in: self)
      appends.append(median(try times { try log.append(commits: 1) }))
      trips.append(try EchoServer.roundTrip(bytes: 256, times: Self.updates, in: self))
      if let latencies = try redisLatencies() { redis.append(latencies) }
    }
    func figure(
      _ name: String, _ value: ([Double]) -> Double, limit: [Double]? = nil, aim: Figure.Aim = .none,
      withPeers: Bool = true
    ) -> Figure {
      let limits = limit.map { zip($0, trips).map { ($0 + Self.roundTrips * $1) * 1e6 } }
      let (ours, baseline) = daemons.median { value($0) * 1e6 }
      return Figure(
        name: name, unit: "µs", ours: ours, baseline: withPeers ? baseline : nil, limit: limits.map(median), aim: aim,
        peers: redis.isEmpty || !withPeers ? [:] : [.redis: median(redis.map(value)) * 1e6],
        peerAims: [.redis: .atMost(0.95)])
    }
    figure("seen by another client, median", median, limit: commits, aim: .atMost(1)).report()
    figure("– beside an append of the same bytes as the commit", median, limit: appends, withPeers: false).report()
    figure("seen by another client, p99", percentile99).report()
    Figure(name: "– of the limit: one raw commit", unit: "µs", ours: median(commits) * 1e6).report()
    Figure(name: "– of the other limit: one append", unit: "µs", ours: median(appends) * 1e6).report()
    Figure(name: "– of both limits: one bare round trip, of five", unit: "µs", ours: median(trips) * 1e6).report()
  }

  private func times(_ body: () throws -> Void) rethrows -> [Double] {
    try (0..<Self.updates).map { _ in try timed(body) }
  }

  private func ourLatencies() throws -> [Double] {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    let (writer, watcher) = (try WireClient(daemon.unix), try WireClient(daemon.unix))
    let board = try writer.insertBoard()
    try watcher.subscribe("Note")
    let note = [try writer.newNote(on: board)]
    return try (0..<Self.updates).map { _ in
      let seen = try timed {
        try writer.socket.write(writer.commitFrame(note))
        try watcher.skip(to: .delta)
      }
      try writer.skip(to: .committed)
      return seen
    }
  }

  /// Returns nil without Redis.
  private func redisLatencies() throws -> [Double]? {
    guard let server = try RedisServer(self) else { return nil }
    defer { server.stop() }
    let (writer, watcher) = (try RedisClient(server.unix), try RedisClient(server.unix))
    try watcher.subscribe()
    let payload = [UInt8](repeating: UInt8(ascii: "x"), count: 256)
    let size = RedisClient.messageSize(payload: payload.count)
    return try (0..<Self.updates).map { _ in
      let seen = try timed {
        try writer.socket.write(writer.insert(payload: payload))
        try watcher.socket.skip(size)
      }
      try writer.takeAnswer()
      return seen
    }
  }
}
