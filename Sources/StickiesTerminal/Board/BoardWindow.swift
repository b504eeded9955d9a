import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// The loaded part of a board with more notes than a client keeps. It consists of a piece around the visible area,
/// which is replaced when the scroll nears its edge; a window of the list of all notes, which also has their number;
/// and the number of notes beyond each side of the piece. docs/decisions/0025 has the reasons.
///
/// One piece is shown and at most one other is being loaded. The next request waits until that piece has arrived, so
/// that the screen is updated during fast scrolling, too.
final class BoardWindow {
  /// Maximum number of notes in a piece, the uppermost ones; the limit of a live query's window.
  static let maximumNotes = 1_000
  /// The number of list rows that are loaded at a time.
  static let listRows = 200
  /// Minimum time between two counts of the notes around the same piece, in milliseconds.
  static let countMilliseconds: Int64 = 2_000

  /// The count of the notes beyond the piece.
  private struct CountState {
    /// The region, filter and total of the last count.
    var parameters: (region: BoardRegion, filter: GraphPredicate, total: Int?)?
    var isRunning = false
    var wasRefused = false
    /// The earliest time of the next count around the same piece.
    var nextTime: Int64 = 0
  }

  /// A window of all notes in reading order.
  let list: ResultsController
  /// The piece that is shown; nil until the first one has arrived.
  private(set) var shown: RegionQuery?
  /// The piece that is being loaded.
  private(set) var asked: RegionQuery?
  /// The number of notes beyond each side of the shown piece; nil while unknown.
  private(set) var beyond: [BoardSide: Int]?
  /// The predicate of the filter and the search.
  var filter = GraphPredicate.always
  /// The time of the next call of `look` if nothing else causes one; nil for none.
  private(set) var nextLook: Int64?
  /// The number of requested pieces, for tests.
  private(set) var askedCount = 0
  /// Called when the loaded notes change: a new piece arrived, or a commit changed some.
  var didChange: (ResultsDifference) -> Void = { _ in }
  /// Called when a query fails.
  var didFail: (Refusal) -> Void = { _ in }
  /// Called when something visible has changed.
  var didChangeDisplay: () -> Void = {}
  /// Requests in the background, without an overlay.
  let requests: RequestChannel

  private let board: ObjectID
  private let context: ObjectContext
  private var limit = BoardWindow.maximumNotes
  private var refused: RegionQuery.Parameters?
  private var kept = Set<ObjectID>()
  /// Retains objects that may not be part of a piece. These are the kept notes, and until the first piece has
  /// arrived, all.
  private var held: [ManagedObject]
  private var busy = BusyOverlay()
  private var busyToken: BusyToken?
  private var lastCount = CountState()
  /// The note that the list was last moved to.
  private var listed: ObjectID?
  private var listListener: RowsListener?

  /// - Parameter held: objects that are loaded already; they are shown until the first piece has arrived.
  init(of board: ObjectID, holding held: [ManagedObject], in context: ObjectContext, link: BoardConnection) {
    (self.board, self.context, self.held) = (board, context, held)
    requests = RequestChannel(link, in: context)
    list = ResultsController(Self.listRequest(of: board, in: context.model), in: context)
    let listener = RowsListener { [weak self] in self?.didChangeDisplay() }
    listener.failed = { [weak self] in self?.didFail($0) }
    listListener = listener
    list.delegate = listener
  }

  /// The request for the list of all notes.
  static func listRequest(of board: ObjectID, in model: Model) -> ResultsRequest {
    var request = BoardPage.notes(of: board, in: model)
    request.sort = readingOrder
    request.window = ResultsWindow(limit: listRows)
    return request
  }

  /// From top to bottom, and from left to right within a row.
  static var readingOrder: [SortKey] { [SortKey](Note.self, [\.y.ascending, \.x.ascending]) }

  func stop() {
    list.stop()
    shown?.stop()
    asked?.stop()
    requests.close()
    (shown, asked, held) = (nil, nil, [])
  }

  // MARK: - Loaded notes

  /// The number of notes of the board; nil while unknown.
  var total: Int? { list.state == .loaded ? list.totalCount : nil }

  /// The number of notes in the piece's region that are left out because they are below the uppermost ones.
  var leftOut: Int {
    guard let shown else { return 0 }
    return max(0, shown.notes.totalCount - shown.notes.count)
  }

  /// The notes that get windows; nil until the first piece has arrived.
  var ids: [ObjectID]? {
    guard let shown else { return nil }
    // A pinned note that the piece did not return is no longer on this board, unless it is one of those left out.
    let isComplete = leftOut == 0
    let rest = kept.filter {
      !$0.isTemporary && shown.notes.position(of: $0) == nil
        && !(isComplete && shown.parameters.pinned.contains($0))
    }
    return Array(shown.notes.snapshot) + rest.sorted()
  }

  /// The number of the board's notes that match the filter; nil while unknown.
  var matchingCount: Int? {
    guard let shown, let beyond, shown.parameters.filter == filter else { return nil }
    return beyond.values.reduce(shown.notes.totalCount - pinnedElsewhere(in: shown), +)
  }

  /// The number of pinned notes that are in a piece only because they are in use: they do not match the filter, or the
  /// counts of the notes beyond the piece include them.
  private func pinnedElsewhere(in piece: RegionQuery) -> Int {
    let (parameters, source) = (piece.parameters, context.storedObjects)
    if parameters.pinned.isEmpty { return 0 }
    let place = PredicateEvaluator(.all([parameters.region.notes, parameters.filter]), model: context.model)
    return parameters.pinned.count { id in
      guard piece.notes.position(of: id) != nil, let image = source.image(of: id) else { return false }
      return !place.matches(image, in: source)
    }
  }

  /// Whether all notes of the visible area are loaded.
  func covers(_ seen: Rect) -> Bool { shown?.parameters.region.covers(seen) == true }

  // MARK: - Visible area

  /// Updates the visible area and requests what is not loaded.
  /// - Parameters:
  ///   - ids: notes that are in use, kept regardless of their position.
  ///   - isConnected: whether a count would be answered.
  /// - Returns: whether `ids` may have changed.
  @discardableResult
  func look(at seen: Rect, keeping ids: Set<ObjectID>, isConnected: Bool, at now: Int64) -> Bool {
    nextLook = nil
    let keepsOthers = kept != ids
    if keepsOthers {
      kept = ids
      if shown != nil { held = ids.compactMap { context.fault($0) } }
    }
    ask(for: seen)
    if asked != nil, !covers(seen) {
      if busyToken == nil { busyToken = busy.show(isConnected ? .loading : .reconnecting, at: now) }
      nextLook = busy.nextChange(after: now)
    } else if let token = busyToken {
      busy.hide(token)
      busyToken = nil
    }
    if isConnected { countBeyond(at: now) }
    return keepsOthers && shown != nil
  }

  /// Keeps a note from now on, until a call of `look` without it. The piece that is being loaded can arrive before that
  /// call; it was requested before the note was in use, so it may lack it.
  func keep(_ id: ObjectID) {
    if kept.insert(id).inserted, shown != nil, let object = context.fault(id) { held.append(object) }
  }

  /// Moves the list's window so that it contains the rows at these positions.
  func showInList(_ rows: Range<Int>) {
    let here = list.offset..<list.offset + list.count
    guard let total, rows.lowerBound < here.lowerBound || rows.upperBound > here.upperBound, rows.lowerBound < total,
      here.upperBound < total || rows.lowerBound < here.lowerBound
    else { return }
    list.move(to: ResultsWindow(offset: max(0, rows.lowerBound - Self.listRows / 2), limit: Self.listRows))
  }

  /// Moves the list's window to the rows around a note, once for each new note.
  func showInList(_ id: ObjectID, x: Double, y: Double) {
    guard listed != id, list.state == .loaded else { return }
    listed = id
    guard list.position(of: id) == nil else { return }
    let before = GraphPredicate(Note.self) { $0.y < y || $0.y == y && $0.x < x }
    count(before) { [weak self] result in
      guard let self, listed == id, case .success(let rank) = result else { return }
      list.move(to: ResultsWindow(offset: max(0, rank - Self.listRows / 2), limit: Self.listRows))
    }
  }

  /// The overlay while the visible area is being loaded; nil for none.
  func picture(at now: Int64) -> BusyAppearance? { busy.appearance(at: now) }

  /// Requests the piece around the visible area, unless it is loaded or another is being loaded.
  func ask(for seen: Rect) {
    guard asked == nil else { return }
    let wanted = kept.filter { !$0.isTemporary }
    if let shown, shown.parameters.region.serves(seen), shown.parameters.filter == filter,
      wanted.allSatisfy({ shown.parameters.pinned.contains($0) || shown.notes.position(of: $0) != nil })
    {
      return
    }
    let parameters = RegionQuery.Parameters(
      region: BoardRegion(around: seen), pinned: Set(wanted), filter: filter, limit: limit)
    guard parameters != refused else { return }
    askedCount += 1
    let piece = RegionQuery(parameters, of: board, in: context)
    piece.didChange = { [weak self] piece, difference in self?.receive(difference, of: piece) }
    piece.didFail = { [weak self] piece, refusal in self?.fail(refusal, piece) }
    piece.linksDidChange = { [weak self] in self?.didChangeDisplay() }
    piece.linksDidFail = { [weak self] in self?.didFail(BoardPage.linksAreMissing($0)) }
    asked = piece
    piece.start()
  }

  private func receive(_ difference: ResultsDifference, of piece: RegionQuery) {
    guard piece === asked else {
      if piece === shown { didChange(difference) }
      return
    }
    shown?.stop()
    (shown, asked, refused) = (piece, nil, nil)
    held = kept.compactMap { context.fault($0) }
    // The list is fetched after the first piece, because it costs the server more.
    list.performFetch()
    didChange(difference)
  }

  private func fail(_ refusal: Refusal, _ piece: RegionQuery) {
    guard piece === asked else { return didFail(refusal) }
    asked = nil
    // A window's first rows arrive in one message of limited size: with long texts only fewer rows fit.
    if refusal.code == .limit, limit > 1 {
      limit /= 2
    } else {
      refused = piece.parameters
      didFail(refusal)
    }
    didChangeDisplay()
  }

  // MARK: - Counting

  private func count(_ condition: GraphPredicate, _ done: @escaping (Result<Int, Refusal>) -> Void) {
    requests.count(.all([BoardPage.notes(of: board, in: context.model).predicate, condition]), done)
  }

  /// Counts the notes beyond the piece after the piece, the filter or the board's total has changed.
  private func countBeyond(at now: Int64) {
    guard let shown, asked == nil, !lastCount.isRunning, list.state != .fetching else { return }
    let wanted = (region: shown.parameters.region, filter: shown.parameters.filter, total: total)
    let isElsewhere = lastCount.parameters?.region != wanted.region || lastCount.parameters?.filter != wanted.filter
    guard isElsewhere || lastCount.parameters?.total != wanted.total else { return }
    guard isElsewhere && !lastCount.wasRefused || now >= lastCount.nextTime else {
      return nextLook = min(nextLook ?? .max, lastCount.nextTime)
    }
    if isElsewhere { beyond = nil }
    (lastCount.isRunning, lastCount.wasRefused) = (true, false)
    (lastCount.parameters, lastCount.nextTime) = (wanted, now + Self.countMilliseconds)
    var found = [BoardSide: Int]()
    var left = BoardSide.allCases.count
    for side in BoardSide.allCases {
      count(.all([wanted.region.notes(beyond: side), wanted.filter])) { [weak self] result in
        guard let self else { return }
        left -= 1
        if case .success(let number) = result { found[side] = number }
        if left == 0 { receive(found, of: wanted.region) }
      }
    }
  }

  private func receive(_ found: [BoardSide: Int], of region: BoardRegion) {
    lastCount.isRunning = false
    if found.count < BoardSide.allCases.count {
      (lastCount.parameters, lastCount.wasRefused) = (nil, true)
    } else if region == shown?.parameters.region {
      beyond = found
    }
    didChangeDisplay()
  }
}
