import GraphModel

/// What became of a request; it carries the request.
public struct CompletedRequest<Request: Sendable, Answer: Sendable>: Sendable {
  /// How a request ends.
  public enum Outcome: Sendable {
    /// The answer has come.
    case answered(Answer)
    /// There is none, and why.
    case failed(any Error)
    /// The view did not want it any more.
    case cancelled
  }

  /// The number that `send` gave it.
  public let number: RequestLedger.Number
  /// What was asked.
  public let request: Request
  /// What came of it.
  public let outcome: Outcome

  /// The answer; nil when there is none.
  public var answer: Answer? { if case .answered(let answer) = outcome { answer } else { nil } }
}

/// Where views send what takes a while, and hear what became of it: the work is done off the screen's actor, what comes of it
/// appears on the screen's actor only, in the order of arrival.
///
/// The screen's actor is the main actor, as it is for `GraphClient`; an actor of the caller's own was rejected, for then every
/// view and every test would have to name it. The center sees neither socket nor file: what performs a request is passed in.
@MainActor
public final class RequestCenter<Request: Sendable, Answer: Sendable> {
  private var ledger = RequestLedger()
  private let perform: @Sendable (Request) async throws -> Answer
  private var running = [RequestLedger.Number: (request: Request, task: Task<Void, Never>?)]()
  private var observers = [RequestLedger.Owner: WeakObserver]()

  private struct WeakObserver {
    weak var observer: RequestObserver<Request, Answer>?
  }

  /// A center without requests.
  /// - Parameter perform: does what a request asks, on no actor; it is cancelled when nobody waits any more.
  public init(perform: @escaping @Sendable (Request) async throws -> Answer) { self.perform = perform }

  /// How many requests are under way.
  public var count: Int { ledger.count }

  /// A view's observer, by which it sends its requests: who has none can't send, so that somebody listens before anything can
  /// arrive. The view keeps it; when it goes, the view is closed.
  /// - Parameter body: called when a request is completed; `last` says which, and what became of it.
  public func observe(_ body: @escaping @MainActor () -> Void) -> RequestObserver<Request, Answer> {
    let observer = RequestObserver(center: self, owner: ledger.open(), body: body)
    observers[observer.owner] = WeakObserver(observer: observer)
    return observer
  }

  func send(_ request: Request, for owner: RequestLedger.Owner) -> RequestLedger.Number? {
    guard let (number, actions) = ledger.send(for: owner) else { return nil }
    running[number] = (request, nil)
    carryOut(actions, .cancelled)
    return number
  }

  func cancel(_ number: RequestLedger.Number) { carryOut(ledger.cancel(number), .cancelled) }

  func close(_ owner: RequestLedger.Owner) {
    observers[owner] = nil
    carryOut(ledger.close(owner), .cancelled)
  }

  private func finish(_ number: RequestLedger.Number, _ outcome: CompletedRequest<Request, Answer>.Outcome) {
    carryOut(ledger.finish(number), outcome)
  }

  private func carryOut(_ actions: [RequestLedger.Action], _ outcome: CompletedRequest<Request, Answer>.Outcome) {
    // All of the state is set before anyone is called.
    for case .tell(let owner, let number) in actions {
      guard let request = running[number]?.request else { continue }
      observers[owner]?.observer?.last = CompletedRequest(number: number, request: request, outcome: outcome)
    }
    for action in actions {
      switch action {
      case .perform(let number): start(number)
      case .stop(let number):
        running[number]?.task?.cancel()
        if !actions.contains(where: { if case .tell = $0 { true } else { false } }) { running[number] = nil }
      case .busy(let owner, let isBusy): observers[owner]?.observer?.isBusy = isBusy
      case .tell(let owner, let number):
        running[number] = nil
        observers[owner]?.observer?.tell()
      }
    }
  }

  private func start(_ number: RequestLedger.Number) {
    guard let request = running[number]?.request else { return }
    let perform = perform
    running[number]?.task = Task { @concurrent [weak self] in
      let outcome: CompletedRequest<Request, Answer>.Outcome
      do {
        outcome = .answered(try await perform(request))
      } catch {
        outcome = .failed(error)
      }
      await self?.finish(number, outcome)
    }
  }
}

/// One view's way to a request center: what it sends, it hears of, on the main actor, until it closes.
@MainActor
public final class RequestObserver<Request: Sendable, Answer: Sendable> {
  /// What became of a request last, with the request: set before anybody is told, so that whoever looks then sees it.
  public internal(set) var last: CompletedRequest<Request, Answer>?
  /// Whether a request of this view is under way: what a busy indicator shows. It goes down before the view hears of the
  /// answer, the error or the cancellation that ended the last one.
  public internal(set) var isBusy = false {
    didSet { if isBusy != oldValue { busyDidChange?(isBusy) } }
  }
  /// Called when `isBusy` changes.
  public var busyDidChange: ((Bool) -> Void)?

  let owner: RequestLedger.Owner
  private let center: RequestCenter<Request, Answer>
  private let body: @MainActor () -> Void
  private var isClosed = false

  init(
    center: RequestCenter<Request, Answer>, owner: RequestLedger.Owner, body: @escaping @MainActor () -> Void
  ) {
    (self.center, self.owner, self.body) = (center, owner, body)
  }

  deinit {
    let (center, owner) = (center, owner)
    Task { @MainActor in center.close(owner) }
  }

  /// Begins a request.
  /// - Returns: its number; nil when the view is closed.
  @discardableResult
  public func send(_ request: Request) -> RequestLedger.Number? { center.send(request, for: owner) }

  /// Gives a request up: the view hears `.cancelled` at once. One that is over is passed over.
  public func cancel(_ number: RequestLedger.Number) { center.cancel(number) }

  /// The view is closed: nothing more is heard, and what nobody else waits for is cancelled.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    isBusy = false
    center.close(owner)
  }

  func tell() {
    if !isClosed { body() }
  }
}
