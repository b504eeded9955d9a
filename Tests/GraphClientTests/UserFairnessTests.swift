import GraphClient
import GraphHub
import GraphModel
import GraphServer
import GraphTesting
import GraphWire
import Testing

/// Users of a real server, of whom one is at its limits.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct UserFairnessTests {
  /// Takes each token for the name of a user, who is an editor.
  private struct Accounts: Authenticating {
    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      guard let credential else { return .failure(Refusal(.notAllowed, "a token is needed")) }
      let principal = Principal(id: "user:\(credential)", name: credential)
      return .success(.user(principal, token: 1, access: GrantedAccess(.editor, of: principal)))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }
    func erasedPrincipals() -> [String] { [] }
    func record(generation: Int64, of principal: String, at revision: Revision) {}
    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  /// Only turns by user let the test finish: the searches take longer than the test, and the log of a store is no short
  /// read.
  @Test func searchesOnManyConnectionsDelayNoOtherUser() async throws {
    let store = try TestStore.withEndlessSearch().store
    let person = try store.entity("Person")
    let text =
      "SUBQUERY(manager.reports, $a, SUBQUERY($a.manager.reports, $b, SUBQUERY($b.manager.reports, $c, "
      + "$c.name == concat($a.name, $b.name)).@count > 0).@count > 0).@count > 0"
    let predicate = try GraphPredicate(parsing: text, entity: person, model: store.model)
    let edit = try store.insertion("Person", ["name": .string("ben's")])
    try await ServedStore.serve(store, Accounts()) { address in
      var (clients, searches) = ([GraphClient](), [ReplyStream]())
      for _ in 0..<6 {
        let client = try await ServedStore.connect("ann", to: address, store)
        for _ in 0..<4 { searches.append(client.images(of: person, where: predicate)) }
        // Answered when the searches before it have begun, or wait for a thread.
        _ = try await client.status()
        clients.append(client)
      }
      let ben = try await ServedStore.connect("ben", to: address, store)
      for _ in 0..<3 {
        #expect(try await ben.log(limit: 1).count == 1)
        #expect(try await ben.identifiers(of: person, limit: 1).count == 1)
      }
      _ = try await ben.commit([edit], policy: .error)
      #expect(try await ben.count(of: person) == 62)
      // The searches have no result yet, and are cancelled with their clients.
      withExtendedLifetime(searches) {}
      for client in clients { await client.close() }
      await ben.close()
    }
  }
}
