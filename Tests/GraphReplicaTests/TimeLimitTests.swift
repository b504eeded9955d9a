import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The ticks that a replica requests, with no others in between.
@Suite struct DeadlineTests {
  /// Connected at 1 s, with a heartbeat of 15 s, everything answered.
  private func connected() throws -> ReplicaTranscript {
    let script = try ReplicaTranscript()
    #expect(script.handle(.tick(1_000)) == [])
    #expect(script.connect() == ["welcomed"])
    return script
  }

  private func deadline(_ script: ReplicaTranscript) -> Int64? { script.context.replica.deadline }

  /// Ticks at each deadline, always 3 ms late, until the line appears.
  /// - Returns: the actions, each with its time.
  private func run(_ script: ReplicaTranscript, until end: String) throws -> [String] {
    var found = [String]()
    while found.last?.hasSuffix(end) != true, found.count < 20 {
      let time = try #require(deadline(script)) + 3
      found += script.handle(.tick(time)).map { "\(time): \($0)" }
    }
    return found
  }

  @Test func disconnectedReplicaHasNoDeadline() throws {
    let script = try ReplicaTranscript()
    #expect(deadline(script) == nil)
    #expect(script.handle(.tick(1_000)) == [])
    #expect(deadline(script) == nil)
    #expect(script.connect() == ["welcomed"])
    #expect(deadline(script) == 16_000)
    #expect(script.handle(.disconnected) == [])
    #expect(deadline(script) == nil)
  }

  @Test func missingWelcomeTimesOut() throws {
    let script = try ReplicaTranscript()
    #expect(script.handle(.tick(1_000)) == [])
    #expect(script.handle(.connected) == ["> hello"])
    // At once: a waiting caller needs to know since when.
    #expect(deadline(script) == 1_000)
    #expect(script.handle(.tick(1_000)) == [])
    #expect(deadline(script) == 11_000)
    #expect(script.handle(.tick(10_999)) == [])
    #expect(script.handle(.tick(11_000)) == ["disconnect: unavailable"])
  }

  @Test func idleReplicaSchedulesPingAndItsTimeout() throws {
    let script = try connected()
    #expect(deadline(script) == 16_000)
    #expect(script.handle(.tick(15_999)) == [])
    #expect(deadline(script) == 16_000)
    #expect(script.handle(.tick(16_000)) == ["> ping"])
    #expect(deadline(script) == 16_000 + Replica.silenceMilliseconds)
    #expect(script.receive(.pong(script.token(0)), 2) == [])
    #expect(deadline(script) == 31_000)
  }

  @Test func requestSchedulesTickAndReplyTimeout() throws {
    let script = try connected()
    #expect(script.handle(.request(1, .status)).count == 1)
    #expect(deadline(script) == 1_000)
    #expect(script.handle(.tick(9_000)) == [])
    #expect(deadline(script) == 9_000 + Replica.silenceMilliseconds)
    #expect(script.receive(.refused(Refusal(.invalid, "no")), 2) == ["request 1 was refused: invalid"])
    #expect(deadline(script) == 24_000)
  }

  /// The ticks that are wanted, a little late as ticks are, are more than a heartbeat apart. That is no sleep.
  @Test func deadServerIsDroppedAfterThreeHeartbeats() throws {
    let script = try connected()
    #expect(script.handle(.tick(16_003)) == ["> ping"])
    #expect(script.receive(.pong(script.token(0)), 2) == [])
    #expect(
      try run(script, until: "disconnect: unavailable") == [
        "31006: > ping", "36009: silence(true)", "46009: > ping", "61006: disconnect: unavailable",
      ])
  }

  /// It is pinged at once, and has as long as ever to answer.
  @Test func wakingClientGivesServerFullTimeout() throws {
    let script = try connected()
    #expect(script.handle(.tick(3_600_000)) == ["> ping"])
    #expect(
      try run(script, until: "disconnect: unavailable") == [
        "3605003: silence(true)", "3615003: > ping", "3630006: > ping", "3645003: disconnect: unavailable",
      ])
  }

  /// Presence is sent many times a second, and its arrival does not count as an answer.
  @Test func presenceDoesNotDelayPing() throws {
    let script = try connected()
    var pings = [Int64]()
    for second in Int64(2)...16 {
      #expect(script.handle(.presence([1, 2, 3])).count == 1)
      #expect(deadline(script) == 16_000)
      if script.handle(.tick(second * 1_000)) == ["> ping"] { pings.append(second) }
    }
    #expect(pings == [16])
  }

  // MARK: - The sleep between

  /// Does the work of an owner after each event.
  /// - Returns: whether a sleep was begun.
  private func keepTime(_ script: ReplicaTranscript, _ alarm: inout TickTimer, _ now: Int64) throws -> Bool {
    if try #require(deadline(script)) <= now { #expect(script.handle(.tick(now)) == []) }
    return alarm.set(to: try #require(deadline(script)))
  }

  @Test func idleOwnerWakesOncePerHeartbeat() throws {
    let script = try connected()
    var alarm = TickTimer()
    var sleeps = try keepTime(script, &alarm, 1_000) ? 1 : 0
    for beat in 1...10 {
      let now = Int64(1_000 + beat * 15_000)
      #expect(alarm.time == now)
      alarm.ring()
      #expect(script.handle(.tick(now)) == ["> ping"])
      if try keepTime(script, &alarm, now) { sleeps += 1 }
      #expect(script.handle(.tick(now + 2)) == [])
      #expect(script.receive(.pong(script.token(0)), UInt64(1 + beat)) == [])
      if try keepTime(script, &alarm, now + 2) { sleeps += 1 }
    }
    #expect(sleeps == 21)
  }

  /// A thousand questions with their answers within ten seconds.
  @Test func busyOwnerSchedulesFewTimers() throws {
    let script = try connected()
    var alarm = TickTimer()
    var (now, sleeps) = (Int64(1_000), 0)
    for number in 1...UInt64(1_000) {
      #expect(script.handle(.request(number, .status)).count == 1)
      if try keepTime(script, &alarm, now) { sleeps += 1 }
      now += 10
      if let time = alarm.time, time <= now { alarm.ring() }
      #expect(script.handle(.tick(now)) == [])
      #expect(script.receive(.refused(Refusal(.invalid, "no")), 1 + number).count == 1)
      if try keepTime(script, &alarm, now) { sleeps += 1 }
      let time = try #require(alarm.time)
      #expect(try #require(deadline(script)) >= time)
    }
    #expect(sleeps < 20)
  }
}
