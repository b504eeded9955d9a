import GraphModel
import GraphTesting
import Testing

@testable import GraphHTTP

/// Requests whose head is not HTTP, or is too large.
@Suite(.timeLimit(.minutes(1))) struct MalformedHeadTests {
  @Test func headThatIsTooLargeIsRefusedWithProblemDetails() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let many = (1...1_000).map { "X-\($0): a" }
      for fields in [["X: " + String(repeating: "a", count: 100_000)], many] {
        let client = try served.connect()
        client.send(RawHTTPClient.request("GET", "/healthz", port: served.port, fields))
        let answer = try await client.answer()
        #expect(answer.status == 431 && answer.fields["connection"] == "close", "\(answer)")
        #expect(answer.fields["content-type"] == "application/problem+json")
        #expect(answer.json["code"]?.stringValue == "limit")
        try await client.waitForEnd()
        client.close()
      }
      // The server still answers.
      #expect(try await served.get("/healthz").status == 200)
    }
  }

  @Test(arguments: [
    "\u{16}\u{3}\u{1}\r\n\r\n", "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n",
  ])
  func malformedHeadIsRefusedWithProblemDetails(head: String) async throws {
    try await ServedHTTP.serve { (served) async throws in
      let client = try served.connect()
      client.send(head)
      let answer = try await client.answer()
      #expect(answer.status == 400 && answer.json["code"]?.stringValue == "malformed", "\(answer)")
      try await client.waitForEnd()
      client.close()
    }
  }

  @Test func malformedHeadBehindARequestIsAnsweredAfterIt() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let client = try served.connect()
      client.send(RawHTTPClient.request("GET", "/v1/objects/Project", port: served.port) + "\u{0}\r\n\r\n")
      #expect(try await client.answer().status == 200)
      #expect(try await client.answer().status == 400)
      try await client.waitForEnd()
      client.close()
    }
  }
}
