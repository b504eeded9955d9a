import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// One board that is shown: its notes, live, and a window for each of them. Place and pile belong to the notes; where the
/// board is scrolled to belongs to this client.
///
/// It follows the board whole. When the board turns out to have more than `maximumNotes`, at the beginning or later, it
/// follows parts of it from then on (`BoardPart`) until it is closed.
///
/// Of a board that nobody sees the windows stay as they are: it is stale from the first commit on, and they follow all of
/// them at once when it is looked at (`refresh`).
final class BoardPage: ResultsControllerDelegate, WindowShapeSource {
  /// Boards with more notes than these are followed in parts.
  static let maximumNotes = 2_000
  /// Links that are followed at most, of a board or of a part of it; of more none is drawn.
  static let maximumLinks = 4_000

  let board: Board
  /// All notes of the board, unless it is followed in parts.
  let notes: ResultsController
  /// What is here of a large board; nil while all of it is.
  private(set) var part: BoardPart?
  var windows: WindowSet<NoteController>
  /// Which cell of the board is in the top left corner of the canvas.
  var scroll = Point(x: 0, y: 0)
  /// Notes that were made here and that the server does not have yet.
  private(set) var made = [ObjectID]()
  /// Which of the notes have windows.
  var filter = BoardFilter() { didSet { if filter != oldValue, isLoaded { growStale(after: .here) } } }
  /// How many notes it hides.
  private(set) var hiddenCount = 0
  /// What the board is called, or was called last.
  var name: String {
    if !board.isDeleted, !board.name.isEmpty { knownName = board.name }
    return knownName
  }
  private var knownName = ""
  /// Told of windows that came and went.
  var windowsDidChange: ([WindowChange<NoteController>]) -> Void = { _ in }
  /// Told when the first result is there, or why there is none.
  var didLoad: (Refusal?) -> Void = { _ in }
  /// Told what of the board can't be had, after the first result.
  var didFail: (Refusal) -> Void = { _ in }
  /// Whether it is the board that is shown: then its windows follow each commit.
  var isWatched: () -> Bool = { true }
  /// Told when its windows are not those of its notes any more.
  var didGrowStale: () -> Void = {}
  /// What the context told last: it says what was deleted.
  var lastChange: ObjectsDidChange?
  /// How often its windows were made to follow its notes, for tests.
  private(set) var reconciliations = 0
  /// What has happened since; nil while the windows are those of the notes.
  private var overdue: ArrangementCause?
  private(set) var isLoaded = false
  private let context: ObjectContext
  private let values: NoteValuesCache
  private let link: BoardLink
  private let allLinks: ResultsController
  private var linkListener: RowsListener?

  init(
    _ board: Board, in context: ObjectContext, link: BoardLink, makeController: @escaping (ObjectID) -> NoteController
  ) {
    (self.board, self.context, self.link) = (board, context, link)
    values = NoteValuesCache(in: context)
    windows = WindowSet(make: makeController)
    var request = Self.notes(of: board.id, in: context.model)
    request.maximumCount = Self.maximumNotes
    notes = ResultsController(request, in: context, perform: link.perform)
    var lines = Self.links(of: board.id, in: context.model)
    lines.maximumCount = Self.maximumLinks
    allLinks = ResultsController(lines, in: context, perform: link.perform)
    notes.delegate = self
    knownName = board.name
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

  /// The links that begin at notes of a board.
  static func links(of board: ObjectID, in model: Model) -> ResultsRequest {
    guard let entity = model.entity(named: "Link"), let from = entity.property(named: "from"),
      let property = model.entity(named: "Note")?.property(named: "board")
    else { preconditionFailure("the built-in model has no Link.from") }
    let path = GraphPredicate.Path(hops: [from.number], end: .property(property.number))
    return ResultsRequest(
      entity: entity.number,
      predicate: .comparison(.init(.one, path, .equal, .value(.object(board)))))
  }

  /// The links that begin or end at a note, or lead from it to another one or back.
  static func links(at id: ObjectID, and other: ObjectID?, in model: Model) -> GraphPredicate {
    guard let entity = model.entity(named: "Link"), let from = entity.property(named: "from"),
      let to = entity.property(named: "to")
    else { preconditionFailure("the built-in model has no Link.from") }
    func leads(_ start: Property, _ end: Property) -> GraphPredicate {
      let begins = GraphPredicate.equal(start, .object(id))
      return other.map { .and([begins, .equal(end, .object($0))]) } ?? begins
    }
    return .or([leads(from, to), leads(to, from)])
  }

  /// What is said when links can't be had. There are other limits than that of their number: those speak for themselves.
  static func linksAreMissing(_ refusal: Refusal) -> Refusal {
    guard refusal == Replica.tooMany(maximumLinks) else { return refusal }
    return Refusal(.limit, "there are more than \(maximumLinks) links here; none of them is drawn")
  }

  /// Asks for the notes and follows them until `close`; a board that is followed in parts goes on as it does.
  func open() {
    guard part == nil else { return }
    let listener = RowsListener { [weak self] in self?.windowsDidChange([]) }
    listener.failed = { [weak self] in self?.didFail(Self.linksAreMissing($0)) }
    linkListener = listener
    allLinks.delegate = listener
    notes.performFetch()
  }

  /// Follows them no more; the windows go.
  func close() -> [WindowChange<NoteController>] {
    notes.stop()
    allLinks.stop()
    part?.stop()
    part = nil
    made = []
    return windows.ids.flatMap { windows.close($0) }
  }

  // MARK: - Notes

  /// The list of all notes: all of them, or of a large board a window in reading order.
  var list: ResultsController { part?.list ?? notes }

  /// The links that are here.
  var links: ResultsController { part?.shown?.links ?? allLinks }

  /// How many notes the board has; nil while nobody knows.
  var count: Int? {
    if let part { return part.total }
    return notes.state == .loaded ? notes.count : nil
  }

  /// The notes that are here.
  var rows: [ObjectID] { part?.ids ?? Array(notes.snapshot) }

  func note(_ id: ObjectID) -> Note? { context.fault(id) as? Note }

  /// What a note shows; nil for one that is not here.
  func values(of id: ObjectID) -> NoteValues? { values[id] }

  func shape(of id: ObjectID) -> WindowShape? { values[id]?.shape }

  /// What is to have a window: the committed notes that are not deleted here, and those that were made here.
  private var arranged: [ObjectID] {
    let there = Set(made)
    return rows.filter { context.fault($0) != nil && !there.contains($0) } + made
  }

  /// Makes and closes windows.
  func reconcile(after cause: ArrangementCause = .here) {
    let cause = overdue?.followed(by: cause) ?? cause
    overdue = nil
    reconciliations += 1
    let all = arranged
    let shown = filter.isOn ? all.filter(isShown) : all
    hiddenCount = all.count - shown.count
    windowsDidChange(windows.reconcile(shown, after: cause))
  }

  /// Somebody looks at it: windows that are old follow their notes.
  func refresh() { if overdue != nil { reconcile() } }

  /// What shows follows at once, and so do the notes that it waited for; everything else when it shows.
  private func reconcileOrGrowStale(after cause: ArrangementCause) {
    if isWatched() || !isLoaded { reconcile(after: cause) } else { growStale(after: cause) }
  }

  private func growStale(after cause: ArrangementCause) {
    overdue = overdue?.followed(by: cause) ?? cause
    didGrowStale()
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
    reconcileOrGrowStale(after: .here)
  }

  /// A commit was refused: nothing comes of these ids for now.
  func withdraw(_ ids: [ObjectID]) { windowsDidChange(windows.withdraw(ids)) }

  // MARK: - What others do

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    if allLinks.state == .idle { allLinks.performFetch() }
    follow(difference)
  }

  func results(_ controller: ResultsController, didFail refusal: Refusal) {
    if refusal == Replica.tooMany(Self.maximumNotes), part == nil { return beginPart() }
    if isLoaded { didFail(refusal) } else { didLoad(refusal) }
  }

  private func follow(_ difference: ResultsDifference) {
    var cause = ArrangementCause.here
    if difference.revision > 0 {
      let deleted = lastChange?.revision == difference.revision ? lastChange?.deleted ?? [] : []
      cause = ArrangementCause(
        revision: difference.revision, author: difference.author, deleted: Set(deleted),
        isOwn: Bytes.equal(difference.author, link.user))
    }
    reconcileOrGrowStale(after: cause)
    if !isLoaded {
      isLoaded = true
      didLoad(nil)
    }
  }

  // MARK: - Large boards

  /// The board has more notes than are followed at once: from now on only what is seen of it is here.
  private func beginPart() {
    let held = notes.snapshot.compactMap { context.fault($0) }
    allLinks.stop()
    let part = BoardPart(of: board.id, holding: held, in: context, link: link)
    part.didChange = { [weak self] in self?.follow($0) }
    part.didFail = { [weak self] refusal in
      guard let self else { return }
      if isLoaded { didFail(refusal) } else { didLoad(refusal) }
    }
    part.didChangeFace = { [weak self] in self?.windowsDidChange([]) }
    self.part = part
    // Before the screen says what is seen: a page that waits for its notes may not be on it.
    part.ask(for: Rect(origin: scroll, size: Size(width: 80, height: 24)))
    windowsDidChange([])
  }

  /// A condition on notes of this board.
  func notes(where predicate: GraphPredicate) -> GraphPredicate {
    GraphPredicate.all([Self.notes(of: board.id, in: context.model).predicate, predicate])
  }
}

extension ArrangementCause {
  /// This one and a later one as one: all that is gone by them, and who did the last of it.
  fileprivate func followed(by later: ArrangementCause) -> ArrangementCause {
    var both = later.revision > 0 ? later : self
    both.deleted = deleted.union(later.deleted)
    both.isOwn = isOwn || later.isOwn
    return both
  }
}
