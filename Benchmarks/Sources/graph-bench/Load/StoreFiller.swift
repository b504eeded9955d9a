import GraphModel

/// Fills a store through the wire, with a thousand notes in each commit and several commits in flight.
struct StoreFiller {
  private static let notesEach = 1_000
  private static let window = 4

  let client: WireClient
  let board: ObjectID
  private(set) var count = 0
  private(set) var head: Revision = 1
  /// Every fourth note, with its revision.
  private var sample = [ObjectID: Revision]()

  init(_ client: WireClient) throws {
    self.client = client
    board = try client.insertBoard()
  }

  /// Inserts notes up to a total; each text has a unique word, as real texts have.
  mutating func fill(to total: Int) throws {
    var (waiting, made) = (0, count)
    while count < total {
      while waiting < Self.window, made < total {
        let part = min(Self.notesEach, total - made)
        let notes = try (1...part).map {
          try client.newNote(UInt64($0), text: "\(Bench.text) \(made + $0)", on: board)
        }
        try client.socket.write(client.commitFrame(notes))
        made += part
        waiting += 1
      }
      let reply = try client.nextCommitted()
      waiting -= 1
      count += reply.identities.count
      head = reply.revision
      for index in stride(from: 0, to: reply.identities.count, by: 4) {
        sample[reply.identities[index].permanent] = reply.revision
      }
    }
  }

  /// Returns a mover of 250 notes distributed over the store, in no particular order.
  func mover() -> NoteMover {
    let ids = sample.keys.sorted()
    let step = max(1, ids.count / 250)
    let notes = stride(from: 0, to: ids.count, by: step).map { (id: ids[$0], revision: sample[ids[$0]] ?? 0) }
    return NoteMover(client, notes: notes.shuffled(), head: head)
  }

  /// Takes over the revisions after a mover has moved notes.
  mutating func adopt(_ mover: NoteMover) {
    for note in mover.notes { sample[note.id] = note.revision }
    head = mover.head
  }

  /// Inserts notes in one more commit and waits for it.
  mutating func insert(_ notes: [Change]) throws {
    try client.commit(notes)
    head += 1
    count += notes.count
  }
}
