import GraphModel

extension Bench {
  private struct Shape {
    let name: String
    let clients: Int
    let notes: Int
    let aim: Double
  }

  /// Measures durable notes per second over the Unix-domain socket, beside raw SQLite.
  func measureCommits() throws {
    let shapes = [
      Shape(name: "one client, one note a commit", clients: 1, notes: 1, aim: 0.75),
      Shape(name: "16 clients, one note a commit", clients: 16, notes: 1, aim: 0.5),
      Shape(name: "one client, 100 notes a commit", clients: 1, notes: 100, aim: 0.5),
    ]
    for shape in shapes {
      var (ours, raw, redis) = ([Double](), [Double](), [Double]())
      for _ in 0..<Self.rounds {
        ours.append(try ourRate(shape))
        let database = try RawSQLite.fresh(notesEach: shape.notes, in: self)
        raw.append(
          rate(for: seconds, [{ try database.transaction(clients: shape.clients) }])
            * Double(shape.notes * shape.clients))
        if let rate = try redisRate(shape) { redis.append(rate) }
      }
      Figure(
        name: shape.name, unit: "notes/s", ours: median(ours), limit: median(raw), aim: .atLeast(shape.aim),
        redis: redis.isEmpty ? nil : median(redis)
      ).report()
    }
  }

  private func ourRate(_ shape: Shape) throws -> Double {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    let board = try WireClient(daemon.unix).insertBoard()
    let bodies = try (0..<shape.clients).map { _ in
      let client = try WireClient(daemon.unix)
      let notes = try client.newNotes(shape.notes, on: board)
      return { try client.commit(notes) }
    }
    return rate(for: seconds, bodies) * Double(shape.notes)
  }

  private func redisRate(_ shape: Shape) throws -> Double? {
    guard let server = try RedisServer(self) else { return nil }
    defer { server.stop() }
    let bodies = try (0..<shape.clients).map { _ in
      let client = try RedisClient(server.unix)
      return { try client.write(notes: shape.notes) }
    }
    return rate(for: seconds, bodies) * Double(shape.notes)
  }
}
