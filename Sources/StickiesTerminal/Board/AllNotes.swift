import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// All notes of a large board, selected without a list of them: what they are is a condition, and how many they are the
/// server tells, live.
///
/// It means the notes that were there: one that is made later has a higher number. Followed are few: the board's list, which
/// is followed anyway, counts all of it, and windows of one row count what is not selected and what is beside it, made anew
/// when somebody takes a note out or puts one to it. A window of what *is* selected was rejected: the server would keep
/// the whole board in order once more, for each of them.
final class AllNotes {
  /// Notes that are taken out of all, or put to it, at most.
  static let maximumNamed = 1_000

  private let part: BoardPart
  /// The board's notes, as far as no filter has hidden them since.
  private var board: ResultsRequest
  /// Those that were looked for when all was selected.
  private let filter: GraphPredicate
  /// The highest number of a note then.
  private let newest: Int64
  private var membership: PredicateEvaluator
  private let context: ObjectContext
  private let perform: () -> Void
  private let listener: RowsListener
  /// What counts the notes that are looked for, unless it is all of them.
  private var found: ResultsController?
  private var unselected: ResultsController?
  private var beside: ResultsController?

  /// - Parameters:
  ///   - filter: the notes that are looked for.
  ///   - newest: the highest number of a note that is one of them.
  ///   - listener: told when a count is here, or why there is none.
  init(
    of part: BoardPart, board: Board, filter: GraphPredicate, newest: Int64, in context: ObjectContext, link: BoardLink,
    listener: RowsListener
  ) {
    (self.part, self.filter, self.newest, self.context) = (part, filter, newest, context)
    (perform, self.listener) = (link.perform, listener)
    self.board = BoardPage.notes(of: board.id, in: context.model)
    membership = Self.membership(self.board, filter, newest, context)
    if filter != .always { found = counter(of: filter) }
    follow(.all(except: [], also: []))
  }

  func stop() {
    for counter in [found, unselected, beside] { counter?.stop() }
    (found, unselected, beside) = (nil, nil, nil)
  }

  /// Notes that do not satisfy a condition are selected no more, and don't come back with another one.
  func narrow(to condition: GraphPredicate, _ target: SelectionTarget<ObjectID>) {
    guard condition != .always else { return }
    board.predicate = .all([board.predicate, condition])
    membership = Self.membership(board, filter, newest, context)
    found?.stop()
    found = counter(of: filter)
    follow(target)
  }

  private static func membership(
    _ board: ResultsRequest, _ filter: GraphPredicate, _ newest: Int64, _ context: ObjectContext
  ) -> PredicateEvaluator {
    let older = GraphPredicate(Note.self) { $0.number <= newest }
    return PredicateEvaluator(.all([board.predicate, filter, older]), model: context.model)
  }

  /// Whether a note that is here is one of them, be it taken out or not.
  func contains(_ id: ObjectID) -> Bool {
    context.storedObjects.image(of: id).map { membership.matches($0, in: context.storedObjects) } ?? false
  }

  /// The notes that are selected.
  func selected(_ target: SelectionTarget<ObjectID>) -> GraphPredicate {
    let newest = newest
    let older = GraphPredicate(Note.self) { $0.number <= newest }
    guard case .all(let except, let also) = target else { return .never }
    let all = GraphPredicate.all([filter, older, except.isEmpty ? .always : .not(.identifiers(except))])
    return .all([board.predicate, also.isEmpty ? all : .or([all, .identifiers(also)])])
  }

  // MARK: - Counting

  /// How many are selected; nil while nobody knows.
  var count: Int? {
    guard let all = found.map(Self.total) ?? part.total, let rest = unselected.flatMap(Self.total),
      let more = beside.map(Self.total) ?? 0
    else { return nil }
    return all - rest + more
  }

  /// Somebody took notes out, or put some to it.
  func follow(_ target: SelectionTarget<ObjectID>) {
    guard case .all(let except, let also) = target else { return }
    unselected?.stop()
    beside?.stop()
    let newest = newest
    let later = GraphPredicate(Note.self) { $0.number > newest }
    let out = except.isEmpty ? later : .or([later, .identifiers(except)])
    unselected = counter(of: .all([filter, out, also.isEmpty ? .always : .not(.identifiers(also))]))
    beside = also.isEmpty || filter == .always ? nil : counter(of: .all([.not(filter), .identifiers(also)]))
  }

  private static func total(_ counter: ResultsController) -> Int? {
    counter.state == .loaded ? counter.totalCount : nil
  }

  /// Notes of the board that satisfy a condition, of which one is followed, and how many there are.
  private func counter(of condition: GraphPredicate) -> ResultsController {
    var request = board
    request.predicate = .all([board.predicate, condition])
    request.prefetching = .none
    request.window = ResultsWindow(limit: 1)
    let counter = ResultsController(request, in: context, perform: perform)
    counter.delegate = listener
    counter.performFetch()
    return counter
  }
}
