import GraphModel

/// What a screen has asked for in the background and has not heard of yet, pure: events in, actions out.
///
/// A request is entered when it is sent and leaves when its answer, its error or its cancellation arrives, or when the view
/// that sent it closes; then whatever arrives for it is dropped. A view is busy while it has an entry.
public struct RequestLedger: Sendable {
  /// A request of this ledger, from 1.
  public typealias Number = Int
  /// A view that sends requests, from 1.
  public typealias Owner = Int

  /// What is to be done.
  public enum Action: Hashable, Sendable {
    /// Perform the request off the screen's actor.
    case perform(Number)
    /// Nobody waits for it any more.
    case stop(Number)
    /// The view's indicator starts or stops: told before what stops it is.
    case busy(Owner, Bool)
    /// The view hears what became of its request.
    case tell(Owner, Number)
  }

  private var owners = [Number: Owner]()
  private var counts = [Owner: Int]()
  private var last = 0
  private var lastOwner = 0

  /// An empty ledger.
  public init() {}

  /// A view that will hear what becomes of its requests. Without one nothing can be sent, so that no answer comes before
  /// somebody listens.
  public mutating func open() -> Owner {
    lastOwner += 1
    counts[lastOwner] = 0
    return lastOwner
  }

  /// Whether the view has requests under way.
  public func isBusy(_ owner: Owner) -> Bool { counts[owner, default: 0] > 0 }

  /// How many requests are under way.
  public var count: Int { owners.count }

  /// Enters a request; nil for a view that is closed.
  public mutating func send(for owner: Owner) -> (number: Number, actions: [Action])? {
    guard let count = counts[owner] else { return nil }
    last += 1
    owners[last] = owner
    counts[owner] = count + 1
    return (last, (count == 0 ? [.busy(owner, true)] : []) + [.perform(last)])
  }

  /// An answer or an error has arrived; dropped when nobody waits for it.
  public mutating func finish(_ number: Number) -> [Action] {
    guard let owner = owners[number] else { return [] }
    return leave(number, owner) + [.tell(owner, number)]
  }

  /// The view does not want it any more: it hears that at once, whatever the performer makes of it.
  public mutating func cancel(_ number: Number) -> [Action] {
    guard let owner = owners[number] else { return [] }
    return [.stop(number)] + leave(number, owner) + [.tell(owner, number)]
  }

  /// The view is closed: it hears nothing more.
  public mutating func close(_ owner: Owner) -> [Action] {
    counts[owner] = nil
    let numbers = owners.filter { $0.value == owner }.keys.sorted()
    for number in numbers { owners[number] = nil }
    return numbers.map { .stop($0) }
  }

  private mutating func leave(_ number: Number, _ owner: Owner) -> [Action] {
    owners[number] = nil
    let count = counts[owner, default: 1] - 1
    counts[owner] = count
    return count == 0 ? [.busy(owner, false)] : []
  }
}
