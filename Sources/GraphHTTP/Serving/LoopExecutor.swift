// Tests: LoopExecutorTests.swift, RequestTests.swift
import NIOCore

/// Runs tasks on an event loop. A request waits for the hub several times, and each time would otherwise change threads
/// twice.
///
/// Work whose time depends on the size of a body or an answer leaves the loop (`offLoop`).
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// Performs work on the threads of the process instead of the event loop.
func offLoop<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
  try await withTaskExecutorPreference(globalConcurrentExecutor) { try await work() }
}

extension EventLoop {
  /// Runs a closure on the loop, at once if the caller runs there.
  func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    if inEventLoop { return try body() }
    return try await submit(body).get()
  }

  /// The value of a future that a closure makes on the loop, at once if the caller runs there.
  func value<Value: Sendable>(of body: @escaping @Sendable () -> EventLoopFuture<Value>) async throws -> Value {
    if inEventLoop { return try await body().get() }
    return try await flatSubmit(body).get()
  }
}
