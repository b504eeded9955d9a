import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHTTP

/// Sessions of the hub over WebSockets.
@Suite(.timeLimit(.minutes(1))) struct WebSocketTests {
  @Test func upgradeIsAcceptedAsTheStandardSays() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let client = try served.connect()
      defer { client.close() }
      client.send(RawHTTPClient.request("GET", "/v1/socket", port: served.port, RawWebSocket.fields))
      let answer = try await client.answer()
      #expect(answer.status == 101, "\(answer)")
      #expect(answer.fields["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      #expect(answer.fields["sec-websocket-protocol"] == "graph.1")
      #expect(answer.fields["upgrade"] == "websocket" && answer.fields["connection"] == "Upgrade")
      #expect(answer.fields["sec-websocket-extensions"] == nil)
    }
  }

  /// Another value of a field, or an additional field, and the status of the answer.
  @Test(arguments: [
    ("Upgrade: h2c", 426), ("Connection: keep-alive", 426), ("Sec-WebSocket-Version: 12", 426),
    ("Sec-WebSocket-Key: dGhlIHNhbXBsZQ==", 400), ("Sec-WebSocket-Key: ???", 400),
    ("Sec-WebSocket-Protocol: graph.2", 400), ("Origin: https://evil.example", 403), ("Origin: null", 403),
    ("Sec-Fetch-Site: cross-site", 403), ("Host: evil.example", 421),
    ("Authorization: Bearer stk_a", 400),
  ])
  func upgradeIsRefused(field: String, status: Int) async throws {
    try await ServedHTTP.serve { (served) async throws in
      let name = field.prefix { $0 != ":" }
      let others = RawWebSocket.fields.filter { !$0.hasPrefix("\(name):") }
      let client = try served.connect()
      defer { client.close() }
      client.send(RawHTTPClient.request("GET", "/v1/socket", port: served.port, others + [field]))
      let answer = try await client.answer()
      #expect(answer.status == status, "\(answer)")
      if status == 426 { #expect(answer.fields["sec-websocket-version"] == "13") }
    }
  }

  @Test func otherRequestsForTheResourceAreRefused() async throws {
    try await ServedHTTP.serve { (served) async throws in
      #expect(try await served.get("/v1/socket").status == 426)
      #expect(try await served.send("HEAD", "/v1/socket").status == 426)
      #expect(try await served.send("POST", "/v1/socket", RawWebSocket.fields).status == 405)
      #expect(try await served.get("/v1/socket?x=1", RawWebSocket.fields).status == 400)
      #expect(try await served.send("GET", "/v1/socket", RawWebSocket.fields, body: "hello").status == 400)
    }
  }

  // MARK: - Messages

  @Test func commitReachesAFollowerOfAQuery() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let own = "Origin: http://127.0.0.1:\(served.port)"
      let socket = try await RawWebSocket(served, [own, "Sec-Fetch-Site: same-origin"])
      defer { socket.close() }
      let welcome = try await socket.welcome()
      #expect(welcome.model == served.model.hash)
      // A page acts as the daemon's own user, under any name in its hello.
      #expect(welcome.author == "ann")
      let entity = try #require(served.model.entities.first { $0.name == "Project" })
      let request = socket.send(.subscribe(Subscribe(entity: entity.number)))
      while true {
        let message = try await socket.message()
        // The first result is complete, so that the commit is sent as a delta.
        if case .chunk(let chunk) = message.body, message.request == request, chunk.end != nil { break }
      }
      _ = try await served.insertProject("a")
      while true {
        if case .delta(let delta) = try await socket.message().body {
          #expect(delta.changes.map(\.kind) == [.inserted])
          break
        }
      }
    }
  }

  @Test func programSaysWhoItIs() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      #expect(try await socket.welcome(author: "eve").author == "eve")
    }
  }

  @Test func helloInFragmentsIsOneMessage() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      let hello = RawWebSocket.bytes(ToServer(1, RawWebSocket.hello()))
      socket.send(0x02, Array(hello[..<1]))
      for byte in hello.dropFirst().dropLast() { socket.send(0x00, [byte]) }
      socket.send(0x89, [7])
      socket.send(0x80, [hello[hello.count - 1]])
      var kinds = [UInt8]()
      while kinds.count < 2 { kinds.append(try await socket.frame().kind) }
      #expect(kinds.sorted() == [0x82, 0x8A])
    }
  }

  // MARK: - Control frames

  @Test func pingIsAnsweredWithItsPayload() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      socket.send(0x89, [1, 2, 3])
      #expect(try await socket.frame() == .init(kind: 0x8A, payload: [1, 2, 3]))
    }
  }

  @Test func closeIsAnsweredWithItsCode() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      try await socket.welcome()
      socket.send(0x88, [0x0F, 0xA1, 0x78])
      #expect(try await socket.frame() == .init(kind: 0x88, payload: [0x0F, 0xA1]))
      try await socket.http.waitForEnd()
    }
  }

  /// The bytes behind the welcome, and the code of the close frame.
  @Test(arguments: [
    (RawWebSocket.frame(0x82, [1], isMasked: false), 1_002), (RawWebSocket.frame(0x81, [0x61]), 1_003),
    (RawWebSocket.frame(0x82, [0xFF]), 1_007), (RawWebSocket.frame(0x82, []), 1_007),
    ([0x82, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0], 1_009), (RawWebSocket.frame(0x80, [1]), 1_002),
  ])
  func badFrameEndsTheSession(bytes: [UInt8], code: Int) async throws {
    try await ServedHTTP.serve { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      try await socket.welcome()
      socket.http.send(bytes)
      // The hub says why, and the close frame repeats it.
      guard case .close(_, let text) = try await socket.message().body else {
        Issue.record("the session ends with a message")
        return
      }
      let frame = try await socket.frame()
      #expect(frame.closeCode == code)
      #expect(text.hasSuffix(frame.reason) && !frame.reason.isEmpty, "\(text)")
      try await socket.http.waitForEnd()
      // The server still answers.
      #expect(try await served.get("/healthz").status == 200)
    }
  }

  @Test(arguments: ["é", "a"]) func longReasonIsCutBetweenCharacters(letter: String) {
    let text = WebSocketHandler.clipped(String(repeating: letter, count: 200))
    #expect(text.utf8.count == (letter == "é" ? 122 : 123))
  }

  /// More than the buffers of the socket and the hub's backlog hold: frames are written in part, and continued.
  @Test func slowReaderGetsWholeFrames() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      try await socket.welcome()
      let count = (12 << 20) / served.model.source.utf8.count
      for _ in 0..<count { socket.send(.model) }
      for _ in 0..<count {
        guard case .model(let source, _) = try await socket.message().body else {
          Issue.record("each request is answered by the model")
          return
        }
        #expect(UTF8Comparison.equal(source, served.model.source))
      }
      // The hub reads on behind the backlog.
      socket.send(0x89, [1])
      #expect(try await socket.frame() == .init(kind: 0x8A, payload: [1]))
    }
  }

  // MARK: - Limits of the hub

  @Test func clientWithoutHelloIsClosed() async throws {
    var limits = HubLimits()
    limits.helloMilliseconds = 100
    try await ServedHTTP.serve(limits: limits) { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      // Signs of life of the WebSocket are none of the session.
      socket.send(0x89, [])
      #expect(try await socket.closeFrame().closeCode == 1_000)
      socket.send(0x88, [0x03, 0xE8])
      try await socket.http.waitForEnd()
    }
  }

  @Test func silentClientIsClosed() async throws {
    var limits = HubLimits()
    limits.silenceMilliseconds = 100
    try await ServedHTTP.serve(limits: limits) { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      try await socket.welcome()
      #expect(try await socket.closeFrame().closeCode == 1_000)
    }
  }

  @Test func incompleteMessageIsClosed() async throws {
    var limits = HubLimits()
    limits.frameMilliseconds = 100
    try await ServedHTTP.serve(limits: limits) { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      try await socket.welcome()
      socket.send(0x02, [1])
      guard case .close(_, let text) = try await socket.message().body else {
        Issue.record("the session ends with a message")
        return
      }
      #expect(text.contains("a message was not complete within"), "\(text)")
      #expect(try await socket.frame().kind == 0x88)
    }
  }

  @Test func largestMessageIsTheServers() async throws {
    var limits = HubLimits()
    limits.maximumFrameSize = 2_000
    try await ServedHTTP.serve(limits: limits) { (served) async throws in
      let socket = try await RawWebSocket(served)
      defer { socket.close() }
      #expect(try await socket.welcome().maximumFrameSize == 2_000)
      socket.send(0x02, [UInt8](repeating: 0, count: 1_500))
      socket.send(0x80, [UInt8](repeating: 0, count: 501))
      #expect(try await socket.closeFrame().closeCode == 1_009)
    }
  }

  @Test func stoppedServerClosesItsSockets() async throws {
    var socket: RawWebSocket?
    try await ServedHTTP.serve { (served) async throws in
      let connected = try await RawWebSocket(served)
      try await connected.welcome()
      socket = connected
    }
    let frame = try await #require(socket).closeFrame()
    #expect(frame.closeCode == 1_000)
    socket?.close()
  }
}
