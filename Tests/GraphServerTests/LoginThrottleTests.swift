import Testing

@testable import GraphServer

/// The pauses before logins from an address that has failed.
@Suite struct LoginThrottleTests {
  @Test func eachFailureDoublesThePause() {
    var throttle = LoginThrottle()
    var (now, pauses) = (Int64(1_000), [Int64]())
    for _ in 0..<10 {
      guard let pause = throttle.begin("a", now: now) else {
        Issue.record("an address that waits for its pause is refused")
        return
      }
      pauses.append(pause)
      now += pause
      throttle.recordFailure("a", now: now)
    }
    #expect(pauses == [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    // Another address does not wait.
    #expect(throttle.begin("b", now: now) == 0)
    // A successful login ends it.
    throttle.recordSuccess("a")
    #expect(throttle.begin("a", now: now) == 0)
  }

  @Test func simultaneousAttemptsWaitForEachOther() {
    var throttle = LoginThrottle()
    for _ in 0..<7 { throttle.recordFailure("a", now: 0) }
    #expect(throttle.begin("a", now: 0) == 6_400)
    #expect(throttle.begin("a", now: 0) == nil)
    #expect(throttle.begin("a", now: 6_400) == 6_400)
  }

  @Test func memoryIsBounded() {
    var throttle = LoginThrottle()
    for number in 0..<(2 * LoginThrottle.maximumAddresses) { throttle.recordFailure("\(number)", now: Int64(number)) }
    // The newest are remembered, the oldest are not.
    let now = Int64(2 * LoginThrottle.maximumAddresses)
    #expect(throttle.begin("\(now - 1)", now: now).map { $0 > 0 } == true)
    #expect(throttle.begin("0", now: now) == 0)
  }
}
