import Foundation
import GraphModel
import GraphStore
import GraphWire

extension Bench {
  private static let teamSize = 1_000

  /// Measures what accounts cost, and how much one user delays the others.
  func measureAccess() throws {
    if selection.includes(.access, "users") { try measureTeam() }
    if selection.includes(.access, "classes") { try measureClasses() }
    if selection.includes(.access, "fetch") { try measureVisibleFetch() }
    if selection.includes(.access, "revocation") { try measureRevocation() }
    if selection.includes(.access, "grants") { try measureChangedGrants() }
    if selection.includes(.access, "flood") { try measureFlood() }
    if selection.includes(.access, "batch") { try measureCommitsBesideBatch() }
    if selection.includes(.access, "tls") { try measureTLS() }
    if selection.includes(.access, "watchers") { try measureEncryptedFanOut() }
  }

  // MARK: - Commits

  /// The cost of a commit that all watchers have received, in microseconds.
  private struct CommitCost {
    /// The daemon's processor time.
    let processor: Double
    /// The part of it that its busiest thread took, which is the event loop.
    let busiestThread: Double
    /// The time between two commits.
    let elapsed: Double
  }

  /// A writer who moves notes, and a thousand watchers of them.
  private struct WatchedBoard {
    let daemon: Daemon
    private let watchers: Watchers
    private let writer: WireClient
    private var mover: NoteMover

    /// - Parameter queries: the number of different live queries, each with an equal share of the watchers. Every note
    ///   matches each of them.
    init(_ daemon: Daemon, _ clients: [WireClient], writer: WireClient, on board: ObjectID, queries: Int = 1) throws {
      (self.daemon, self.writer) = (daemon, writer)
      mover = try NoteMover(writer, making: 64, on: board)
      watchers = try Watchers()
      for (number, client) in clients.enumerated() {
        try client.subscribe("Note", where: queries == 1 ? "" : "text != 'text \(number % queries)'")
      }
      for client in clients { try watchers.add(client.socket, counting: .frames) }
      try watchers.add(writer.socket, counting: .none)
    }

    mutating func cost(seconds: Double) throws -> CommitCost {
      let before = daemon.process.threadSeconds
      var commits = 0
      let rate = try watchers.deliveries(to: Bench.teamSize, window: 1, seconds: seconds) { count in
        commits += count
        for _ in 0..<count { try writer.socket.write(try mover.nextFrame()) }
      }
      let times = daemon.process.threadSeconds.map { thread, seconds in seconds - before[thread, default: 0] }
      let scale = 1e6 / Double(commits)
      return CommitCost(
        processor: times.reduce(0, +) * scale, busiestThread: (times.max() ?? .nan) * scale,
        elapsed: Double(Bench.teamSize) / rate * 1e6)
    }
  }

  /// A board without accounts.
  private func watchedBoard(queries: Int) throws -> WatchedBoard {
    let daemon = try Daemon(self, data: place("data"))
    let clients = try (0..<Self.teamSize).map { _ in try WireClient(daemon.tcp) }
    let owner = try WireClient(daemon.tcp)
    return try WatchedBoard(daemon, clients, writer: owner, on: try owner.insertBoard(), queries: queries)
  }

  /// A board of a thousand users.
  /// - Parameter classes: the number of different sets of boards that the users see.
  private func watchedBoard(classes: Int) throws -> WatchedBoard {
    let team = try TeamDaemon(self)
    let maker = try WireClient(team.daemon.unix)
    let board = try maker.insertBoard()
    let others = try (0..<classes).map { try maker.insertBoard(named: "Board \($0)") }
    let tokens = try (0..<Self.teamSize).map { number in
      let more = classes == 1 ? [:] : [others[number % classes]: Role.reader]
      return try team.addUser("user \(number)", on: [board: .editor].merging(more) { first, _ in first })
    }
    let clients = try tokens.map { try team.client($0) }
    return try WatchedBoard(team.daemon, clients, writer: try team.client(tokens[0]), on: board)
  }

  /// A commit that a thousand users of one role see, beside the same commit without accounts.
  private func measureTeam() throws {
    var with = try watchedBoard(classes: 1)
    defer { with.daemon.stop() }
    var without = try watchedBoard(queries: 1)
    defer { without.daemon.stop() }
    var (ours, limits) = ([CommitCost](), [CommitCost]())
    for _ in 0..<Self.rounds {
      ours.append(try with.cost(seconds: seconds))
      limits.append(try without.cost(seconds: seconds))
    }
    let names = [
      (\CommitCost.processor, "1,000 users of one role who watch a board, a commit, processor time"),
      (\CommitCost.busiestThread, "– of it on the event loop"),
      (\CommitCost.elapsed, "– until all have received it"),
    ]
    for (time, name) in names {
      Figure(
        name: name, unit: "µs", ours: median(ours.map { $0[keyPath: time] }),
        limit: median(limits.map { $0[keyPath: time] }), aim: .atMost(1.1)
      ).report()
    }
  }

  /// A commit that a thousand users of ten classes see. Its limit is 1.1 times the same commit without accounts, and
  /// nine further encodings: what the commit costs more if the watchers without accounts follow ten different queries.
  private func measureClasses() throws {
    let classes = 10
    var with = try watchedBoard(classes: classes)
    defer { with.daemon.stop() }
    var one = try watchedBoard(queries: 1)
    defer { one.daemon.stop() }
    var several = try watchedBoard(queries: classes)
    defer { several.daemon.stop() }
    var (ours, ones, severals) = ([CommitCost](), [CommitCost](), [CommitCost]())
    for _ in 0..<Self.rounds {
      ours.append(try with.cost(seconds: seconds))
      ones.append(try one.cost(seconds: seconds))
      severals.append(try several.cost(seconds: seconds))
    }
    let names = [
      (\CommitCost.processor, "1,000 users of ten visibility classes, a commit, processor time"),
      (\CommitCost.busiestThread, "– of it on the event loop"),
      (\CommitCost.elapsed, "– until all have received it"),
    ]
    for (time, name) in names {
      let plain = median(ones.map { $0[keyPath: time] })
      let encodings = max(0, median(severals.map { $0[keyPath: time] }) - plain)
      Figure(
        name: name, unit: "µs", ours: median(ours.map { $0[keyPath: time] }), limit: 1.1 * plain + encodings,
        aim: .atMost(1)
      ).report()
      Figure(name: "– – without accounts, one query", unit: "µs", ours: plain).report()
      Figure(name: "– – nine further encodings", unit: "µs", ours: encodings).report()
    }
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
