import Foundation
import GraphClient
import GraphEmbedded
import GraphModel
import GraphReplicaStore
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
  final class Table {
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

    /// Where `GraphClient.connect` keeps its replica.
    var mode: OfflineMode { .kept(at: URL(fileURLWithPath: directory.path + "/kept")) }

    /// The replica that `GraphClient.connect` keeps.
    var kept: OfflineReplica { OfflineReplica(of: address, mode) }

    /// Starts a server with another store at the same address.
    func startWithoutData() async throws {
      try FileManager.default.removeItem(atPath: directory.path + "/server")
      try await start()
    }

    /// Makes the next load of the copy fail, as a full disk would.
    /// - Returns: removes the obstacle.
    func obstructLoad(of replica: OfflineReplica) throws -> () throws -> Void {
      let unsent = try replica.openUnsent()
      defer { unsent.close() }
      try unsent.setState(.discarding(step: 2))
      // A folder that is not empty can't be replaced by the draft of the copy.
      let obstacle = replica.path + "/mirror.sqlite.new"
      try FileManager.default.createDirectory(atPath: obstacle + "/x", withIntermediateDirectories: true)
      return { try FileManager.default.removeItem(atPath: obstacle) }
    }

    /// The texts on the server.
    func texts() async throws -> [String] {
      let bob = try await connect("bob")
      let texts = try await ReplicaConnectorTests.texts(bob)
      await bob.close()
      return texts
    }
  }

  /// The texts that a client sees.
  private static func texts(_ client: GraphClient) async throws -> [String] {
    let entity = try #require(client.context.model.entity(named: "Note"))
    let text = try #require(entity.property(named: "text"))
    var images = [ObjectImage]()
    for try await chunk in client.images(of: entity) { images += chunk }
    return images.compactMap { $0[text].stringValue }.sorted()
  }

  /// Waits until a client is with the server, or with the copy.
  func wait(for client: GraphClient, offline: Bool) async {
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

  /// A client that is open shows what a run has met: here, that the files of the replica are copies.
  @Test func noticeOfARunReachesAnOpenClient() async throws {
    let table = try await Table()
    try await table.turnOn()
    let current = try #require(table.replica.folder.current)
    try FileManager.default.copyItem(atPath: current, toPath: current + "-copy")
    try FileManager.default.removeItem(atPath: current)
    try FileManager.default.moveItem(atPath: current + "-copy", toPath: current)
    let ann = try await table.away()
    var met = ""
    for await notice in ann.syncNotice where !notice.isEmpty {
      met = notice
      break
    }
    #expect(met == SyncReport.Notice.copiedReplica.sentence)
    await ann.close()
    await table.stop()
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

  /// The edit leaves anyway. The user reads why there is no copy, and works with the server.
  @Test func editsAreSentAlthoughTheCopyCannotBeLoaded() async throws {
    let table = try await Table()
    try await table.turnOn()
    await table.stop()
    let ann = try await table.away()
    let board = try await board(ann)
    let before = board.id
    let clear = try table.obstructLoad(of: table.replica)
    try await table.start()
    for await trouble in ann.syncTrouble where !trouble.isEmpty { break }
    await wait(for: ann, offline: false)
    #expect(ann.syncTrouble.current.contains("1 edit was sent"), "\(ann.syncTrouble.current)")
    for await status in ann.syncStatus where status?.unsent == 0 { break }
    #expect(board.id != before && board["name"] == .string("Home"))
    let bob = try await table.connect("bob")
    #expect(try await bob.status().head.revision == 1)
    await bob.close()
    try clear()
    try await ann.withoutConnection { _, _ in }
    #expect(ann.syncTrouble.current.isEmpty && ann.syncStatus.current?.isOn == true)
    await ann.close()
    await table.stop()
  }

  @Test func clientWithoutEditsUsesTheServerIfTheCopyCannotBeLoaded() async throws {
    let table = try await Table()
    try await table.turnOn()
    await table.stop()
    let ann = try await table.away()
    let clear = try table.obstructLoad(of: table.replica)
    try await table.start()
    await wait(for: ann, offline: false)
    #expect(!ann.syncTrouble.current.isEmpty)
    _ = try await board(ann)
    try clear()
    await ann.close()
    await table.stop()
  }

  @Test func clientLeavesTheCopyThatAnotherProgramHasLoadedAgain() async throws {
    let table = try await Table()
    let bob = try await table.connect("bob")
    let board = try await board(bob)
    try await table.turnOn()
    try table.replica.turnOff()
    let ann = try await table.away()
    _ = try note("new", on: board, bob)
    try await bob.save()
    await bob.close()
    #expect(try await Self.texts(ann).isEmpty)
    let other = try await table.connect("ann")
    try await ReplicaSynchronizer.load(try #require(table.replica.folder.current), other, now: 1)
    await other.close()
    var shown = [String]()
    for await state in ann.states where state == .connected {
      // A fetch of the copy that is being left fails.
      if let texts = try? await Self.texts(ann) { shown = texts }
      if shown == ["new"] { break }
    }
    #expect(shown == ["new"] && ann.isOffline)
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
