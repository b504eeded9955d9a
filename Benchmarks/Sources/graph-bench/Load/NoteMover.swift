import GraphModel

/// Moves notes in turn, as the only one who commits: so it knows each note's revision without being told, and no
/// commit makes the daemon look for what others did since.
struct NoteMover {
  private let client: WireClient
  private(set) var notes: [(id: ObjectID, revision: Revision)]
  private(set) var head: Revision
  private var moves = 0
  /// Each mover goes to places of its own.
  private let origin = Double.random(in: 0..<1_000_000)

  /// - Parameters:
  ///   - notes: more of them than there are moves in flight.
  ///   - head: the store's newest revision.
  init(_ client: WireClient, notes: [(id: ObjectID, revision: Revision)], head: Revision) {
    self.client = client
    self.notes = notes
    self.head = head
  }

  /// Makes so many notes to move.
  init(_ client: WireClient, making count: Int, on board: ObjectID) throws {
    let reply = try client.committed(try client.newNotes(count, on: board))
    self.init(client, notes: reply.identities.map { ($0.permanent, reply.revision) }, head: reply.revision)
  }

  /// The next move's frame. Every place is a new one: a commit that changes nothing would cost less.
  mutating func nextFrame() throws -> [UInt8] {
    let index = moves % notes.count
    moves += 1
    head += 1
    defer { notes[index].revision = head }
    let (id, base) = notes[index]
    return client.commitFrame([try client.move(id, base: base, x: origin + Double(moves))])
  }

  mutating func move() throws {
    try client.socket.write(try nextFrame())
    try client.skip(to: .committed)
  }
}
