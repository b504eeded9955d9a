import GraphClient
import GraphHub
import GraphModel
import GraphServer
import GraphTesting
import GraphWire
import Testing

/// Role × operation × object, through the protocol: the table of docs/threat-model.md is what a client of a real server
/// meets.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct RightsMatrixTests {
  /// Gives the user of a token the role that the token names.
  private struct Accounts: Authenticating {
    let rights: [String: Rights]

    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      guard let credential, let rights = rights[credential] else {
        return .failure(Refusal(.notAllowed, "a token is needed"))
      }
      let principal = Principal(id: RightsMatrix.user, name: "ann")
      return .success(.user(principal, token: 1, access: GrantedAccess(rights)))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }
    func erasedPrincipals() -> [String] { [] }
    func record(generation: Int64, of principal: String, at revision: Revision) {}
    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  /// The result of an operation on an object, as the table has it.
  private func result(
    _ operation: String, _ id: ObjectID, _ objects: RightsMatrix.Objects, _ client: GraphClient, _ store: TestStore
  ) async throws -> String {
    let note = try #require(store.model.entity(named: "Note"))
    func finds(_ text: String, at revision: Revision?) async throws -> String {
      let predicate = try GraphPredicate(parsing: "text == '\(text)'", entity: note, model: store.model)
      let found = try await client.identifiers(of: note, where: predicate, at: revision)
      return found.contains(id) ? "yes" : "no"
    }
    do {
      switch operation {
      case "read": return try await finds("now", at: nil)
      case "read the past": return try await finds("before", at: objects.before)
      case "change": _ = try await client.commit([try store.update(id, "Note.text", .string("mine"))], policy: .error)
      case "delete": _ = try await client.commit([Change(.delete, id, base: .max)], policy: .error)
      case "restore": _ = try await client.restore(id, at: objects.before, contents: false)
      default: Issue.record("\(operation) is an operation of the table")
      }
      return "yes"
    } catch let refusal as Refusal {
      return refusal.code.rawValue
    }
  }

  @Test func tableIsWhatAClientMeets() async throws {
    let matrix = try RightsMatrix()
    // The store is the test's until it is served.
    let objects = try matrix.rows.map { _ in try matrix.makeObjects() }
    let rights = Dictionary(matrix.rows.map { ($0.name, matrix.rights($0.role)) }) { first, _ in first }
    try await ServedStore.serve(matrix.store, Accounts(rights: rights)) { address in
      for (row, objects) in zip(matrix.rows, objects) {
        let client = try await ServedStore.connect(row.name, to: address, matrix.store)
        var results = [String]()
        for id in objects.ids {
          results.append(try await result(row.operation, id, objects, client, matrix.store))
        }
        #expect(results == row.results, "\(row.name), \(row.operation): \(RightsMatrix.columns)")
        await client.close()
      }
    }
  }
}
