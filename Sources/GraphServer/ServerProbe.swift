// Tests: CancelledRequestTests.swift
import NIOCore

/// Counts the work in progress of a running server, for tests.
package struct ServerProbe: Sendable {
  /// The work in progress for all sessions. All numbers are zero when no client waits for anything or follows a query.
  package struct WorkInProgress: Sendable, Equatable {
    /// Live queries, counted for each session.
    package var registrations = 0
    /// Requests that the hub has passed to the store.
    package var openReads = 0
    /// Answers in transit, each of which has memory and may have a file.
    package var streams = 0
    /// Reads that wait for a thread or run.
    package var scheduledReads = 0
    /// Batches whose rows are kept for their request.
    package var keptRows = 0
    /// Batches that wait for the writer or run.
    package var batches = 0

    /// No work in progress.
    package static var idle: WorkInProgress { WorkInProgress() }
  }

  let runner: HubRunner

  /// Counts the work in progress.
  package func workInProgress() async throws -> WorkInProgress {
    try await runner.loop.submit { runner.workInProgress }.get()
  }

  /// Returns when there is no work in progress, or after a time with the work that there is then.
  package func workWhenIdle(withinSeconds seconds: Int64) async throws -> WorkInProgress {
    try await runner.loop.flatSubmit { runner.whenIdle(within: .seconds(seconds)) }.get()
  }
}

extension HubRunner {
  fileprivate func whenIdle(within limit: TimeAmount) -> EventLoopFuture<ServerProbe.WorkInProgress> {
    loop.assertInEventLoop()
    let promise = loop.makePromise(of: ServerProbe.WorkInProgress.self)
    idleWaiters.append(promise)
    let deadline = loop.scheduleTask(in: limit) { self.endIdleWaiters() }
    promise.futureResult.whenComplete { _ in deadline.cancel() }
    resumeIdleWaiters()
    return promise.futureResult
  }

  /// Answers the tests that wait, if there is no work in progress. Called after each event of the hub.
  func resumeIdleWaiters() {
    loop.assertInEventLoop()
    var rest = workInProgress
    if rest == .idle { return endIdleWaiters() }
    // A thread ends its read after the loop has received the answer, which is no event of the hub.
    rest.scheduledReads = 0
    if rest == .idle { readers.whenIdle { self.loop.execute { self.resumeIdleWaiters() } } }
  }

  private func endIdleWaiters() {
    let (waiters, workInProgress) = (idleWaiters, workInProgress)
    idleWaiters = []
    for waiter in waiters { waiter.succeed(workInProgress) }
  }
}
