import GraphModel
import GraphTesting
import Testing

/// Changes over HTTP.
@Suite(.timeLimit(.minutes(1))) struct WriteTests {
  @Test func creationAnswersWithTheObjectAndItsPlace() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let answer = try await served.post("/v1/objects/Project", #"{"title":"one","year":2026}"#)
      #expect(answer.status == 201)
      let id = try #require(answer.json["id"]?.stringValue)
      #expect(answer.fields["location"] == "Project/\(id)")
      #expect(answer.fields["etag"] == "\"1\"")
    }
  }

  @Test func repeatedKeyMakesOneObject() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let key = ["Idempotency-Key: a"]
      let id = try await served.insertProject("one", fields: key)
      _ = try await served.patch("/v1/objects/Project/\(id)", #"{"title":"two"}"#)
      let again = try await served.post("/v1/objects/Project", #"{"title":"one","year":2026}"#, key)
      #expect(again.status == 201)
      #expect(again.json["id"]?.stringValue == id && again.json["title"]?.stringValue == "two")
      #expect(try await served.get("/v1/objects/Project").json["objects"]?.arrayValue?.count == 1)
      let other = try await served.insertProject("three", fields: ["Idempotency-Key: b"])
      #expect(other != id)
    }
  }

  /// A client whose answer was lost after any number of bytes repeats the request.
  @Test func lostAnswersMakeNoSecondObject() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let body = #"{"title":"one","year":2026}"#
      let fields = ["Content-Type: application/json", "Idempotency-Key: lost"]
      for bytes in [0, 1, 17, 100] {
        let client = try served.connect()
        client.send(RawHTTPClient.request("POST", "/v1/objects/Project", port: served.port, fields, body: body))
        if bytes > 0 { try await client.wait { $0.count >= bytes } }
        client.close()
      }
      _ = try await served.insertProject("one", fields: ["Idempotency-Key: lost"])
      #expect(try await served.get("/v1/objects/Project").json["objects"]?.arrayValue?.count == 1)
    }
  }

  /// The object matches `If-Match` before the first request only.
  @Test func repeatedChangeWithATagGetsTheFirstOutcome() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject()
      let target = "/v1/objects/Project/\(id)"
      let change = ["If-Match: \"1\"", "Idempotency-Key: c"]
      for _ in 1...2 {
        let answer = try await served.patch(target, #"{"year":1}"#, change)
        #expect(answer.status == 200 && answer.fields["etag"] == "\"2\"", "\(answer)")
      }
      _ = try await served.patch(target, #"{"year":2}"#)
      #expect(try await served.patch(target, #"{"year":1}"#, change).json["year"] == .integer(2))
      #expect(try await served.get("/v1/history").json.arrayValue?.count == 3)
      // The key of a request that was refused made no commit.
      let stale = ["If-Match: \"1\"", "Idempotency-Key: s"]
      for _ in 1...2 { #expect(try await served.patch(target, #"{"year":3}"#, stale).status == 412) }
      for _ in 1...2 { #expect(try await served.send("DELETE", target, stale).status == 412) }
    }
  }

  @Test(arguments: [[], ["If-Match: \"1\""]])
  func repeatedDeletionGetsTheFirstOutcome(tag: [String]) async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject()
      let target = "/v1/objects/Project/\(id)"
      for _ in 1...2 {
        let answer = try await served.send("DELETE", target, tag + ["Idempotency-Key: d"])
        #expect(answer.status == 200 && answer.json["revision"] == .integer(2), "\(answer)")
      }
      #expect(try await served.send("DELETE", target, tag + ["Idempotency-Key: e"]).status == (tag.isEmpty ? 404 : 412))
      // A change of an object that is gone, repeated or not, finds none.
      #expect(try await served.patch(target, #"{"year":1}"#, ["Idempotency-Key: f"]).status == 404)
    }
  }

  @Test func repeatedTransactionWithAConditionGetsTheFirstOutcome() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let person = try await served.post("/v1/objects/Person", #"{"name":"p","bio":"hello world"}"#)
      let id = try #require(person.json["id"]?.stringValue)
      let body = """
        {"changes":[{"kind":"update","entity":"Person","id":"\(id)","values":{"bio":"hello"},"ifRevision":1}]}
        """
      for _ in 1...2 {
        let answer = try await served.post("/v1/commits", body, ["Idempotency-Key: t"])
        #expect(answer.status == 201 && answer.json["revision"] == .integer(2), "\(answer)")
      }
      _ = try await served.send("DELETE", "/v1/objects/Person/\(id)")
      let answer = try await served.post("/v1/commits", body, ["Idempotency-Key: t"])
      #expect(answer.status == 201 && answer.json["revision"] == .integer(2), "\(answer)")
    }
  }

  @Test func staleTagIsRefused() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject()
      let target = "/v1/objects/Project/\(id)"
      #expect(try await served.patch(target, #"{"year":1}"#, ["If-Match: \"1\""]).fields["etag"] == "\"2\"")
      let stale = try await served.patch(target, #"{"year":2}"#, ["If-Match: \"1\""])
      #expect(stale.status == 412 && stale.json["code"]?.stringValue == "conflict")
      #expect(try await served.send("DELETE", target, ["If-Match: \"1\""]).status == 412)
      #expect(try await served.patch(target, #"{"year":2}"#, ["If-Match: nonsense"]).status == 400)
      #expect(try await served.patch(target, #"{"year":3}"#, ["If-Match: W/\"2\""]).status == 200)
      #expect(try await served.patch(target, #"{"year":4}"#, ["If-Match: *"]).status == 200)
    }
  }

  @Test func changesFromOneBaseConflictWithBothValues() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject()
      let target = "/v1/objects/Project/\(id)"
      #expect(try await served.patch("\(target)?base=1", #"{"year":1}"#).status == 200)
      let conflict = try await served.patch("\(target)?base=1", #"{"year":2}"#)
      #expect(conflict.status == 409, "\(conflict)")
      let first = try #require(conflict.json["conflicts"]?.arrayValue?.first)
      #expect(first["mine"] == .integer(2) && first["theirs"] == .integer(1))
      #expect(first["author"]?.stringValue == "ann")
      // Another property merges, and a policy decides the same one.
      #expect(try await served.patch("\(target)?base=1", #"{"title":"t"}"#).status == 200)
      let decided = try await served.patch("\(target)?base=1&policy=objectTrump", #"{"year":2}"#)
      #expect(decided.json["year"] == .integer(2))
      // Without a base, the newest state is meant.
      #expect(try await served.patch(target, #"{"year":3}"#).json["year"] == .integer(3))
      #expect(try await served.patch("\(target)?base=99", #"{"year":3}"#).status == 400)
    }
  }

  @Test func textsOfTwoClientsMerge() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let person = try await served.post("/v1/objects/Person", #"{"name":"p","bio":"hello world"}"#)
      let id = try #require(person.json["id"]?.stringValue)
      let target = "/v1/objects/Person/\(id)?base=1"
      #expect(try await served.patch(target, #"{"bio":"hello big world"}"#).status == 200)
      let merged = try await served.patch(target, #"{"bio":"hello world!"}"#)
      #expect(merged.json["bio"]?.stringValue == "hello big world!")
    }
  }

  @Test func deletionAnswersWithItsCommit() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject()
      let target = "/v1/objects/Project/\(id)"
      let answer = try await served.send("DELETE", target)
      #expect(answer.status == 200 && answer.json["revision"] == .integer(2))
      #expect(answer.json["changes"]?.arrayValue?.first?["deleted"] == .bool(true))
      #expect(try await served.send("DELETE", target).status == 404)
      #expect(try await served.get(target).status == 404)
    }
  }

  @Test func transactionIsOneCommit() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let body = """
        {"changes":[{"kind":"insert","entity":"Step","$id":"s","values":{"label":"l","project":{"$ref":"p"}}},
        {"kind":"insert","entity":"Project","$id":"p","values":{"title":"t","year":1}}]}
        """
      let answer = try await served.post("/v1/commits", body, ["Idempotency-Key: t"])
      #expect(answer.status == 201 && answer.json["revision"] == .integer(1), "\(answer)")
      let project = try #require(answer.json["ids"]?["p"]?.stringValue)
      let steps = try await served.get("/v1/objects/Step?where=project+%3D%3D+%22\(project)%22")
      #expect(steps.json["objects"]?.arrayValue?.count == 1)
      #expect(try await served.post("/v1/commits", body, ["Idempotency-Key: t"]).json["revision"] == .integer(1))
      let wrong = #"{"changes":[{"kind":"delete","entity":"Step","id":"x"}]}"#
      let refused = try await served.post("/v1/commits", wrong)
      #expect(refused.status == 400 && refused.json["pointer"]?.stringValue == "/changes/0/id")
    }
  }

  @Test(arguments: [
    (#"{"title":"one","year":2026}"#, 409, "unique"), (#"{"title":"x"}"#, 422, "invalid"),
    (#"{"title":"x","year":"y"}"#, 400, "malformed"), (#"{"titel":"x"}"#, 400, "malformed"), ("[]", 400, "malformed"),
    ("{", 400, "malformed"),
  ])
  func refusalsHaveTheirStatus(body: String, status: Int, code: String) async throws {
    try await ServedHTTP.serve { (served) async throws in
      _ = try await served.insertProject("one")
      let answer = try await served.post("/v1/objects/Project", body)
      #expect(answer.status == status && answer.json["code"]?.stringValue == code, "\(answer)")
    }
  }

  @Test func otherContentIsRefused() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let body = #"{"title":"one","year":2026}"#
      let plain = try await served.send("POST", "/v1/objects/Project", ["Content-Type: text/plain"], body: body)
      #expect(plain.status == 415)
      #expect(try await served.send("POST", "/v1/objects/Project", body: body).status == 415)
      #expect(try await served.post("/v1/objects/Project", body, ["Content-Encoding: gzip"]).status == 415)
      #expect(try await served.send("GET", "/v1/objects/Project", body: "x").status == 400)
      let abstract = try await served.post("/v1/objects/Party", #"{"name":"x"}"#)
      #expect(abstract.status == 405 && abstract.fields["allow"] == "GET, HEAD")
    }
  }
}
