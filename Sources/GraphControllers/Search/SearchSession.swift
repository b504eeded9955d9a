import GraphModel

/// Milliseconds of a clock that never goes back. Whoever runs a controller passes it in.
public typealias Milliseconds = Int64

/// One search field, pure: keystrokes, time and answers in, what is to be done out.
///
/// Keystrokes are put together: a search starts when none has come for a while, and under steady typing now and then. A
/// search has a number; an answer to any but the last is stale and dropped.
public struct SearchSession: Sendable {
  /// A search of this session, from 1.
  public typealias Number = Int

  /// What happens to it.
  public enum Event: Hashable, Sendable {
    /// The field says this now.
    case typed(String, at: Milliseconds)
    /// It is so late; needed at the deadline, and harmless at any other time.
    case time(Milliseconds)
    /// The result of a search has come.
    case answered(Number)
    /// A search has no result.
    case failed(Number, Refusal)
  }

  /// What is to be done.
  public enum Action: Hashable, Sendable {
    /// The first word was typed: keep what is shown, to come back to it.
    case begin
    /// Ask for a result.
    case search(Number, SearchQuery)
    /// Nobody waits for this one any more.
    case cancel(Number)
    /// Show this result, which is here; the one shown before is of no use any more.
    case show(Number)
    /// Tell the reason; what is shown stays.
    case fail(Refusal)
    /// Show everything again, and what was kept.
    case restore
    /// An answer is waited for, or no more.
    case busy(Bool)
  }

  /// A search starts when nothing has been typed for so long.
  public static let quietMilliseconds: Milliseconds = 120
  /// However fast somebody types, a search starts so long after the first letter that none covers.
  public static let patienceMilliseconds: Milliseconds = 400

  /// The query that was typed last and is not asked yet.
  private var typed: (query: SearchQuery, first: Milliseconds, last: Milliseconds)?
  /// The one that is asked, or was answered or refused last.
  private var asked: (number: Number, query: SearchQuery)?
  private var isWaiting = false
  private var hasBegun = false
  private var last = 0
  private let quiet: Milliseconds
  private let patience: Milliseconds

  /// A field without a word in it.
  public init(
    quietMilliseconds: Milliseconds = Self.quietMilliseconds,
    patienceMilliseconds: Milliseconds = Self.patienceMilliseconds
  ) {
    (quiet, patience) = (quietMilliseconds, patienceMilliseconds)
  }

  /// When `time` is due; nil when nothing waits for it.
  public var deadline: Milliseconds? { typed.map { min($0.last + quiet, $0.first + patience) } }

  /// Takes one event; the actions are to be done in their order.
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
      // Typed again, it is asked again.
      asked = nil
      defer { isWaiting = false }
      return (isWaiting ? [.busy(false)] : []) + [.fail(refusal)]
    }
  }

  private mutating func take(_ query: SearchQuery?, _ now: Milliseconds) -> [Action] {
    guard let query else { return clear() }
    guard query != asked?.query else {
      // Back to what is asked already.
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
