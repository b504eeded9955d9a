import GraphWire

extension Bench {
  private static let encryptedWatchers = 1_000

  /// A writer who moves notes, and a thousand connections of a user who follow them.
  private struct FollowedBoard {
    let team: TeamDaemon
    private let watchers: NIOWatchers
    private var mover: NoteMover

    init(_ team: TeamDaemon) throws {
      self.team = team
      let writer = try WireClient(team.daemon.unix)
      mover = try NoteMover(writer, making: 64, on: try writer.insertBoard())
      watchers = try NIOWatchers(
        team.daemon.tcp, count: Bench.encryptedWatchers,
        credential: try team.addUser("watcher", role: .reader).secretText, entity: writer.number(of: "Note"))
    }

    /// The deliveries per second, and the daemon's processor time for a commit in microseconds.
    mutating func measure(seconds: Double) throws -> (rate: Double, processor: Double) {
      _ = try watchers.rate(seconds: seconds / 4) { try mover.move() }
      let before = team.daemon.process.processorSeconds
      var commits = 0
      let rate = try watchers.rate(seconds: seconds) {
        commits += 1
        try mover.move()
      }
      return (rate, (team.daemon.process.processorSeconds - before) * 1e6 / Double(commits))
    }
  }

  /// Deliveries to a thousand watchers over TLS, beside those without encryption.
  func measureEncryptedFanOut() throws {
    var encrypted = try FollowedBoard(try TeamDaemon(self, encrypts: true))
    defer { encrypted.team.stop() }
    var plain = try FollowedBoard(try TeamDaemon(self))
    defer { plain.team.stop() }
    var (ours, limits) = ([(rate: Double, processor: Double)](), [(rate: Double, processor: Double)]())
    for _ in 0..<Self.rounds {
      ours.append(try encrypted.measure(seconds: seconds))
      limits.append(try plain.measure(seconds: seconds))
    }
    Figure(
      name: "1,000 watchers over TLS, one update at a time", unit: "deliveries/s", ours: median(ours.map(\.rate)),
      limit: median(limits.map(\.rate))
    ).report()
    Figure(
      name: "– a commit, processor time", unit: "µs", ours: median(ours.map(\.processor)),
      limit: median(limits.map(\.processor))
    ).report()
  }
}
