// Tests: LiveSequenceTests.swift, LiveResultsTests.swift
import GraphControllers
import GraphModel
import GraphReplica

/// A running live query: its results controller, and the objects of the newest snapshot.
///
/// The client keeps it until its reader closes it or is released, or until the client is closed. It belongs to the
/// client's actor, as the context does.
final class LiveQuery<Object: ManagedObject>: RunningQuery, ResultsControllerDelegate {
  /// Called after each change of the newest snapshot, and after a failure.
  var didChange: (() -> Void)?
  /// The reason why there will be no further snapshot; nil while there may be.
  private(set) var failure: Refusal?
  /// The objects of the newest snapshot. They change with its rows: a snapshot that a reader keeps has its own copy.
  private(set) var objects = [ObjectID: Object]()
  /// The difference between the newest snapshot and the previous one; nil before the first.
  private(set) var newestDifference: LiveDifference?
  let controller: ResultsController
  private let source: LiveQuerySource

  init(_ request: ResultsRequest, of client: GraphClient) {
    source = LiveQuerySource(request, in: client.context, showsCompleteObjects: true)
    controller = ResultsController(source, in: client.context)
    controller.delegate = self
  }

  /// Subscribes.
  func start() { controller.performFetch() }

  func stop() { controller.stop() }

  func fail(_ refusal: Refusal) { controller.fail(refusal) }

  /// The query in the context; nil when it has ended.
  var query: QueryID? { source.query }

  /// Whether the objects of the newest snapshot have the relationships that the query prefetches.
  var isComplete: Bool { source.isComplete }

  /// The newest snapshot.
  /// - Parameter difference: its difference from the reader's previous one.
  func snapshot(_ difference: LiveDifference?) -> LiveSnapshot<Object> {
    snapshot(of: controller.snapshot, difference)
  }

  /// The snapshot of the newest rows.
  func snapshot(of rows: ResultsSnapshot, _ difference: LiveDifference?) -> LiveSnapshot<Object> {
    let members = SnapshotMembers(
      objects: objects, companions: source.query.flatMap { source.context.prefetchedObjects(of: $0) })
    return LiveSnapshot(rows, members, difference: difference, totalCount: controller.totalCount)
  }

  // MARK: - The controller's delegate

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    for change in difference.objects {
      switch change {
      case .removed(let id, _): objects[id] = nil
      case .inserted(let id, _): insert(id)
      case .moved, .updated: break
      }
    }
    newestDifference = difference
    didChange?()
  }

  private func insert(_ id: ObjectID) {
    if let object = source.query.flatMap({ source.context.object(id, in: $0) }) as? Object {
      objects[id] = object
    } else if failure == nil {
      let refusal = Refusal(
        .malformed,
        "an object of the query is not of the class \(Object.self): give the client the classes of its entities")
      // Set at once, because the controller reports it after this change.
      failure = refusal
      controller.fail(refusal)
    }
  }

  func results(_ controller: ResultsController, didFail refusal: Refusal) {
    failure = refusal
    didChange?()
  }
}

/// A live query of any class, as the client keeps it.
protocol RunningQuery: AnyObject {
  /// Unsubscribes.
  func stop()
  /// Unsubscribes, and reports to the reader why.
  func fail(_ refusal: Refusal)
}

/// The live queries of a client whose readers have not been released.
struct RunningQueries {
  private var queries = [Int: any RunningQuery]()
  private var lastNumber = 0

  /// The number of queries.
  var count: Int { queries.count }

  mutating func add(_ query: any RunningQuery) -> Int {
    lastNumber += 1
    queries[lastNumber] = query
    return lastNumber
  }

  mutating func remove(_ number: Int) -> (any RunningQuery)? { queries.removeValue(forKey: number) }

  /// Removes all queries, in the order in which they began.
  mutating func removeAll() -> [any RunningQuery] {
    defer { queries = [:] }
    return queries.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// Keeps a live query of a client; its release ends the query.
final class LiveQueryLease {
  private let client: GraphClient
  private let number: Int

  init(_ query: any RunningQuery, of client: GraphClient) {
    self.client = client
    number = client.runningQueries.add(query)
  }

  // It may be released in the middle of a call on the client.
  deinit {
    client.mailbox.post { [number] in $0.runningQueries.remove(number)?.stop() }
  }
}
