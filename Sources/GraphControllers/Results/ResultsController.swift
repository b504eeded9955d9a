import GraphModel
import GraphReplica

/// Keeps the objects of a request in order and in sections while the graph changes, and tells each commit as one difference:
/// Core Data's `NSFetchedResultsController`, for live queries.
///
/// What differs from Core Data: the rows are those that are committed, unsaved edits apart; the first result comes when the
/// server has answered, and is told to the delegate like any other change; and the section key always comes first in the
/// order.
///
/// A commit costs what it touches, times the logarithm of the count. The controller belongs to its context's actor.
public final class ResultsController {
  /// How far the result is.
  public enum State: Hashable, Sendable {
    /// `performFetch` has not been called, or `stop` has.
    case idle
    /// The result is on its way.
    case fetching
    /// The result is here and followed.
    case loaded
    /// There is none, or no more; what was there before stays.
    case failed(Refusal)
  }

  /// Who is told; not kept alive. Setting it takes out those of `observers`.
  public var delegate: (any ResultsControllerDelegate)? {
    get { slot.delegate }
    set { slot.delegate = newValue }
  }
  /// For several who are told, in the order of adding; the delegate that is set comes first.
  public var observers: MulticastResultsDelegate { slot.several }
  /// How far the result is.
  public private(set) var state = State.idle
  /// The rows.
  public private(set) var snapshot: ResultsSnapshot

  private var slot = DelegateSlot<any ResultsControllerDelegate, MulticastResultsDelegate> { earlier in
    MulticastResultsDelegate(keeping: earlier)
  }
  private let source: any ResultsSource
  private let context: ObjectContext?
  /// Events that came while one was being told: they wait, so that brackets don't lie in each other.
  private var waiting = [ResultsEvent]()
  private var isTelling = false
  private var readers = [WeakReader]()

  private struct WeakReader {
    weak var reader: ResultsReader?
  }

  /// A controller of a source's rows.
  /// - Parameter context: where `object(at:)` looks; nil for a source without one.
  public init(_ source: any ResultsSource, in context: ObjectContext? = nil) {
    self.source = source
    self.context = context
    snapshot = ResultsSnapshot(awaiting: source.order)
  }

  /// A controller of what a request asks for.
  /// - Parameter perform: called when the context has something for the server; `GraphClient.perform`.
  public convenience init(_ request: ResultsRequest, in context: ObjectContext, perform: @escaping () -> Void = {}) {
    self.init(LiveQuerySource(request, in: context, perform: perform), in: context)
  }

  deinit {
    source.stop()
    for reader in readers { reader.reader?.end(nil) }
  }

  // MARK: - Fetching

  /// Asks for the result and follows it from then on; once under way it does nothing. After a failure it tries again.
  public func performFetch() {
    switch state {
    case .fetching, .loaded: return
    case .idle, .failed: break
    }
    state = .fetching
    source.start { [weak self] event in self?.take(event) }
  }

  /// Follows the result no more; the rows stay. Its updates end.
  public func stop() {
    source.stop()
    state = .idle
    waiting = []
    for reader in readers { reader.reader?.end(nil) }
    readers = []
  }

  // MARK: - Rows

  /// How many rows there are.
  public var count: Int { snapshot.count }

  /// How many rows the whole result has; more than `count` where the source holds a part.
  public var totalCount: Int { source.totalCount }

  /// How many rows of the whole result come before those that are here.
  public var offset: Int { source.offset }

  /// Shows other rows of a result of which a window is here; the rows stay until the new ones come, and then the difference
  /// is told.
  public func move(to window: ResultsWindow) { source.move(to: window) }

  /// Where an object stands, in logarithmic time; nil when it is not in the result. While a commit is about to be told,
  /// also nil for an object that it moves.
  public func position(of id: ObjectID) -> ResultsPosition? { source.row(of: id).flatMap { snapshot.position(of: $0) } }

  /// The object at a position, in the controller's context.
  public func object(at position: ResultsPosition) -> ManagedObject? { context?.fault(snapshot[position]) }

  /// The object at an offset among all rows.
  public func object(at offset: Int) -> ManagedObject? { context?.fault(snapshot[offset]) }

  // MARK: - Telling

  private func take(_ event: ResultsEvent) {
    waiting.append(event)
    guard !isTelling else { return }
    isTelling = true
    while !waiting.isEmpty { tell(waiting.removeFirst()) }
    isTelling = false
  }

  private func tell(_ event: ResultsEvent) {
    switch event {
    case .changed(let commit): tell(commit)
    case .failed(let refusal):
      state = .failed(refusal)
      delegate?.results(self, didFail: refusal)
      for reader in readers { reader.reader?.end(refusal) }
      readers = []
    }
  }

  private func tell(_ commit: ResultsCommit) {
    var difference = ResultsDifference(from: snapshot, to: commit.snapshot, touched: commit.touched)
    (difference.revision, difference.author, difference.time) = (commit.revision, commit.author, commit.time)
    let isFirst = state != .loaded
    state = .loaded
    // Whoever takes the place in the middle gets the next bracket whole.
    let told = delegate
    if isFirst || !difference.isEmpty { told?.resultsWillChange(self) }
    snapshot = commit.snapshot
    readers.removeAll { $0.reader == nil }
    for reader in readers { reader.reader?.take(commit, isNews: isFirst || !difference.isEmpty) }
    guard isFirst || !difference.isEmpty else { return }
    for section in difference.sections where delegate === told { told?.results(self, didChange: section) }
    for object in difference.objects where delegate === told { told?.results(self, didChange: object) }
    if delegate === told { told?.resultsDidChange(self, by: difference) }
  }

  // MARK: - Updates

  /// The result as it is, then as it is after each commit. A slow reader gets the newest one, with one difference from
  /// the one that it got before.
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
