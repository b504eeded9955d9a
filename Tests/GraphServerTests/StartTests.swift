import Dispatch
import GraphModel
import Synchronization
import Testing

@testable import GraphServer

/// The preconditions of a server before it listens.
@Suite struct StartTests {
  @Test func threadCreationFailureIsReported() throws {
    let failure = #expect(throws: StoreFailure.self) {
      try ServerThread.start("writer", stackSize: 1 << 46) { Issue.record("it runs") }
    }
    #expect(failure?.code == .noThreads)
    #expect(failure?.description.contains("ulimit -u") == true)
    let ran = DispatchSemaphore(value: 0)
    try ServerThread.start("a name that is longer than fifteen bytes") { ran.signal() }
    #expect(ran.wait(timeout: .now() + 30) == .success)
  }

  @Test func poolEndsAfterItsJobsAndEvenWithoutThreads() throws {
    // A start that fails at the first thread leaves a pool without threads.
    ReaderPool(threads: 3).stop()
    let pool = ReaderPool(threads: 3)
    try pool.start()
    let ran = Mutex(0)
    for _ in 0..<20 { pool.enqueue { ran.withLock { $0 += 1 } } }
    pool.stop()
    #expect(ran.withLock { $0 } == 20)
  }
}
