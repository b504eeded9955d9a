import GraphModel

/// Shows what a search finds. It knows neither where all rows come from nor where the found ones do: it is given the rows, and
/// what was searched for, to highlight it.
public protocol SearchControllerDelegate: AnyObject {
  /// Another list is shown: what was found, or all rows for nil.
  func search(_ controller: SearchController, didShow rows: ResultsSnapshot, for query: SearchQuery?)
  /// A commit changed the list that is shown.
  func search(_ controller: SearchController, didChange rows: ResultsSnapshot, by difference: ResultsDifference)
  /// An answer is waited for, or no more.
  func search(_ controller: SearchController, isBusy: Bool)
  /// The search has no result; what is shown stays.
  func search(_ controller: SearchController, didFail refusal: Refusal)
  /// Where the person is in the list of all rows, which the search is about to leave.
  func placeToKeep(for controller: SearchController) -> SearchPlace
  /// All rows are shown again: back to the place that was kept, without the objects that have gone meanwhile. Where a window
  /// of the rows is here, nobody knows which of those beside it have.
  func search(_ controller: SearchController, didReturnTo place: SearchPlace)
}

extension SearchControllerDelegate {
  /// Does nothing.
  public func search(_ controller: SearchController, isBusy: Bool) {}
  /// Does nothing.
  public func search(_ controller: SearchController, didFail refusal: Refusal) {}
  /// Nothing is kept.
  public func placeToKeep(for controller: SearchController) -> SearchPlace { SearchPlace() }
  /// Does nothing.
  public func search(_ controller: SearchController, didReturnTo place: SearchPlace) {}
}

/// Where a person is in a list: what clearing a search brings back.
public struct SearchPlace: Hashable, Sendable {
  /// The selected objects.
  public var selection: Set<ObjectID>
  /// The first object in sight.
  public var first: ObjectID?

  /// Nowhere in particular, unless said otherwise.
  public init(selection: Set<ObjectID> = [], first: ObjectID? = nil) {
    self.selection = selection
    self.first = first
  }
}

/// Search as you type over a live list.
///
/// All rows are loaded once and stay followed while a search covers them; what a search finds is a live list of its own. While
/// the next one is on its way the list before stays, live as well. At most two found lists are followed at once.
public final class SearchController {
  /// Who shows it; not kept alive.
  public weak var delegate: (any SearchControllerDelegate)?
  /// What is shown was found for it; nil when all rows are shown.
  public private(set) var query: SearchQuery?

  private let all: ResultsController
  private let find: (SearchQuery) -> ResultsController
  private var session: SearchSession
  private var allListener: Listener?
  private var asked: Found?
  private var shown: Found?
  private var kept: SearchPlace?

  private final class Found {
    let number: SearchSession.Number
    let query: SearchQuery
    let results: ResultsController
    let listener: Listener

    init(_ number: SearchSession.Number, _ query: SearchQuery, _ results: ResultsController, _ listener: Listener) {
      (self.number, self.query, self.results, self.listener) = (number, query, results, listener)
    }
  }

  /// A search over a list.
  /// - Parameters:
  ///   - all: every row, for when nothing is searched for.
  ///   - found: makes the list of what a query finds; not fetched yet.
  public init(
    all: ResultsController, found: @escaping (SearchQuery) -> ResultsController,
    session: SearchSession = SearchSession()
  ) {
    self.all = all
    self.session = session
    find = found
  }

  // MARK: - Events

  /// Loads all rows, once, and shows them when they are here.
  public func start() {
    guard allListener == nil else { return }
    let listener = Listener()
    listener.changed = { [weak self] difference in
      guard let self, shown == nil else { return }
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

  /// The field says this now.
  public func type(_ text: String, at now: Milliseconds) { perform(session.handle(.typed(text, at: now))) }

  /// It is so late.
  public func tick(at now: Milliseconds) { perform(session.handle(.time(now))) }

  /// When `tick` is due; nil when nothing waits for it.
  public var deadline: Milliseconds? { session.deadline }

  /// Somebody has gone to a row that was found: clearing leads back to where they are now, not to where they were before.
  public func keepPlace() {
    guard kept != nil else { return }
    kept = delegate?.placeToKeep(for: self)
  }

  /// Empties the field: all rows are shown again.
  public func clear() { perform(session.handle(.typed("", at: 0))) }

  /// The rows that are shown.
  public var rows: ResultsSnapshot { shown?.results.snapshot ?? all.snapshot }

  /// How many rows the list that is shown has, those included that are not here.
  public var totalCount: Int { (shown?.results ?? all).totalCount }

  /// How many rows of the list that is shown come before those that are here.
  public var offset: Int { (shown?.results ?? all).offset }

  /// Brings other rows of the list that is shown here, where a window of it is.
  public func move(to window: ResultsWindow) { (shown?.results ?? all).move(to: window) }

  // MARK: - Actions

  private func perform(_ actions: [SearchSession.Action]) { for action in actions { perform(action) } }

  private func perform(_ action: SearchSession.Action) {
    switch action {
    case .begin: kept = delegate?.placeToKeep(for: self)
    case .search(let number, let query): search(number, query)
    case .cancel(let number):
      guard asked?.number == number else { return }
      asked?.results.stop()
      asked = nil
    case .show(let number):
      guard let found = asked, found.number == number else { return }
      shown?.results.stop()
      (shown, asked, query) = (found, nil, found.query)
      delegate?.search(self, didShow: found.results.snapshot, for: found.query)
    case .fail(let refusal):
      asked = nil
      delegate?.search(self, didFail: refusal)
    case .restore: restore()
    case .busy(let isBusy): delegate?.search(self, isBusy: isBusy)
    }
  }

  private func search(_ number: SearchSession.Number, _ query: SearchQuery) {
    let listener = Listener()
    listener.changed = { [weak self] difference in
      guard let self else { return }
      if let shown, shown.number == number {
        delegate?.search(self, didChange: shown.results.snapshot, by: difference)
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
    asked = Found(number, query, results, listener)
    results.performFetch()
  }

  private func restore() {
    shown?.results.stop()
    (shown, asked, query) = (nil, nil, nil)
    delegate?.search(self, didShow: all.snapshot, for: nil)
    guard var place = kept else { return }
    kept = nil
    if all.count == all.totalCount {
      place.selection = place.selection.filter { all.position(of: $0) != nil }
      if let first = place.first, all.position(of: first) == nil { place.first = nil }
    }
    delegate?.search(self, didReturnTo: place)
  }
}

/// Hears one list for the search.
private final class Listener: ResultsControllerDelegate {
  var changed: (ResultsDifference) -> Void = { _ in }
  var failed: (Refusal) -> Void = { _ in }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) { changed(difference) }

  func results(_ controller: ResultsController, didFail refusal: Refusal) { failed(refusal) }
}
