// Tests: LiveSequenceTests.swift
import GraphControllers
import GraphModel
import GraphReplica

/// The snapshots of a live query: the first result, then the result after each commit that changes it.
///
/// Each loop over the sequence follows the query for itself, and ends it when the loop ends: by `break`, by an error,
/// or because its task is cancelled, after which the loop ends without an error. A busy loop never delays the
/// connection: it receives the newest snapshot next, with one combined difference. After a lost connection the loop
/// continues with the commits that it missed.
///
/// A loop throws the server's `Refusal` of a query that it does not accept, and one of `unavailable` when the client is
/// closed.
public struct LiveSequence<Object: ManagedObject>: AsyncSequence {
  /// A snapshot of the query.
  public typealias Element = LiveSnapshot<Object>

  /// Subscribes; it throws if the client is closed.
  let start: () throws -> Running

  /// A query that is followed until the lease is released.
  struct Running {
    let query: LiveQuery<Object>
    let lease: LiveQueryLease
    var updates: ResultsUpdates.Iterator
    /// Waits for the relationships to prefetch with the first snapshot; nil if there are none.
    var waitForPrefetch: ((QueryID) async throws -> Void)?
  }

  public func makeAsyncIterator() -> Iterator { Iterator(start: start) }

  /// Follows the query from its first call of `next` until it is released.
  public struct Iterator: AsyncIteratorProtocol {
    private enum State {
      case idle(start: () throws -> Running)
      case running(Running)
      case ended
    }

    private var state: State

    init(start: @escaping () throws -> Running) { state = .idle(start: start) }

    /// The newest snapshot that the reader has not received; waits for the next one.
    /// - Returns: nil if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> LiveSnapshot<Object>? {
      var running: Running
      switch state {
      case .idle(let start): running = try start()
      case .running(let other): running = other
      case .ended: return nil
      }
      // An error, or the end, releases the query.
      state = .ended
      if let wait = running.waitForPrefetch {
        guard try await running.updates.next(isolation: actor) != nil else { return nil }
        if let number = running.query.query { try await wait(number) }
        // The first snapshot has the order with the loaded objects.
        running.updates = running.query.controller.updates.makeAsyncIterator()
        running.waitForPrefetch = nil
      }
      guard let update = try await running.updates.next(isolation: actor) else { return nil }
      let query = running.query
      if let failure = query.failure { throw failure }
      let snapshot = LiveSnapshot(
        update.snapshot, objects: query.objects, difference: update.difference,
        totalCount: query.controller.totalCount)
      state = .running(running)
      return snapshot
    }
  }
}

extension LiveSequence {
  /// The snapshots of a request. Each loop subscribes for itself.
  init(_ request: ResultsRequest, of client: GraphClient) {
    start = {
      if let ending = client.ending { throw ending }
      let query = LiveQuery<Object>(request, of: client)
      let lease = LiveQueryLease(query, of: client)
      // Before the query starts, so that it has a reader for a refusal.
      let updates = query.controller.updates.makeAsyncIterator()
      query.start()
      var running = Running(query: query, lease: lease, updates: updates)
      if !request.prefetching.isEmpty { running.waitForPrefetch = client.waitForPrefetch }
      return running
    }
  }
}
