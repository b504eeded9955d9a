import GraphModel

/// A finished request with its outcome.
public struct CompletedRequest<Request: Sendable, Answer: Sendable>: Sendable {
  /// The outcome of a request.
  public enum Outcome: Sendable {
    /// The request succeeded.
    case answered(Answer)
    /// The request failed.
    case failed(any Error)
    /// The view cancelled the request.
    case cancelled
  }

  /// The number that `send` returned.
  public let number: RequestLedger.Number
  /// The request.
  public let request: Request
  /// The outcome.
  public let outcome: Outcome

  /// The answer; nil if the request failed or was cancelled.
  public var answer: Answer? { if case .answered(let answer) = outcome { answer } else { nil } }
}

/// Runs slow requests of views in the background and delivers their outcomes on the main actor, in the order of
/// arrival.
///
/// An actor of the caller's own was rejected, because every view and every test would have to name it. The center has
/// no access to sockets or files: the caller passes in the function that performs a request.
@MainActor
public final class RequestCenter<Request: Sendable, Answer: Sendable> {
  private var ledger = RequestLedger()
  private let perform: @Sendable (Request) async throws -> Answer
  private var running = [RequestLedger.Number: (request: Request, task: Task<Void, Never>?)]()
  private var observers = [RequestLedger.Owner: WeakObserver]()

  private struct WeakObserver {
    weak var observer: RequestObserver<Request, Answer>?
  }

  /// Creates a center without requests.
  /// - Parameter perform: performs a request, outside any actor; its task is cancelled when the request is.
  public init(perform: @escaping @Sendable (Request) async throws -> Answer) { self.perform = perform }

  /// The number of running requests.
  public var count: Int { ledger.count }

  /// Returns an observer for a view, through which it sends its requests. Without one a view cannot send, so an
  /// observer exists before any answer can arrive. The view retains it; releasing it closes the view's requests.
  /// - Parameter body: called when a request finishes; `last` contains the request and its outcome.
  public func observe(_ body: @escaping @MainActor () -> Void) -> RequestObserver<Request, Answer> {
    let observer = RequestObserver(center: self, owner: ledger.open(), body: body)
    observers[observer.owner] = WeakObserver(observer: observer)
    return observer
  }

  func send(_ request: Request, for owner: RequestLedger.Owner) -> RequestLedger.Number? {
    guard let (number, actions) = ledger.send(for: owner) else { return nil }
    running[number] = (request, nil)
    execute(actions, .cancelled)
    return number
  }

  func cancel(_ number: RequestLedger.Number) { execute(ledger.cancel(number), .cancelled) }

  func close(_ owner: RequestLedger.Owner) {
    observers[owner] = nil
    execute(ledger.close(owner), .cancelled)
  }

  private func finish(_ number: RequestLedger.Number, _ outcome: CompletedRequest<Request, Answer>.Outcome) {
    execute(ledger.finish(number), outcome)
  }

  private func execute(_ actions: [RequestLedger.Action], _ outcome: CompletedRequest<Request, Answer>.Outcome) {
    // Update all state before any observer is called.
    for case .notify(let owner, let number) in actions {
      // The view may be gone.
      guard let request = running[number]?.request, let observer = observers[owner]?.observer else { continue }
      observer.last = CompletedRequest(number: number, request: request, outcome: outcome)
    }
    for action in actions {
      switch action {
      case .perform(let number): start(number)
      case .stop(let number):
        running[number]?.task?.cancel()
        if !actions.contains(where: { if case .notify = $0 { true } else { false } }) { running[number] = nil }
      case .busy(let owner, let isBusy): if let observer = observers[owner]?.observer { observer.isBusy = isBusy }
      case .notify(let owner, let number):
        running[number] = nil
        observers[owner]?.observer?.notifyOwner()
      }
    }
  }

  private func start(_ number: RequestLedger.Number) {
    // The view may have cancelled it when it was notified that it is busy.
    guard let request = running[number]?.request else { return }
    let perform = perform
    let task: Task<Void, Never> = Task { @concurrent [weak self] in
      let outcome: CompletedRequest<Request, Answer>.Outcome
      do {
        outcome = .answered(try await perform(request))
      } catch {
        outcome = .failed(error)
      }
      await self?.finish(number, outcome)
    }
    running[number] = (request, task)
  }
}

/// A view's connection to a request center: it sends requests and observes their outcomes, on the main actor, until
/// closed.
@MainActor
public final class RequestObserver<Request: Sendable, Answer: Sendable> {
  /// The last finished request, set before any observer is notified.
  public internal(set) var last: CompletedRequest<Request, Answer>?
  /// Whether a request of this view is running, for a busy indicator. It becomes false before the view is notified of
  /// the outcome of its last request.
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

  /// Sends a request.
  /// - Returns: its number; nil if the observer is closed.
  @discardableResult
  public func send(_ request: Request) -> RequestLedger.Number? { center.send(request, for: owner) }

  /// Cancels a request: the view receives `.cancelled` at once. Ignores a finished request.
  public func cancel(_ number: RequestLedger.Number) { center.cancel(number) }

  /// Closes the observer: the view receives nothing more, and its running requests are cancelled.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    isBusy = false
    center.close(owner)
  }

  func notifyOwner() {
    if !isClosed { body() }
  }
}
