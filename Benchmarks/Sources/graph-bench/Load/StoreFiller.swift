import GraphModel

/// Fills a store through the wire, a thousand notes to a commit and a few commits under way.
struct StoreFiller {
  private static let notesEach = 1_000
  private static let window = 4

  let client: WireClient
  let board: ObjectID
  private(set) var count = 0
  private(set) var head: Revision = 1
  /// One note in four, with its revision.
  private var sample = [ObjectID: Revision]()

  init(_ client: WireClient) throws {
    self.client = client
    board = try client.insertBoard()
  }

  /// Every text has a word of its own, as people's have.
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

  /// Moves 250 notes from all over the store, however large it is, in no order.
  func mover() -> NoteMover {
    let ids = sample.keys.sorted()
    let step = max(1, ids.count / 250)
    let notes = stride(from: 0, to: ids.count, by: step).map { (id: ids[$0], revision: sample[ids[$0]] ?? 0) }
    return NoteMover(client, notes: notes.shuffled(), head: head)
  }

  /// After it moved notes: their revisions, and the store's.
  mutating func adopt(_ mover: NoteMover) {
    for note in mover.notes { sample[note.id] = note.revision }
    head = mover.head
  }

  /// One more commit, waited for by itself.
  mutating func insert(_ notes: [Change]) throws {
    try client.commit(notes)
    head += 1
    count += notes.count
  }
}
