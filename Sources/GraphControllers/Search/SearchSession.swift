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
  public static let quietMilliseconds: Milliseconds = 120
  /// The longest time, in milliseconds, from the first unsearched keystroke to a search under steady typing.
  public static let patienceMilliseconds: Milliseconds = 400

  /// The latest query, not searched yet, with the times of its first and last keystroke.
  private var typed: (query: SearchQuery, first: Milliseconds, last: Milliseconds)?
  /// The query of the latest search, running or finished.
  private var asked: (number: Number, query: SearchQuery)?
  private var isWaiting = false
  private var hasBegun = false
  private var last = 0
  private let quiet: Milliseconds
  private let patience: Milliseconds

  /// Creates a session with an empty search field.
  public init(
    quietMilliseconds: Milliseconds = Self.quietMilliseconds,
    patienceMilliseconds: Milliseconds = Self.patienceMilliseconds
  ) {
    (quiet, patience) = (quietMilliseconds, patienceMilliseconds)
  }

  /// The time at which `time` must be handled; nil if no search is pending.
  public var deadline: Milliseconds? { typed.map { min($0.last + quiet, $0.first + patience) } }

  /// Handles an event and returns the actions to perform, in order.
  public mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .typed(let text, let now): return take(SearchQuery(text), now)
    case .time(let now):
      guard let deadline, now >= deadline, let query = typed?.query else { return [] }
      return ask(query)
    case .answered(let number):
      guard isWaiting, number == asked?.number else { return [] }
      isWaiting = false
      return [.busy(false), .show(number)]
    case .failed(let number, let refusal):
      guard number == asked?.number else { return [] }
      // After a failure, typing the same query searches again.
      asked = nil
      defer { isWaiting = false }
      return (isWaiting ? [.busy(false)] : []) + [.fail(refusal)]
    }
  }

  private mutating func take(_ query: SearchQuery?, _ now: Milliseconds) -> [Action] {
    guard let query else { return clear() }
    guard query != asked?.query else {
      // The query is the one already searched.
      typed = nil
      return []
    }
    typed = (query, typed?.first ?? now, now)
    guard !hasBegun else { return [] }
    hasBegun = true
    return [.begin]
  }

  private mutating func clear() -> [Action] {
    typed = nil
    guard hasBegun else { return [] }
    hasBegun = false
    defer { (asked, isWaiting) = (nil, false) }
    return abandoned + (isWaiting ? [.busy(false)] : []) + [.restore]
  }

  private mutating func ask(_ query: SearchQuery) -> [Action] {
    let actions = abandoned + (isWaiting ? [] : [.busy(true)])
    typed = nil
    last += 1
    asked = (last, query)
    isWaiting = true
    return actions + [.search(last, query)]
  }

  private var abandoned: [Action] {
    guard isWaiting, let asked else { return [] }
    return [.cancel(asked.number)]
  }
}
