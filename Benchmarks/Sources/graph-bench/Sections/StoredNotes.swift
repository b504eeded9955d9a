extension Bench {
  private static let storeSizes = [1_000, 10_000, 100_000, 1_000_000]

  /// The cost of a commit against the number of stored notes: one store that grows.
  ///
  /// As many notes are moved at each size, from all over the store; and notes are added, a round of the log each time,
  /// so that the store of 1,000 has some 3,000 when it has been measured.
  func measureStoredNotes() throws {
    let data = place("growing")
    let daemon = try Daemon(self, data: data)
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    var filler = try StoreFiller(client)
    var (moves, inserts) = (Curve("a move against stored notes"), Curve("an insert against stored notes"))
    for size in Self.storeSizes {
      try filler.fill(to: size)
      var mover = filler.mover()
      moves.add(Figure.text(Double(size)), try .measure(daemon, data: data) { try mover.move() })
      filler.adopt(mover)
      let note = [try client.newNote(on: filler.board)]
      inserts.add(Figure.text(Double(size)), try .measure(daemon, data: data) { try filler.insert(note) })
    }
    moves.report()
    inserts.report()
  }
}
