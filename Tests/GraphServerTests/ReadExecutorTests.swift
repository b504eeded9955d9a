import GraphHub
import Synchronization
import Testing

@testable import GraphServer

/// Real threads: reads run while another read holds a thread. Reads report their progress; the tests do not sleep.
@Suite(.timeLimit(.minutes(5))) struct ReadExecutorTests {
  private final class Flag: Sendable {
    let value = Atomic(false)
  }

  /// Endless reads hold all threads but the reserved one. A fourth one yields the reserved thread to each short read.
  @Test func shortReadIsAnsweredDespiteSlowReads() async throws {
    let readers = ReadExecutor(threads: 4)
    try readers.start()
    let isOver = Flag()
    let (events, continuation) = AsyncStream.makeStream(of: String.self)
    for ticket in UInt64(1)...4 {
      readers.enqueue(StoreRequestID(ticket), of: ticket) { shortRead in
        continuation.yield(shortRead == nil ? "slow" : shortRead?.isBorrowing == true ? "lent" : "tried")
        while !isOver.value.load(ordering: .relaxed) { if shortRead?.mustYield() == true { return .yielded } }
        return .answered
      }
    }
    var iterator = events.makeAsyncIterator()
    var seen = [String]()
    for _ in 0..<4 { seen.append(await iterator.next() ?? "") }
    #expect(seen.sorted() == ["slow", "slow", "slow", "tried"])
    for ticket in UInt64(10)..<15 {
      readers.enqueue(StoreRequestID(ticket), of: ticket) { _ in
        continuation.yield("short")
        return .answered
      }
      #expect(await iterator.next() == "short")
      // Then the thread is lent to the slow one again.
      #expect(await iterator.next() == "lent")
    }
    isOver.value.store(true, ordering: .relaxed)
    readers.stop()
  }
}
