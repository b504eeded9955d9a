import GraphClient
import GraphHub
import GraphModel
import GraphReplica
import GraphServer
import GraphTesting
import Synchronization
import Testing

/// Rights that change while a client follows live queries.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct LiveRightsTests {
  /// One user with a token, whose grants change.
  private final class Account: Authenticating {
    private struct State {
      var grants = [Grant(.editor)]
      var generation: Int64 = 1
    }

    private let state = Mutex(State())

    func grant(_ grant: Grant) {
      state.withLock { state in
        state.grants = [grant]
        state.generation += 1
      }
    }

    private var access: GrantedAccess {
      state.withLock { state in
        GrantedAccess(
          Rights(user: "user:b", grants: state.grants), generation: state.generation,
          since: state.generation == 1 ? 0 : nil)
      }
    }

    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      guard credential == "b" else { return .failure(Refusal(.notAllowed, "the token is wrong")) }
      return .success(.user(Principal(id: "user:b", name: "bob"), token: 1, access: access))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }

    func changedAccess(among tokens: [UInt64: Int64]) -> [String: GrantedAccess] {
      let access = access
      return tokens[1].map { $0 != access.generation } == true ? ["user:b": access] : [:]
    }

    func erasedPrincipals() -> [String] { [] }

    func record(generation: Int64, of principal: String, at revision: Revision) {}

    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  @Test func changedRightsArriveAsRemovalsAndInserts() async throws {
    let account = Account()
    try await ServedGraph.serve(authenticator: account) { graph in
      let owner = try await graph.connect()
      _ = try await owner.commit([graph.insertion("a")], policy: .error)
      let client = try await graph.connect { $0.credentials = .token("b") }
      #expect(client.rights == Rights(user: "user:b", role: .editor) && owner.rights == nil)
      var states = [GraphClient.State]()
      client.stateDidChange = { states.append($0) }
      let results = client.liveResults(Project.self)
      let sorted = client.liveResults(Project.self, sort: [\.title])
      await wait { !results.isLoading && !sorted.isLoading }
      #expect(results.objects.map(\.title) == ["a"])

      // A role on a scope to which no project belongs.
      account.grant(Grant(.editor, on: UniqueID(high: 1, low: 1)))
      await wait { results.objects.isEmpty && sorted.objects.isEmpty }
      #expect(client.rights?.role == nil && client.rights?.scopes.count == 1)
      #expect(try await client.count(of: Project.self) == 0)
      _ = try await owner.commit([graph.insertion("b")], policy: .error)

      account.grant(Grant(.reader))
      await wait { results.objects.count == 2 && sorted.objects.count == 2 }
      #expect(sorted.objects.map(\.title) == ["a", "b"])
      #expect(client.rights?.role == .reader && client.welcome?.role == "reader")
      let refusal = await #expect(throws: Refusal.self) {
        _ = try await client.commit([graph.insertion("c")], policy: .error)
      }
      #expect(refusal?.code == .notAllowed)
      _ = try await owner.commit([graph.insertion("c")], policy: .error)
      await wait { results.objects.count == 3 && sorted.objects.count == 3 }
      #expect(states.isEmpty && results.failure == nil, "the connection was kept")
      await client.close()
      await owner.close()
    }
  }
}
