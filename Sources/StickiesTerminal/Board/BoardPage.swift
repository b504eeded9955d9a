import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import StickiesModel
import TerminalCells

/// A board that is shown: its notes, live, with a window for each. Position and stacking order belong to the notes;
/// the scroll position belongs to this client.
///
/// The page follows the complete board. If the board has more than `maximumNotes`, at the beginning or later, the
/// page follows parts of it (`BoardWindow`) until it is closed.
///
/// The windows of a board that is not on the screen are not updated: it is stale from the first commit on, and
/// `refresh` applies all commits at once when it is shown again.
final class BoardPage: ResultsControllerDelegate, WindowShapeSource {
  /// Boards with more notes than this are followed in parts.
  static let maximumNotes = 2_000
  /// Maximum number of links that are followed, of a board or of a part of it. If there are more, none is drawn.
  static let maximumLinks = 4_000

  let board: Board
  /// All notes of the board, unless it is followed in parts.
  let notes: ResultsController
  /// The loaded part of a large board; nil if the complete board is loaded.
  private(set) var part: BoardWindow?
  var windows: WindowSet<NoteController>
  /// The cell of the board in the top left corner of the canvas.
  var scroll = Point(x: 0, y: 0)
  /// Notes that this client created and that the server does not have yet.
  private(set) var made = [ObjectID]()
  /// Determines which notes have windows.
  var filter = BoardFilter() { didSet { if filter != oldValue, isLoaded { growStale(after: .here) } } }
  /// The number of notes that the filter hides.
  private(set) var hiddenCount = 0
  /// The name of the board, or its last known name if it was deleted.
  var name: String {
    if !board.isDeleted, !board.name.isEmpty { knownName = board.name }
    return knownName
  }
  private var knownName = ""
  /// Called when windows opened and closed.
  var windowsDidChange: ([WindowChange<NoteController>]) -> Void = { _ in }
  /// Called with nil when the first result has arrived, or with the reason why it failed.
  var didLoad: (Refusal?) -> Void = { _ in }
  /// Called when a query fails after the first result.
  var didFail: (Refusal) -> Void = { _ in }
  /// Whether the board is on the screen; its windows then follow each commit.
  var isWatched: () -> Bool = { true }
  /// Called when the windows no longer correspond to the notes.
  var didGrowStale: () -> Void = {}
  /// The context's last notification; it distinguishes deleted notes from notes that left the board.
  var lastChange: ObjectsDidChange?
  /// The number of reconciliations so far, for tests.
  private(set) var reconciliations = 0
  /// The cause of the changes since the windows became stale; nil while they correspond to the notes.
  private var overdue: ArrangementCause?
  private(set) var isLoaded = false
  private let context: ObjectContext
  private let values: NoteValuesCache
  private let link: BoardConnection
  private let allLinks: ResultsController
  private var linkListener: RowsListener?

  init(
    _ board: Board, in context: ObjectContext, link: BoardConnection,
    makeController: @escaping (ObjectID) -> NoteController
  ) {
    (self.board, self.context, self.link) = (board, context, link)
    values = NoteValuesCache(in: context)
    windows = WindowSet(make: makeController)
    var request = Self.notes(of: board.id, in: context.model)
    request.maximumCount = Self.maximumNotes
    notes = ResultsController(request, in: context)
    var lines = Self.links(of: board.id, in: context.model)
    lines.maximumCount = Self.maximumLinks
    allLinks = ResultsController(lines, in: context)
    notes.delegate = self
    knownName = board.name
  }

  /// The notes of a board, in the order of creation.
  static func notes(of board: ObjectID, in model: Model) -> ResultsRequest {
    ResultsRequest(
      entity: model.builtIn(Note.self).number,
      predicate: .equal(model.property(Note.self, \.board), .object(board)),
      sort: [SortKey](Note.self, [\.number.ascending]), prefetch: RelationshipTree(Note.self, [\.tags]))
  }

  /// The links that begin at notes of a board.
  static func links(of board: ObjectID, in model: Model) -> ResultsRequest {
    let (from, property) = (model.property(Link.self, \.from), model.property(Note.self, \.board))
    let path = GraphPredicate.Path(hops: [from.number], end: .property(property.number))
    return ResultsRequest(
      entity: model.builtIn(Link.self).number,
      predicate: .comparison(.init(.one, path, .equal, .value(.object(board)))))
  }

  /// The links that begin or end at a note; with `other`, only those between the two notes.
  static func links(at id: ObjectID, and other: ObjectID?, in model: Model) -> GraphPredicate {
    let (from, to) = (model.property(Link.self, \.from), model.property(Link.self, \.to))
    func leads(_ start: Property, _ end: Property) -> GraphPredicate {
      let begins = GraphPredicate.equal(start, .object(id))
      return other.map { .and([begins, .equal(end, .object($0))]) } ?? begins
    }
    return .or([leads(from, to), leads(to, from)])
  }

  /// The message for links that failed to load. Only the refusal because of their number is reworded.
  static func linksAreMissing(_ refusal: Refusal) -> Refusal {
    guard refusal == Replica.tooMany(maximumLinks) else { return refusal }
    return Refusal(.limit, "there are more than \(maximumLinks) links here; none of them is shown")
  }

  /// Fetches the notes and follows them until `close`. Has no effect on a board that is followed in parts.
  func open() {
    guard part == nil else { return }
    let listener = RowsListener { [weak self] in self?.windowsDidChange([]) }
    listener.failed = { [weak self] in self?.didFail(Self.linksAreMissing($0)) }
    linkListener = listener
    allLinks.delegate = listener
    notes.performFetch()
  }

  /// Stops following and closes the windows.
  func close() -> [WindowChange<NoteController>] {
    notes.stop()
    allLinks.stop()
    part?.stop()
    part = nil
    made = []
    return windows.ids.flatMap { windows.close($0) }
  }

  // MARK: - Notes

  /// The rows of the list: all notes, or for a large board a window in reading order.
  var list: ResultsController { part?.list ?? notes }

  /// The loaded links.
  var links: ResultsController { part?.shown?.links ?? allLinks }

  /// The number of notes of the board; nil while unknown.
  var count: Int? {
    if let part { return part.total }
    return notes.state == .loaded ? notes.count : nil
  }

  /// The loaded notes.
  var rows: [ObjectID] { part?.ids ?? Array(notes.snapshot) }

  func note(_ id: ObjectID) -> Note? { context.fault(id) as? Note }

  /// The displayed values of a note; nil if it is not loaded.
  func values(of id: ObjectID) -> NoteValues? { values[id] }

  func shape(of id: ObjectID) -> WindowShape? { values[id]?.shape }

  /// The notes that get a window: committed notes without a pending delete, and notes created here.
  private var arranged: [ObjectID] {
    let there = Set(made)
    return rows.filter { context.fault($0) != nil && !there.contains($0) } + made
  }

  /// Opens and closes windows so that they correspond to the notes.
  func reconcile(after cause: ArrangementCause = .here) {
    let cause = overdue?.followed(by: cause) ?? cause
    overdue = nil
    reconciliations += 1
    let all = arranged
    let shown = filter.isOn ? all.filter(isShown) : all
    hiddenCount = all.count - shown.count
    windowsDidChange(windows.reconcile(shown, after: cause))
  }

  /// Updates stale windows; called when the board is shown.
  func refresh() { if overdue != nil { reconcile() } }

  /// Updates the windows of a visible board and of one that receives its first result. Others become stale.
  private func reconcileOrGrowStale(after cause: ArrangementCause) {
    if isWatched() || !isLoaded { reconcile(after: cause) } else { growStale(after: cause) }
  }

  private func growStale(after cause: ArrangementCause) {
    overdue = overdue?.followed(by: cause) ?? cause
    didGrowStale()
  }

  /// Whether a note has a window; a note created here has one until the server knows it.
  func isShown(_ id: ObjectID) -> Bool {
    guard filter.isOn, !made.contains(id), let note = note(id), !note.isFault, note.board?.id == board.id else {
      return true
    }
    return filter.passes(note)
  }

  /// Adds a note that was created here.
  func add(_ id: ObjectID) {
    made.append(id)
    reconcile()
  }

  /// Removes a note that was created here and discarded before the server had it.
  func drop(_ id: ObjectID) {
    made.removeAll { $0 == id }
  }

  /// Replaces temporary ids after the reply to a commit.
  func identify(_ identities: [CommitResult.IDAssignment], at revision: Revision) {
    made.removeAll { id in identities.contains { $0.temporary == id } }
    windowsDidChange(windows.identify(identities, at: revision))
    reconcileOrGrowStale(after: .here)
  }

  /// Gives the windows of notes the ids that the server has assigned. The rows follow when the context has changed.
  func assign(_ ids: [ObjectID: ObjectID]) {
    let known = windows.ids.compactMap { old in
      ids[old].map { CommitResult.IDAssignment(temporary: old, permanent: $0) }
    }
    if !known.isEmpty { windowsDidChange(windows.identify(known, at: 0)) }
  }

  /// Handles a refused commit: these ids remain temporary for now.
  func withdraw(_ ids: [ObjectID]) { windowsDidChange(windows.withdraw(ids)) }

  // MARK: - Remote changes

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
      var deleted = Set<ObjectID>()
      // The last change can be of another commit.
      if let lastChange, lastChange.revision == difference.revision { deleted.formUnion(lastChange.deleted) }
      cause = ArrangementCause(
        revision: difference.revision, author: difference.author, deleted: deleted,
        isOwn: UTF8Comparison.equal(difference.author, link.user))
    }
    reconcileOrGrowStale(after: cause)
    if !isLoaded {
      isLoaded = true
      didLoad(nil)
    }
  }

  // MARK: - Large boards

  /// Switches to following only the visible part, because the board exceeds the limit.
  private func beginPart() {
    let held = notes.snapshot.compactMap { context.fault($0) }
    allLinks.stop()
    let part = BoardWindow(of: board.id, holding: held, in: context, link: link)
    part.didChange = { [weak self] in self?.follow($0) }
    part.didFail = { [weak self] refusal in
      guard let self else { return }
      if isLoaded { didFail(refusal) } else { didLoad(refusal) }
    }
    part.didChangeDisplay = { [weak self] in self?.windowsDidChange([]) }
    self.part = part
    // The page may not be on the screen while it waits for its notes, so nothing else supplies the visible area.
    part.ask(for: Rect(origin: scroll, size: Size(width: 80, height: 24)))
    windowsDidChange([])
  }

  /// A predicate on notes of this board.
  func notes(where predicate: GraphPredicate) -> GraphPredicate {
    GraphPredicate.all([Self.notes(of: board.id, in: context.model).predicate, predicate])
  }
}

extension ArrangementCause {
  /// Combines this cause with a later one: the deletes of both, with revision and author of the later.
  fileprivate func followed(by later: ArrangementCause) -> ArrangementCause {
    var both = later.revision > 0 ? later : self
    both.deleted = deleted.union(later.deleted)
    both.isOwn = isOwn || later.isOwn
    return both
  }
}
