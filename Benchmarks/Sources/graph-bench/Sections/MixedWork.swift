import GraphModel

extension Bench {
  private static let mixedClients = 8
  /// The stored notes that the readers fetch.
  private static let fetchedNotes = 10_000

  /// Measures commits and fetches by an index that run beside each other, over the Unix-domain socket.
  func measureMixedWork() throws {
    if selection.includes(.mixed, "own") { try measureOwnReads() }
    if selection.includes(.mixed, "8") { try measureReadersBesideWriters() }
  }

  /// One client that commits a note and then fetches it, so that no commit can wait for a later one.
  private func measureOwnReads() throws {
    var (daemons, peers) = (Builds<Double>(), [Peer: [Double]]())
    for _ in 0..<Self.rounds {
      try daemons.measure(self) { try $0.ourOwnReads() }
      try append(to: &peers) { server in
        let client = try server.client()
        var number = 0
        let pair = {
          try client.write(notes: 1)
          number += 1
          try client.read(note: number)
        }
        return rate(for: seconds, [pair])
      }
    }
    let (ours, baseline) = daemons.median
    Figure(
      name: "one client, a commit and a fetch of its note", unit: "pairs/s", ours: ours, baseline: baseline,
      peers: peers.mapValues(median), peerAims: [.postgres: .atLeast(1)]
    ).report()
  }

  private func ourOwnReads() throws -> Double {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    let note = [try client.newNote(on: try client.insertBoard())]
    // The daemon numbers notes from 1, and there is no other client.
    var number = 0
    let pair = {
      try client.commit(note)
      number += 1
      try client.fetchNote(number)
    }
    return rate(for: seconds, [pair])
  }

  private struct MixedRates {
    let commits: Double
    let fetches: Double

    /// - Parameter rates: those of the writers, then those of the readers.
    init(_ rates: [Double]) {
      commits = rates.prefix(Bench.mixedClients).reduce(0, +)
      fetches = rates.dropFirst(Bench.mixedClients).reduce(0, +)
    }
  }

  /// Eight clients that commit notes, beside eight that fetch other notes.
  private func measureReadersBesideWriters() throws {
    var (daemons, peers) = (Builds<MixedRates>(), [Peer: [MixedRates]]())
    for _ in 0..<Self.rounds {
      try daemons.measure(self) { try $0.ourMixedRates() }
      try append(to: &peers) { server in
        let filler = try server.client()
        for _ in 0..<(Self.fetchedNotes / 100) { try filler.write(notes: 100) }
        let readers = try (0..<Self.mixedClients).map { _ in
          let client = try server.client()
          return { try client.read(note: .random(in: 1...Self.fetchedNotes)) }
        }
        return MixedRates(
          rates(for: seconds, try writers(Self.mixedClients, of: server, notes: 1) + readers))
      }
    }
    let (commits, fetches) = (daemons.median(\.commits), daemons.median(\.fetches))
    Figure(
      name: "8 writers beside 8 readers, commits", unit: "notes/s", ours: commits.ours, baseline: commits.baseline,
      peers: peers.mapValues { median($0.map(\.commits)) }, peerAims: [.postgres: .atLeast(1)]
    ).report()
    Figure(
      name: "– fetches of a note by an index", unit: "fetches/s", ours: fetches.ours, baseline: fetches.baseline,
      peers: peers.mapValues { median($0.map(\.fetches)) }
    ).report()
  }

  private func ourMixedRates() throws -> MixedRates {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    var filler = try StoreFiller(try WireClient(daemon.unix))
    try filler.fill(to: Self.fetchedNotes)
    let readers = try (0..<Self.mixedClients).map { _ in
      let client = try WireClient(daemon.unix)
      return { try client.fetchNote(.random(in: 1...Self.fetchedNotes)) }
    }
    let writers = try writers(Self.mixedClients, of: daemon, notes: 1, on: filler.board)
    return MixedRates(rates(for: seconds, writers + readers))
  }
}
