extension Bench {
  private static let storeSizes = [1_000, 10_000, 100_000, 1_000_000]

  /// The cost of a commit against the number of stored notes: one store that grows.
  ///
  /// Notes all over the store are moved, which touches pages that nothing has touched lately; and notes are added. The
  /// additions are what makes a store of 1,000 one of some 3,000 while it is measured.
  func measureStoredNotes() throws {
    let data = place("growing")
    let daemon = try Daemon(self, data: data)
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    var filler = try StoreFiller(client)
    var (moves, inserts) = (Curve("a move against stored notes"), Curve("an insert against stored notes"))
    for size in Self.storeSizes {
      try filler.fill(to: size)
      // In an order that is not the file's.
      var mover = NoteMover(client, notes: filler.sample.shuffled(), head: filler.head)
      moves.add(Figure.text(Double(size)), try .measure(daemon, data: data) { try mover.move() })
      filler.adopt(mover)
      let note = [try client.newNote(on: filler.board)]
      inserts.add(Figure.text(Double(size)), try .measure(daemon, data: data) { try filler.insert(note) })
    }
    moves.report()
    inserts.report()
  }
}
