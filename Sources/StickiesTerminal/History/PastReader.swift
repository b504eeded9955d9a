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
  /// The reason why nothing could be loaded; nil while the first revision is being loaded or after it has arrived.
  private(set) var trouble: String?
  /// Called when anything visible has changed.
  var didChange: () -> Void = {}
  /// The revision that is being read. However fast the thumb is dragged, one request is pending, and the next one is
  /// for the thumb's position at that time.
  private var asked: Revision?
  /// The newest revision that this connection has reported. Answers that were already in flight do not include it.
  private var reported: Revision = 0
  private let connection: ConnectionMonitor
  private let pages: BoardPages
  private let viewport: BoardViewport
  private let status: StatusMessages
  /// The requests of the history; closed with the window, so that late answers are ignored.
  private let requests: RequestChannel

  init(for history: HistoryController) {
    (connection, pages, viewport) = (history.connection, history.pages, history.viewport)
    status = history.services.status
    requests = history.busy.makeChannel("Loading the history…")
  }

  /// Reads the range of revisions, then the wanted revision or the newest one.
  func start() {
    trouble = nil
    requests.reach { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let reach):
        update(reach)
        ask()
      case .failure(let refusal): fail(refusal)
      }
    }
  }

  /// Cancels the requests when the window closes.
  func close() { requests.close() }

  /// Cancels the pending request; the shown revision stays.
  func cancel() {
    if let shown { revision = shown }
    requests.cancel()
  }

  // MARK: - Changes of the graph

  /// Records a new revision of the graph.
  func follow(_ newest: Revision) {
    reported = max(reported, newest)
    guard let reach, newest > reach.upperBound else { return }
    update(reach)
    catchUp()
  }

  /// Handles a lost or restored connection.
  func connectionDidChange() {
    // The server may return with an earlier state.
    if connection.state.isConnected { start() } else { reported = 0 }
  }

  private func update(_ known: ClosedRange<Revision>) {
    // The newest revision is shown first.
    let isAtEnd = reach == nil || reach?.upperBound == revision
    let newest = max(known.upperBound, reported)
    reach = known.lowerBound...newest
    revision = isAtEnd ? newest : max(known.lowerBound, min(revision, newest))
    didChange()
  }

  // MARK: - Navigation

  func go(by step: Revision) { go(to: revision + step) }

  func go(to wanted: Revision) {
    guard connection.state.isConnected else {
      return status.show("other revisions need the server", isTrouble: true)
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
    if !isHere, connection.state.isConnected { ask() }
  }

  private func ask() {
    guard asked == nil else { return }
    let wanted = revision
    asked = wanted
    let board = PastBoard(
      board: pages.page.board.id, revision: wanted, region: BoardRegion(around: viewport.seen),
      isLarge: pages.page.part != nil || contents.region != nil)
    requests.past(board) { [weak self] result in
      guard let self else { return }
      asked = nil
      switch result {
      case .success(let contents): receive(contents, of: wanted)
      case .failure(let refusal): fail(refusal, at: wanted)
      }
    }
  }

  private func receive(_ contents: PastContents, of wanted: Revision) {
    (self.contents, shown, trouble) = (contents, wanted, nil)
    lines = linkStates
    if let missing = contents.linksAreMissing { status.show(missing.message, isTrouble: true) }
    if let reach = contents.reach { update(reach) }
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
    status.show("can't show revision \(wanted): \(refusal.message)", isTrouble: true)
  }

  /// Whether the visible area is loaded; contents without a region are the whole board.
  private var isHere: Bool {
    guard let region = contents.region else { return true }
    return region.covers(viewport.seen)
  }

  // MARK: - Contents

  /// The name of the board at that time; nil until a revision has been loaded.
  var boardName: String? {
    guard shown != nil else { return nil }
    return if let name = contents.name { name } else { "did not exist" }
  }

  /// The notes; for a large board the visible ones.
  var notes: [PastNote] {
    // Edge marks would count the loaded notes, not all that existed.
    guard contents.region != nil else { return contents.notes }
    let seen = viewport.seen
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
