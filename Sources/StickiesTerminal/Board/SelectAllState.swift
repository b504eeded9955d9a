import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// The selection of all notes of a large board, without a list of their ids. A predicate selects them, and the server
/// counts them live.
///
/// It selects the notes that existed at that time; notes created later have higher numbers. Few queries are needed:
/// the board's list, which is followed anyway, counts the whole board, and one-row windows count the deselected notes
/// and the additional ones. These windows are replaced when the user deselects or adds a note. A window of the
/// *selected* notes was rejected: for each such selection, the server would keep the whole board in order once more.
final class SelectAllState {
  /// Maximum number of notes that are deselected from all, or added to it.
  static let maximumNamed = 1_000

  private let part: BoardWindow
  /// The board's notes, without those that a filter has hidden since.
  private var board: ResultsRequest
  /// The filter at the time of the selection.
  private let filter: GraphPredicate
  /// The highest number of a note at the time of the selection.
  private let newest: Int64
  private var membership: PredicateEvaluator
  private let context: ObjectContext
  private let listener: RowsListener
  /// Counts the notes that match the filter; nil if there is no filter.
  private var found: ResultsController?
  private var unselected: ResultsController?
  private var beside: ResultsController?

  /// Selects all notes of a board that match a filter.
  /// - Parameters:
  ///   - filter: the predicate of the current search.
  ///   - newest: the highest number of a selected note.
  ///   - listener: notified when a count arrives or fails.
  init(
    of part: BoardWindow, board: Board, filter: GraphPredicate, newest: Int64, in context: ObjectContext,
    listener: RowsListener
  ) {
    (self.part, self.filter, self.newest, self.context) = (part, filter, newest, context)
    self.listener = listener
    self.board = BoardPage.notes(of: board.id, in: context.model)
    membership = Self.membership(self.board, filter, newest, context)
    if filter != .always { found = counter(of: filter) }
    follow(.all(except: [], also: []))
  }

  func stop() {
    for counter in [found, unselected, beside] { counter?.stop() }
    (found, unselected, beside) = (nil, nil, nil)
  }

  /// Deselects the notes that do not satisfy a condition. They stay deselected when the condition changes again.
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

  /// Whether a loaded note is in the range of this selection, including notes that were deselected.
  func contains(_ id: ObjectID) -> Bool {
    guard let image = context.storedObjects.image(of: id) else { return false }
    return membership.matches(image, in: context.storedObjects)
  }

  /// The predicate of the selected notes.
  func selected(_ target: SelectionTarget<ObjectID>) -> GraphPredicate {
    let newest = newest
    let older = GraphPredicate(Note.self) { $0.number <= newest }
    guard case .all(let except, let also) = target else {
      assertionFailure("the selection of all has the form *all except some*")
      return .never
    }
    let all = GraphPredicate.all([filter, older, except.isEmpty ? .always : .not(.identifiers(except))])
    return .all([board.predicate, also.isEmpty ? all : .or([all, .identifiers(also)])])
  }

  // MARK: - Counting

  /// The number of selected notes; nil while unknown.
  var count: Int? {
    guard let all = found.map(Self.total) ?? part.total, let rest = unselected.flatMap(Self.total) else { return nil }
    // No note beside those of the filter was selected.
    guard let beside else { return all - rest }
    return Self.total(beside).map { all - rest + $0 }
  }

  /// Replaces the counting queries after notes were deselected or added.
  func follow(_ target: SelectionTarget<ObjectID>) {
    guard case .all(let except, let also) = target else {
      return assertionFailure("the selection of all has the form *all except some*")
    }
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

  /// A one-row window of the board's notes that satisfy a condition; its total count is their number.
  private func counter(of condition: GraphPredicate) -> ResultsController {
    var request = board
    request.predicate = .all([board.predicate, condition])
    request.prefetch = .none
    request.window = ResultsWindow(limit: 1)
    let counter = ResultsController(request, in: context)
    counter.delegate = listener
    counter.performFetch()
    return counter
  }
}
