import GraphHub
import GraphModel
import GraphServer
import GraphTesting
import Testing

@testable import GraphHTTP

/// `/metrics`, on its own listener.
@Suite(.timeLimit(.minutes(1))) struct MetricsTests {
  /// The value of a sample; nil if it is missing.
  private func value(_ sample: String, in answer: RawHTTPClient.Answer) -> Int? {
    let line = answer.text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
    return line.flatMap { Int($0.dropFirst(sample.count + 1)) }
  }

  @Test func metricsCountCommitsRequestsAndStreams() async throws {
    try await ServedHTTP.serve { (served) async throws in
      _ = try await served.insertProject("a")
      _ = try await served.insertProject("b")
      _ = try await served.get("/v1/objects/Nothing")
      let stream = try served.connect()
      stream.send(RawHTTPClient.request("GET", "/v1/live?entity=Project", port: served.port))
      try await stream.wait { String(decoding: $0, as: UTF8.self).contains("\nid: ") }
      let answer = try await served.metrics()
      #expect(answer.status == 200)
      #expect(answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      #expect(value("stickiesd_revision", in: answer) == 2)
      #expect(value("stickiesd_accepts_commits", in: answer) == 1)
      #expect(value("stickiesd_live_queries", in: answer) == 1)
      #expect(value(#"stickiesd_http_requests_total{method="POST",code="201"}"#, in: answer) == 2)
      #expect(value(#"stickiesd_http_requests_total{method="GET",code="404"}"#, in: answer) == 1)
      #expect(value(#"stickiesd_http_requests_total{method="GET",code="200"}"#, in: answer) == 1)
      #expect(value("stickiesd_http_streams", in: answer) == 1)
      #expect(value("stickiesd_http_connections_total", in: answer) == 4)
      #expect(try #require(value("stickiesd_http_streamed_bytes_total", in: answer)) > 100)
      #expect(answer.text.contains(#"model="Company""#))
      stream.close()
    }
  }

  @Test func everySampleHasATypeAndAHelpText() async throws {
    try await ServedHTTP.serve { (served) async throws in
      _ = try await served.get("/healthz")
      var kinds = Set<Substring>()
      for line in try await served.metrics().text.split(separator: "\n") {
        if line.hasPrefix("# TYPE ") {
          let words = line.split(separator: " ")
          #expect(words.count == 4 && ["counter", "gauge"].contains(words[3]), "\(line)")
          #expect(kinds.insert(words[2]).inserted, "\(line)")
        } else if !line.hasPrefix("# HELP ") {
          #expect(kinds.contains(line.prefix { $0 != "{" && $0 != " " }), "\(line)")
        }
      }
      #expect(kinds.count > 10)
    }
  }

  /// Knows no token.
  private struct NobodyAuthenticator: Authenticating {
    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      .failure(Refusal(.notAllowed, "the token is wrong"))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] { [:] }

    func erasedPrincipals() -> [String] { [] }

    func record(generation: Int64, of principal: String, at revision: Revision) {}

    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  @Test func metricsNeedNoTokenAndNothingElseIsServed() async throws {
    try await ServedHTTP.serve(authenticator: NobodyAuthenticator()) { (served) async throws in
      #expect(try await served.get("/v1/objects/Project").status == 401)
      let answer = try await served.metrics()
      #expect(answer.status == 200 && value("stickiesd_revision", in: answer) == 0, "\(answer)")
      #expect(try await served.metrics("HEAD").body.isEmpty)
      #expect(try await served.metrics("GET", "/v1/objects/Project").status == 404)
      let refused = try await served.metrics("POST")
      #expect(refused.status == 405 && refused.fields["allow"] == "GET, HEAD")
      #expect(try await served.get("/metrics").status == 404)
    }
  }

  @Test func valuesOfLabelsAreEscaped() {
    #expect(MetricsText.escaped("a\"b\\c\nd") == #"a\"b\\c\nd"#)
  }
}
