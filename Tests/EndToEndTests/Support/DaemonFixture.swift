import Foundation
import GraphModel
import GraphWire
import StickiesKit
import Testing

/// A daemon, and a bystander that is connected all the time. Despite the errors of other clients, the bystander's live
/// query continues, its requests are answered, and the store is sound at the end.
final class DaemonFixture {
  let daemon: Daemon
  let model: Model
  /// The entity that the bystander follows and the tests write.
  let entity: Entity
  let bystander: RawClient
  private(set) var held = [ObjectID: Revision]()
  private let query: UInt64
  private let options: [String]

  /// - Parameters:
  ///   - schema: a folder with a model, for tests that the notes' model is too small for.
  ///   - flags: further flags of the daemon.
  init(
    _ model: Model = StickiesModel.model, following name: String = "Note", schema: String? = nil,
    serving flags: [String] = []
  ) async throws {
    self.model = model
    entity = try #require(model.entity(named: name))
    options = schema.map { ["--schema", $0] } ?? []
    daemon = try Daemon()
    try daemon.start(options + flags)
    bystander = try RawClient(daemon.socket)
    try await bystander.hello(model: model.hash, author: "bystander@test")
    let (query, objects, _) = try await bystander.follow(entity.number)
    self.query = query
    for object in objects { held[object.id] = object.revision }
  }

  /// The addresses of both kinds. Tests expect the same results from both.
  func addresses() throws -> [ServerAddress] { [daemon.socket, try ServerAddress(parsing: daemon.tcp)] }

  /// A client that has been welcomed.
  func client(_ address: ServerAddress? = nil) async throws -> RawClient {
    let client = try RawClient(address ?? daemon.socket)
    try await client.hello(model: model.hash)
    return client
  }

  func property(_ name: String, of entity: String? = nil) throws -> Property {
    let owner = try #require(entity == nil ? self.entity : model.entity(named: entity ?? ""))
    return try #require(owner.property(named: name), "\(owner.name) has no property \(name)")
  }

  func insertion(_ values: [(String, Value)], of name: String? = nil, temporary: UInt64 = 1) throws -> Change {
    let owner = try #require(name == nil ? entity : model.entity(named: name ?? ""))
    let edits = try values.map { Edit(try property($0.0, of: owner.name).number, .set($0.1)) }
    return Change(.insert, .temporary(temporary, entity: owner.number), edits: edits)
  }

  /// A board for notes to stick to.
  func board() async throws -> ObjectID {
    let reply = try await client().commit([insertion([("name", .string("B"))], of: "Board")])
    return try #require(reply.identities.first)
  }

  /// Two thousand notes on one board, and a search among them that finds nothing, for longer than any test waits.
  func endlessSearch() async throws -> Fetch {
    let board = try await board()
    let writer = try await client()
    for _ in 0..<2 {
      let changes = try (1...1_000).map {
        try insertion([("text", .string("z")), ("board", .object(board))], temporary: UInt64($0))
      }
      #expect(try await writer.commit(changes).revision != nil)
    }
    writer.close()
    return Fetch(
      entity: entity.number,
      predicate: "SUBQUERY(board.notes, $a, SUBQUERY($a.board.notes, $b, $b.number == $a.number + 100000).@count > 0)"
        + ".@count > 0")
  }

  /// The bystander is answered, has received only deltas, and holds the same objects as a fetch.
  func expectUndisturbed(_ place: SourceLocation = #_sourceLocation) async throws {
    guard case .pong = try await bystander.reply(to: bystander.send(.ping)) else {
      Issue.record("the bystander's ping has another answer", sourceLocation: place)
      return
    }
    let (objects, _) = try await bystander.fetch(Fetch(entity: entity.number))
    for message in bystander.unasked {
      switch message.body {
      case .delta(let delta) where delta.query == query: take(delta)
      case .advance: break
      default: Issue.record("the bystander received \(message.body)", sourceLocation: place)
      }
    }
    bystander.dropUnasked()
    let stored = Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0.revision) })
    #expect(held == stored, "what the bystander follows is not what is stored", sourceLocation: place)
    #expect(daemon.process.isRunning, "the daemon is gone", sourceLocation: place)
  }

  private func take(_ delta: Delta) {
    for change in delta.changes {
      switch change.kind {
      case .inserted: held[change.object?.id ?? change.id] = delta.revision
      case .updated: held[change.id] = delta.revision
      case .removed: held[change.id] = nil
      }
    }
  }

  /// The daemon ends as requested, and its store is sound.
  func end(_ place: SourceLocation = #_sourceLocation) throws {
    bystander.close()
    #expect(daemon.stop() == 0, "\(daemon.errorText)", sourceLocation: place)
    try daemon.expectSound(options, place: place)
  }
}

extension ToClient.Body {
  /// The permanent ids of a commit's inserts; empty for anything else.
  var identities: [ObjectID] {
    if case .committed(let committed, _, _, _) = self { committed.identities.map(\.permanent) } else { [] }
  }

  var refusal: Refusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }

  var revision: Revision? {
    if case .committed(let committed, _, _, _) = self { committed.revision } else { nil }
  }
}
