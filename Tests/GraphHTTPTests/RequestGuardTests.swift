import GraphModel
import GraphTesting
import Testing

@testable import GraphHTTP

/// Requests that a page of another site, or a confused proxy, may have caused.
@Suite(.timeLimit(.minutes(1))) struct RequestGuardTests {
  @Test func otherHostsAreMisdirected() async throws {
    try await ServedHTTP.serve(publicURL: "https://notes.example.org/board") { (served) async throws in
      for host in ["localhost", "127.0.0.1:1", "[::1]:80", "NOTES.example.org", "192.168.1.7"] {
        #expect(try await served.get("/healthz", ["Host: \(host)"]).status == 200, "\(host)")
      }
      for host in ["evil.example", "127.0.0.1.evil.example", "notes.example.org.", "localhost.evil"] {
        #expect(try await served.get("/healthz", ["Host: \(host)"]).status == 421, "\(host)")
      }
    }
  }

  @Test func writesOfOtherSitesAreRefused() async throws {
    try await ServedHTTP.serve(publicURL: "https://notes.example.org") { (served) async throws in
      let body = #"{"title":"one","year":1}"#
      let own = "Origin: http://127.0.0.1:\(served.port)"
      for field in [
        "Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:1",
      ] {
        #expect(try await served.post("/v1/objects/Project", body, [field]).status == 403, "\(field)")
      }
      // None of them has had an effect.
      #expect(try await served.get("/v1/objects/Project").text.contains("one") == false)
      #expect(try await served.post("/v1/objects/Project", body, [own, "Sec-Fetch-Site: same-origin"]).status == 201)
      let proxied = try await served.post(
        "/v1/objects/Project", #"{"title":"two","year":1}"#, ["Origin: https://notes.example.org"])
      #expect(proxied.status == 201)
    }
  }

  @Test func largeHeadersAreRefused() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let client = try served.connect()
      client.send(
        RawHTTPClient.request("GET", "/healthz", port: served.port, ["X: " + String(repeating: "a", count: 100_000)]))
      try await client.waitForEnd()
      #expect(client.text.hasPrefix("HTTP/1.1 431 "), "\(client.text)")
      client.close()
      // The server still answers.
      #expect(try await served.get("/healthz").status == 200)
    }
  }

  @Test(arguments: [
    ("https://a.example", "https://a.example", "a.example"),
    ("HTTP://A.example:8/x", "http://a.example:8", "a.example"),
    ("https://[::1]:8/", "https://[::1]:8", "::1"),
  ])
  func publicURLHasAnOrigin(text: String, origin: String, host: String) throws {
    let url = try #require(PublicURL(parsing: text))
    #expect(url.origin == origin && url.host == host)
  }

  @Test(arguments: ["", "a.example", "ftp://a", "https://", "https://a b", "https://u@a", "https://a?x", "https://a:x"])
  func otherTextsAreNoPublicURL(text: String) { #expect(PublicURL(parsing: text) == nil) }
}
