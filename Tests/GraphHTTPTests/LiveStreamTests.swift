import GraphHub
import GraphModel
import GraphServer
import GraphTesting
import Synchronization
import Testing

/// Streams of events over HTTP.
@Suite(.timeLimit(.minutes(1))) struct LiveStreamTests {
  /// Opens a stream, and waits for its first event.
  private func follow(
    _ served: ServedHTTP, _ query: String, _ fields: [String] = []
  ) async throws -> RawHTTPClient {
    let client = try served.connect()
    client.send(RawHTTPClient.request("GET", "/v1/live?\(query)", port: served.port, fields))
    try await client.wait { String(decoding: $0, as: UTF8.self).contains("\nid: ") }
    return client
  }

  private func lastID(_ client: RawHTTPClient) -> String {
    let line = client.text.split(separator: "\n").last { $0.hasPrefix("id: ") }
    return line.map { String($0.dropFirst(4)) } ?? ""
  }

  @Test func commitsFollowTheSnapshot() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject("a")
      let client = try await follow(served, "entity=Project&where=year+%3E+1&limit=4")
      defer { client.close() }
      #expect(client.text.contains("HTTP/1.1 200 OK\r\n"))
      #expect(client.text.contains("X-Accel-Buffering: no\r\n"))
      #expect(client.text.contains(#"event: snapshot"#))
      _ = try await served.insertProject("b")
      _ = try await served.patch("/v1/objects/Project/\(id)", #"{"title":"c"}"#)
      // It leaves the filter: a removal that is no deletion.
      _ = try await served.patch("/v1/objects/Project/\(id)", #"{"year":0}"#)
      try await client.waitForEnd()
      let events = client.text.components(separatedBy: "event: commit")
      #expect(events.count == 4)
      #expect(events[1].contains(#""revision":2"#) && events[1].contains(#""kind":"inserted""#))
      #expect(events[2].contains(#""revision":3"#) && events[2].contains(#""kind":"updated""#))
      #expect(events[3].contains(#""kind":"removed""#) && !events[3].contains(#""deleted""#))
    }
  }

  @Test func lastEventContinuesWithoutGapOrRepeat() async throws {
    try await ServedHTTP.serve { (served) async throws in
      _ = try await served.insertProject("a")
      let first = try await follow(served, "entity=Project")
      let id = lastID(first)
      first.close()
      _ = try await served.insertProject("b")
      let second = try await follow(served, "entity=Project&limit=2", ["Last-Event-ID: \(id)"])
      try await second.waitForEnd()
      #expect(second.text.contains("event: resumed") && !second.text.contains("event: snapshot"))
      #expect(second.text.contains(#""revision":2"#) && second.text.contains(#""title":"b""#))
      second.close()
    }
  }

  @Test(arguments: ["entity=Step", "entity=Project&where=year+%3E+1"])
  func eventOfAnotherQueryStartsAgainWithTheReason(query: String) async throws {
    try await ServedHTTP.serve { (served) async throws in
      _ = try await served.insertProject("a")
      let first = try await follow(served, "entity=Project")
      let id = lastID(first)
      first.close()
      let second = try await follow(served, "\(query)&limit=1", ["Last-Event-ID: \(id)"])
      try await second.waitForEnd()
      #expect(second.text.contains("event: snapshot"))
      #expect(second.text.contains(#""reset":true,"reason":"the event is of another query"#))
      second.close()
    }
  }

  @Test func severalQueriesShareAStream() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let project = try await served.insertProject("a")
      let query = "query=Project+where+year+%3E+1&query=Step"
      let first = try await follow(served, query)
      #expect(first.text.contains("event: complete\ndata: {\"revision\":1}\nid: "))
      #expect(first.text.contains(#"{"query":0,"snapshot":[{"id":"\#(project)""#))
      #expect(first.text.contains(#"{"query":1,"snapshot":[]"#))
      let id = lastID(first)
      // One commit with a change for each query.
      let changes =
        #"{"changes":[{"kind":"update","entity":"Project","id":"\#(project)","values":{"title":"b"}},"#
        + #"{"kind":"insert","entity":"Step","values":{"label":"s","project":"\#(project)"}}]}"#
      #expect(try await served.post("/v1/commits", changes).status == 201)
      try await first.wait { String(decoding: $0, as: UTF8.self).contains("event: commit") }
      try await first.wait { String(decoding: $0, as: UTF8.self).hasSuffix("\n\n\r\n") }
      let commit = try #require(first.text.components(separatedBy: "event: commit\n").last)
      #expect(commit.contains(#"{"query":0,"kind":"updated""#) && commit.contains(#"{"query":1,"kind":"inserted""#))
      #expect(commit.contains("\nid: "))
      first.close()
      // Both queries go on from the event that the client has.
      let second = try await follow(served, query, ["Last-Event-ID: \(id)"])
      try await second.wait { String(decoding: $0, as: UTF8.self).contains("event: complete") }
      #expect(!second.text.contains("event: snapshot"))
      #expect(second.text.contains(#"{"query":0,"kind":"updated""#))
      #expect(second.text.contains(#"{"query":1,"kind":"inserted""#))
      second.close()
    }
  }

  @Test func timeEndsAStream() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let client = try await follow(served, "entity=Project&timeout=1")
      try await client.waitForEnd()
      #expect(client.text.hasSuffix("0\r\n\r\n"))
      client.close()
    }
  }

  @Test func mistakesAreProblemsInsteadOfEvents() async throws {
    try await ServedHTTP.serve { (served) async throws in
      #expect(try await served.get("/v1/live").status == 400)
      #expect(try await served.get("/v1/live?entity=Project&where=x&where=y").status == 400)
      #expect(try await served.get("/v1/live?entity=Project&query=Step").status == 400)
      #expect(try await served.get("/v1/live?query=Step&where=x").status == 400)
      #expect(try await served.get("/v1/live?query=Project&query=Step+when+x").status == 400)
      // A mistake in one query is a problem, although the other one is answered first.
      #expect(try await served.get("/v1/live?query=Project&query=Step+where+x").status == 400)
      #expect(try await served.get("/v1/live?query=Project&query=Stepp").status == 404)
      let many = String(repeating: "&query=Step", count: 16)
      #expect(try await served.get("/v1/live?query=Project\(many)").status == 422)
      #expect(try await served.get("/v1/live?entity=Projekt").status == 404)
      #expect(try await served.get("/v1/live?entity=Project&where=x").status == 400)
      #expect(try await served.get("/v1/live?entity=Project", ["Sec-Fetch-Site: cross-site"]).status == 403)
      #expect(try await served.send("POST", "/v1/live").status == 405)
      #expect(try await served.send("HEAD", "/v1/live?entity=Project").fields["content-type"] == "text/event-stream")
    }
  }

  /// Knows one token, until it is revoked.
  private final class OneAccount: Authenticating {
    private let isRevoked = Mutex(false)

    func revoke() { isRevoked.withLock { $0 = true } }

    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      guard credential == "stk_a", !isRevoked.withLock({ $0 }) else {
        return .failure(Refusal(.notAllowed, "the token is wrong"))
      }
      let bob = Principal(id: "user:b", name: "bob")
      return .success(.user(bob, token: 1, access: GrantedAccess(.owner, of: bob)))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] {
      isRevoked.withLock { $0 } ? tokens.mapValues { _ in Refusal(.notAllowed, "the token was revoked") } : [:]
    }

    func erasedPrincipals() -> [String] { [] }

    func record(generation: Int64, of principal: String, at revision: Revision) {}
    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  @Test func streamEndsWithItsRight() async throws {
    let account = OneAccount()
    try await ServedHTTP.serve(authenticator: account) { (served) async throws in
      #expect(try await served.get("/v1/live?entity=Project").status == 401)
      let client = try await follow(served, "entity=Project", ["Authorization: Bearer stk_a"])
      account.revoke()
      try await client.waitForEnd()
      #expect(client.text.contains("event: end\ndata: {\"code\":\"notAllowed\",\"message\":\"the token was revoked\"}"))
      client.close()
    }
  }

  /// Has no user at first.
  private final class FirstAccount: Authenticating {
    private let hasUser = Mutex(false)

    func add() { hasUser.withLock { $0 = true } }

    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      hasUser.withLock { $0 } ? .failure(Refusal(.notAllowed, "a token is needed")) : .success(.owner)
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }

    func erasedPrincipals() -> [String] { [] }

    func record(generation: Int64, of principal: String, at revision: Revision) {}
    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  @Test func firstUserEndsWhatWasOpenedWithoutToken() async throws {
    let accounts = FirstAccount()
    try await ServedHTTP.serve(authenticator: accounts) { (served) async throws in
      let stream = try await follow(served, "entity=Project")
      // Its session is kept for the next request.
      #expect(try await served.get("/v1/objects/Project").status == 200)
      accounts.add()
      try await stream.waitForEnd()
      #expect(stream.text.contains("event: end\ndata: {\"code\":\"notAllowed\",\"message\":\"a token is needed\"}"))
      stream.close()
      #expect(try await served.get("/v1/objects/Project").status == 401)
    }
  }

  @Test func requestsActForTheUserOfTheirToken() async throws {
    let account = OneAccount()
    try await ServedHTTP.serve(authenticator: account) { (served) async throws in
      let none = try await served.get("/v1/objects/Project")
      #expect(none.status == 401 && none.fields["www-authenticate"] == "Bearer")
      #expect(try await served.get("/readyz").status == 200)
      let token = ["Authorization: Bearer stk_a"]
      _ = try await served.insertProject("a", fields: token)
      let history = try await served.get("/v1/history", token)
      #expect(history.json.arrayValue?.first?["author"]?.stringValue == "bob")
      #expect(try await served.get("/v1/history", ["Authorization: Basic x"]).status == 401)
      account.revoke()
      #expect(try await served.get("/v1/history", ["Authorization: Bearer stk_b"]).status == 401)
    }
  }
}
