import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The silence of a server that owes an answer.
@Suite struct UnresponsiveServerTests {
  /// Connected at 1 s, everything answered.
  private func connected() throws -> ReplicaTranscript {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    #expect(script.handle(.tick(1_000)) == [])
    return script
  }

  /// Something that the server has to answer.
  private func ask(_ script: ReplicaTranscript) throws {
    let note = try #require(script.context.register([try script.image(5, 1, ["text": .string("one")])]).first)
    note["text"] = .string("two")
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update"])
  }

  @Test func serverOwingAReplyIsSilentUntilHeard() throws {
    let script = try connected()
    // Nothing was requested.
    #expect(script.handle(.tick(9_000)) == [])
    try ask(script)
    #expect(script.handle(.tick(9_000)) == [])
    #expect(script.handle(.tick(9_000 + Replica.silenceMilliseconds - 1)) == [])
    #expect(script.handle(.tick(9_000 + Replica.silenceMilliseconds)) == ["silence(true)"])
    #expect(script.handle(.tick(15_000)) == [])
    // Any message ends the silence.
    #expect(script.receive(.advance(revision: 2, fingerprint: 2_000)).contains("silence(false)"))
    #expect(script.handle(.tick(22_000)) == [])
  }

  /// There are no ticks while no time is due, so the last tick before a request may be long ago.
  @Test func silenceBeginsWithTickAfterRequest() throws {
    let script = try connected()
    try ask(script)
    #expect(script.handle(.tick(15_000)) == [])
    #expect(script.handle(.tick(15_000 + Replica.silenceMilliseconds - 1)) == [])
    #expect(script.handle(.tick(15_000 + Replica.silenceMilliseconds)) == ["silence(true)"])
  }

  @Test func messagesWithoutReplyAreNotAwaited() throws {
    let script = try connected()
    script.context.handle(.presence([1, 2, 3]))
    #expect(script.lines().count == 1)
    #expect(script.handle(.tick(8_000)) == [])
  }

  @Test func disconnectEndsSilence() throws {
    let script = try connected()
    try ask(script)
    #expect(script.handle(.tick(1_000)) == [])
    #expect(script.handle(.tick(7_000)) == ["silence(true)"])
    #expect(script.handle(.disconnected) == ["silence(false)"])
    #expect(script.handle(.tick(14_000)) == [])
  }

  /// A computer that slept has received no messages, which does not mean that the server is silent.
  @Test func systemSleepIsNoSilence() throws {
    let script = try connected()
    try ask(script)
    #expect(script.handle(.tick(1_000)) == [])
    #expect(script.handle(.tick(3_600_000)) == ["> ping"])
    #expect(script.handle(.tick(3_601_000)) == [])
  }
}
