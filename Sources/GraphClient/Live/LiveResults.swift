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

  init(_ request: ResultsRequest, of client: GraphClient) {
    query = LiveQuery(request, of: client)
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

  private func update() {
    // It may have been closed while it loaded.
    if lease == nil { return }
    if let refusal = query.failure {
      fail(refusal)
    } else {
      // A first result has no difference, as in a sequence.
      snapshot = query.snapshot(isLoading ? nil : query.newestDifference)
      isLoading = false
    }
  }
}
