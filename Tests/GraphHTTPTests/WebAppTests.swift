import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import GraphHTTP

/// The files of the web application.
@Suite(.timeLimit(.minutes(1))) struct WebAppTests {
  private static let script = "export const text = 'a';\n"

  /// Files whose compressed form is any bytes: the interface does not look into it.
  private static func app() throws -> WebApp {
    func line(_ path: String, _ text: String, gzip: String?) -> String {
      let compressed = gzip.map { Data($0.utf8).base64EncodedString() } ?? "-"
      let hash = String(repeating: String(text.utf8.count % 10), count: 64)
      return "\(path) \(hash) \(Data(text.utf8).base64EncodedString()) \(compressed)"
    }
    let lines = [
      "b1", line("index.html", "<!doctype html>", gzip: "small html"), line("sw.js", "self.x = 1", gzip: nil),
      line("wire/codec.js", script, gzip: "small script"), line("icon.svg", "<svg/>", gzip: nil),
      line("app.webmanifest", "{}", gzip: nil),
    ]
    return try WebApp(parsing: lines.joined(separator: "\n"))
  }

  private func serve(_ body: (ServedHTTP) async throws -> Void) async throws {
    try await ServedHTTP.serve(app: try Self.app(), body)
  }

  private static let page = ["Accept: text/html,application/xhtml+xml,*/*;q=0.8"]

  @Test func browserIsLedToTheApplicationByRelativeLinks() async throws {
    try await serve { (served) async throws in
      // The target of the request, and the link that a browser resolves against its address. Any prefix works.
      for (target, location) in [
        ("/", "app/b1/"), ("/app", "app/b1/"), ("/app/", "b1/"), ("/app/b1", "b1/"), ("/app/b0/", "../b1/"),
        ("/app/b0/index.html", "../b1/"), ("/app/b0/wire/x.js", "../../b1/"), ("/?from=mail", "app/b1/"),
      ] {
        let answer = try await served.get(target, Self.page)
        #expect(answer.status == 302 && answer.fields["location"] == location, "\(target): \(answer)")
        #expect(answer.fields["cache-control"] == "no-store")
      }
      #expect(try await served.get("/").status == 404)
    }
  }

  @Test func pageMayDoNothingButRunItsOwnScripts() async throws {
    try await serve { (served) async throws in
      let answer = try await served.get("/app/b1/")
      #expect(answer.status == 200 && answer.text == "<!doctype html>")
      #expect(answer.fields["content-type"] == "text/html; charset=utf-8")
      #expect(answer.fields["cache-control"] == "public, max-age=31536000, immutable")
      #expect(answer.fields["x-content-type-options"] == "nosniff")
      #expect(answer.fields["referrer-policy"] == "no-referrer")
      #expect(answer.fields["cross-origin-opener-policy"] == "same-origin")
      #expect(answer.fields["permissions-policy"]?.contains("camera=()") == true)
      let policy = try #require(answer.fields["content-security-policy"])
      for part in [
        "default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'",
        "trusted-types app-worker",
        "frame-ancestors 'none'", "base-uri 'none'",
      ] { #expect(policy.components(separatedBy: "; ").contains(part), "\(part)") }
      #expect(!policy.contains("unsafe"))
      // The worker runs by itself, too; a script obeys the policy of its page.
      #expect(try await served.get("/app/b1/sw.js").fields["content-security-policy"] == policy)
      let script = try await served.get("/app/b1/wire/codec.js")
      #expect(script.fields["content-security-policy"] == nil)
      #expect(script.fields["cross-origin-resource-policy"] == "same-origin")
      #expect(script.fields["x-content-type-options"] == "nosniff")
    }
  }

  @Test(arguments: [
    ("gzip, deflate, br", true), ("GZIP;q=0.5", true), ("br", false), ("gzip;q=0", false), ("gzip; q=0.00", false),
    ("identity", false),
  ])
  func formsHaveTagsOfTheirOwn(accepted: String, isCompressed: Bool) async throws {
    try await serve { (served) async throws in
      let fields = ["Accept-Encoding: \(accepted)"]
      let answer = try await served.get("/app/b1/wire/codec.js", fields)
      #expect(answer.status == 200 && answer.text == (isCompressed ? "small script" : Self.script))
      #expect(answer.fields["content-encoding"] == (isCompressed ? "gzip" : nil))
      #expect(answer.fields["vary"] == "Accept-Encoding")
      #expect(answer.fields["content-type"] == "text/javascript; charset=utf-8")
      let tag = try #require(answer.fields["etag"])
      #expect(tag.hasPrefix("\"") && tag.hasSuffix("-gzip\"") == isCompressed)
      let current = try await served.get("/app/b1/wire/codec.js", fields + ["If-None-Match: \(tag)"])
      #expect(current.status == 304 && current.fields["etag"] == tag)
      // The compressed and the uncompressed form have different tags.
      let other = isCompressed ? [] : ["Accept-Encoding: gzip"]
      #expect(try await served.get("/app/b1/wire/codec.js", other + ["If-None-Match: \(tag)"]).status == 200)
      let head = try await served.send("HEAD", "/app/b1/wire/codec.js", fields)
      #expect(head.status == 200 && head.fields["content-length"] == "\(answer.body.count)")
    }
  }

  /// A browser asks an installed worker's own address for a newer one, and follows no redirection there.
  @Test(arguments: ["b1", "b0"]) func workerIsServedForEveryBuild(build: String) async throws {
    try await serve { (served) async throws in
      let answer = try await served.get("/app/\(build)/sw.js", ["Service-Worker: script"])
      #expect(answer.status == 200 && answer.text == "self.x = 1")
      #expect(answer.fields["cache-control"] == "no-cache")
      #expect(answer.fields["service-worker-allowed"] == "../../")
    }
  }

  @Test func otherPathsHaveNoFile() async throws {
    try await serve { (served) async throws in
      for target in [
        "/app/b1/none.js", "/app/b0/wire/codec.js", "/app/b1/wire", "/app/b1/wire/", "/app/b1/../index.html",
        "/app/b1/%2e%2e/index.html", "/app/b1/wire%2Fcodec.jsx",
      ] {
        #expect(try await served.get(target).status == 404, "\(target)")
      }
      #expect(try await served.send("POST", "/app/b1/").status == 405)
    }
  }

  @Test func serverWithoutApplicationHasNoPages() async throws {
    try await ServedHTTP.serve { (served) async throws in
      #expect(try await served.get("/", Self.page).status == 404)
      #expect(try await served.get("/app/b1/", Self.page).status == 404)
    }
  }

  @Test(arguments: ["", "b1\nindex.html x", "b1\nindex.html 0 ??? -", "b1\na.exe 0 YQ== -", "b1\na.js 0 YQ== ?"])
  func malformedFilesAreRefused(text: String) {
    #expect(throws: MalformedMessage.self) { _ = try WebApp(parsing: text) }
  }
}
