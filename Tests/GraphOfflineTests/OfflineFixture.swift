import Foundation
import GraphClient
import GraphEmbedded
import GraphModel
import GraphReplicaStore
import GraphServer
import GraphStore
import GraphTesting
import Logging

@testable import GraphOffline

/// A served store with a board and a note, and the folder of a replica of it.
@MainActor
final class OfflineFixture {
  let model: Model
  let directory: TemporaryDirectory
  let replica: OfflineReplica
  private var server: EmbeddedServer
  private var local: LocalServer
  private(set) var board = ObjectID.temporary(1, entity: 1)
  private(set) var note = ObjectID.temporary(1, entity: 1)

  /// - Parameter model: nil for the notes' model; another one needs its boards and notes.
  init(model: Model? = nil) async throws {
    self.model = if let model { model } else { try Fixtures.stickies() }
    directory = try TemporaryDirectory()
    server = try await Self.serve(directory.path + "/server", self.model)
    local = Self.local(server)
    replica = OfflineReplica(in: directory.path + "/replicas", name: "server")
    let bob = try await connect("bob")
    let saved = try await bob.commit(
      [
        Change(.insert, .temporary(1, entity: entity("Board").number), edits: [edit("Board.name", .string("Home"))]),
        insertion(2, "buy milk", on: .temporary(1, entity: entity("Board").number)),
      ], policy: .error)
    board = saved.committed.identities[0].permanent
    note = saved.committed.identities[1].permanent
    await bob.close()
  }

  /// The server for the options of clients, which goes on without any.
  private static nonisolated func local(_ server: EmbeddedServer) -> LocalServer {
    LocalServer(
      connect: { try await server.connect() }, clientDidClose: {}, forNewClient: { Self.local(server) })
  }

  private static func serve(_ folder: String, _ model: Model) async throws -> EmbeddedServer {
    try await EmbeddedServer.serve(
      try SQLiteStore(directory: folder, model: model), GraphServer.Configuration(addresses: [], name: "server"),
      log: Logger(label: "test"))
  }

  func stop() async { await server.stop() }

  /// Keeps a copy of the server's files.
  func backUp() async throws { try await replaceFiles(of: "backup", by: "server") }

  /// Brings the copy of the server's files back.
  func restore() async throws { try await replaceFiles(of: "server", by: "backup") }

  private func replaceFiles(of target: String, by source: String) async throws {
    await server.stop()
    let path = directory.path + "/"
    try? FileManager.default.removeItem(atPath: path + target)
    try FileManager.default.copyItem(atPath: path + source, toPath: path + target)
    server = try await Self.serve(path + "server", model)
    local = Self.local(server)
  }

  func connect(_ author: String, replica: UniqueID? = nil) async throws -> GraphClient {
    var options = GraphClient.Options(author: author)
    options.localServer = local
    options.keptReplica = replica
    options.reconnects = false
    return try await GraphClient.connect(to: .unix(path: directory.path), model: model, options: options)
  }

  /// A client of the replica, without the server.
  func offline() async throws -> GraphClient {
    try await replica.open(model: model, options: GraphClient.Options(author: "ann"))
  }

  /// Saves a new note without the server.
  /// - Parameter board: nil for the board Home.
  func saveOffline(_ text: String, on board: ObjectID? = nil) async throws {
    let ann = try await offline()
    _ = try await ann.commit([insertion(1, text, on: board ?? self.board)], policy: .error)
    await ann.close()
  }

  /// Copies the files of the replica, as a backup of the user does.
  func copyReplica() throws -> OfflineReplica {
    let folder = directory.path + "/copies"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: replica.folder.path, toPath: folder + "/server")
    return OfflineReplica(in: folder, name: "server")
  }

  @discardableResult
  func synchronize() async throws -> SyncReport {
    try await replica.synchronize { try await self.connect("ann", replica: $0) }
  }

  /// A fixture whose replica is on.
  static func turnedOn() async throws -> OfflineFixture {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    return fixture
  }

  func turnOn() async throws { _ = try await replica.turnOn { try await self.connect("ann", replica: $0) } }

  // MARK: - Changes and reads

  func entity(_ name: String) -> Entity {
    guard let entity = model.entity(named: name) else { preconditionFailure("the model has no \(name)") }
    return entity
  }

  func property(_ path: String) -> Property {
    let parts = path.split(separator: ".").map(String.init)
    guard let property = entity(parts[0]).property(named: parts[1]) else { preconditionFailure("no \(path)") }
    return property
  }

  func edit(_ path: String, _ value: Value) -> Edit { Edit(property(path).number, .set(value)) }

  func insertion(_ temporary: UInt64, _ text: String, on board: ObjectID) -> Change {
    Change(
      .insert, .temporary(temporary, entity: entity("Note").number),
      edits: [edit("Note.text", .string(text)), edit("Note.board", .object(board))])
  }

  func notes(_ client: GraphClient) async throws -> [ObjectImage] {
    var images = [ObjectImage]()
    for try await chunk in client.images(of: entity("Note")) { images += chunk }
    return images
  }

  func texts(_ client: GraphClient) async throws -> [String] {
    try await notes(client).compactMap { $0[property("Note.text")].stringValue }.sorted()
  }

  /// The texts on the server.
  func served() async throws -> [String] {
    let bob = try await connect("bob")
    let texts = try await texts(bob)
    await bob.close()
    return texts
  }

  /// Commits as another user.
  func other(_ changes: [Change]) async throws {
    let bob = try await connect("bob")
    _ = try await bob.commit(changes, policy: .objectTrump)
    await bob.close()
  }

  func entries() throws -> [UnsentFile.Entry] {
    let unsent = try replica.openUnsent()
    defer { unsent.close() }
    return try unsent.entries(IntentForm(model))
  }
}
