import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// Requests for a code with which a browser logs in.
@Suite struct BrowserLoginTests {
  private func script(_ peer: Peer, _ identity: ClientIdentity?) throws -> HubTranscript {
    var script = try HubTranscript()
    script.hub = Hub(model: script.model, head: script.token(0), authenticates: true)
    _ = try script.handle(.opened(1, of: peer))
    let credential = if case .user? = identity { "t" } else { "" }
    let hello = Hello(
      model: script.model.hash, replica: UniqueID(high: 1, low: 1), author: "eve", credential: credential)
    var lines = try script.send(.hello(hello), 1)
    if let identity { lines = try script.handle(.authenticated(.success(identity), session: 1)) }
    #expect(lines.last == "1 < welcome", "\(lines)")
    return script
  }

  @Test func userOfATokenRequestsOneForItself() throws {
    let ann = Principal(id: "user:a", name: "ann")
    var script = try script(.network, .user(ann, token: 7, access: GrantedAccess(.reader, of: ann)))
    #expect(try script.send(.browserLogin(user: ""), 1) == ["make a code #1 for token(7)"])
    let code = BrowserCode(code: "c", url: "http://a/", milliseconds: 1)
    #expect(try script.handle(.browserCode(StoreRequestID(1), .success(code))) == ["1 < code c"])
    // The answer ends the request, and a second one finds none.
    #expect(script.hub.openReads == 0)
    #expect(try script.handle(.browserCode(StoreRequestID(1), .success(code))).isEmpty)
    let refused = try script.send(.browserLogin(user: "bob"), 1)
    #expect(refused.first == "1 < refused: notAllowed")
  }

  @Test func ownerNamesAUser() throws {
    var script = try script(.owner, nil)
    #expect(try script.send(.browserLogin(user: "ann"), 1) == [#"make a code #1 for named("ann")"#])
    let refusal = Refusal(.notFound, "there is no user")
    #expect(try script.handle(.browserCode(StoreRequestID(1), .failure(refusal))) == ["1 < refused: notFound"])
    let long = String(repeating: "a", count: 257)
    #expect(try script.send(.browserLogin(user: long), 1) == ["1 < refused: malformed"])
  }

  @Test func clientOfTheNetworkNamesNoUser() throws {
    var script = try script(.network, .owner)
    #expect(try script.send(.browserLogin(user: "ann"), 1) == ["1 < refused: notAllowed"])
    #expect(try script.send(.browserLogin(user: ""), 1) == [#"make a code #1 for named("")"#])
  }

  @Test func otherLocalUserHasNoAccount() throws {
    var script = try script(.user(Principal(id: "uid:5", name: "eve")), nil)
    #expect(try script.send(.browserLogin(user: ""), 1) == ["1 < refused: notAllowed"])
  }

  @Test func endOfTheSessionEndsTheRequest() throws {
    var script = try script(.owner, nil)
    _ = try script.send(.browserLogin(user: "ann"), 1)
    _ = try script.handle(.closed(1))
    #expect(script.hub.openReads == 0)
    let code = BrowserCode(code: "c", url: "http://a/", milliseconds: 1)
    #expect(try script.handle(.browserCode(StoreRequestID(1), .success(code))).isEmpty)
  }
}
