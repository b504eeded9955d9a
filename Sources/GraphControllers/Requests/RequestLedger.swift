import GraphModel

/// The running background requests of a screen, as a state machine: events in, actions out.
///
/// A request is added when it is sent. It is removed when its answer, error or cancellation arrives or when the view
/// that sent it closes; later answers are dropped. A view is busy while it has a request.
public struct RequestLedger: Sendable {
  /// The number of a request in this ledger, from 1.
  public typealias Number = Int
  /// The number of a view that sends requests, from 1.
  public typealias Owner = Int

  /// An action for the request center.
  public enum Action: Hashable, Sendable {
    /// Perform the request off the main actor.
    case perform(Number)
    /// Cancel the request's task; its outcome is no longer needed.
    case stop(Number)
    /// Turn the view's busy indicator on or off, before it is notified of the outcome that turns it off.
    case busy(Owner, Bool)
    /// Notify the view of its request's outcome.
    case notify(Owner, Number)
  }

  private var owners = [Number: Owner]()
  private var counts = [Owner: Int]()
  private var last = 0
  private var lastOwner = 0

  /// Creates an empty ledger.
  public init() {}

  /// Registers a view for the outcomes of its requests. Only a registered view can send, so it can receive every
  /// answer.
  public mutating func open() -> Owner {
    lastOwner += 1
    counts[lastOwner] = 0
    return lastOwner
  }

  /// Returns whether the view has running requests.
  public func isBusy(_ owner: Owner) -> Bool { counts[owner, default: 0] > 0 }

  /// The number of running requests.
  public var count: Int { owners.count }

  /// Adds a request; returns nil if the view is closed.
  public mutating func send(for owner: Owner) -> (number: Number, actions: [Action])? {
    guard let count = counts[owner] else { return nil }
    last += 1
    owners[last] = owner
    counts[owner] = count + 1
    return (last, (count == 0 ? [.busy(owner, true)] : []) + [.perform(last)])
  }

  /// Handles an answer or an error; dropped if the request is no longer running.
  public mutating func finish(_ number: Number) -> [Action] {
    guard let owner = owners[number] else { return [] }
    return removeRequest(number, owner) + [.notify(owner, number)]
  }

  /// Cancels a request. The view is notified at once, however the performer reacts.
  public mutating func cancel(_ number: Number) -> [Action] {
    guard let owner = owners[number] else { return [] }
    return [.stop(number)] + removeRequest(number, owner) + [.notify(owner, number)]
  }

  /// Closes a view and cancels its requests; it is not notified.
  public mutating func close(_ owner: Owner) -> [Action] {
    counts[owner] = nil
    let numbers = owners.filter { $0.value == owner }.keys.sorted()
    for number in numbers { owners[number] = nil }
    return numbers.map { .stop($0) }
  }

  private mutating func removeRequest(_ number: Number, _ owner: Owner) -> [Action] {
    owners[number] = nil
    guard let count = counts[owner], count > 0 else {
      preconditionFailure("request \(number) runs, and its view counts no request")
    }
    counts[owner] = count - 1
    return count == 1 ? [.busy(owner, false)] : []
  }
}
