import GraphHub
import GraphModel
import GraphServer
import GraphTesting
import Synchronization
import Testing

@testable import GraphHTTP

/// The limit of all bodies that have not arrived completely.
@Suite(.timeLimit(.minutes(1))) struct UnfinishedBodyTests {
  private static let limit = 256 << 10

  /// An insert with spaces behind it, so that its size in bytes can be chosen. Titles are unique keys.
  private static func body(of size: Int) -> String {
    let json = #"{"title":"\#(UInt64.random(in: 0...UInt64.max))","year":1}"#
    return json + String(repeating: " ", count: size - json.utf8.count)
  }

  /// Two users, whose tokens are their names.
  private struct Accounts: Authenticating {
    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      guard let credential, let number = ["ann", "ben"].firstIndex(of: credential) else {
        return .failure(Refusal(.notAllowed, "the token is wrong"))
      }
      let user = Principal(id: "user:\(credential)", name: credential)
      return .success(.user(user, token: UInt64(number + 1), access: GrantedAccess(.owner, of: user)))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }
    func erasedPrincipals() -> [String] { [] }
    func record(generation: Int64, of principal: String, at revision: Revision) {}
    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  @Test func endedBodyIsNotifiedOnce() {
    let bodies = UnfinishedBodies(limit: 1 << 20)
    let ends = Mutex([UInt64]())
    func receive(_ count: Int, of body: UInt64, from sender: String?) -> Bool {
      bodies.receive(count, of: body, from: sender) { ends.withLock { $0.append(body) } }
    }
    let (old, young, small) = (bodies.begin(), bodies.begin(), bodies.begin())
    #expect(receive(600 << 10, of: young, from: "ann") && receive(400 << 10, of: old, from: "ann"))
    #expect(receive(64 << 10, of: small, from: nil))
    #expect(ends.withLock { $0 } == [old])
    // Its task may receive a further part before it notices, and the end of the body.
    #expect(!receive(500 << 10, of: old, from: "ann"))
    #expect(!bodies.finish(old) && bodies.finish(small) && ends.withLock { $0 } == [old])
    // The body itself is the next one to end: its task learns it from the result.
    #expect(!receive((1 << 20) + 1, of: young, from: "ann"))
    #expect(!bodies.finish(young) && ends.withLock { $0 } == [old])
    let next = bodies.begin()
    #expect(receive(1 << 20, of: next, from: "ann") && bodies.finish(next))
  }

  @Test func bodiesOfOneUserDoNotUseTheSpaceOfOthers() async throws {
    try await ServedHTTP.serve(authenticator: Accounts(), unfinishedBodies: Self.limit) { (served) async throws in
      let slow = try (1...3).map { _ in try served.connect() }
      defer { for client in slow { client.close() } }
      for client in slow {
        let request = RawHTTPClient.request(
          "POST", "/v1/objects/Project", port: served.port,
          ["Content-Type: application/json", "Authorization: Bearer ann"], body: Self.body(of: 96 << 10))
        client.send(Array(request.utf8.dropLast(8)))
      }
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for client in slow { group.addTask { try await client.answer().status } }
        // The three have no space together, so one of them is answered although its client sends nothing more.
        let first = try #require(try await group.next())
        let other = try await served.post(
          "/v1/objects/Project", Self.body(of: 100 << 10), ["Authorization: Bearer ben"])
        for client in slow { client.send("        ") }
        var statuses = [first, other.status]
        for try await status in group { statuses.append(status) }
        return statuses
      }
      #expect(statuses.prefix(2) == [503, 201] && statuses.dropFirst(2).contains(201), "\(statuses)")
    }
  }

  @Test func oldestBodyEndsWithoutAccounts() async throws {
    try await ServedHTTP.serve(unfinishedBodies: Self.limit) { (served) async throws in
      let slow = try served.connect()
      defer { slow.close() }
      let request = RawHTTPClient.request(
        "POST", "/v1/objects/Project", port: served.port, ["Content-Type: application/json"],
        body: Self.body(of: 200 << 10))
      slow.send(Array(request.utf8.dropLast(8)))
      try await withThrowingTaskGroup(of: Int?.self) { group in
        group.addTask { try await slow.answer().status }
        group.addTask {
          // There is space for both until the server has received most of the slow body.
          while !Task.isCancelled { _ = try await served.post("/v1/objects/Project", Self.body(of: 100 << 10)) }
          return nil
        }
        let status = try await group.next()
        #expect(status == 503)
        group.cancelAll()
      }
    }
  }

  @Test func largeBodyNeedsLoginBeforeItsEnd() async throws {
    try await ServedHTTP.serve(authenticator: Accounts(), unfinishedBodies: Self.limit) { (served) async throws in
      let client = try served.connect()
      defer { client.close() }
      let request = RawHTTPClient.request(
        "POST", "/v1/objects/Project", port: served.port,
        ["Content-Type: application/json", "Authorization: Bearer eve"], body: Self.body(of: 96 << 10))
      client.send(Array(request.utf8.dropLast(8)))
      let answer = try await client.answer()
      #expect(answer.status == 401 && answer.fields["connection"] == "close", "\(answer)")
      // The body of a login is small.
      let login = try await served.post("/v1/login", String(repeating: " ", count: (64 << 10) + 1))
      #expect(login.status == 413, "\(login)")
    }
  }

  @Test(arguments: [(-1, 201), (0, 201), (1, 503)])
  func bodyBeyondTheLimitIsRefused(excess: Int, status: Int) async throws {
    try await ServedHTTP.serve(unfinishedBodies: Self.limit) { (served) async throws in
      let answer = try await served.post("/v1/objects/Project", Self.body(of: Self.limit + excess))
      #expect(answer.status == status, "\(answer)")
      guard status == 503 else { return }
      #expect(answer.fields["retry-after"] == "5" && answer.fields["connection"] == "close")
      #expect(answer.json["code"]?.stringValue == "limit")
      #expect(answer.json["detail"]?.stringValue?.contains("256 KiB of incomplete bodies") == true, "\(answer)")
      // A refused body leaves the total.
      #expect(try await served.post("/v1/objects/Project", Self.body(of: Self.limit)).status == 201)
    }
  }

  @Test func incompleteBodiesOccupySpaceUntilTheyAreComplete() async throws {
    try await ServedHTTP.serve(unfinishedBodies: Self.limit) { (served) async throws in
      // Each of them is small, so that none is refused.
      let slow = try (1...5).map { _ in try served.connect() }
      defer { for client in slow { client.close() } }
      for client in slow {
        let request = RawHTTPClient.request(
          "POST", "/v1/objects/Project", port: served.port, ["Content-Type: application/json"],
          body: Self.body(of: 60 << 10))
        client.send(Array(request.utf8.dropLast(8)))
      }
      // The server has soon received all of them but their ends.
      var attempts = 0
      while try await served.post("/v1/objects/Project", Self.body(of: 100 << 10)).status == 201 { attempts += 1 }
      #expect(attempts < 1_000)
      _ = try await served.insertProject("small")
      for client in slow {
        client.send("        ")
        #expect(try await client.answer().status == 201)
      }
      #expect(try await served.post("/v1/objects/Project", Self.body(of: 100 << 10)).status == 201)
    }
  }

  @Test func endOfAConnectionDiscardsItsBody() async throws {
    try await ServedHTTP.serve(unfinishedBodies: Self.limit) { (served) async throws in
      let fields = ["Content-Type: application/json"]
      let large = Self.body(of: Self.limit)
      let request = RawHTTPClient.request("POST", "/v1/objects/Project", port: served.port, fields, body: large)
      for _ in 1...3 {
        let lost = try served.connect()
        lost.send(Array(request.utf8.dropLast(8)))
        lost.close()
      }
      // The server soon sees that the connections have ended.
      var attempts = 0
      while try await served.post("/v1/objects/Project", large).status == 503 { attempts += 1 }
      #expect(attempts < 1_000)
    }
  }
}
