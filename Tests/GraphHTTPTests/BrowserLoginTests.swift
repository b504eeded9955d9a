import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHTTP

/// Browsers log in with a code or a token, and have a cookie from then on.
@Suite(.timeLimit(.minutes(1))) struct BrowserLoginTests {
  private let accounts = BrowserAccounts()

  private func serve(publicURL: String? = nil, _ body: (ServedHTTP) async throws -> Void) async throws {
    try await ServedHTTP.serve(authenticator: accounts, logins: accounts, publicURL: publicURL, body)
  }

  /// Logs in, and returns the field with the cookie for further requests.
  private func logIn(_ served: ServedHTTP, _ body: String = #"{"code":"code1"}"#) async throws -> String {
    let answer = try await served.post("/v1/login", body)
    #expect(answer.status == 200 && answer.json["user"] == .string("bob"), "\(answer)")
    let cookie = try #require(answer.fields["set-cookie"])
    return "Cookie: a=b; " + cookie.prefix { $0 != ";" }
  }

  private func origin(_ served: ServedHTTP) -> String { "Origin: http://127.0.0.1:\(served.port)" }

  // MARK: - Who the client is

  @Test func withoutAccountsAPageActsForTheDaemonsUser() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let answer = try await served.get("/v1/session")
      #expect(answer.status == 200)
      #expect(answer.json["user"] == .string("ann") && answer.json["role"] == .string("owner"))
      #expect(answer.json["accounts"] == .bool(false) && answer.json["build"] == .null)
      #expect(answer.json["store"]?.stringValue?.count == 36)
      #expect(answer.fields["cache-control"] == "no-store")
      #expect(try await served.post("/v1/login", #"{"code":"code1"}"#).status == 422)
    }
  }

  @Test func withAccountsAPageHasNoUserBeforeItsLogin() async throws {
    try await serve { (served) async throws in
      let answer = try await served.get("/v1/session")
      #expect(answer.status == 200 && answer.fields["set-cookie"] == nil)
      #expect(answer.json["user"] == .null && answer.json["role"] == .null && answer.json["accounts"] == .bool(true))
    }
  }

  // MARK: - Login and logout

  @Test func cookieIsForThisHostAndNoScript() async throws {
    try await serve(publicURL: "https://notes.example.org/board") { (served) async throws in
      let local = try await served.post("/v1/login", #"{"code":"code1"}"#)
      let attributes = "Path=/; Max-Age=60; HttpOnly; SameSite=Strict"
      #expect(local.fields["set-cookie"] == "stickies-\(served.port)=stk_browser2; \(attributes)")
      let proxied = try await served.post(
        "/v1/login", #"{"code":"code2"}"#, ["Host: notes.example.org", "Origin: https://notes.example.org"])
      #expect(proxied.fields["set-cookie"] == "__Host-stickies=stk_browser3; \(attributes); Secure")
      // Each name counts for its own host only.
      let other = try await served.get("/v1/session", ["Cookie: __Host-stickies=stk_browser3"])
      #expect(other.status == 200 && other.json["user"] == .null)
    }
  }

  @Test func requestsWithTheCookieActForItsUser() async throws {
    try await serve { (served) async throws in
      let cookie = try await logIn(served)
      let session = try await served.get("/v1/session", [cookie])
      #expect(session.json["user"] == .string("bob") && session.json["role"] == .string("editor"))
      #expect(session.json["accounts"] == .bool(true))
      let id = try await served.insertProject("a", fields: [cookie, origin(served)])
      #expect(try await served.get("/v1/objects/Project/\(id)", [cookie]).status == 200)
      #expect(try await served.get("/v1/objects/Project/\(id)").status == 401)
      // A change says which page makes it.
      let body = #"{"title":"b","year":1}"#
      #expect(try await served.post("/v1/objects/Project", body, [cookie]).status == 403)
      #expect(try await served.post("/v1/objects/Project", body, [cookie, "Origin: http://127.0.0.1:1"]).status == 403)
      // One request never uses both.
      let both = try await served.get("/v1/session", [cookie, "Authorization: Bearer stk_program"])
      #expect(both.status == 400)
      #expect(try await served.get("/v1/session", [cookie + "; stickies-\(served.port)=x"]).status == 400)
    }
  }

  @Test func codeWorksOnce() async throws {
    try await serve { (served) async throws in
      let cookie = try await logIn(served)
      let again = try await served.post("/v1/login", #"{"code":"code1"}"#, [cookie, origin(served)])
      // It takes no valid cookie away.
      #expect(again.status == 401 && again.fields["set-cookie"] == nil, "\(again)")
      #expect(try await served.get("/v1/session", [cookie]).json["user"] == .string("bob"))
      for body in ["{}", #"{"code":1}"#, #"{"code":"a","token":"b"}"#, #"{"user":"bob"}"#, "[]"] {
        #expect(try await served.post("/v1/login", body).status == 400, "\(body)")
      }
      let foreign = try await served.post("/v1/login", #"{"code":"code2"}"#, ["Origin: https://evil.example"])
      #expect(foreign.status == 403)
      #expect(try await served.send("POST", "/v1/login", ["Content-Type: text/plain"], body: "{}").status == 415)
    }
  }

  @Test func tokenOfAShareLinkBecomesATokenOfTheBrowser() async throws {
    try await serve { (served) async throws in
      let cookie = try await logIn(served, #"{"token":"stk_program"}"#)
      #expect(!cookie.contains("stk_program"))
      #expect(try await served.post("/v1/login", #"{"token":"stk_none"}"#).status == 401)
    }
  }

  @Test func logoutRevokesTheTokenAndTakesTheCookieAway() async throws {
    try await serve { (served) async throws in
      let cookie = try await logIn(served)
      #expect(try await served.send("POST", "/v1/logout", [cookie]).status == 403)
      let answer = try await served.send("POST", "/v1/logout", [cookie, origin(served)])
      #expect(answer.status == 200 && answer.json["user"] == .null)
      #expect(answer.fields["set-cookie"]?.contains("Max-Age=0") == true)
      #expect(!accounts.isValid("stk_browser2") && accounts.isValid("stk_program"))
      let program = try await served.send("POST", "/v1/logout", ["Authorization: Bearer stk_program"])
      #expect(program.status == 400 && accounts.isValid("stk_program"))
    }
  }

  @Test func staleCookieIsTakenAway() async throws {
    try await serve { (served) async throws in
      for target in ["/v1/session", "/v1/objects/Project", "/v1/history"] {
        let answer = try await served.get(target, ["Cookie: stickies-\(served.port)=stk_old"])
        #expect(answer.status == 401, "\(target): \(answer)")
        let removal = "stickies-\(served.port)=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
        #expect(answer.fields["set-cookie"] == removal)
      }
    }
  }

  @Test func failedLoginsOfAnAddressAreSlow() async throws {
    try await serve { (served) async throws in
      // The pauses double from a tenth of a second.
      let start = ContinuousClock.now
      for _ in 0..<4 { #expect(try await served.post("/v1/login", #"{"code":"x"}"#).status == 401) }
      #expect(ContinuousClock.now - start >= .milliseconds(700))
    }
  }

  /// The answers to an address wait for each other: those that would wait for longer than ten seconds are others.
  @Test func failedLoginsAtOnceAreTooMany() async throws {
    try await serve { (served) async throws in
      let body = #"{"code":"x"}"#
      let request = RawHTTPClient.request(
        "POST", "/v1/login", port: served.port, ["Content-Type: application/json"], body: body)
      let clients = try (0..<12).map { _ in try served.connect() }
      for client in clients { client.send(request) }
      var answers = [RawHTTPClient.Answer]()
      for client in clients {
        answers.append(try await client.answer())
        client.close()
      }
      let refused = answers.filter { $0.status == 429 }
      // The seventh is answered after 6.3 s, and the next one would be after 12.7 s.
      #expect(refused.count == 5 && answers.filter { $0.status == 401 }.count == 7, "\(answers.map(\.status))")
      for answer in refused {
        #expect(answer.fields["retry-after"] == "60" && answer.json["code"] == .string("limit"), "\(answer)")
      }
      // A valid code does not wait, also not from this address.
      #expect(try await served.post("/v1/login", #"{"code":"code1"}"#).status == 200)
    }
  }

  // MARK: - WebSockets

  @Test func socketOfAPageIsItsCookiesUser() async throws {
    try await serve { (served) async throws in
      let cookie = try await logIn(served)
      let socket = try await RawWebSocket(served, [cookie, origin(served)])
      defer { socket.close() }
      let welcome = try await socket.welcome()
      #expect(welcome.author == "bob" && welcome.role == "editor")
      accounts.revoke("stk_browser2")
      // Within a second: the test's own limit is longer, the server checks twice a second.
      guard case .close(let code, _) = try await socket.message().body else {
        Issue.record("the session ends with a message")
        return
      }
      #expect(code == "notAllowed")
      #expect(try await socket.frame().kind == 0x88)
    }
  }

  @Test func socketOfAProgramHasItsTokenInTheHello() async throws {
    try await serve { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      #expect(try await socket.welcome(credential: "stk_program").author == "bob")
    }
  }

  /// The fields of the upgrade, and the credential of the hello.
  @Test(arguments: [true, false]) func pageHasNoTokenInTheHello(hasCookie: Bool) async throws {
    try await serve { (served) async throws in
      let fields = hasCookie ? [try await logIn(served)] : [origin(served)]
      let socket = try await RawWebSocket(served, fields)
      defer { socket.close() }
      socket.send(RawWebSocket.hello(credential: "stk_program"))
      let frame = try await socket.closeFrame()
      #expect(frame.closeCode == 1_008 && frame.reason.contains("cookie"), "\(frame.reason)")
    }
  }

  @Test func pageWithoutACookieIsRefused() async throws {
    try await serve { (served) async throws in
      let socket = try await RawWebSocket(served, [origin(served)])
      defer { socket.close() }
      socket.send(RawWebSocket.hello())
      guard case .close(let code, _) = try await socket.message().body else {
        Issue.record("the session ends with a message")
        return
      }
      #expect(code == "notAllowed")
    }
  }

  // MARK: - Codes

  @Test func programRequestsACodeForTheBoard() async throws {
    let app = try WebApp(parsing: "b1\nindex.html 0 YQ== -")
    try await ServedHTTP.serve(authenticator: accounts, logins: accounts, app: app) { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      try await socket.welcome(credential: "stk_program")
      let request = socket.send(.browserLogin(user: ""))
      let answer = try await socket.message()
      let url = "http://127.0.0.1:\(served.port)/"
      #expect(answer == ToClient(request, .browserCode(BrowserCode(code: "code1", url: url, milliseconds: 60_000))))
      // Only the machine's owner names a user.
      socket.send(.browserLogin(user: "ann"))
      guard case .refused(let refusal) = try await socket.message().body else {
        Issue.record("the request is refused")
        return
      }
      #expect(refusal.code == .notAllowed)
      socket.send(.status)
      guard case .status(let status) = try await socket.message().body else {
        Issue.record("the status is answered")
        return
      }
      #expect(status.web == url)
    }
  }

  @Test(
    arguments: [
      ("127.0.0.1:7418", nil, "stickies-7418", false), ("localhost", nil, "stickies-80", false),
      ("[::1]:8", nil, "stickies-8", false), ("a.example", "http://a.example", "stickies-80", false),
      ("A.example:8443", "https://a.example:8443/x", "__Host-stickies", true),
      ("localhost:7418", "https://a.example", "stickies-7418", false),
    ] as [(String, String?, String, Bool)])
  func nameOfTheCookieFollowsTheHost(authority: String, publicURL: String?, name: String, isSecure: Bool) {
    let cookie = BrowserCookie("stickies", authority, publicURL: publicURL.flatMap { PublicURL(parsing: $0) })
    #expect(cookie.name == name && cookie.isSecure == isSecure)
  }
}
