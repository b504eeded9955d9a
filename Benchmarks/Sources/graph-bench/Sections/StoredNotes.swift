extension Bench {
  private static let storeSizes = [1_000, 10_000, 100_000, 1_000_000]

  /// Measures the cost of a commit against the number of stored notes, in one growing store.
  ///
  /// The same number of notes is moved at each size, distributed over the store. Notes are also added for a round of
  /// the log each time, so the store of 1,000 notes has some 3,000 after its measurement.
  func measureStoredNotes() throws {
    for bench in builds { try bench.measureStoredNotesOfBuild() }
  }

  private func measureStoredNotesOfBuild() throws {
    let data = place("growing")
    let daemon = try Daemon(self, data: data)
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    var filler = try StoreFiller(client)
    var (moves, inserts) = (
      Curve("a move against stored notes\(suffix)"), Curve("an insert against stored notes\(suffix)")
    )
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
