import GraphModel

/// Shows the results of a search. It receives the rows and the query, for highlighting, and does not know which
/// controllers supply them.
public protocol SearchControllerDelegate: AnyObject {
  /// The list has been replaced: by the results of `query`, or by all rows if it is nil.
  func search(_ controller: SearchController, didShow rows: ResultsSnapshot, for query: SearchQuery?)
  /// A commit changed the current list.
  func search(_ controller: SearchController, didChange rows: ResultsSnapshot, by difference: ResultsDifference)
  /// The search began or stopped waiting for results.
  func search(_ controller: SearchController, isBusy: Bool)
  /// The search failed; the current list stays.
  func search(_ controller: SearchController, didFail refusal: Refusal)
  /// Returns the user's place in the list of all rows, which the search is about to replace.
  func stateToSave(for controller: SearchController) -> ListViewState
  /// All rows are shown again; restore the kept place. If all rows are loaded, objects that were deleted meanwhile are
  /// removed from it.
  func search(_ controller: SearchController, didReturnTo place: ListViewState)
}

extension SearchControllerDelegate {
  /// Does nothing.
  public func search(_ controller: SearchController, isBusy: Bool) {}
  /// Does nothing.
  public func search(_ controller: SearchController, didFail refusal: Refusal) {}
  /// Returns an empty place.
  public func stateToSave(for controller: SearchController) -> ListViewState { ListViewState() }
  /// Does nothing.
  public func search(_ controller: SearchController, didReturnTo place: ListViewState) {}
}

/// The user's place in a list, restored when a search is cleared.
public struct ListViewState: Hashable, Sendable {
  /// The selected objects.
  public var selection: Set<ObjectID>
  /// The first visible object.
  public var first: ObjectID?

  /// Creates a place; it is empty by default.
  public init(selection: Set<ObjectID> = [], first: ObjectID? = nil) {
    self.selection = selection
    self.first = first
  }
}

/// Search as you type over a live list.
///
/// All rows are loaded once and stay live during a search; the results of a search are a live list of their own. The
/// previous list stays, also live, until the next results arrive. At most two lists of results are live at once.
public final class SearchController {
  /// The delegate, held weakly.
  public weak var delegate: (any SearchControllerDelegate)?
  /// The query of the current list; nil if all rows are shown.
  public private(set) var query: SearchQuery?

  private let all: ResultsController
  private let find: (SearchQuery) -> ResultsController
  private var session: SearchSession
  private var allListener: ResultsListener?
  private var requestedSearch: ActiveSearch?
  private var shownSearch: ActiveSearch?
  private var savedState: ListViewState?

  private final class ActiveSearch {
    let number: SearchSession.Number
    let query: SearchQuery
    let results: ResultsController
    let listener: ResultsListener

    init(
      _ number: SearchSession.Number, _ query: SearchQuery, _ results: ResultsController, _ listener: ResultsListener
    ) {
      (self.number, self.query, self.results, self.listener) = (number, query, results, listener)
    }
  }

  /// Creates a search over a list.
  /// - Parameters:
  ///   - all: the controller of all rows, shown without a query.
  ///   - found: creates the controller of a query's results, without fetching it.
  public init(
    all: ResultsController, found: @escaping (SearchQuery) -> ResultsController,
    session: SearchSession = SearchSession()
  ) {
    self.all = all
    self.session = session
    find = found
  }

  // MARK: - Events

  /// Loads all rows, once, and shows them when they arrive.
  public func start() {
    guard allListener == nil else { return }
    let listener = ResultsListener()
    listener.changed = { [weak self] difference in
      guard let self, shownSearch == nil else { return }
      delegate?.search(self, didChange: all.snapshot, by: difference)
    }
    listener.failed = { [weak self] refusal in
      guard let self else { return }
      delegate?.search(self, didFail: refusal)
    }
    allListener = listener
    all.observers.add(listener)
    if all.state == .loaded { delegate?.search(self, didShow: all.snapshot, for: nil) }
    all.performFetch()
  }

  /// Handles the new text of the search field.
  public func type(_ text: String, at now: Milliseconds) { perform(session.handle(.typed(text, at: now))) }

  /// Advances the clock.
  public func tick(at now: Milliseconds) { perform(session.handle(.time(now))) }

  /// The time at which `tick` must be called; nil if no search is pending.
  public var deadline: Milliseconds? { session.deadline }

  /// Replaces the kept place by the current one, because the user has navigated to a result; clearing returns there.
  public func saveState() {
    guard savedState != nil else { return }
    savedState = delegate?.stateToSave(for: self)
  }

  /// Clears the search field; all rows are shown again.
  public func clear() { perform(session.handle(.typed("", at: 0))) }

  /// The loaded rows of the current list.
  public var rows: ResultsSnapshot { shownSearch?.results.snapshot ?? all.snapshot }

  /// The number of rows of the current list, including those that are not loaded.
  public var totalCount: Int { (shownSearch?.results ?? all).totalCount }

  /// The number of rows of the current list before the first loaded one.
  public var offset: Int { (shownSearch?.results ?? all).offset }

  /// Moves the window of the current list, if it is windowed.
  public func move(to window: ResultsWindow) { (shownSearch?.results ?? all).move(to: window) }

  // MARK: - Actions

  private func perform(_ actions: [SearchSession.Action]) { for action in actions { perform(action) } }

  private func perform(_ action: SearchSession.Action) {
    switch action {
    case .begin: savedState = delegate?.stateToSave(for: self)
    case .search(let number, let query): search(number, query)
    case .cancel(let number):
      guard requestedSearch?.number == number else { return }
      requestedSearch?.results.stop()
      requestedSearch = nil
    case .show(let number):
      guard let found = requestedSearch, found.number == number else { return }
      shownSearch?.results.stop()
      (shownSearch, requestedSearch, query) = (found, nil, found.query)
      delegate?.search(self, didShow: found.results.snapshot, for: found.query)
    case .fail(let refusal):
      requestedSearch = nil
      delegate?.search(self, didFail: refusal)
    case .restore: restore()
    case .busy(let isBusy): delegate?.search(self, isBusy: isBusy)
    }
  }

  private func search(_ number: SearchSession.Number, _ query: SearchQuery) {
    let listener = ResultsListener()
    listener.changed = { [weak self] difference in
      guard let self else { return }
      if let shownSearch, shownSearch.number == number {
        delegate?.search(self, didChange: shownSearch.results.snapshot, by: difference)
      } else {
        perform(session.handle(.answered(number)))
      }
    }
    listener.failed = { [weak self] refusal in
      guard let self else { return }
      perform(session.handle(.failed(number, refusal)))
    }
    let results = find(query)
    results.observers.add(listener)
    requestedSearch = ActiveSearch(number, query, results, listener)
    results.performFetch()
  }

  private func restore() {
    shownSearch?.results.stop()
    (shownSearch, requestedSearch, query) = (nil, nil, nil)
    delegate?.search(self, didShow: all.snapshot, for: nil)
    guard var place = savedState else { return }
    savedState = nil
    if hasAllRows {
      place.selection = place.selection.filter { all.position(of: $0) != nil }
      if let first = place.first, all.position(of: first) == nil { place.first = nil }
    }
    delegate?.search(self, didReturnTo: place)
  }

  /// Whether a missing row means that its object was deleted. That is not so before the rows have arrived, after their
  /// query has failed, or for a window of them.
  private var hasAllRows: Bool { all.state == .loaded && all.count == all.totalCount }
}

/// Observes one list for the search.
private final class ResultsListener: ResultsControllerDelegate {
  var changed: (ResultsDifference) -> Void = { _ in }
  var failed: (Refusal) -> Void = { _ in }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) { changed(difference) }

  func results(_ controller: ResultsController, didFail refusal: Refusal) { failed(refusal) }
}
