import GraphModel
import GraphTesting
import Testing

/// The minimum and maximum number of objects in a to-many, for either stored end and edits of either end.
@Suite struct CardinalityTests {
  /// A team has two or three players.
  enum Players: CaseIterable, Sendable {
    case ofToOnes, orderedOfToOnes, listedByTheTeam, listedByThePlayer, orderedByTheTeam

    var isManyToMany: Bool { self != .ofToOnes && self != .orderedOfToOnes }

    func model() throws -> Model {
      let ordered = self == .orderedOfToOnes || self == .orderedByTheTeam ? #", "ordered": true"# : ""
      let toMany = isManyToMany ? #", "toMany": true"# : ""
      let team = """
        {"name": "Team", "relationships": [{"name": "players", "destination": "Player", "inverse": "playsFor", \
        "toMany": true, "minimumCount": 2, "maximumCount": 3\(ordered)}]}
        """
      let player = """
        {"name": "Player", "relationships": [{"name": "playsFor", "destination": "Team", "inverse": "players"\(toMany)}]}
        """
      let entities = self == .listedByThePlayer ? [player, team] : [team, player]
      return try Model(
        parsing: """
          {"format": 1, "name": "Teams", "version": 1, "entities": [\(entities.joined(separator: ", "))]}
          """.utf8)
    }
  }

  private struct TeamFixture {
    let store: TestStore
    let kind: Players
    let players: Property

    init(_ kind: Players) throws {
      (store, self.kind) = (try TestStore(try kind.model()), kind)
      players = try store.property("Team.players")
    }

    func newPlayers(_ count: Int) throws -> [ObjectID] {
      try store.must(try (0..<count).map { _ in try store.insertion("Player") })
    }

    func team(of members: [ObjectID]) throws -> ObjectID {
      try store.insert("Team", ["players": .objects(members)])
    }

    /// The value of the player's end of the relationship.
    func side(_ team: ObjectID?) -> Value {
      kind.isManyToMany ? .objects(team.map { [$0] } ?? []) : team.map(Value.object) ?? .null
    }

    func edit(
      _ team: ObjectID, adding added: [ObjectID] = [], removing removed: [ObjectID] = [], base: Revision = .max
    ) -> Change {
      Change(
        .update, team, base: base, edits: [Edit(players.number, .members(added: added, removed: removed))])
    }

    func plays(_ player: ObjectID, for team: ObjectID?) throws -> Change {
      try store.update(player, "Player.playsFor", side(team))
    }

    /// Refused for the count of one team, and nothing of it is written.
    func expectRefusal(
      _ changes: [Change], of team: ObjectID, has count: Int64, _ words: String,
      place: SourceLocation = #_sourceLocation
    ) throws {
      let head = try store.store.head.revision
      let refusal = try #require(try store.refusal(changes), sourceLocation: place)
      #expect(refusal.code == .invalid, sourceLocation: place)
      let objects = count == 1 ? "1 object" : "\(count) objects"
      #expect(refusal.message == "Team.players has \(objects); \(words)", sourceLocation: place)
      #expect(refusal.violations.map(\.rule) == ["count"], sourceLocation: place)
      let violation = try #require(refusal.violations.first, sourceLocation: place)
      #expect(violation.id == team && violation.property == players.number, sourceLocation: place)
      #expect(violation.value == .integer(count), sourceLocation: place)
      #expect(try store.store.head.revision == head, sourceLocation: place)
    }

    func expect(_ team: ObjectID, has count: Int, place: SourceLocation = #_sourceLocation) throws {
      #expect(
        try store.all("Team", "players.@count == \(count)").map(\.id).contains(team), sourceLocation: place)
      #expect(try StoreCheckRun(store).findings.isEmpty, sourceLocation: place)
    }
  }

  @Test(arguments: Players.allCases) func insertNeedsMinimumFromEitherEnd(kind: Players) throws {
    let scene = try TeamFixture(kind)
    let players = try scene.newPlayers(4)
    let alone = try scene.store.insertion("Team")
    try scene.expectRefusal([alone], of: alone.id, has: 0, "the minimum is 2")
    let small = try scene.store.insertion("Team", ["players": .objects([players[0]])])
    try scene.expectRefusal([small], of: small.id, has: 1, "the minimum is 2")
    let large = try scene.store.insertion("Team", ["players": .objects(players)])
    try scene.expectRefusal([large], of: large.id, has: 4, "the maximum is 3")
    try scene.expect(try scene.team(of: Array(players.prefix(2))), has: 2)
    // The players refer to a team of the same transaction.
    let team = try scene.store.insertion("Team")
    func joining(_ count: Int) throws -> [Change] {
      try [team] + (0..<count).map { _ in try scene.store.insertion("Player", ["playsFor": scene.side(team.id)]) }
    }
    try scene.expectRefusal(try joining(1), of: team.id, has: 1, "the minimum is 2")
    try scene.expectRefusal(try joining(4), of: team.id, has: 4, "the maximum is 3")
    try scene.expect(try scene.store.must(try joining(3))[0], has: 3)
  }

  @Test(arguments: Players.allCases) func removalBelowMinimumIsRefused(kind: Players) throws {
    let scene = try TeamFixture(kind)
    let players = try scene.newPlayers(5)
    let team = try scene.team(of: Array(players.prefix(2)))
    let other = try scene.team(of: Array(players[2...3]))
    try scene.expectRefusal([scene.edit(team, removing: [players[0]])], of: team, has: 1, "the minimum is 2")
    try scene.expectRefusal(
      [scene.store.update(team, "Team.players", .objects([players[1]]))], of: team, has: 1, "the minimum is 2")
    try scene.expectRefusal([scene.plays(players[0], for: nil)], of: team, has: 1, "the minimum is 2")
    // A player that joins another team leaves this one.
    try scene.expectRefusal([scene.plays(players[0], for: other)], of: team, has: 1, "the minimum is 2")
    if !kind.isManyToMany {
      try scene.expectRefusal([scene.edit(other, adding: [players[0]])], of: team, has: 1, "the minimum is 2")
    }
    // One member leaves as another one joins.
    try scene.store.must([scene.plays(players[0], for: nil), scene.edit(team, adding: [players[4]])])
    try scene.expect(team, has: 2)
    try scene.store.must([scene.edit(team, adding: [players[0]], removing: [players[4]])])
    try scene.expect(team, has: 2)
  }

  @Test(arguments: Players.allCases) func deleteBelowMinimumIsRefused(kind: Players) throws {
    let scene = try TeamFixture(kind)
    let players = try scene.newPlayers(3)
    let team = try scene.team(of: players)
    try scene.store.must([Change(.delete, players[2], base: .max)])
    try scene.expect(team, has: 2)
    let delete = Change(.delete, players[0], base: .max)
    try scene.expectRefusal([delete], of: team, has: 1, "the minimum is 2")
    try scene.expectRefusal([delete, Change(.delete, players[1], base: .max)], of: team, has: 0, "the minimum is 2")
    // Another member replaces it.
    try scene.store.must([delete, scene.store.insertion("Player", ["playsFor": scene.side(team)])])
    try scene.expect(team, has: 2)
    // The team that is deleted with it needs no players.
    try scene.store.must([Change(.delete, players[1], base: .max), Change(.delete, team, base: .max)])
    #expect(try scene.store.all("Team").isEmpty)
    #expect(try StoreCheckRun(scene.store).findings.isEmpty)
  }

  @Test(arguments: Players.allCases) func additionAboveMaximumIsRefused(kind: Players) throws {
    let scene = try TeamFixture(kind)
    let players = try scene.newPlayers(5)
    let team = try scene.team(of: Array(players.prefix(3)))
    try scene.expectRefusal([scene.edit(team, adding: [players[3]])], of: team, has: 4, "the maximum is 3")
    try scene.expectRefusal(
      [scene.store.update(team, "Team.players", .objects(players))], of: team, has: 5, "the maximum is 3")
    try scene.expectRefusal([scene.plays(players[3], for: team)], of: team, has: 4, "the maximum is 3")
    try scene.expectRefusal(
      [scene.store.insertion("Player", ["playsFor": scene.side(team)])], of: team, has: 4, "the maximum is 3")
    // An existing member does not count twice.
    try scene.store.must([scene.edit(team, adding: [players[2]])])
    try scene.store.must([scene.edit(team, adding: [players[3]], removing: [players[0]])])
    try scene.store.must([Change(.delete, players[1], base: .max), scene.plays(players[4], for: team)])
    try scene.expect(team, has: 3)
  }

  /// Each would have been valid on the state that its author had read.
  @Test(arguments: Players.allCases) func countsAreValidatedAfterMerge(kind: Players) throws {
    let scene = try TeamFixture(kind)
    let players = try scene.newPlayers(4)
    let team = try scene.team(of: Array(players.prefix(2)))
    let base = try scene.store.store.head.revision
    try scene.store.must([scene.edit(team, adding: [players[2]], base: base)])
    scene.store.replica = UniqueID(high: 2, low: 2)
    try scene.expectRefusal([scene.edit(team, adding: [players[3]], base: base)], of: team, has: 4, "the maximum is 3")
    let full = try scene.store.store.head.revision
    try scene.store.must([scene.edit(team, removing: [players[0]], base: full)])
    scene.store.replica = UniqueID(high: 3, low: 3)
    try scene.expectRefusal(
      [scene.edit(team, removing: [players[1]], base: full)], of: team, has: 1, "the minimum is 2")
    try scene.expect(team, has: 2)
  }
}
