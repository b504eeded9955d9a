import Foundation
import GraphClient
import GraphEmbedded
import GraphModel
import GraphServer
import GraphStore
import GraphTesting
import Logging
import Testing

@testable import GraphOffline

/// A client that stays open while its server goes and comes.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ReplicaConnectorTests {
  /// A server that ends and starts again, and the folder of a replica of it.
  @MainActor
  private final class Table {
    let model: Model
    let directory: TemporaryDirectory
    let address: ServerAddress
    let replica: OfflineReplica
    private var server: EmbeddedServer?

    init() async throws {
      model = try Fixtures.stickies()
      directory = try TemporaryDirectory()
      address = .unix(path: directory.path + "/socket")
      replica = OfflineReplica(in: directory.path + "/replicas", name: "server")
      try await start()
    }

    func start() async throws {
      let store = try SQLiteStore(directory: directory.path + "/server", model: model)
      server = try await EmbeddedServer.serve(
        store, GraphServer.Configuration(addresses: [address]), log: Logger(label: "test"))
    }

    func stop() async {
      await server?.stop()
      server = nil
    }

    func connect(_ author: String, replica: UniqueID? = nil) async throws -> GraphClient {
      var options = GraphClient.Options(author: author)
      options.keptReplica = replica
      options.reconnects = false
      return try await GraphClient.connect(to: address, model: model, options: options)
    }

    private var connectForReplica: @Sendable (UniqueID?, isolated any Actor) async throws -> GraphClient {
      { [address, model] id, actor in
        var options = GraphClient.Options(author: "ann")
        options.keptReplica = id
        options.reconnects = false
        return try await GraphClient.connect(to: address, model: model, options: options, actor: actor)
      }
    }

    func turnOn() async throws { _ = try await replica.turnOn { try await self.connect("ann", replica: $0) } }

    /// A client that moves, at first without the server.
    func away() async throws -> GraphClient {
      try await replica.openMoving(
        model: model, options: GraphClient.Options(author: "ann"), connect: connectForReplica)
    }

    /// A client that moves, at first with the server.
    func connected(refreshPause: Duration? = nil) async throws -> GraphClient {
      let client = try await GraphClient.connect(
        to: address, model: model, options: GraphClient.Options(author: "ann"))
      replica.keep(client, refreshPause: refreshPause, connect: connectForReplica)
      return client
    }

    /// The texts on the server.
    func texts() async throws -> [String] {
      let bob = try await connect("bob")
      let entity = try #require(model.entity(named: "Note"))
      let text = try #require(entity.property(named: "text"))
      var images = [ObjectImage]()
      for try await chunk in bob.images(of: entity) { images += chunk }
      await bob.close()
      return images.compactMap { $0[text].stringValue }.sorted()
    }
  }

  /// Waits until a client is with the server, or with the copy.
  private func wait(for client: GraphClient, offline: Bool) async {
    for await state in client.states where state == .connected && client.isOffline == offline { return }
  }

  private func board(_ client: GraphClient) async throws -> ManagedObject {
    let entity = try #require(client.context.model.entity(named: "Board"))
    let board = try #require(client.context.insert(entity))
    board["name"] = .string("Home")
    try await client.save()
    return board
  }

  private func note(_ text: String, on board: ManagedObject, _ client: GraphClient) throws -> ManagedObject {
    let entity = try #require(client.context.model.entity(named: "Note"))
    let note = try #require(client.context.insert(entity))
    note["text"] = .string(text)
    note["board"] = .object(board.id)
    return note
  }

  @Test func objectsKeepTheirInstancesWhenTheServerAnswers() async throws {
    let table = try await Table()
    try await table.turnOn()
    await table.stop()
    let ann = try await table.away()
    #expect(ann.isOffline)
    // A program that shows notes follows them.
    let entity = try #require(table.model.entity(named: "Note"))
    let live = ann.context.follow(entity: entity)
    let board = try await board(ann)
    let note = try note("call Ann", on: board, ann)
    try await ann.save()
    let before = (board.id, note.id)
    // Edited and not saved when the server answers.
    note["text"] = .string("call Ann today")
    try await table.start()
    await wait(for: ann, offline: false)
    #expect(board.id != before.0 && note.id != before.1 && note["board"] == .object(board.id))
    #expect(ann.context.object(note.id) === note && ann.context.object(before.1) == nil)
    #expect(note["text"] == .string("call Ann today") && note.hasChanges)
    try await ann.save()
    #expect(try await table.texts() == ["call Ann today"])
    ann.context.unfollow(live)
    await ann.close()
    await table.stop()
  }

  @Test func clientGoesToTheCopyAndBackWithoutLosingAnEdit() async throws {
    let table = try await Table()
    let ann = try await table.connected()
    let board = try await board(ann)
    _ = try note("one", on: board, ann)
    try await ann.save()
    try await table.turnOn()
    await table.stop()
    await wait(for: ann, offline: true)
    _ = try note("two", on: board, ann)
    try await ann.save()
    for await status in ann.syncStatus where status?.unsent == 1 { break }
    try await table.start()
    await wait(for: ann, offline: false)
    #expect(try await table.texts() == ["one", "two"])
    await ann.close()
    await table.stop()
  }

  /// Objects that the client has shown must not disappear because the copy is older.
  @Test func clientWaitsForTheServerIfTheCopyIsBehind() async throws {
    let table = try await Table()
    try await table.turnOn()
    // The copy is not brought up to date in time.
    let ann = try await table.connected(refreshPause: .seconds(3_600))
    let board = try await board(ann)
    await table.stop()
    var attempts = 0
    for await state in ann.states {
      if case .reconnecting(let attempt) = state { attempts = attempt }
      if attempts > 2 { break }
    }
    #expect(attempts > 2)
    #expect(!ann.isOffline && board["name"] == .string("Home"))
    try await table.start()
    await wait(for: ann, offline: false)
    await ann.close()
    await table.stop()
  }

  @Test func syncThatIsTurnedOffMovesTheClientToTheCopy() async throws {
    let table = try await Table()
    try await table.turnOn()
    let ann = try await table.connected()
    let board = try await board(ann)
    try await ann.withoutConnection { replica, connect in
      _ = try await replica.synchronize(connect: connect)
      try replica.turnOff()
    }
    await wait(for: ann, offline: true)
    #expect(board["name"] == .string("Home"))
    _ = try note("kept", on: board, ann)
    try await ann.save()
    #expect(try await table.texts().isEmpty)
    try await ann.withoutConnection { replica, _ in try replica.setOn() }
    await wait(for: ann, offline: false)
    #expect(try await table.texts() == ["kept"])
    await ann.close()
    await table.stop()
  }
}
