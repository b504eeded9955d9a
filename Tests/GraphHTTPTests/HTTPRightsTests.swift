import GraphHub
import GraphModel
import GraphServer
import GraphTesting
import GraphWire
import Testing

/// Role × operation × object over HTTP: the last column of the table of docs/threat-model.md.
@Suite(.timeLimit(.minutes(2))) struct HTTPRightsTests {
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

  /// The answer to an operation on an object; nil if HTTP lacks the operation.
  private func answer(
    _ operation: String, _ id: ObjectID, before: Revision, _ token: String, _ served: ServedHTTP
  ) async throws -> RawHTTPClient.Answer? {
    let target = "/v1/objects/Note/\(id.key)"
    let fields = ["Authorization: Bearer \(token)"]
    switch operation {
    case "read": return try await served.get(target, fields)
    case "read the past": return try await served.get("\(target)?at=\(before)", fields)
    case "change": return try await served.patch(target, #"{"text":"mine"}"#, fields)
    case "delete": return try await served.send("DELETE", target, fields)
    default: return nil
    }
  }

  @Test func tableIsWhatARequestMeets() async throws {
    let matrix = try RightsMatrix()
    let objects = try matrix.rows.map { _ in try matrix.makeObjects() }
    let rights = Dictionary(matrix.rows.map { ($0.name, matrix.rights($0.role)) }) { first, _ in first }
    let unknown = UniqueID(high: 9, low: 9)
    try await ServedHTTP.serve(matrix.store, authenticator: Accounts(rights: rights)) { (served) async throws in
      for (row, objects) in zip(matrix.rows, objects) {
        let name = "\(row.name), \(row.operation)"
        var statuses = [Int]()
        for (id, column) in zip(objects.ids, RightsMatrix.columns) {
          guard let answer = try await self.answer(row.operation, id, before: objects.before, row.name, served) else {
            continue
          }
          statuses.append(answer.status)
          if answer.status != 404 { continue }
          // An object that the user does not see is like one that never existed.
          let other = ObjectID(key: unknown, entity: id.entity)
          let missing = try await self.answer(row.operation, other, before: objects.before, row.name, served)
          let text = answer.text.replacing("\(id.key)", with: "\(unknown)")
          #expect(text == missing?.text, "\(name), \(column)")
        }
        #expect(statuses == row.statuses, "\(name): \(RightsMatrix.columns)")
      }
    }
  }

  @Test func otherResourcesShowTheReducedGraph() async throws {
    let matrix = try RightsMatrix()
    let objects = try matrix.makeObjects()
    let rights = Dictionary(
      uniqueKeysWithValues: [Role.reader, nil].map { (role: Role?) in
        (role.map(\.rawValue) ?? "none", matrix.rights(role))
      })
    try await ServedHTTP.serve(matrix.store, authenticator: Accounts(rights: rights)) { (served) async throws in
      for (token, isSeen) in [("reader", true), ("none", false)] {
        let fields = ["Authorization: Bearer \(token)"]
        let list = try await served.get("/v1/objects/Note?where=text+%3D%3D+%22now%22", fields)
        let lines = try await served.get("/v1/objects/Note", fields + ["Accept: application/x-ndjson"])
        let history = try await served.get("/v1/history?limit=1000", fields)
        let live = try served.connect()
        defer { live.close() }
        live.send(RawHTTPClient.request("GET", "/v1/live?entity=Note&limit=1", port: served.port, fields))
        try await live.waitForEnd()
        #expect([list, lines, history].map(\.status) == [200, 200, 200] && live.text.hasPrefix("HTTP/1.1 200"))
        for (text, isPast) in [(list.text, false), (lines.text, false), (history.text, true), (live.text, false)] {
          for (index, id) in objects.ids.enumerated() {
            // The moved and the deleted notes were visible once.
            let isExpected = isSeen && (isPast || index < 2)
            #expect(text.contains("\(id.key)") == isExpected, "\(token), \(index): \(text)")
          }
        }
      }
      #expect(try await served.get("/v1/objects/Note").status == 401)
    }
  }

  /// Rights change without a commit, and with them the answer at one revision.
  @Test func tagsDifferWhereTheRightsShowSomethingElse() async throws {
    let matrix = try RightsMatrix()
    let ids = try matrix.makeObjects().ids
    // From a note on the board to one that has moved away.
    let link = try matrix.store.insert("Link", ["from": .object(ids[0]), "to": .object(ids[2])])
    let rights = [
      "part": matrix.rights(.editor), "all": Rights(user: RightsMatrix.user, role: .editor), "none": matrix.rights(nil),
    ]
    try await ServedHTTP.serve(matrix.store, authenticator: Accounts(rights: rights)) { (served) async throws in
      func get(_ target: String, _ token: String, _ tag: String? = nil) async throws -> RawHTTPClient.Answer {
        let fields = if let tag { ["If-None-Match: \(tag)"] } else { [String]() }
        return try await served.get(target, ["Authorization: Bearer \(token)"] + fields)
      }
      for (target, others) in [("/v1/objects/Note", ["all", "none"]), ("/v1/objects/Link/\(link.key)", ["all"])] {
        let tag = try #require(try await get(target, "part").fields["etag"])
        #expect(try await get(target, "part", tag).status == 304, "\(target)")
        #expect(try await get(target, "part", "W/\(tag)").status == 304, "\(target)")
        for other in others {
          let answer = try await get(target, other, tag)
          #expect(answer.status == 200 && answer.fields["etag"] != tag, "\(target), \(other)")
        }
      }
      #expect(try await get("/v1/objects/Link/\(link.key)", "part").json["to"] == .null)
      // The tag of an object also names the revision that a change expects.
      let target = "/v1/objects/Note/\(ids[0].key)"
      let tag = try #require(try await get(target, "part").fields["etag"])
      let fields = ["Authorization: Bearer part", "If-Match: \(tag)"]
      #expect(try await served.patch(target, #"{"text":"mine"}"#, fields).status == 200)
      #expect(try await served.patch(target, #"{"text":"again"}"#, fields).status == 412)
    }
  }
}
