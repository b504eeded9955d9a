import GraphModel
import Synchronization
import Testing

/// The log lines of a failing disk.
@Suite struct LogRateLimiterTests {
  private final class Clock: Sendable {
    let now = Mutex<Int64>(1)
  }

  @Test func lineIsLoggedImmediatelyThenOncePerInterval() {
    let clock = Clock()
    var lines = LogRateLimiter { clock.now.withLock { $0 } }
    #expect(lines.omitted(before: "full") == 0)
    for _ in 0..<330 { #expect(lines.omitted(before: "full") == nil) }
    // Another kind is no repetition.
    #expect(lines.omitted(before: "inputOutput") == 0)
    clock.now.withLock { $0 += LogRateLimiter.intervalNanoseconds - 1 }
    #expect(lines.omitted(before: "full") == nil)
    clock.now.withLock { $0 += 1 }
    #expect(lines.omitted(before: "full") == 331)
    #expect(lines.omitted(before: "full") == nil)
    clock.now.withLock { $0 += 5 * LogRateLimiter.intervalNanoseconds }
    #expect(lines.omitted(before: "full") == 1)
  }
}
