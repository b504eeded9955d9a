import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import StickiesModel

/// A request that a view makes in the background.
enum BoardRequest: Hashable, Sendable {
  /// The oldest and the newest readable revision.
  case reach
  /// A board as of a revision.
  case past(PastBoard)
  /// The number of notes that satisfy a predicate.
  case count(GraphPredicate)
  /// Notes as stored on the server.
  case find(NoteSearch)
  /// The links that satisfy a predicate, up to a limit.
  case links(GraphPredicate, limit: Int)
  /// The ids of the notes that satisfy a predicate, without the notes.
  case identify(GraphPredicate)
  /// Undoes or redoes the last step.
  case step(isRedo: Bool)
  /// Changes all notes that satisfy a predicate, and reports progress.
  case change(NoteBatch)
}

/// The answer to a `BoardRequest`, with a case for each kind.
enum BoardResponse: Sendable {
  case reach(ClosedRange<Revision>)
  case past(PastContents)
  case count(Int)
  case notes([ObjectImage])
  case links([ObjectImage])
  case ids([ObjectID])
  /// Whether the complete step was undone or redone. Without the objects, because an answer is retained until the
  /// next one.
  case stepped(isWhole: Bool)
  case changed(NoteBatchResult)
}

/// The connection of one view to the request center.
struct BoardChannel {
  typealias Completed = CompletedRequest<BoardRequest, BoardResponse>

  var send: (BoardRequest) -> RequestLedger.Number?
  var cancel: (RequestLedger.Number) -> Void
  /// The last completed request; set before the observer is notified.
  var last: () -> Completed?
  var close: () -> Void
}

/// The requests of one view, with the closure for each answer. After `close`, or when the view is released, no
/// closure is called.
final class RequestChannel {
  private var channel: BoardChannel?
  private var waiting = [RequestLedger.Number: (Result<BoardResponse, Refusal>) -> Void]()
  private let context: ObjectContext

  /// - Parameter busy: called with true when a first request is sent, and with false when none is outstanding any
  ///   longer.
  init(_ link: BoardConnection, in context: ObjectContext, busy: @escaping (Bool) -> Void = { _ in }) {
    self.context = context
    channel = link.observe({ [weak self] in self?.receiveLast() }, busy)
  }

  /// The failure of a cancelled request.
  static let cancelled = Refusal(.unavailable, "cancelled")

  /// Cancels all requests; their closures are called at once with `cancelled`.
  func cancel() {
    for number in waiting.keys.sorted() { channel?.cancel(number) }
  }

  /// Closes the channel and drops the closures, when the view is closed.
  func close() {
    channel?.close()
    (channel, waiting) = (nil, [:])
  }

  private func receiveLast() {
    guard let completed = channel?.last(), let done = waiting.removeValue(forKey: completed.number) else { return }
    switch completed.outcome {
    case .answered(let answer): done(.success(answer))
    case .failed(let error): done(.failure(error as? Refusal ?? Refusal(.unavailable, "\(error)")))
    case .cancelled: done(.failure(Self.cancelled))
    }
  }

  private func ask<Answer>(
    _ question: BoardRequest, _ done: @escaping (Result<Answer, Refusal>) -> Void,
    _ answer: @escaping (BoardResponse) -> Answer?
  ) {
    guard let number = channel?.send(question) else { return }
    waiting[number] = { result in
      done(
        result.flatMap {
          guard let answer = answer($0) else {
            assertionFailure("an answer has the kind of its request")
            return .failure(Refusal(.malformed, "the answer is of another kind"))
          }
          return .success(answer)
        })
    }
  }

  // MARK: - Questions

  /// The oldest and the newest readable revision.
  func reach(_ done: @escaping (Result<ClosedRange<Revision>, Refusal>) -> Void) {
    ask(.reach, done) { if case .reach(let reach) = $0 { reach } else { nil } }
  }

  /// A board as of a revision.
  func past(_ board: PastBoard, _ done: @escaping (Result<PastContents, Refusal>) -> Void) {
    ask(.past(board), done) { if case .past(let contents) = $0 { contents } else { nil } }
  }

  /// The number of notes that satisfy a predicate.
  func count(_ notes: GraphPredicate, _ done: @escaping (Result<Int, Refusal>) -> Void) {
    ask(.count(notes), done) { if case .count(let count) = $0 { count } else { nil } }
  }

  /// Reads notes into the context; the caller must retain them.
  func find(_ search: NoteSearch, _ done: @escaping (Result<[Note], Refusal>) -> Void) {
    ask(.find(search), done) { [context] in
      if case .notes(let images) = $0 { context.register(images).compactMap { $0 as? Note } } else { nil }
    }
  }

  /// Reads links into the context; the caller must retain them.
  /// - Parameter limit: the maximum number of links.
  func links(_ links: GraphPredicate, limit: Int, _ done: @escaping (Result<[Link], Refusal>) -> Void) {
    ask(.links(links, limit: limit), done) { [context] in
      if case .links(let images) = $0 { context.register(images).compactMap { $0 as? Link } } else { nil }
    }
  }

  /// The ids of the notes that satisfy a predicate, without the notes.
  func identify(_ notes: GraphPredicate, _ done: @escaping (Result<[ObjectID], Refusal>) -> Void) {
    ask(.identify(notes), done) { if case .ids(let ids) = $0 { ids } else { nil } }
  }

  /// Undoes or redoes the last step; the result is whether that was possible completely.
  func step(isRedo: Bool, _ done: @escaping (Result<Bool, Refusal>) -> Void) {
    ask(.step(isRedo: isRedo), done) { if case .stepped(let isWhole) = $0 { isWhole } else { nil } }
  }

  /// Changes all notes that satisfy a predicate; on cancel, the server rolls back.
  func change(_ batch: NoteBatch, _ done: @escaping (Result<NoteBatchResult, Refusal>) -> Void) {
    ask(.change(batch), done) { if case .changed(let result) = $0 { result } else { nil } }
  }
}
