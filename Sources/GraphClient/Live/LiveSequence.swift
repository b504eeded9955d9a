// Tests: LiveSequenceTests.swift, LivePrefetchTests.swift
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
/// Each snapshot has the relationships that the query prefetches: a change is held back until they have been loaded for
/// the objects that join the query or refer to other objects. If the connection is lost before, the snapshot follows
/// after the next one is made.
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
  }

  public func makeAsyncIterator() -> Iterator { Iterator(start: start) }

  /// Follows the query from its first call of `next` until it is released. Several tasks that call it at once receive
  /// one snapshot each, in the order of their calls; the cancellation of one of them ends the loop for all.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: Reader

    init(start: @escaping () throws -> Running) { reader = Reader(start: start) }

    /// The newest snapshot that the reader has not received; waits for the next one.
    /// - Returns: nil if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> LiveSnapshot<Object>? {
      guard await reader.turns.begin(isolation: actor) else { return nil }
      defer { reader.turns.end() }
      do {
        return try await reader.next(isolation: actor)
      } catch {
        // A cancellation may also have closed the client, which then refuses the query.
        if Task.isCancelled { return nil }
        throw error
      }
    }
  }

  /// The state of an iterator, which its copies share.
  private final class Reader {
    private enum State {
      case idle(start: () throws -> Running)
      case running(Running)
      case ended
    }

    private var state: State
    let turns = ReaderTurns()

    init(start: @escaping () throws -> Running) { state = .idle(start: start) }

    func next(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Object>? {
      var running: Running
      switch state {
      case .idle(let start): running = try start()
      case .running(let other): running = other
      case .ended: return nil
      }
      // An error, or the end, releases the query.
      state = .ended
      let query = running.query
      // Commits may have arrived since the last change was shown.
      guard let update = try await running.updates.next(isolation: actor, when: { query.isComplete }) else {
        return nil
      }
      if let failure = query.failure { throw failure }
      state = .running(running)
      return query.snapshot(of: update.snapshot, update.difference)
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
      return Running(query: query, lease: lease, updates: updates)
    }
  }
}
