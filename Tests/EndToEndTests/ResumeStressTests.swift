import Foundation
import GraphModel
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// Many connections with several queries each, which are cut and resumed at random while other clients write. The
/// client is written only from docs/protocol.md: it keeps a token for each query, and relies on every advance.
@Suite struct ResumeStressTests {
  static let predicates = [
    "color == \"pink\"", "x > 0", "y > 0", "pinned == TRUE", "locked == TRUE", "collapsed == TRUE", "width > 200",
    "height > 200",
  ]

  @Test func liveQueriesEqualFetchesAfterHundredsOfReconnects() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    let scene = try await DaemonFixture()
    var changes = [Change]()
    let board = try await scene.board()
    for number in 0..<24 {
      changes.append(
        try scene.insertion(
          [("text", .string("note \(number)")), ("board", .object(board))], temporary: UInt64(number + 1)))
    }
    let author = try await scene.client()
    guard case .committed(let committed, _, _, _) = try await author.commit(changes) else {
      Issue.record("the notes are refused")
      return
    }
    let notes = committed.identities.map(\.permanent)
    let (entity, daemon) = (scene.entity, scene.daemon)
    try await withThrowingTaskGroup(of: Void.self) { writers in
      for number in 0..<3 {
        writers.addTask {
          try await Self.write(to: notes, of: entity, at: daemon.socket, SeededGenerator(seed: seed &+ UInt64(number)))
        }
      }
      try await withThrowingTaskGroup(of: Void.self) { followers in
        for number in 0..<12 {
          followers.addTask {
            var follower = ProtocolFollower(
              entity, Self.predicates, at: daemon.socket, SeededGenerator(seed: seed &+ 100 &+ UInt64(number)))
            for _ in 0..<50 {
              try await follower.connect()
              try await follower.readUntilCut()
              try await follower.expectFetchesAtTokens(atMost: 1, "seed \(seed)")
            }
            try await follower.connect()
            try await follower.readUntilComplete()
            try await follower.expectFetchesAtTokens(atMost: .max, "seed \(seed)")
          }
        }
        try await followers.waitForAll()
      }
      writers.cancelAll()
    }
    try scene.end()
  }

  /// Changes one attribute of one note after the other, until the task is cancelled.
  private static func write(
    to notes: [ObjectID], of entity: Entity, at address: ServerAddress, _ generator: SeededGenerator
  ) async throws {
    var generator = generator
    let client = try RawClient(address)
    try await client.hello(author: "writer@test")
    while !Task.isCancelled {
      let toggles: [(String, Value)] = [
        ("color", .string(Bool.random(using: &generator) ? "pink" : "yellow")),
        ("x", .double(.random(in: -9...9, using: &generator))), ("y", .double(.random(in: -9...9, using: &generator))),
        ("pinned", .bool(.random(using: &generator))), ("locked", .bool(.random(using: &generator))),
        ("collapsed", .bool(.random(using: &generator))),
        ("width", .double(.random(in: 150...250, using: &generator))),
        ("height", .double(.random(in: 150...250, using: &generator))),
      ]
      let (name, value) = toggles[Int.random(in: 0..<toggles.count, using: &generator)]
      let property = try #require(entity.property(named: name))
      var transaction = client.transaction([
        Change(
          .update, notes[Int.random(in: 0..<notes.count, using: &generator)], base: 2,
          edits: [Edit(property.number, .set(value))])
      ])
      transaction.policy = .objectTrump
      let request = try await client.send(.commit(transaction))
      guard case .committed = try await client.reply(to: request) else {
        Issue.record("a write is refused")
        return
      }
    }
    client.close()
  }
}

/// A client of several live queries, as docs/protocol.md describes one.
private struct ProtocolFollower {
  struct Query {
    let predicate: String
    var objects = [ObjectID: ObjectImage]()
    /// The state up to which `objects` is complete; nil before the first result.
    var token: Token?
    /// The server's number for it on this connection.
    var number: UInt64?
    var request: UInt64 = 0
    /// A first result on its way, and where it was read once its last chunk is here.
    var incoming: (objects: [ObjectImage], at: Token?)?
  }

  let entity: Entity
  let address: ServerAddress
  var generator: SeededGenerator
  var queries: [Query]
  private var client: RawClient?
  private var store = UniqueID.zero
  private var staged = [Delta]()

  init(_ entity: Entity, _ predicates: [String], at address: ServerAddress, _ generator: SeededGenerator) {
    (self.entity, self.address, self.generator) = (entity, address, generator)
    queries = predicates.map { Query(predicate: $0) }
  }

  /// A new connection, which subscribes to every query: to about half of them from their tokens, to the others without.
  mutating func connect() async throws {
    let client = try RawClient(address)
    store = try await client.hello(author: "follower@test").head.store
    staged = []
    for index in queries.indices {
      (queries[index].number, queries[index].incoming) = (nil, nil)
      if Bool.random(using: &generator) { (queries[index].token, queries[index].objects) = (nil, [:]) }
      var subscribe = Subscribe(entity: entity.number, predicate: queries[index].predicate, wholeObjects: true)
      subscribe.since = queries[index].token
      queries[index].request = try await client.send(.subscribe(subscribe))
    }
    self.client = client
  }

  /// Receives some messages, then drops the connection.
  mutating func readUntilCut() async throws {
    let client = try #require(client)
    for _ in 0..<Int.random(in: 0..<60, using: &generator) { try await take(try #require(try await client.next())) }
    client.close()
  }

  /// Receives messages until every query is complete up to a revision that was the head when all subscriptions had been
  /// answered.
  mutating func readUntilComplete() async throws {
    let client = try #require(client)
    var end: Revision?
    while queries.contains(where: { $0.number == nil || $0.incoming != nil || $0.token?.revision ?? 0 < end ?? .max }) {
      try await take(try #require(try await client.next()))
      if end == nil, queries.allSatisfy({ $0.number != nil && $0.incoming == nil }) {
        end = queries.compactMap(\.token?.revision).max().map { $0 + 1 }
      }
    }
    client.close()
  }

  private mutating func take(_ message: ToClient) async throws {
    let asked = queries.firstIndex { $0.request == message.request }
    switch message.body {
    case .subscribed(let number, let resumed, _):
      let index = try #require(asked)
      queries[index].number = number
      staged.removeAll { $0.query == number }
      if !resumed { queries[index].incoming = ([], nil) }
    case .chunk(let chunk):
      let index = try #require(asked)
      queries[index].incoming?.objects += chunk.objects
      queries[index].incoming?.at = chunk.end?.at
      if chunk.end == nil { try await client?.send(.more(of: message.request)) }
    case .delta(let delta):
      // An advance completes a revision. A client that resumes after the advance would miss a later delta of that
      // revision.
      let query = queries.first { $0.number == delta.query && $0.incoming == nil }
      if let complete = query?.token?.revision {
        #expect(delta.revision > complete, "a delta of \(delta.revision) after an advance to \(complete)")
      }
      staged.append(delta)
      // A connection that follows one query shows each delta at once.
      let counted = queries.filter { $0.number != nil }
      if counted.count == 1, counted[0].incoming == nil { advance(to: delta.revision, delta.fingerprint) }
    case .advance(let revision, let fingerprint): advance(to: revision, fingerprint)
    case .reset: break
    default: Issue.record("unexpected: \(message.body)")
    }
  }

  private mutating func advance(to revision: Revision, _ fingerprint: UInt64) {
    for index in queries.indices {
      guard let incoming = queries[index].incoming, let at = incoming.at, at.revision <= revision else { continue }
      queries[index].objects = Dictionary(uniqueKeysWithValues: incoming.objects.map { ($0.id, $0) })
      (queries[index].token, queries[index].incoming) = (at, nil)
    }
    for delta in staged where delta.revision <= revision {
      guard let index = queries.firstIndex(where: { $0.number == delta.query }) else { continue }
      for change in delta.changes { queries[index].objects[change.id] = change.kind == .removed ? nil : change.object }
    }
    staged.removeAll { $0.revision <= revision }
    for index in queries.indices where queries[index].number != nil && queries[index].incoming == nil {
      guard let token = queries[index].token, token.revision <= revision else { continue }
      queries[index].token = Token(store: store, revision: revision, fingerprint: fingerprint)
    }
  }

  /// Compares some of the queries with a fetch at their tokens.
  mutating func expectFetchesAtTokens(atMost count: Int, _ comment: Comment) async throws {
    let reader = try RawClient(address)
    try await reader.hello(author: "reader@test")
    for query in queries.shuffled(using: &generator).prefix(count) {
      guard let token = query.token else { continue }
      let (objects, _) = try await reader.fetch(
        Fetch(entity: entity.number, predicate: query.predicate, at: token.revision))
      let expected = Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0) })
      #expect(query.objects == expected, "\(query.predicate) at \(token.revision), \(comment)")
    }
    reader.close()
  }
}
