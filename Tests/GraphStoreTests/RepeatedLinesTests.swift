import GraphStore
import Synchronization
import Testing

/// What a failing disk writes into the log.
@Suite struct RepeatedLinesTests {
  private final class Clock: Sendable {
    let now = Mutex<Int64>(1)
  }

  @Test func aKindIsWrittenAtOnceAndThenOnceInAnInterval() {
    let clock = Clock()
    let lines = RepeatedLines { clock.now.withLock { $0 } }
    #expect(lines.omitted(before: "full") == 0)
    for _ in 0..<330 { #expect(lines.omitted(before: "full") == nil) }
    // Another kind is no repetition.
    #expect(lines.omitted(before: "inputOutput") == 0)
    clock.now.withLock { $0 += RepeatedLines.intervalNanoseconds - 1 }
    #expect(lines.omitted(before: "full") == nil)
    clock.now.withLock { $0 += 1 }
    #expect(lines.omitted(before: "full") == 331)
    #expect(lines.omitted(before: "full") == nil)
    clock.now.withLock { $0 += 5 * RepeatedLines.intervalNanoseconds }
    #expect(lines.omitted(before: "full") == 1)
  }
}
