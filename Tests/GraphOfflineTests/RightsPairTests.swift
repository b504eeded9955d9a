import Foundation
import GraphClient
import GraphEmbedded
import GraphHub
import GraphModel
import GraphReplicaStore
import GraphServer
import GraphStore
import GraphTesting
import GraphWire
import Logging
import Synchronization
import Testing

@testable import GraphOffline

/// The rows of the table in docs/guides/offline.md that need accounts.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct RightsPairTests {
  nonisolated static let rows = [
    "any edit × my role no longer allows it", "any edit of a note × its board is no longer visible to me",
  ]

  /// Ann, whose role changes.
  private final class Account: Authenticating {
    private let grant = Mutex(Grant(.editor))
    private let end = Mutex(Refusal?.none)

    func set(_ grant: Grant) { self.grant.withLock { $0 = grant } }

    /// Refuses each login from now on; nil allows them again.
    func end(_ refusal: Refusal?) { end.withLock { $0 = refusal } }

    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      guard credential == "a" else { return .failure(Refusal(.notAllowed, "the token is wrong")) }
      if let refusal = end.withLock({ $0 }) { return .failure(refusal) }
      let rights = Rights(user: "user:a", grants: [grant.withLock { $0 }])
      return .success(
        .user(
          Principal(id: "user:a", name: "ann"), token: 1, access: GrantedAccess(rights, generation: 1, since: 0)))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }
    func erasedPrincipals() -> [String] { [] }
    func record(generation: Int64, of principal: String, at revision: Revision) {}
    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  private let model: Model
  private let address: ServerAddress
  private let directory: TemporaryDirectory
  private let account = Account()
  private let replica: OfflineReplica

  init() throws {
    model = try Fixtures.notes()
    directory = try TemporaryDirectory()
    address = .unix(path: directory.path + "/socket")
    replica = OfflineReplica(in: directory.path + "/replicas", name: "server")
  }

  private func serve() async throws -> EmbeddedServer {
    var configuration = GraphServer.Configuration(addresses: [address], name: "tests")
    configuration.authenticator = account
    return try await EmbeddedServer.serve(
      SQLiteStore(directory: directory.path + "/server", model: model), configuration, log: Logger(label: "test"))
  }

  /// A client of the machine's user, or of a token's.
  private func connect(_ token: String? = nil, replica: UniqueID? = nil) async throws -> GraphClient {
    var options = GraphClient.Options(author: "bob")
    if let token { options.credentials = .token(token) }
    options.keptReplica = replica
    options.reconnects = false
    return try await GraphClient.connect(to: address, model: model, options: options)
  }

  private func notes(_ client: GraphClient) async throws -> [ObjectImage] {
    var images = [ObjectImage]()
    for try await chunk in client.images(of: try #require(model.entity(named: "Note"))) { images += chunk }
    return images
  }

  /// The user was removed, or has no role any longer. Its computer then keeps no copy of the graph.
  @Test(arguments: [Refusal.noRole, .userRemoved, .tokenRevoked, Refusal(.notAllowed, "the token has expired")])
  func endOfTheRightsRemovesTheCopyAndKeepsTheEdits(refusal: Refusal) async throws {
    let server = try await serve()
    _ = try await replica.turnOn { try await self.connect("a", replica: $0) }
    let away = try await replica.open(model: model, options: GraphClient.Options(author: "other"))
    let board = try #require(model.entity(named: "Board"))
    let name = try #require(board.property(named: "name")).number
    let insert = Change(.insert, .temporary(1, entity: board.number), edits: [Edit(name, .set(.string("Mine")))])
    _ = try await away.commit([insert], policy: .error)
    await away.close()
    // The author is that of the account, not the one that the program names.
    let entries = try replica.openUnsent().entries(IntentForm(model))
    #expect(entries.map(\.intent?.author) == ["ann"])
    account.end(refusal)
    let thrown = await #expect(throws: Refusal.self) {
      try await self.replica.synchronize { try await self.connect("a", replica: $0) }
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: replica.path)
    #expect(files.contains { $0.hasPrefix("mirror") } == !refusal.endsRights, "\(files)")
    #expect(thrown?.message.contains("copy was removed") == refusal.endsRights)
    #expect(try replica.status() == OfflineReplica.Status(isOn: true, unsent: 1, parked: 0))
    if refusal.endsRights {
      await #expect(throws: StoreFailure.self) {
        try await self.replica.open(model: self.model, options: GraphClient.Options(author: "ann")).close()
      }
    }
    // The user gets a role again.
    account.end(nil)
    #expect(try await replica.synchronize { try await self.connect("a", replica: $0) }.sent == 1)
    await server.stop()
  }

  /// A program shows the copy when the server answers that the rights have ended.
  @Test func openProgramRemovesTheCopyToo() async throws {
    let server = try await serve()
    _ = try await replica.turnOn { try await self.connect("a", replica: $0) }
    await server.stop()
    let client = try await replica.openMoving(
      model: model, options: GraphClient.Options(author: "ann")
    ) { [address, model] id, actor in
      var options = GraphClient.Options(author: "ann")
      options.credentials = .token("a")
      options.keptReplica = id
      options.reconnects = false
      return try await GraphClient.connect(to: address, model: model, options: options, actor: actor)
    }
    account.end(.userRemoved)
    let again = try await serve()
    for await trouble in client.syncTrouble where trouble.contains("copy was removed") { break }
    let files = try FileManager.default.contentsOfDirectory(atPath: replica.path)
    #expect(!files.contains("mirror.sqlite") && files.contains("unsent.sqlite"), "\(files)")
    await client.close()
    await again.stop()
  }

  @Test(arguments: rows) func editIsParkedWithoutTheRight(row: String) async throws {
    let isHidden = row == Self.rows[1]
    let server = try await serve()
    let bob = try await connect()
    let (board, note) = (try #require(model.entity(named: "Board")), try #require(model.entity(named: "Note")))
    let name = try #require(board.property(named: "name")).number
    let home = try #require(note.property(named: "board")).number
    let color = try #require(note.property(named: "color"))
    _ = try await bob.commit(
      [
        Change(.insert, .temporary(1, entity: board.number), edits: [Edit(name, .set(.string("Home")))]),
        Change(
          .insert, .temporary(2, entity: note.number),
          edits: [Edit(home, .set(.object(.temporary(1, entity: board.number))))]),
      ], policy: .error)
    _ = try await replica.turnOn { try await self.connect("a", replica: $0) }
    let away = try await replica.open(model: model, options: GraphClient.Options(author: "ann"))
    let image = try #require(try await notes(away).first)
    _ = try await away.commit(
      [Change(.update, image.id, base: image.revision, edits: [Edit(color.number, .set(.string("blue")))])],
      policy: .error)
    await away.close()
    account.set(isHidden ? Grant(.editor, on: UniqueID(high: 1, low: 1)) : Grant(.reader))
    let report = try await replica.synchronize { try await self.connect("a", replica: $0) }
    #expect(report.parked == 1 && report.isReloaded)
    #expect(try replica.status() == OfflineReplica.Status(isOn: true, unsent: 0, parked: 1))
    let parked = try #require(try replica.conflicts(of: model).first)
    #expect(parked.changes.first?.edits == [Edit(color.number, .set(.string("blue")))])
    let again = try await replica.open(model: model, options: GraphClient.Options(author: "ann"))
    #expect(try await notes(again).isEmpty == isHidden)
    await again.close()
    #expect(try await notes(bob).map { $0[color] } == [.string("yellow")])
    await bob.close()
    await server.stop()
  }
}
