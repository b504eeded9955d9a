import GraphModel
import GraphReplica

/// Keeps a request's objects in order and in sections while the graph changes, and reports each commit as one
/// difference.
///
/// It corresponds to Core Data's `NSFetchedResultsController`, for live queries, with these differences: rows show
/// committed values without unsaved edits; the first result arrives when the server has answered, and the delegate
/// receives it like any other change; and the section key is always the first sort key.
///
/// A commit costs time proportional to the objects it touches, times the logarithm of the row count. The controller
/// belongs to its context's actor.
public final class ResultsController {
  /// The loading state of the result.
  public enum State: Hashable, Sendable {
    /// `performFetch` has not been called, or `stop` has.
    case idle
    /// The result has been requested and has not arrived.
    case fetching
    /// The result is loaded and live.
    case loaded
    /// The query failed; earlier rows stay.
    case failed(Refusal)
  }

  /// The delegate, held weakly. Setting it removes all `observers`.
  public var delegate: (any ResultsControllerDelegate)? {
    get { slot.delegate }
    set { slot.delegate = newValue }
  }
  /// Several observers, called in the order of adding; a delegate that was set before comes first.
  public var observers: MulticastResultsDelegate { slot.several }
  /// The loading state of the result.
  public private(set) var state = State.idle
  /// The current rows.
  public private(set) var snapshot: ResultsSnapshot

  private var slot = DelegateSlot<any ResultsControllerDelegate, MulticastResultsDelegate> { earlier in
    MulticastResultsDelegate(keeping: earlier)
  }
  private let source: any ResultsSource
  private let context: ObjectContext?
  /// Events that arrived while another one was being delivered. They wait, so that will/did-change pairs do not nest.
  private var pendingEvents = [ResultsEvent]()
  private var isDelivering = false
  private var readers = [WeakReader]()

  private struct WeakReader {
    weak var reader: ResultsReader?
  }

  /// Creates a controller for a source's rows.
  /// - Parameter context: the context in which `object(at:)` looks up objects; nil for a source without one.
  public init(_ source: any ResultsSource, in context: ObjectContext? = nil) {
    self.source = source
    self.context = context
    snapshot = ResultsSnapshot(awaiting: source.order)
  }

  /// Creates a controller for the result of a request.
  public convenience init(_ request: ResultsRequest, in context: ObjectContext) {
    self.init(LiveQuerySource(request, in: context), in: context)
  }

  deinit {
    source.stop()
    for reader in readers { reader.reader?.end(nil) }
  }

  // MARK: - Fetching

  /// Requests the result and keeps it live. Does nothing while fetching or loaded; after a failure it tries again.
  public func performFetch() {
    switch state {
    case .fetching, .loaded: return
    case .idle, .failed: break
    }
    state = .fetching
    source.start { [weak self] event in self?.receive(event) }
  }

  /// Stops following the result; the rows stay. Its `updates` end.
  public func stop() {
    source.stop()
    state = .idle
    pendingEvents = []
    for reader in readers { reader.reader?.end(nil) }
    readers = []
  }

  /// Ends a result because its source delivers no further changes, for example after a failed query: the rows stay, and
  /// `updates` throws the refusal.
  public func fail(_ refusal: Refusal) {
    source.stop()
    receive(.failed(refusal))
  }

  // MARK: - Rows

  /// The number of rows.
  public var count: Int { snapshot.count }

  /// The number of rows in the complete result; more than `count` if the source holds a window of it. A change of it
  /// alone is reported as a difference without changes.
  public private(set) var totalCount = 0

  /// The number of rows of the complete result before the first loaded one.
  public var offset: Int { source.offset }

  /// Moves the window of a windowed result. The current rows stay until the new ones arrive; the delegate then
  /// receives the difference.
  public func move(to window: ResultsWindow) { source.move(to: window) }

  /// Returns an object's position, in logarithmic time; nil if it is not in the result. In `resultsWillChange`, also
  /// nil for an object that the commit moves.
  public func position(of id: ObjectID) -> ResultsPosition? { source.row(of: id).flatMap { snapshot.position(of: $0) } }

  /// Returns the object at a position, in the controller's context.
  public func object(at position: ResultsPosition) -> ManagedObject? { context?.fault(snapshot[position]) }

  /// Returns the object at an offset among all rows.
  public func object(at offset: Int) -> ManagedObject? { context?.fault(snapshot[offset]) }

  // MARK: - Delivering

  private func receive(_ event: ResultsEvent) {
    pendingEvents.append(event)
    guard !isDelivering else { return }
    isDelivering = true
    while !pendingEvents.isEmpty { handle(pendingEvents.removeFirst()) }
    isDelivering = false
  }

  private func handle(_ event: ResultsEvent) {
    switch event {
    case .changed(let commit): publish(commit)
    case .failed(let refusal):
      state = .failed(refusal)
      delegate?.results(self, didFail: refusal)
      for reader in readers { reader.reader?.end(refusal) }
      readers = []
    }
  }

  private func publish(_ commit: ResultsCommit) {
    var difference = ResultsDifference(from: snapshot, to: commit.snapshot, touched: commit.touched)
    (difference.revision, difference.author, difference.time) = (commit.revision, commit.author, commit.time)
    let isFirst = state != .loaded
    state = .loaded
    let isNews = isFirst || !difference.isEmpty || totalCount != source.totalCount
    // If the delegate is replaced during delivery, the new one receives only later changes.
    let receiver = delegate
    if isNews { receiver?.resultsWillChange(self) }
    (snapshot, totalCount) = (commit.snapshot, source.totalCount)
    readers.removeAll { $0.reader == nil }
    for reader in readers { reader.reader?.record(commit, difference, isNews: isNews) }
    guard isNews else { return }
    for section in difference.sections where delegate === receiver { receiver?.results(self, didChange: section) }
    for object in difference.objects where delegate === receiver { receiver?.results(self, didChange: object) }
    if delegate === receiver { receiver?.resultsDidChange(self, by: difference) }
  }

  // MARK: - Updates

  /// The current result, then the result after each commit. A slow reader receives the newest result, with one
  /// difference from the one that it received before.
  public var updates: ResultsUpdates { ResultsUpdates(controller: self) }

  func addReader() -> ResultsReader {
    let reader = ResultsReader()
    switch state {
    case .failed(let refusal): reader.end(refusal)
    case .loaded: reader.begin(with: snapshot)
    case .idle, .fetching: break
    }
    readers.append(WeakReader(reader: reader))
    return reader
  }
}
