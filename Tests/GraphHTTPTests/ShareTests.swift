import GraphHub
import GraphModel
import GraphServer
import GraphTesting
import Synchronization
import Testing

@testable import GraphHTTP

/// Share links over HTTP. The accounts of these tests are in memory; `ShareLinkTests` has the rules of the real ones.
@Suite(.timeLimit(.minutes(1))) struct ShareTests {
  private let links = MemoryLinks()

  /// Serves a graph with a board to the owner, whose token is in the fields of every request.
  private func serve(_ body: (ServedHTTP, String) async throws -> Void) async throws {
    try await ServedHTTP.serve(model: try Fixtures.team(), links: links) { (served) async throws in
      let made = try await served.post("/v1/objects/Board", #"{"name":"Plans"}"#)
      #expect(made.status == 201, "\(made)")
      try await body(served, try #require(made.json["id"]?.stringValue))
    }
  }

  @Test func linkIsMadeListedAndRemoved() async throws {
    try await serve { (served, board) async throws in
      let made = try await served.post("/v1/share", #"{"object":"\#(board)","role":"reader","label":"plan","days":30}"#)
      #expect(made.status == 201 && made.fields["location"] == "share/000000000000000a", "\(made)")
      #expect(made.json["token"] == .string("stk_secret") && made.json["object"] == .string(board))
      #expect(links.wishes.map(\.seconds) == [30 * 86_400] && links.wishes.map(\.label) == ["plan"])
      let listed = try await served.get("/v1/share?object=\(board)")
      let list = try #require(listed.json["links"]?.arrayValue)
      #expect(list.count == 1 && list[0]["name"] == .string("link: plan") && list[0]["role"] == .string("reader"))
      #expect(list[0]["expires"] == .string("1970-01-01T00:00:09.000000Z") && list[0]["used"] == .null)
      #expect(list[0]["maker"] == .string("ann"))
      #expect(!listed.text.contains("stk_"), "only the answer to the creation has the secret")
      let removed = try await served.send("DELETE", "/v1/share/000000000000000a")
      #expect(removed.status == 200 && removed.json["removed"] == .string("000000000000000a"), "\(removed)")
      #expect(try await served.get("/v1/share?object=\(board)").json["links"] == .array([]))
      #expect(try await served.send("DELETE", "/v1/share/000000000000000a").status == 404)
    }
  }

  @Test func linkEndsAfterNinetyDaysUnlessItSaysOtherwise() async throws {
    try await serve { (served, board) async throws in
      #expect(try await served.post("/v1/share", #"{"object":"\#(board)","role":"editor"}"#).status == 201)
      let forever = try await served.post("/v1/share", #"{"object":"\#(board)","role":"editor","days":null}"#)
      #expect(forever.status == 201, "\(forever)")
      #expect(links.wishes.map(\.seconds) == [90 * 86_400, nil] && links.wishes.map(\.role) == [.editor, .editor])
    }
  }

  /// The body, with B for the board's id, and the pointer of the refusal.
  @Test(
    arguments: [
      ("[]", ""), ("{}", ""), (#"{"object":"B"}"#, ""), (#"{"role":"reader"}"#, ""),
      (#"{"object":"x","role":"reader"}"#, "/object"), (#"{"object":7,"role":"reader"}"#, "/object"),
      (#"{"object":"B","role":"owner"}"#, "/role"), (#"{"object":"B","role":"king"}"#, "/role"),
      (#"{"object":"B","role":"reader","days":0}"#, "/days"), (#"{"object":"B","role":"reader","days":1.5}"#, "/days"),
      (#"{"object":"B","role":"reader","days":3651}"#, "/days"),
      (#"{"object":"B","role":"reader","label":1}"#, "/label"), (#"{"object":"B","role":"reader","x":1}"#, "/x"),
    ] as [(String, String)])
  func malformedWishIsRefused(body: String, pointer: String) async throws {
    try await serve { (served, board) async throws in
      let answer = try await served.post("/v1/share", body.replacing("\"B\"", with: "\"\(board)\""))
      #expect(answer.status == 400 && answer.json["pointer"] == .string(pointer), "\(answer)")
      #expect(links.wishes.isEmpty)
    }
  }

  @Test func onlyAVisibleContainerIsShared() async throws {
    try await serve { (served, board) async throws in
      let note = try await served.post("/v1/objects/Note", #"{"text":"a","board":"\#(board)"}"#)
      let id = try #require(note.json["id"]?.stringValue, "\(note)")
      for object in [id, UniqueID.randomReplica().description] {
        #expect(try await served.post("/v1/share", #"{"object":"\#(object)","role":"reader"}"#).status == 404)
        #expect(try await served.get("/v1/share?object=\(object)").status == 404)
      }
      #expect(try await served.get("/v1/share").status == 400)
      #expect(try await served.get("/v1/share?object=").status == 400)
      #expect(links.wishes.isEmpty)
    }
  }

  @Test func refusalOfTheAccountsIsTheAnswer() async throws {
    try await serve { (served, board) async throws in
      links.refuse(with: Refusal(.notAllowed, "your role here is editor"))
      let answer = try await served.post("/v1/share", #"{"object":"\#(board)","role":"reader"}"#)
      #expect(answer.status == 403 && answer.json["detail"] == .string("your role here is editor"), "\(answer)")
    }
  }

  @Test func methodsOfOthersAndForeignPagesAreRefused() async throws {
    try await serve { (served, board) async throws in
      let body = #"{"object":"\#(board)","role":"reader"}"#
      #expect(try await served.post("/v1/share", body, ["Origin: https://evil.example"]).status == 403)
      let wrong = try await served.send("PUT", "/v1/share")
      #expect(wrong.status == 405 && wrong.fields["allow"] == "GET, HEAD, POST", "\(wrong)")
      #expect(try await served.get("/v1/share/000000000000000a").status == 405)
      #expect(links.wishes.isEmpty)
    }
  }

  @Test func serverWithoutAccountsHasNoLinks() async throws {
    try await ServedHTTP.serve(model: try Fixtures.team()) { (served) async throws in
      let made = try await served.post("/v1/objects/Board", #"{"name":"Plans"}"#)
      let board = try #require(made.json["id"]?.stringValue)
      let answer = try await served.post("/v1/share", #"{"object":"\#(board)","role":"reader"}"#)
      #expect(answer.status == 422 && answer.json["code"] == .string("invalid"), "\(answer)")
    }
  }
}

/// The links of a server, in memory.
private final class MemoryLinks: ShareLinks {
  private struct State {
    var wishes = [ShareRequest]()
    var links = [ShareLink]()
    var refusal: Refusal?
  }

  private let state = Mutex(State())

  var wishes: [ShareRequest] { state.withLock { $0.wishes } }

  func refuse(with refusal: Refusal) { state.withLock { $0.refusal = refusal } }

  func makeLink(_ request: ShareRequest, by credential: String) -> Result<ShareLink, Refusal> {
    state.withLock { state in
      if let refusal = state.refusal { return .failure(refusal) }
      state.wishes.append(request)
      func link(_ secret: String?) -> ShareLink {
        let name = if let label = request.label { label } else { "0" }
        return ShareLink(
          id: "000000000000000a", name: "link: \(name)", maker: "ann", role: request.role, created: 1,
          expires: 9_000_000, used: nil, secret: secret)
      }
      state.links.append(link(nil))
      return .success(link("stk_secret"))
    }
  }

  func links(to scope: UniqueID, for credential: String) -> Result<[ShareLink], Refusal> {
    .success(state.withLock { $0.links })
  }

  func removeLink(_ id: String, by credential: String) -> Result<Void, Refusal> {
    state.withLock { state in
      guard state.links.contains(where: { UTF8Comparison.equal($0.id, id) }) else {
        return .failure(Refusal(.notFound, "there is no share link \(id)"))
      }
      state.links = []
      return .success(())
    }
  }
}
