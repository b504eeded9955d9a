import GraphModel

extension Bench {
  private static let updates = 2_000

  /// Measures the time from a client's commit until another client has read it, over the Unix-domain socket.
  func measureLatency() throws {
    var (ours, limits, redis) = ([Double](), [Double](), [Double]())
    var (commits, trips) = ([Double](), [Double]())
    for _ in 0..<Self.rounds {
      ours.append(try ourLatency())
      let database = try RawSQLite.fresh(notesEach: 1, in: self)
      let commit = median(try (0..<Self.updates).map { _ in try timed { try database.transaction(clients: 1) } })
      let trip = try EchoServer.roundTrip(bytes: 256, times: Self.updates, in: self)
      commits.append(commit)
      trips.append(trip)
      limits.append(commit + 5 * trip)
      if let latency = try redisLatency() { redis.append(latency) }
    }
    Figure(
      name: "seen by another client, median", unit: "µs", ours: median(ours) * 1e6, limit: median(limits) * 1e6,
      aim: .atMost(1), redis: redis.isEmpty ? nil : median(redis) * 1e6
    ).report()
    Figure(name: "– of the limit: one raw commit", unit: "µs", ours: median(commits) * 1e6).report()
    Figure(name: "– of the limit: one bare round trip, of five", unit: "µs", ours: median(trips) * 1e6).report()
  }

  private func ourLatency() throws -> Double {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    let (writer, watcher) = (try WireClient(daemon.unix), try WireClient(daemon.unix))
    let board = try writer.insertBoard()
    try watcher.subscribe("Note")
    let note = [try writer.newNote(on: board)]
    return median(
      try (0..<Self.updates).map { _ in
        let seen = try timed {
          try writer.socket.write(writer.commitFrame(note))
          try watcher.skip(to: .delta)
        }
        try writer.skip(to: .committed)
        return seen
      })
  }

  private func redisLatency() throws -> Double? {
    guard let server = try RedisServer(self) else { return nil }
    defer { server.stop() }
    let (writer, watcher) = (try RedisClient(server.unix), try RedisClient(server.unix))
    try watcher.subscribe()
    let payload = [UInt8](repeating: UInt8(ascii: "x"), count: 256)
    let size = RedisClient.messageSize(payload: payload.count)
    return median(
      try (0..<Self.updates).map { _ in
        let seen = try timed {
          try writer.socket.write(writer.insert(payload: payload))
          try watcher.socket.skip(size)
        }
        try writer.takeAnswer()
        return seen
      })
  }
}
