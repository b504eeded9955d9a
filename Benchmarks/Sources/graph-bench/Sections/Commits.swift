import GraphModel

extension Bench {
  private struct Shape {
    let row: String
    let name: String
    let clients: Int
    let notes: Int
    /// The required ratios to raw SQLite and to Redis.
    let aim: Double
    let redisAim: Double

    var notesAtOnce: Double { Double(clients * notes) }
  }

  private static let shapes = [
    Shape(row: "1", name: "one client, one note a commit", clients: 1, notes: 1, aim: 0.75, redisAim: 1.1),
    Shape(row: "16", name: "16 clients, one note a commit", clients: 16, notes: 1, aim: 0.5, redisAim: 1.3),
    Shape(row: "64", name: "64 clients, one note a commit", clients: 64, notes: 1, aim: 0.5, redisAim: 1),
    Shape(row: "100", name: "one client, 100 notes a commit", clients: 1, notes: 100, aim: 0.5, redisAim: 1),
  ]

  /// Measures durable notes per second over the Unix-domain socket, beside raw SQLite and a bare log.
  func measureCommits() throws {
    for shape in Self.shapes where selection.includes(.commits, shape.row) {
      var (daemons, sqlite, log, peers) = (Builds<Double>(), [Double](), [Double](), [Peer: [Double]]())
      var recordBytes = 0
      for _ in 0..<Self.rounds {
        try daemons.measure(self) { try $0.ourRate(shape) }
        let database = try RawSQLite.fresh(notesEach: shape.notes, in: self)
        sqlite.append(
          rate(for: seconds, [{ try database.transaction(clients: shape.clients) }]) * shape.notesAtOnce)
        recordBytes = database.commitBytes
        let raw = try RawLog(recordBytes: recordBytes, in: self)
        log.append(rate(for: seconds, [{ try raw.append(commits: shape.clients) }]) * shape.notesAtOnce)
        try append(to: &peers) { server in
          try rate(for: seconds, writers(shape.clients, of: server, notes: shape.notes)) * Double(shape.notes)
        }
      }
      let (ours, baseline) = daemons.median
      Figure(
        name: shape.name, unit: "notes/s", ours: ours, baseline: baseline, limit: median(sqlite),
        aim: .atLeast(shape.aim), peers: peers.mapValues(median),
        peerAims: [.redis: .atLeast(shape.redisAim), .postgres: .atLeast(1)]
      ).report()
      Figure(
        name: "– beside the same bytes, appended and synchronized", unit: "notes/s", ours: ours, limit: median(log)
      ).report()
      Figure(name: "– bytes of a commit", unit: "bytes", ours: Double(recordBytes)).report()
    }
  }

  private func ourRate(_ shape: Shape) throws -> Double {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    let board = try WireClient(daemon.unix).insertBoard()
    return rate(for: seconds, try writers(shape.clients, of: daemon, notes: shape.notes, on: board))
      * Double(shape.notes)
  }

  /// Returns the work of clients of the daemon, each of which commits new notes.
  func writers(_ clients: Int, of daemon: Daemon, notes: Int, on board: ObjectID) throws -> [() throws -> Void] {
    try (0..<clients).map { _ in
      let client = try WireClient(daemon.unix)
      let notes = try client.newNotes(notes, on: board)
      return { try client.commit(notes) }
    }
  }

  /// Returns the work of clients of a peer, each of which commits new notes.
  func writers(_ clients: Int, of server: any PeerServer, notes: Int) throws -> [() throws -> Void] {
    try (0..<clients).map { _ in
      let client = try server.client()
      return { try client.write(notes: notes) }
    }
  }
}
