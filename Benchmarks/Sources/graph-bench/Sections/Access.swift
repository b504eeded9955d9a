import Foundation
import GraphModel
import GraphStore
import GraphWire

extension Bench {
  private static let teamSize = 1_000

  /// Measures what accounts cost, and how much one user delays the others.
  func measureAccess() throws {
    if selection.includes(.access, "users") { try measureTeam("1,000 users of one role who watch a board", classes: 1) }
    if selection.includes(.access, "classes") { try measureTeam("1,000 users of ten visibility classes", classes: 10) }
    if selection.includes(.access, "fetch") { try measureVisibleFetch() }
    if selection.includes(.access, "revocation") { try measureRevocation() }
    if selection.includes(.access, "grants") { try measureChangedGrants() }
    if selection.includes(.access, "flood") { try measureFlood() }
    if selection.includes(.access, "batch") { try measureCommitsBesideBatch() }
    if selection.includes(.access, "tls") { try measureTLS() }
  }

  // MARK: - Commits

  /// A writer who moves notes, and a thousand watchers of them.
  private struct WatchedBoard {
    let daemon: Daemon
    let watchers: Watchers
    let writer: WireClient
    var mover: NoteMover

    init(_ daemon: Daemon, _ clients: [WireClient], writer: WireClient, on board: ObjectID) throws {
      (self.daemon, self.writer) = (daemon, writer)
      mover = try NoteMover(writer, making: 64, on: board)
      watchers = try Watchers()
      for client in clients { try client.subscribe("Note") }
      for client in clients { try watchers.add(client.socket, counting: .frames) }
      try watchers.add(writer.socket, counting: .none)
    }

    /// The daemon's processor time for a commit that all watchers have received, in microseconds, and the time between
    /// two of them.
    mutating func cost(seconds: Double) throws -> (processor: Double, elapsed: Double) {
      let before = daemon.process.processorSeconds
      var commits = 0
      let rate = try watchers.deliveries(to: Bench.teamSize, window: 1, seconds: seconds) { count in
        commits += count
        for _ in 0..<count { try writer.socket.write(try mover.nextFrame()) }
      }
      let processor = (daemon.process.processorSeconds - before) * 1e6 / Double(commits)
      return (processor, Double(Bench.teamSize) / rate * 1e6)
    }
  }

  /// A commit that a thousand users see, beside the same commit without accounts.
  /// - Parameter classes: the number of different sets of boards that the users see.
  private func measureTeam(_ name: String, classes: Int) throws {
    let plain = try Daemon(self, data: place("data"))
    defer { plain.stop() }
    let owner = try WireClient(plain.tcp)
    var without = try WatchedBoard(
      plain, (0..<Self.teamSize).map { _ in try WireClient(plain.tcp) }, writer: owner, on: try owner.insertBoard())
    let team = try TeamDaemon(self)
    defer { team.stop() }
    let maker = try WireClient(team.daemon.unix)
    let board = try maker.insertBoard()
    let others = try (0..<classes).map { try maker.insertBoard(named: "Board \($0)") }
    let tokens = try (0..<Self.teamSize).map { number in
      let more = classes == 1 ? [:] : [others[number % classes]: Role.reader]
      return try team.addUser("user \(number)", on: [board: .editor].merging(more) { first, _ in first })
    }
    let clients = try tokens.map { try team.client($0) }
    var with = try WatchedBoard(team.daemon, clients, writer: try team.client(tokens[0]), on: board)
    var (ours, limits) = ([(processor: Double, elapsed: Double)](), [(processor: Double, elapsed: Double)]())
    for _ in 0..<Self.rounds {
      ours.append(try with.cost(seconds: seconds))
      limits.append(try without.cost(seconds: seconds))
    }
    Figure(
      name: "\(name), a commit, processor time", unit: "µs", ours: median(ours.map(\.processor)),
      limit: median(limits.map(\.processor)), aim: .atMost(1.1)
    ).report()
    Figure(
      name: "– until all have received it", unit: "µs", ours: median(ours.map(\.elapsed)),
      limit: median(limits.map(\.elapsed)), aim: .atMost(1.1)
    ).report()
  }

  // MARK: - Fetches

  private static let visibleSource = """
    {"format": 1, "name": "Visible", "version": 1, "entities": [
      {"name": "Board", "scope": "self", "attributes": [{"name": "name", "type": "string", "default": ""}],
       "relationships": [{"name": "people", "destination": "Person", "inverse": "board", "toMany": true}]},
      {"name": "Person", "scope": "board",
       "attributes": [
         {"name": "name", "type": "string"}, {"name": "city", "type": "string", "default": "Hamburg"},
         {"name": "team", "type": "integer", "default": 0, "indexed": true},
         {"name": "age", "type": "integer", "default": 30}, {"name": "score", "type": "double", "default": 0.5},
         {"name": "active", "type": "bool", "default": true}, {"name": "isPrivate", "type": "bool", "default": false},
         {"name": "creator", "type": "string", "assigned": "creator"}],
       "relationships": [{"name": "board", "destination": "Board", "inverse": "people"}],
       "access": {"read": "isPrivate == false OR creator == $user"}}]}
    """

  /// A fetch of twenty objects by an index, with a role on their board and a rule, beside the same fetch of everything.
  private func measureVisibleFetch() throws {
    let (count, found) = (200_000, 20)
    let store = try StaffStore(place("visible"), source: Self.visibleSource)
    let boards = try store.commit((0..<2).map { try store.insertion("Board", $0, [("name", .string("\($0)"))]) })
    for start in stride(from: 0, to: count, by: 10_000) {
      try store.commit(
        (start..<start + 10_000).map { number in
          try store.insertion(
            "Person", number - start,
            Staff.values(ofPerson: number, teams: count / found) + [("board", .object(boards[0]))])
        })
    }
    let rights = Rights(user: "user:a", grants: [Grant(.reader, on: boards[0].key)])
    let (person, team) = (try store.entity("Person").number, try store.property("Person", "team"))
    func time(seenBy visibility: Visibility?) throws -> Double {
      median(
        try (0..<1_000).map { number in
          let wanted = GraphPredicate.equal(team, .integer(Int64(number * 7_919 % (count / found))))
          return try timed {
            var objects = 0
            _ = try store.store.answer(
              FetchRequest(entity: person, predicate: wanted), seenBy: visibility, while: { true }
            ) { _ in objects += 1 }
            guard objects == found else { throw BenchmarkError(description: "\(objects) objects were found") }
          }
        })
    }
    guard let visibility = Visibility(rights, model: store.model) else {
      throw BenchmarkError(description: "the user sees everything")
    }
    var (ours, limit) = ([Double](), [Double]())
    for _ in 0..<Self.rounds {
      ours.append(try time(seenBy: visibility))
      limit.append(try time(seenBy: nil))
    }
    try store.close()
    Figure(
      name: "20 of 200,000 objects by an index, seen by a role and a rule", unit: "µs", ours: median(ours) * 1e6,
      limit: median(limit) * 1e6, aim: .atMost(1.2)
    ).report()
  }
}
