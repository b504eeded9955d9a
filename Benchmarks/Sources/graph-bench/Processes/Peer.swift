/// A server that is measured beside ours where it has an equivalent.
enum Peer: String, CaseIterable {
  case redis = "Redis"
  case postgres = "PostgreSQL"

  /// Starts the peer with an empty store; returns nil if it is not installed.
  func start(_ bench: Bench) throws -> (any PeerServer)? {
    switch self {
    case .redis: try RedisServer(bench)
    case .postgres: try PostgresServer(bench)
    }
  }
}

protocol PeerServer: AnyObject {
  /// Returns a client over the Unix-domain socket.
  func client() throws -> any PeerClient
  func stop()
}

/// A connection that is used by one thread at a time.
protocol PeerClient: AnyObject, Sendable {
  /// Writes notes and the history of them in one transaction and one round trip; returns when all are on disk.
  func write(notes: Int) throws
  /// Reads one of the notes that the server's first client has written, all of its values, by an index.
  /// - Parameter number: 1 for the first note.
  func read(note number: Int) throws
}

extension Bench {
  /// Runs a body against each installed peer, on a new server each time, and appends its result to that peer's.
  func append<Result>(to results: inout [Peer: [Result]], _ body: (any PeerServer) throws -> Result) throws {
    for peer in peers {
      guard let server = try peer.start(self) else { continue }
      defer { server.stop() }
      results[peer, default: []].append(try body(server))
    }
  }
}
