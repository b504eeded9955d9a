import GraphModel

/// Milliseconds of a monotonic clock; the owner of a controller passes them in.
public typealias Milliseconds = Int64

/// The state machine of a search field: keystrokes, times and answers in, actions out.
///
/// It debounces keystrokes: a search starts after a pause, and at intervals under steady typing. Each search has a
/// number; answers to all but the latest search are dropped.
public struct SearchSession: Sendable {
  /// A search of this session, from 1.
  public typealias Number = Int

  /// An input of the session.
  public enum Event: Hashable, Sendable {
    /// The search field has a new text.
    case typed(String, at: Milliseconds)
    /// The current time; needed at the deadline, harmless at any other time.
    case time(Milliseconds)
    /// The result of a search has arrived.
    case answered(Number)
    /// A search has failed.
    case failed(Number, Refusal)
  }

  /// An action for the search controller.
  public enum Action: Hashable, Sendable {
    /// The first word was typed: keep the user's place in the current list.
    case begin
    /// Request the results of a query.
    case search(Number, SearchQuery)
    /// Cancel a search whose results are no longer needed.
    case cancel(Number)
    /// Show the results of this search, which are loaded, and release the previous ones.
    case show(Number)
    /// Report the error; the current list stays.
    case fail(Refusal)
    /// Show all rows again and restore the kept place.
    case restore
    /// The session began or stopped waiting for an answer.
    case busy(Bool)
  }

  /// The pause in typing, in milliseconds, after which a search starts.
  public static let debounceMilliseconds: Milliseconds = 120
  /// The longest time, in milliseconds, from the first unsearched keystroke to a search under steady typing.
  public static let maximumDelayMilliseconds: Milliseconds = 400

  /// The latest query, not searched yet, with the times of its first and last keystroke.
  private var typed: (query: SearchQuery, first: Milliseconds, last: Milliseconds)?
  /// The query of the latest search, running or finished.
  private var latestSearch: (number: Number, query: SearchQuery)?
  private var isSearching = false
  private var hasStarted = false
  private var last = 0
  private let debounce: Milliseconds
  private let maximumDelay: Milliseconds

  /// Creates a session with an empty search field.
  public init(
    debounceMilliseconds: Milliseconds = Self.debounceMilliseconds,
    maximumDelayMilliseconds: Milliseconds = Self.maximumDelayMilliseconds
  ) {
    (debounce, maximumDelay) = (debounceMilliseconds, maximumDelayMilliseconds)
  }

  /// The time at which `time` must be handled; nil if no search is pending.
  public var deadline: Milliseconds? { typed.map { min($0.last + debounce, $0.first + maximumDelay) } }

  /// Handles an event and returns the actions to perform, in order.
  public mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .typed(let text, let now): return schedule(SearchQuery(text), now)
    case .time(let now):
      guard let deadline, now >= deadline, let query = typed?.query else { return [] }
      return startSearch(query)
    case .answered(let number):
      guard isSearching, number == latestSearch?.number else { return [] }
      isSearching = false
      return [.busy(false), .show(number)]
    case .failed(let number, let refusal):
      guard number == latestSearch?.number else { return [] }
      // After a failure, typing the same query searches again.
      latestSearch = nil
      defer { isSearching = false }
      return (isSearching ? [.busy(false)] : []) + [.fail(refusal)]
    }
  }

  private mutating func schedule(_ query: SearchQuery?, _ now: Milliseconds) -> [Action] {
    guard let query else { return clear() }
    guard query != latestSearch?.query else {
      // The query is the one already searched.
      typed = nil
      return []
    }
    typed = (query, typed?.first ?? now, now)
    guard !hasStarted else { return [] }
    hasStarted = true
    return [.begin]
  }

  private mutating func clear() -> [Action] {
    typed = nil
    guard hasStarted else { return [] }
    hasStarted = false
    defer { (latestSearch, isSearching) = (nil, false) }
    return cancellation + (isSearching ? [.busy(false)] : []) + [.restore]
  }

  private mutating func startSearch(_ query: SearchQuery) -> [Action] {
    let actions = cancellation + (isSearching ? [] : [.busy(true)])
    typed = nil
    last += 1
    latestSearch = (last, query)
    isSearching = true
    return actions + [.search(last, query)]
  }

  private var cancellation: [Action] {
    guard isSearching, let latestSearch else { return [] }
    return [.cancel(latestSearch.number)]
  }
}
