import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// Messages that begin and do not end: their time and their bytes are bounded.
@Suite struct IncompleteFrameTests {
  private func limits() -> HubLimits {
    var limits = HubLimits()
    limits.frameMilliseconds = 1_000
    limits.unfinishedBytes = 1_000
    limits.guaranteedBacklog = 100
    return limits
  }

  @Test func incompleteFrameTimesOut() throws {
    var script = try HubTranscript(limits: limits())
    _ = try script.handle(.tick(1))
    try script.open(1)
    try script.open(2)
    #expect(try script.handle(.receivedPart(bytes: 10, from: 1)) == [])
    // More of it does not begin its time again; the end of a message does.
    _ = try script.handle(.tick(900))
    #expect(try script.handle(.receivedPart(bytes: 20, from: 1)) == [])
    #expect(try script.handle(.receivedPart(bytes: 20, from: 2)) == [])
    #expect(try script.send(.ping, 2) == ["2 < pong 0"])
    #expect(try script.handle(.receivedPart(bytes: 20, from: 2)) == [])
    #expect(try script.handle(.tick(1_001)) == [])
    #expect(try script.handle(.tick(1_002)) == ["1 < goodbye: unavailable", "close 1"])
    #expect(try script.handle(.tick(1_900)) == [])
    #expect(try script.handle(.receivedPart(bytes: 0, from: 2)) == [])
    #expect(try script.handle(.tick(9_000)) == [])
  }

  @Test func oldestLargeFramesEndWhenMemoryIsExceeded() throws {
    var script = try HubTranscript(limits: limits())
    _ = try script.handle(.tick(1))
    for session in 1...4 { try script.open(SessionID(session)) }
    // The first one is small, and stays.
    #expect(try script.handle(.receivedPart(bytes: 100, from: 1)) == [])
    #expect(try script.handle(.receivedPart(bytes: 400, from: 2)) == [])
    _ = try script.handle(.tick(2))
    #expect(try script.handle(.receivedPart(bytes: 500, from: 3)) == [])
    _ = try script.handle(.tick(3))
    #expect(try script.handle(.receivedPart(bytes: 1, from: 4)) == ["2 < goodbye: unavailable", "close 2"])
    #expect(try script.handle(.closed(2)) == [])
    // Frames that ended, in any way, no longer count.
    #expect(try script.handle(.closed(3)) == [])
    #expect(try script.handle(.receivedPart(bytes: 900, from: 4)) == [])
    #expect(try script.handle(.receivedPart(bytes: 901, from: 4)) == ["4 < goodbye: unavailable", "close 4"])
  }

  @Test func timeoutRestartsAfterPausedReading() throws {
    var limits = limits()
    limits.sessionCommitBytes = 300
    var script = try HubTranscript(limits: limits)
    _ = try script.handle(.tick(1))
    try script.open(1)
    _ = try script.save(1, sequence: 1)
    #expect(try script.save(1, sequence: 2) == ["commit #2", "pause reading from 1"])
    #expect(try script.handle(.receivedPart(bytes: 10, from: 1)) == [])
    #expect(try script.handle(.tick(5_000)) == [])
    #expect(try script.committed(1, script.record(1)) == ["1 < committed 1", "read on from 1"])
    #expect(try script.handle(.tick(6_000)) == [])
    #expect(try script.handle(.tick(6_001)) == ["1 < goodbye: unavailable", "close 1"])
  }
}
