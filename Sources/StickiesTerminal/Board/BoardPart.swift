import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// A board with more notes than a client keeps. What is here of it: a piece around the place that is seen, asked for anew
/// when the scroll nears its edge; a window of the list of all notes, which also says how many there are; and for each
/// side how many lie beyond the piece. docs/decisions/0025 says why.
///
/// Of pieces one is shown and at most one more is on its way: where the scroll went meanwhile is asked for when that one
/// is here, so that whoever scrolls fast sees something.
final class BoardPart {
  /// Notes of a piece at most: of more the uppermost are shown. As many as a window of a live query can have.
  static let maximumNotes = 1_000
  /// Rows of the list that are here at a time.
  static let listRows = 200
  /// How often the notes on each side of one piece are counted at most, in milliseconds.
  static let countMilliseconds: Int64 = 2_000

  /// All notes in reading order, a window of them.
  let list: ResultsController
  /// The piece that is shown; nil before the first has come.
  private(set) var shown: BoardPiece?
  /// The piece that is on its way.
  private(set) var asked: BoardPiece?
  /// How many notes lie beyond the piece that is shown, by side; nil while nobody knows.
  private(set) var beyond: [BoardSide: Int]?
  /// Which notes are looked for.
  var filter = GraphPredicate.always
  /// When `look` is to be called again, should nothing happen before; nil for never.
  private(set) var nextLook: Int64?
  /// How many pieces have been asked for, for tests.
  private(set) var askedCount = 0
  /// Other notes are here: those of another piece, or a commit has changed some.
  var didChange: (ResultsDifference) -> Void = { _ in }
  /// What can't be had, and why.
  var didFail: (Refusal) -> Void = { _ in }
  /// Something that is drawn has changed.
  var didChangeFace: () -> Void = {}
  /// What is asked unseen, besides what somebody waits for.
  let inquiries: BoardInquiries

  private let board: ObjectID
  private let context: ObjectContext
  private let link: BoardLink
  private var limit = BoardPart.maximumNotes
  private var refused: BoardPiece.Wish?
  private var kept = Set<ObjectID>()
  /// Keeps the objects in the context that no piece may hold: those that are kept, and until there is a piece, all.
  private var held: [ManagedObject]
  private var busy = BusyOverlay()
  private var busyToken: BusyToken?
  /// What was counted, or is being counted.
  private var counted: (region: BoardRegion, filter: GraphPredicate, total: Int?)?
  private var isCounting = false
  private var wasRefused = false
  /// The note that the list was moved to last.
  private var listed: ObjectID?
  private var nextCount: Int64 = 0
  private var listListener: RowsListener?

  /// - Parameter held: what is here already, to be shown until the first piece has come.
  init(of board: ObjectID, holding held: [ManagedObject], in context: ObjectContext, link: BoardLink) {
    (self.board, self.context, self.link, self.held) = (board, context, link, held)
    inquiries = BoardInquiries(link, in: context)
    list = ResultsController(Self.listRequest(of: board, in: context.model), in: context, perform: link.perform)
    let listener = RowsListener { [weak self] in self?.didChangeFace() }
    listener.failed = { [weak self] in self?.didFail($0) }
    listListener = listener
    list.delegate = listener
  }

  /// The list of all notes.
  static func listRequest(of board: ObjectID, in model: Model) -> ResultsRequest {
    var request = BoardPage.notes(of: board, in: model)
    request.sort = readingOrder
    request.window = ResultsWindow(limit: listRows)
    return request
  }

  /// From the top to the bottom, and in a row from the left.
  static var readingOrder: [SortKey] { [SortKey](Note.self, [\.y.ascending, \.x.ascending]) }

  func stop() {
    list.stop()
    shown?.stop()
    asked?.stop()
    inquiries.close()
    (shown, asked, held) = (nil, nil, [])
  }

  // MARK: - What is here

  /// How many notes the board has; nil while nobody knows.
  var total: Int? { list.state == .loaded ? list.totalCount : nil }

  /// How many notes of the piece's region are left out, because others lie above them.
  var leftOut: Int { shown.map { max(0, $0.notes.totalCount - $0.notes.count) } ?? 0 }

  /// The notes that are to have windows; nil before the first piece has come.
  var ids: [ObjectID]? {
    guard let shown else { return nil }
    // One that was asked for and did not come is not on this board any more.
    let rest = kept.filter {
      !$0.isTemporary && shown.notes.position(of: $0) == nil && !shown.wish.pinned.contains($0)
    }
    return Array(shown.notes.snapshot) + rest.sorted()
  }

  /// How many notes of the board are looked for, wherever they lie; nil while nobody knows.
  var matchingCount: Int? {
    guard let shown, let beyond, shown.wish.filter == filter else { return nil }
    return beyond.values.reduce(shown.notes.totalCount, +)
  }

  /// Whether the notes of all that is seen are here.
  func covers(_ seen: Rect) -> Bool { shown?.wish.region.covers(seen) ?? false }

  // MARK: - Looking

  /// This is seen now; asks for what is not here.
  /// - Parameters:
  ///   - ids: notes that somebody works with: they stay, wherever they lie.
  ///   - isConnected: whether counting has a sense.
  /// - Returns: whether `ids` may be others than before.
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

  /// Brings rows of the list, by their places among all, into its window.
  func showInList(_ rows: Range<Int>) {
    let here = list.offset..<list.offset + list.count
    guard let total, rows.lowerBound < here.lowerBound || rows.upperBound > here.upperBound, rows.lowerBound < total,
      here.upperBound < total || rows.lowerBound < here.lowerBound
    else { return }
    list.move(to: ResultsWindow(offset: max(0, rows.lowerBound - Self.listRows / 2), limit: Self.listRows))
  }

  /// Brings the rows around a note into the list's window; once for each note that is asked for in turn.
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

  /// What covers the canvas while nothing of what is seen is here.
  func picture(at now: Int64) -> BusyPicture? { busy.picture(at: now) }

  /// Asks for the piece around what is seen, unless it is here or one is on its way.
  func ask(for seen: Rect) {
    guard asked == nil else { return }
    let wanted = kept.filter { !$0.isTemporary }
    if let shown, shown.wish.region.serves(seen), shown.wish.filter == filter,
      wanted.allSatisfy({ shown.wish.pinned.contains($0) || shown.notes.position(of: $0) != nil })
    {
      return
    }
    let wish = BoardPiece.Wish(
      region: BoardRegion(around: seen), pinned: Set(wanted), filter: filter, limit: limit)
    guard wish != refused else { return }
    askedCount += 1
    let piece = BoardPiece(wish, of: board, in: context, perform: link.perform)
    piece.didChange = { [weak self] piece, difference in self?.take(difference, of: piece) }
    piece.didFail = { [weak self] piece, refusal in self?.fail(refusal, piece) }
    piece.linksDidChange = { [weak self] in self?.didChangeFace() }
    piece.linksDidFail = { [weak self] in self?.didFail(BoardPage.linksAreMissing($0)) }
    asked = piece
    piece.start()
  }

  private func take(_ difference: ResultsDifference, of piece: BoardPiece) {
    guard piece === asked else {
      if piece === shown { didChange(difference) }
      return
    }
    shown?.stop()
    (shown, asked, refused) = (piece, nil, nil)
    held = kept.compactMap { context.fault($0) }
    // The list comes behind the first piece: the server has more to do for it.
    list.performFetch()
    didChange(difference)
  }

  private func fail(_ refusal: Refusal, _ piece: BoardPiece) {
    guard piece === asked else { return didFail(refusal) }
    asked = nil
    // A window's first rows come in one piece of a bounded size: long texts are too much for it, fewer of them are not.
    if refusal.code == .limit, limit > 1 {
      limit /= 2
    } else {
      refused = piece.wish
      didFail(refusal)
    }
    didChangeFace()
  }

  // MARK: - Counting

  private func count(_ condition: GraphPredicate, _ done: @escaping (Result<Int, Refusal>) -> Void) {
    inquiries.count(.all([BoardPage.notes(of: board, in: context.model).predicate, condition]), done)
  }

  /// Counts what lies beyond the piece when the piece is another one, or the board has got more or fewer notes.
  private func countBeyond(at now: Int64) {
    guard let shown, asked == nil, !isCounting, list.state != .fetching else { return }
    let wanted = (region: shown.wish.region, filter: shown.wish.filter, total: total)
    let isElsewhere = counted?.region != wanted.region || counted?.filter != wanted.filter
    guard isElsewhere || counted?.total != wanted.total else { return }
    guard isElsewhere && !wasRefused || now >= nextCount else { return nextLook = min(nextLook ?? .max, nextCount) }
    if isElsewhere { beyond = nil }
    (isCounting, wasRefused) = (true, false)
    (counted, nextCount) = (wanted, now + Self.countMilliseconds)
    var found = [BoardSide: Int]()
    var left = BoardSide.allCases.count
    for side in BoardSide.allCases {
      count(.all([wanted.region.notes(beyond: side), wanted.filter])) { [weak self] result in
        guard let self else { return }
        left -= 1
        if case .success(let number) = result { found[side] = number }
        if left == 0 { take(found, of: wanted.region) }
      }
    }
  }

  private func take(_ found: [BoardSide: Int], of region: BoardRegion) {
    isCounting = false
    if found.count < BoardSide.allCases.count {
      (counted, wasRefused) = (nil, true)
    } else if region == shown?.wish.region {
      beyond = found
    }
    didChangeFace()
  }
}
