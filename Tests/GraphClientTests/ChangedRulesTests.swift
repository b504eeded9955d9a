import GraphClient
import GraphHub
import GraphModel
import GraphReplica
import GraphServer
import GraphTesting
import Testing

/// A client that stays connected to a store whose server starts again with other rules for reading.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ChangedRulesTests {
  /// One user, who is an editor of everything.
  private struct Account: Authenticating {
    private let ann = Principal(id: "user:ann", name: "ann")

    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      .success(.user(ann, token: 1, access: GrantedAccess(.editor, of: ann)))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }
    func erasedPrincipals() -> [String] { [] }
    func record(generation: Int64, of principal: String, at revision: Revision) {}
    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  /// The program follows no live query, and neither a role nor a commit has changed. One note is hidden now.
  @Test func fetchedObjectThatTheNewRulesHideIsRemoved() async throws {
    let rule = "x < 8 OR owner == $user OR level == $role"
    let former = try TestStore(try Model(parsing: ScopedGraph.source.replacing(rule, with: "x < 100").utf8))
    let entity = try former.entity("Note")
    let shown = try former.insert("Note", ["x": .integer(7)])
    let hidden = try former.insert("Note", ["x": .integer(9)])
    var options = GraphClient.Options(author: "eve")
    options.credentials = .token("t")
    (options.firstPauseMilliseconds, options.lastPauseMilliseconds) = (2, 20)
    var clients = [GraphClient]()
    var notes = [ObjectID: ManagedObject]()
    try await ServedStore.serve(former, Account()) { address in
      let client = try await GraphClient.connect(to: address, model: former.model, options: options)
      for try await chunk in client.images(of: entity) {
        for note in client.context.register(chunk) { notes[note.id] = note }
      }
      clients.append(client)
    }
    #expect(notes.count == 2 && notes.values.allSatisfy { !$0.isDeleted })
    let present = try TestStore(try ScopedGraph.model(), directory: former.directory)
    #expect(present.model.hash == former.model.hash)
    let (kept, removed) = (try #require(notes[shown]), try #require(notes[hidden]))
    try await ServedStore.serve(present, Account()) { _ in
      await wait { removed.isDeleted }
      #expect(!kept.isDeleted)
      for client in clients { await client.close() }
    }
  }
}
