import GraphModel

/// Moves notes in turn as the only writer. It therefore knows each note's revision without reading it, and the daemon
/// never has to look for concurrent commits.
struct NoteMover {
  private let client: WireClient
  private(set) var notes: [(id: ObjectID, revision: Revision)]
  private(set) var head: Revision
  private var moves = 0
  /// Each mover uses its own positions.
  private let origin = Double.random(in: 0..<1_000_000)

  /// - Parameters:
  ///   - notes: the notes to move; more than there are moves in flight.
  ///   - head: the store's newest revision.
  init(_ client: WireClient, notes: [(id: ObjectID, revision: Revision)], head: Revision) {
    self.client = client
    self.notes = notes
    self.head = head
  }

  /// Creates notes and a mover for them.
  init(_ client: WireClient, making count: Int, on board: ObjectID) throws {
    let reply = try client.committed(try client.newNotes(count, on: board))
    self.init(client, notes: reply.identities.map { ($0.permanent, reply.revision) }, head: reply.revision)
  }

  /// Returns the frame of the next move. Every position is new, because a commit without a change would cost less.
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
