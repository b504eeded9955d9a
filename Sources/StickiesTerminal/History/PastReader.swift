import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// Reads past states of a board: the range of revisions, the wanted one and its contents. At the newest revision it
/// follows new commits; at any other it stays. While disconnected, it keeps what it has loaded.
final class PastReader {
  /// The revisions that can be shown; nil while unknown.
  private(set) var reach: ClosedRange<Revision>?
  /// The revision at the scrubber's thumb.
  private(set) var revision: Revision = 0
  private(set) var contents = PastContents()
  /// The revision of `contents`; nil until one has been loaded.
  private(set) var shown: Revision?
  /// The links of the loaded revision.
  private(set) var lines = [NoteLinkState]()
  /// Why nothing could be loaded; nil while the first revision is being loaded or after it has arrived.
  private(set) var trouble: String?
  /// Called when anything visible has changed.
  var didChange: () -> Void = {}
  /// The revision that is being read. However fast the thumb is dragged, one request is pending, and the next one is
  /// for the thumb's position at that time.
  private var asked: Revision?
  /// The newest revision that this connection has reported. Answers that were already in flight do not include it.
  private var heard: Revision = 0
  private weak var screen: BoardScreen?
  /// The requests of the history; closed with the window, so that late answers are ignored.
  private let inquiries: RequestChannel

  init(on screen: BoardScreen) {
    self.screen = screen
    inquiries = screen.busy.makeChannel("Loading the history…")
  }

  /// Reads the range of revisions, then the wanted revision or the newest one.
  func start() {
    trouble = nil
    inquiries.reach { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let reach):
        learn(reach)
        ask()
      case .failure(let refusal): fail(refusal)
      }
    }
  }

  /// Cancels the requests when the window closes.
  func close() { inquiries.close() }

  /// Cancels the pending request; the shown revision stays.
  func cancel() {
    if let shown { revision = shown }
    inquiries.cancel()
  }

  // MARK: - Changes of the graph

  /// Records a new revision of the graph.
  func follow(_ newest: Revision) {
    heard = max(heard, newest)
    guard let reach, newest > reach.upperBound else { return }
    learn(reach)
    catchUp()
  }

  /// Handles a lost or restored connection.
  func linkDidChange() {
    // The server may return with an earlier state.
    if screen?.connection.state.isConnected == true { start() } else { heard = 0 }
  }

  private func learn(_ told: ClosedRange<Revision>) {
    let isAtEnd = reach.map { $0.upperBound == revision } ?? true
    let newest = max(told.upperBound, heard)
    reach = told.lowerBound...newest
    revision = isAtEnd ? newest : max(told.lowerBound, min(revision, newest))
    didChange()
  }

  // MARK: - Navigation

  func go(by step: Revision) { go(to: revision + step) }

  func go(to wanted: Revision) {
    guard let screen else { return }
    guard screen.connection.state.isConnected else {
      return screen.report("other revisions need the server", isTrouble: true)
    }
    guard let reach else {
      if trouble != nil { start() }
      return
    }
    revision = max(reach.lowerBound, min(wanted, reach.upperBound))
    didChange()
    // Also for the current revision, because a newer one may exist by now.
    ask()
  }

  /// Loads the newly visible area of a large board.
  func didScroll() {
    if !isHere, screen?.connection.state.isConnected == true { ask() }
  }

  private func ask() {
    guard let screen, asked == nil else { return }
    let wanted = revision
    asked = wanted
    let board = PastBoard(
      board: screen.pages.page.board.id, revision: wanted, region: BoardRegion(around: screen.viewport.seen),
      isLarge: screen.pages.page.part != nil || contents.region != nil)
    inquiries.past(board) { [weak self] result in
      guard let self else { return }
      asked = nil
      switch result {
      case .success(let contents): take(contents, of: wanted)
      case .failure(let refusal): fail(refusal, at: wanted)
      }
    }
  }

  private func take(_ contents: PastContents, of wanted: Revision) {
    (self.contents, shown, trouble) = (contents, wanted, nil)
    lines = linkStates
    if let missing = contents.linksAreMissing { screen?.report(missing.message, isTrouble: true) }
    if let reach = contents.reach { learn(reach) }
    didChange()
    catchUp()
  }

  /// Loads the wanted revision and area if they are not loaded.
  private func catchUp() {
    if revision != shown || !isHere { ask() }
  }

  /// - Parameter wanted: the requested revision; nil if the request was for the range.
  private func fail(_ refusal: Refusal, at wanted: Revision? = nil) {
    guard refusal != RequestChannel.cancelled else { return }
    didChange()
    guard let shown else { return trouble = refusal.message }
    guard let wanted else { return }
    // A request lost with the connection is repeated after the reconnect; the thumb stays where the user put it.
    if refusal.code != .unavailable {
      // The revision is not readable: the shown one stays, unless the user has moved on.
      guard revision == wanted else { return ask() }
      revision = shown
    }
    screen?.report("not revision \(wanted): \(refusal.message)", isTrouble: true)
  }

  /// Whether the visible area is loaded.
  private var isHere: Bool { contents.region.map { $0.covers(screen?.viewport.seen ?? $0.cells) } ?? true }

  // MARK: - Contents

  /// The name of the board at that time; nil until a revision has been loaded.
  var boardName: String? { shown == nil ? nil : contents.name ?? "not there then" }

  /// The notes; for a large board the visible ones.
  var notes: [PastNote] {
    // Edge marks would count the loaded notes, not all that existed.
    guard contents.region != nil, let seen = screen?.viewport.seen else { return contents.notes }
    return contents.notes.filter { !$0.values.cells.intersection(seen).isEmpty }
  }

  private var linkStates: [NoteLinkState] {
    let outlines = Dictionary(contents.notes.map { ($0.id, $0.values.outline) }) { first, _ in first }
    return contents.links.enumerated().compactMap { number, link in
      guard let from = outlines[link.from], let to = outlines[link.to] else { return nil }
      return NoteLinkState(id: number, from: from, to: to, label: link.label)
    }
  }
}
