import Testing

@testable import GraphServer

/// The pauses before the answers to failed logins of an address.
@Suite struct LoginThrottleTests {
  @Test func eachFailureDoublesThePause() throws {
    var throttle = LoginThrottle()
    var (now, pauses) = (Int64(1_000), [Int64]())
    for _ in 0..<10 {
      let recorded = throttle.recordFailure("a", now: now)
      let pause = try #require(recorded)
      pauses.append(pause)
      // A client that waits for each answer.
      now += pause
    }
    #expect(pauses == [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    // Another address does not wait.
    #expect(throttle.recordFailure("b", now: now) == 0)
    // A minute after the last answer the failures are forgotten.
    #expect(throttle.recordFailure("a", now: now + 59_999) == 0)
    #expect(throttle.recordFailure("a", now: now + 59_999) == 10_000)
    #expect(throttle.recordFailure("a", now: now + 69_999 + 60_000) == 0)
    #expect(throttle.recordFailure("a", now: now + 69_999 + 60_000) == 100)
  }

  @Test func answersToSimultaneousFailuresWaitForEachOther() {
    var throttle = LoginThrottle()
    let pauses = (0..<9).map { _ in throttle.recordFailure("a", now: 0) }
    #expect(pauses == [0, 100, 300, 700, 1_500, 3_100, 6_300, nil, nil])
    // After the answers that wait, the next one is possible again.
    #expect(throttle.recordFailure("a", now: 6_300) == 6_400)
  }

  @Test func memoryIsBounded() {
    var throttle = LoginThrottle()
    for number in 0..<(2 * LoginThrottle.maximumAddresses) {
      #expect(throttle.recordFailure("\(number)", now: Int64(number) / 1_000) == 0)
    }
    // The newest are remembered, the oldest are not.
    let now = Int64(2 * LoginThrottle.maximumAddresses) / 1_000
    let newest = throttle.recordFailure("\(2 * LoginThrottle.maximumAddresses - 1)", now: now)
    #expect(newest == 99)
    #expect(throttle.recordFailure("0", now: now) == 0)
  }
}
