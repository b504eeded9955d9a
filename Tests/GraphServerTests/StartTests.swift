import Dispatch
import GraphModel
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

  /// A pool that got some of its threads ends.
  @Test func failedStartIsCleanedUp() {
    ReaderPool(threads: 3).stop()
  }
}
