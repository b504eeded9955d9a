import GraphModel
import GraphTesting
import Testing

/// Reads over HTTP.
@Suite(.timeLimit(.minutes(1))) struct RequestTests {
  @Test func objectHasTheShapeOfTheShellAndItsRevisionAsTag() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject()
      let answer = try await served.get("/v1/objects/Project/\(id)")
      #expect(answer.status == 200)
      #expect(answer.fields["etag"] == "\"1\"")
      #expect(answer.fields["cache-control"] == "no-store")
      #expect(answer.fields["vary"] == "Authorization, Cookie, Accept")
      let values = #""title":"one","year":2026,"due":null"#
      #expect(answer.text == #"{"id":"\#(id)","entity":"Project","revision":1,"# + values + "}\n")
      let current = try await served.get("/v1/objects/Project/\(id)", ["If-None-Match: W/\"1\""])
      #expect(current.status == 304 && current.fields["etag"] == "\"1\"")
      let head = try await served.send("HEAD", "/v1/objects/Project/\(id)")
      #expect(head.status == 200 && head.fields["content-length"] == "\(answer.body.count)")
    }
  }

  @Test func pagesFollowEachOther() async throws {
    try await ServedHTTP.serve { (served) async throws in
      for title in ["a", "b", "c"] { _ = try await served.insertProject(title) }
      let first = try await served.get("/v1/objects/Project?sort=title&limit=2&fields=title")
      #expect(first.fields["etag"] == "\"R3\"")
      #expect(first.json["objects"]?.arrayValue?.compactMap { $0["title"]?.stringValue } == ["a", "b"])
      let cursor = try #require(first.json["next"]?.stringValue)
      let encoded = cursor.replacing("+", with: "%2B")
      let second = try await served.get("/v1/objects/Project?sort=title&limit=2&fields=title&after=\(encoded)")
      #expect(second.json["objects"]?.arrayValue?.compactMap { $0["title"]?.stringValue } == ["c"])
      #expect(second.json["next"] == .null)
      let some = try await served.get("/v1/objects/Project?where=title+%3D%3D+%22b%22")
      #expect(some.json["objects"]?.arrayValue?.count == 1)
    }
  }

  @Test func linesAreAllObjects() async throws {
    try await ServedHTTP.serve { (served) async throws in
      for number in 1...5 { _ = try await served.insertProject("\(number)") }
      let answer = try await served.get("/v1/objects/Project?sort=title", ["Accept: application/x-ndjson"])
      #expect(answer.status == 200 && answer.fields["content-type"] == "application/x-ndjson")
      let lines = answer.text.split(separator: "\n")
      #expect(lines.count == 5)
      #expect(try lines.map { try JSON(parsing: Array($0.utf8))["title"]?.stringValue } == ["1", "2", "3", "4", "5"])
      let refused = try await served.get("/v1/objects/Project?where=x", ["Accept: application/x-ndjson"])
      #expect(refused.status == 400)
    }
  }

  @Test func relationshipsCanBeIncluded() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let project = try await served.insertProject()
      let step = try await served.post("/v1/objects/Step", #"{"label":"s","project":"\#(project)"}"#)
      let id = try #require(step.json["id"]?.stringValue)
      let answer = try await served.get("/v1/objects/Project/\(project)?fields=title,steps&include=steps")
      #expect(answer.fields["etag"] == "\"R2\"")
      #expect(answer.json["steps"] == .array([.string(id)]))
      #expect(answer.json["included"]?.arrayValue?.compactMap { $0["label"]?.stringValue } == ["s"])
      let list = try await served.get("/v1/objects/Step?include=project")
      #expect(list.json["included"]?.arrayValue?.compactMap { $0["id"]?.stringValue } == [project])
    }
  }

  @Test func pastIsReadByRevision() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject("old")
      _ = try await served.patch("/v1/objects/Project/\(id)", #"{"title":"new"}"#)
      let past = try await served.get("/v1/objects/Project/\(id)?at=1")
      #expect(past.json["title"]?.stringValue == "old")
      #expect(try await served.get("/v1/objects/Project/\(id)").json["title"]?.stringValue == "new")
      #expect(try await served.get("/v1/objects/Project/\(id)?at=soon").status == 400)
    }
  }

  @Test func historyListsCommits() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let id = try await served.insertProject("a")
      _ = try await served.insertProject("b")
      let all = try await served.get("/v1/history")
      #expect(all.json.arrayValue?.compactMap { $0["revision"]?.integerValue } == [2, 1])
      #expect(all.json.arrayValue?.first?["author"]?.stringValue == "ann")
      let one = try await served.get("/v1/history?object=\(id)")
      #expect(one.json.arrayValue?.compactMap { $0["revision"]?.integerValue } == [1])
      let oldest = try await served.get("/v1/history?order=oldest&limit=1&changes=0")
      #expect(oldest.json.arrayValue?.compactMap { $0["revision"]?.integerValue } == [1])
    }
  }

  @Test func modelAndHealthAreServed() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let model = try await served.get("/v1/model")
      #expect(model.text == served.model.source)
      let tag = try #require(model.fields["etag"])
      #expect(try await served.get("/v1/model", ["If-None-Match: \(tag)"]).status == 304)
      #expect(try await served.get("/healthz").status == 200)
      #expect(try await served.get("/readyz").json["revision"]?.integerValue == 0)
    }
  }

  @Test(arguments: [
    ("/v1/objects/Projekt", 404, "Did you mean \"Project\"?"), ("/v1/objects/Project/x", 404, "there is no Project"),
    ("/v2/objects/Project", 404, "no resource"), ("/v1/objects/Project/", 404, "no resource"),
    ("/v1/objects/Project?wher=1", 400, "no parameter \"wher\""),
    ("/v1/objects/Project?limit=1&limit=2", 400, "given twice"), ("/v1/objects/Project?limit=0", 400, "limit is 0"),
    ("/v1/objects/Project?limit=10001", 400, "from 1 to 10000"), ("/v1/objects/Project?where=%ff", 400, "not UTF-8"),
    ("/v1/objects/Project?fields=nothing", 400, "no property"),
    ("/v1/objects/Project?include=title", 400, "relationship"),
    ("/v1/objects/Project?after=!", 400, "cursor"), ("/v1/objects/Project?sort=nothing", 400, "nothing"),
    ("/v1/history?order=random", 400, "newest or oldest"),
  ])
  func mistakesAreReported(target: String, status: Int, words: String) async throws {
    try await ServedHTTP.serve { (served) async throws in
      let answer = try await served.get(target)
      #expect(answer.status == status, "\(answer)")
      #expect(answer.fields["content-type"] == "application/problem+json")
      #expect(answer.json["detail"]?.stringValue?.contains(words) == true, "\(answer)")
      #expect(answer.json["status"]?.integerValue == Int64(status))
    }
  }

  @Test func foreignMethodsAreNamedWithTheAllowedOnes() async throws {
    try await ServedHTTP.serve { (served) async throws in
      for method in ["PUT", "DELETE", "TRACE", "OPTIONS"] {
        let answer = try await served.send(method, "/v1/objects/Project")
        #expect(answer.status == 405 && answer.fields["allow"] == "GET, HEAD, POST", "\(method) \(answer)")
      }
      #expect(try await served.send("GET", "/v1/commits").fields["allow"] == "POST")
    }
  }

  /// The sessions of a connection's requests are kept, and a request sees the commits before it.
  @Test func oneConnectionServesManyRequests() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let client = try served.connect()
      defer { client.close() }
      for number in 1...20 {
        let body = #"{"title":"\#(number)","year":1}"#
        client.send(
          RawHTTPClient.request(
            "POST", "/v1/objects/Project", port: served.port, ["Content-Type: application/json"], body: body))
        #expect(try await client.answer().status == 201)
        client.send(RawHTTPClient.request("GET", "/v1/objects/Project", port: served.port))
        #expect(try await client.answer().json["objects"]?.arrayValue?.count == number)
      }
    }
  }
}
