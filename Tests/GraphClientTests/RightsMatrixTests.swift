import Foundation
import GraphClient
import GraphHub
import GraphModel
import GraphReplica
import GraphServer
import GraphTesting
import GraphWire
import Testing

/// Role × operation × object, through the protocol: the table of docs/threat-model.md is what a client of a real server
/// meets. The objects are on a board on which the user has the role, or were; on another board it is an editor, so that
/// the role decides for each object and not for the connection.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct RightsMatrixTests {
  /// A row of the table: the results for the user's own object, another user's, one that was moved away, a deleted one,
  /// and an own one that was moved away.
  private struct Row {
    let role: Role?
    let operation: String
    let results: [String]
  }

  private static let columns = ["own", "others'", "moved", "deleted", "once own"]

  private static func rows() throws -> [Row] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("docs/threat-model.md"), encoding: .utf8)
    let lines = page.split(separator: "\n").map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let start = try #require(lines.firstIndex { $0 == ["role", "operation"] + columns }, "the page has the table")
    return try lines[(start + 2)...].prefix { $0.count == 7 }.map { cells in
      let role = Role(rawValue: cells[0])
      try #require(role != nil || cells[0] == "none", "\(cells[0]) is a role")
      return Row(role: role, operation: cells[1], results: Array(cells[2...]))
    }
  }

  /// Gives the user of a token the role that the token names.
  private struct Accounts: Authenticating {
    let here: UniqueID
    let elsewhere: UniqueID

    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      guard let credential else { return .failure(Refusal(.notAllowed, "a token is needed")) }
      let grants = [Grant(.editor, on: elsewhere)] + (Role(rawValue: credential).map { [Grant($0, on: here)] } ?? [])
      let rights = Rights(user: RightsMatrixTests.user, grants: grants)
      return .success(
        .user(Principal(id: RightsMatrixTests.user, name: "ann"), token: 1, access: GrantedAccess(rights)))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }
    func erasedPrincipals() -> [String] { [] }
    func record(generation: Int64, of principal: String, at revision: Revision) {}
    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  nonisolated private static let user = "user:ann"

  /// The objects of the columns.
  private struct Objects {
    var ids = [ObjectID]()
    /// The revision at which all of them were on the user's board.
    var before: Revision = 0
  }

  private let store: TestStore
  private let here: ObjectID
  private let there: ObjectID
  private let elsewhere: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.team())
    here = try store.insert("Board", ["name": .string("here")])
    there = try store.insert("Board", ["name": .string("there")])
    elsewhere = try store.insert("Board", ["name": .string("elsewhere")])
  }

  /// Makes the objects of a row.
  private func objects() throws -> Objects {
    func note(by user: String) throws -> ObjectID {
      try store.by(user) { try store.insert("Note", ["board": .object(here), "text": .string("before")]) }
    }
    var objects = Objects()
    for creator in [Self.user, "bob", "bob", Self.user, Self.user] { objects.ids.append(try note(by: creator)) }
    objects.before = try store.store.head.revision
    try store.by("bob") {
      for id in objects.ids { try store.must([try store.update(id, "Note.text", .string("now"))]) }
      for index in [2, 4] { try store.must([try store.update(objects.ids[index], "Note.board", .object(there))]) }
      try store.must([Change(.delete, objects.ids[3], base: .max)])
    }
    return objects
  }

  /// The result of an operation on an object, as the table has it.
  private func result(_ operation: String, _ id: ObjectID, _ objects: Objects, _ client: GraphClient) async throws
    -> String
  {
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
    let rows = try Self.rows()
    let roles: [Role?] = [nil, .reader, .commenter, .editor, .owner]
    let operations = Set(rows.map(\.operation))
    #expect(operations.count == 5 && rows.count == roles.count * operations.count, "the table has each role")
    // The store is the test's until it is served.
    let objects = try rows.map { _ in try self.objects() }
    let accounts = Accounts(here: here.key, elsewhere: elsewhere.key)
    try await ServedStore.serve(store, accounts) { address in
      for (row, objects) in zip(rows, objects) {
        let name = row.role.map(\.rawValue) ?? "none"
        let client = try await ServedStore.connect(name, to: address, store)
        var results = [String]()
        for id in objects.ids { results.append(try await result(row.operation, id, objects, client)) }
        #expect(results == row.results, "\(name), \(row.operation): \(Self.columns)")
        await client.close()
      }
    }
  }
}
