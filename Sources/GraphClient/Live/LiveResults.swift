// Tests: LiveResultsTests.swift
import GraphControllers
import GraphModel
import GraphReplica
import Observation

/// The result of a live query for a front end that observes its state, such as SwiftUI: its properties change with each
/// commit that changes the result.
///
/// The query is followed from the creation until `close`, or until the object is released.
@Observable
public final class LiveResults<Object: ManagedObject> {
  /// The newest snapshot; empty before the first result.
  public private(set) var snapshot: LiveSnapshot<Object>
  /// The reason why the result is no longer followed; nil while it is. The last snapshot stays.
  public private(set) var failure: Refusal?
  /// Whether the first result has not arrived.
  public private(set) var isLoading = true
  @ObservationIgnored private let query: LiveQuery<Object>
  @ObservationIgnored private var lease: LiveQueryLease?
  @ObservationIgnored private var prefetch: Prefetch
  /// Starts a task on the client's actor.
  @ObservationIgnored private let spawn: (@escaping () async -> Void) -> Void

  /// The loading of the relationships of the first result, before which it is not shown.
  private enum Prefetch {
    case needed(wait: (QueryID) async throws -> Void)
    case running
    case complete
  }

  init(_ request: ResultsRequest, of client: GraphClient) {
    query = LiveQuery(request, of: client)
    spawn = { [weak client] body in client?.spawn(body) }
    prefetch = request.prefetching.isEmpty ? .complete : .needed(wait: client.waitForPrefetch)
    snapshot = query.snapshot(nil)
    if let ending = client.ending {
      (failure, isLoading) = (ending, false)
      return
    }
    lease = LiveQueryLease(query, of: client)
    query.didChange = { [weak self] in self?.update() }
    query.start()
  }

  /// The objects, in order.
  public var objects: [Object] { Array(snapshot) }

  /// The sections, in order; one with all objects if the query has no section key.
  public var sections: [LiveSection<Object>] { snapshot.sections }

  /// The revision that the result shows.
  public var revision: Revision { snapshot.revision }

  /// Stops following the result; the last snapshot stays.
  public func close() {
    lease = nil
    query.didChange = nil
    isLoading = false
  }

  private func fail(_ refusal: Refusal) {
    (failure, isLoading) = (refusal, false)
    lease = nil
  }

  private func finishPrefetch(_ failure: Refusal?) {
    if let failure { return fail(failure) }
    prefetch = .complete
    update()
  }

  private func update() {
    // It may have been closed while it loaded.
    if lease == nil { return }
    if let refusal = query.failure {
      fail(refusal)
    } else if case .needed(let wait) = prefetch, let number = query.query {
      prefetch = .running
      // Without a capture list, as `GraphClient.spawn` demands.
      let results = WeakReference(self)
      spawn {
        var failure: Refusal?
        do { try await wait(number) } catch { failure = error as? Refusal ?? Refusal(.unavailable, "\(error)") }
        results.object?.finishPrefetch(failure)
      }
    } else if case .complete = prefetch {
      // A first result has no difference, as in a sequence.
      snapshot = query.snapshot(isLoading ? nil : query.newestDifference)
      isLoading = false
    }
  }
}
