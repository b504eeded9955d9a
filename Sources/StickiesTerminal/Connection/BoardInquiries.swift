import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// What a view asks of the server in the background.
enum BoardQuestion: Hashable, Sendable {
  /// The oldest and the newest revision that can be told.
  case reach
  /// A board as it was at a revision.
  case past(PastBoard)
  /// How many notes satisfy a condition.
  case count(GraphPredicate)
  /// Notes as they are stored.
  case find(NoteSearch)
  /// So many of the links that satisfy a condition, at most.
  case links(GraphPredicate, limit: Int)
  /// Who satisfies a condition, without the notes themselves.
  case identify(GraphPredicate)
  /// Takes the last step back, or does it again.
  case step(isRedo: Bool)
  /// Changes all notes that satisfy a condition, and tells how far it is.
  case change(NoteBatch)
}

/// What it answers, each to its question.
enum BoardAnswer: Sendable {
  case reach(ClosedRange<Revision>)
  case past(PastContents)
  case count(Int)
  case notes([ObjectImage])
  case links([ObjectImage])
  case ids([ObjectID])
  /// Whether all of the step was taken back or done again. Not the objects: an answer is kept until the next one comes.
  case stepped(isWhole: Bool)
  case changed(NoteBatchResult)
}

/// One view's way to the request center.
struct BoardChannel {
  typealias Completed = CompletedRequest<BoardQuestion, BoardAnswer>

  var send: (BoardQuestion) -> RequestLedger.Number?
  var cancel: (RequestLedger.Number) -> Void
  /// What was completed last; there before anybody is told.
  var last: () -> Completed?
  var close: () -> Void
}

/// One view's questions, and what is to be done with each answer. It is opened before the first is asked; when the view
/// closes it, or goes, nothing more is heard.
final class BoardInquiries {
  private var channel: BoardChannel?
  private var waiting = [RequestLedger.Number: (Result<BoardAnswer, Refusal>) -> Void]()
  private let context: ObjectContext

  /// - Parameter busy: told when the first question is asked and when the last one is answered, refused or given up.
  init(_ link: BoardLink, in context: ObjectContext, busy: @escaping (Bool) -> Void = { _ in }) {
    self.context = context
    channel = link.observe({ [weak self] in self?.takeLast() }, busy)
  }

  /// Why there is no answer to what nobody waited for.
  static let givenUp = Refusal(.unavailable, "given up")

  /// Nobody wants the answers any more: whoever asked hears so at once.
  func cancel() {
    for number in waiting.keys.sorted() { channel?.cancel(number) }
  }

  /// The view is closed.
  func close() {
    channel?.close()
    (channel, waiting) = (nil, [:])
  }

  private func takeLast() {
    guard let completed = channel?.last(), let done = waiting.removeValue(forKey: completed.number) else { return }
    switch completed.outcome {
    case .answered(let answer): done(.success(answer))
    case .failed(let error): done(.failure(error as? Refusal ?? Refusal(.unavailable, "\(error)")))
    case .cancelled: done(.failure(Self.givenUp))
    }
  }

  private func ask<Answer>(
    _ question: BoardQuestion, _ done: @escaping (Result<Answer, Refusal>) -> Void,
    _ answer: @escaping (BoardAnswer) -> Answer?
  ) {
    guard let number = channel?.send(question) else { return }
    waiting[number] = { result in
      done(
        result.flatMap {
          answer($0).map { .success($0) } ?? .failure(Refusal(.malformed, "that answers something else"))
        })
    }
  }

  // MARK: - Questions

  /// The oldest and the newest revision that can be told.
  func reach(_ done: @escaping (Result<ClosedRange<Revision>, Refusal>) -> Void) {
    ask(.reach, done) { if case .reach(let reach) = $0 { reach } else { nil } }
  }

  /// A board as it was at a revision.
  func past(_ board: PastBoard, _ done: @escaping (Result<PastContents, Refusal>) -> Void) {
    ask(.past(board), done) { if case .past(let contents) = $0 { contents } else { nil } }
  }

  /// How many notes satisfy a condition.
  func count(_ notes: GraphPredicate, _ done: @escaping (Result<Int, Refusal>) -> Void) {
    ask(.count(notes), done) { if case .count(let count) = $0 { count } else { nil } }
  }

  /// Reads notes into the context; whoever asks holds them.
  func find(_ search: NoteSearch, _ done: @escaping (Result<[Note], Refusal>) -> Void) {
    ask(.find(search), done) { [context] in
      if case .notes(let images) = $0 { context.register(images).compactMap { $0 as? Note } } else { nil }
    }
  }

  /// Reads links into the context; whoever asks holds them.
  /// - Parameter limit: so many at most.
  func links(_ links: GraphPredicate, limit: Int, _ done: @escaping (Result<[Link], Refusal>) -> Void) {
    ask(.links(links, limit: limit), done) { [context] in
      if case .links(let images) = $0 { context.register(images).compactMap { $0 as? Link } } else { nil }
    }
  }

  /// Who satisfies a condition, without the notes themselves.
  func identify(_ notes: GraphPredicate, _ done: @escaping (Result<[ObjectID], Refusal>) -> Void) {
    ask(.identify(notes), done) { if case .ids(let ids) = $0 { ids } else { nil } }
  }

  /// Takes the last step back, or does it again; answered with whether that was all of it.
  func step(isRedo: Bool, _ done: @escaping (Result<Bool, Refusal>) -> Void) {
    ask(.step(isRedo: isRedo), done) { if case .stepped(let isWhole) = $0 { isWhole } else { nil } }
  }

  /// Changes all notes that satisfy a condition; given up, the server takes back what it has done of it.
  func change(_ batch: NoteBatch, _ done: @escaping (Result<NoteBatchResult, Refusal>) -> Void) {
    ask(.change(batch), done) { if case .changed(let result) = $0 { result } else { nil } }
  }
}
