import GraphClient
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// An idle client sleeps between heartbeats.
@Suite(.timeLimit(.minutes(1))) struct IdleClientTests {
  @Test @MainActor func clientPingsAtHeartbeatAndDropsUnresponsiveServer() async throws {
    let model = try Fixtures.stickies()
    let head = Token(store: UniqueID(high: 1, low: 1), revision: 0, fingerprint: 0)
    let hello = Welcome(
      model: model, head: head, session: 1, server: "scripted", resumed: false, maximumFrameSize: 1 << 20,
      heartbeatMilliseconds: 500, principal: "ann", role: .editor)
    // It answers three pings.
    let server = try ScriptedServer(
      [ToClient(1, .welcome(hello))] + (2...4).map { ToClient($0, .pong(head)) })
    var options = GraphClient.Options(author: "ann@test")
    options.reconnects = false
    let begin = ContinuousClock.now
    let client = try await GraphClient.connect(to: server.address, model: model, options: options)
    await withCheckedContinuation { (closed: CheckedContinuation<Void, Never>) in
      client.stateDidChange = { if $0 == .closed { closed.resume() } }
    }
    // Three heartbeats with an answer, and three more without one.
    #expect(ContinuousClock.now - begin > .milliseconds(2_900))
    client.stateDidChange = nil
  }
}
