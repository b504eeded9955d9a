import NIOCore
import NIOPosix
import Testing

@testable import GraphHTTP

/// Tasks on an event loop.
@Suite struct LoopExecutorTests {
  @Test func taskRunsOnTheLoopAndLargeWorkLeavesIt() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let isOnLoop = try await Task(executorPreference: LoopExecutor(loop)) {
      var isOnLoop = [await Self.isRunning(on: loop)]
      isOnLoop.append(try await offLoop { await Self.isRunning(on: loop) })
      isOnLoop.append(await Self.isRunning(on: loop))
      // A wait for another thread returns to the loop.
      await Task { await Task.yield() }.value
      isOnLoop.append(await Self.isRunning(on: loop))
      return isOnLoop
    }.value
    #expect(isOnLoop == [true, false, true, true])
  }

  @Test func closureRunsOnTheLoopWhereverItsCallerRuns() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let fromOutside = try await loop.run { loop.inEventLoop }
    #expect(fromOutside)
    let fromInside = try await Task(executorPreference: LoopExecutor(loop)) {
      try await loop.run { loop.inEventLoop }
    }.value
    #expect(fromInside)
    let value = try await loop.value { loop.makeSucceededFuture(loop.inEventLoop) }
    #expect(value)
  }

  private static func isRunning(on loop: any EventLoop) async -> Bool { loop.inEventLoop }
}
