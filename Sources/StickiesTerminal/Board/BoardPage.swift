import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// One board that is shown: its notes, live, and a window for each of them. Place and pile belong to the notes; where the
/// board is scrolled to belongs to this client.
final class BoardPage: ResultsControllerDelegate, WindowShapeSource {
  let board: Board
  let notes: ResultsController
  let links: ResultsController
  var windows: WindowSet<NoteController>
  /// Which cell of the board is in the top left corner of the canvas.
  var scroll = Point(x: 0, y: 0)
  /// Notes that were made here and that the server does not have yet.
  private(set) var made = [ObjectID]()
  /// Which of the notes have windows.
  var filter = BoardFilter()
  /// How many notes it hides.
  private(set) var hiddenCount = 0
  /// Told of windows that came and went.
  var windowsDidChange: ([WindowChange<NoteController>]) -> Void = { _ in }
  /// Told when the first result is there, or why there is none.
  var didLoad: (Refusal?) -> Void = { _ in }
  /// What the context told last: it says what was deleted.
  var lastChange: ObjectsDidChange?
  private(set) var isLoaded = false
  private let context: ObjectContext
  private let user: String
  private var linkListener: LinkListener?

  init(
    _ board: Board, in context: ObjectContext, user: String, perform: @escaping () -> Void,
    makeController: @escaping (ObjectID) -> NoteController
  ) {
    (self.board, self.context, self.user) = (board, context, user)
    windows = WindowSet(make: makeController)
    notes = ResultsController(Self.notes(of: board.id, in: context.model), in: context, perform: perform)
    links = ResultsController(Self.links(of: board.id, in: context.model), in: context, perform: perform)
    notes.delegate = self
  }

  /// The notes of a board, in the order in which they were made.
  static func notes(of board: ObjectID, in model: Model) -> ResultsRequest {
    guard let entity = model.entity(named: "Note"), let property = entity.property(named: "board") else {
      preconditionFailure("the built-in model has no Note.board")
    }
    return ResultsRequest(
      entity: entity.number, predicate: .equal(property, .object(board)),
      sort: [SortKey](Note.self, [\.number.ascending]), prefetching: RelationshipTree(Note.self, [\.tags]))
  }

  private static func links(of board: ObjectID, in model: Model) -> ResultsRequest {
    guard let entity = model.entity(named: "Link"), let from = entity.property(named: "from"),
      let property = model.entity(named: "Note")?.property(named: "board")
    else { preconditionFailure("the built-in model has no Link.from") }
    let path = GraphPredicate.Path(hops: [from.number], end: .property(property.number))
    return ResultsRequest(
      entity: entity.number,
      predicate: .comparison(.init(.one, path, .equal, .value(.object(board)))))
  }

  /// Asks for the notes and follows them until `close`.
  func open() {
    let listener = LinkListener { [weak self] in self?.windowsDidChange([]) }
    linkListener = listener
    links.delegate = listener
    notes.performFetch()
    links.performFetch()
  }

  /// Follows them no more; the windows go.
  func close() -> [WindowChange<NoteController>] {
    notes.stop()
    links.stop()
    made = []
    return windows.ids.flatMap { windows.close($0) }
  }

  // MARK: - Notes

  func note(_ id: ObjectID) -> Note? { context.fault(id) as? Note }

  func shape(of id: ObjectID) -> WindowShape? {
    guard let note = note(id), !note.isFault else { return nil }
    return WindowShape(x: note.x, y: note.y, width: note.width, height: note.height, z: note.z)
  }

  /// What is to have a window: the committed notes that are not deleted here, and those that were made here.
  private var arranged: [ObjectID] {
    let there = Set(made)
    return notes.snapshot.filter { context.fault($0) != nil && !there.contains($0) } + made
  }

  /// Makes and closes windows.
  func reconcile(after cause: ArrangementCause = .here) {
    let all = arranged
    let shown = filter.isOn ? all.filter(isShown) : all
    hiddenCount = all.count - shown.count
    windowsDidChange(windows.reconcile(shown, after: cause))
  }

  /// A note was made here.
  func add(_ id: ObjectID) {
    made.append(id)
    reconcile()
  }

  /// A note that was made here is gone again before the server had it.
  func drop(_ id: ObjectID) {
    made.removeAll { $0 == id }
  }

  /// The answer to a commit is here.
  func identify(_ identities: [Committed.Identity], at revision: Revision) {
    made.removeAll { id in identities.contains { $0.temporary == id } }
    windowsDidChange(windows.identify(identities, at: revision))
    reconcile()
  }

  /// A commit was refused: nothing comes of these ids for now.
  func withdraw(_ ids: [ObjectID]) { windowsDidChange(windows.withdraw(ids)) }

  // MARK: - What others do

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    var cause = ArrangementCause.here
    if difference.revision > 0 {
      let deleted = lastChange?.revision == difference.revision ? lastChange?.deleted ?? [] : []
      cause = ArrangementCause(
        revision: difference.revision, author: difference.author, deleted: Set(deleted),
        isOwn: difference.author == user)
    }
    reconcile(after: cause)
    if !isLoaded {
      isLoaded = true
      didLoad(nil)
    }
  }

  func results(_ controller: ResultsController, didFail refusal: Refusal) { didLoad(refusal) }
}

extension WindowShape {
  /// The cells of the board that it takes.
  var cells: Rect { BoardScale.cells(x: x, y: y, width: width, height: height) }
}

/// Links come and go: the board is drawn anew.
private final class LinkListener: ResultsControllerDelegate {
  private let changed: () -> Void

  init(_ changed: @escaping () -> Void) { self.changed = changed }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) { changed() }
}
