import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// Reads a board as it was: which revisions there are, which one is wanted, and what has come of it. Who stands at the newest
/// goes with the commits that come; who stands at another stays there. While the server is away, what has come stays.
final class PastReader {
  /// The revisions that can be shown; nil before anybody knows.
  private(set) var reach: ClosedRange<Revision>?
  /// The one that the thumb is at.
  private(set) var revision: Revision = 0
  private(set) var contents = PastContents()
  /// The revision that this is of; nil before there is any.
  private(set) var shown: Revision?
  /// The lines between its notes.
  private(set) var lines = [LinkState]()
  /// Why nothing of the past is here; nil while it is on its way, or something is.
  private(set) var trouble: String?
  /// Something of it is another.
  var didChange: () -> Void = {}
  /// The revision that is asked for, while its answer is awaited. However fast the thumb is dragged, one question is on its
  /// way, and the next one is for where the thumb is then.
  private var asked: Revision?
  /// The newest revision that this connection has told of: an answer that was on its way then does not know it.
  private var heard: Revision = 0
  private weak var screen: BoardScreen?
  /// What is asked for here; closed with the window, so that a late answer is nobody's.
  private let inquiries: BoardInquiries

  init(on screen: BoardScreen) {
    self.screen = screen
    inquiries = screen.makeInquiries("Loading the history…")
  }

  /// Asks how far history reaches, and for the newest revision, or where one is by now.
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

  /// It is looked at no more.
  func close() { inquiries.close() }

  /// What is on its way is not wanted any more; what is seen stays.
  func giveUp() {
    if let shown { revision = shown }
    inquiries.cancel()
  }

  // MARK: - What becomes of the graph meanwhile

  /// The graph is at a revision by now.
  func follow(_ newest: Revision) {
    heard = max(heard, newest)
    guard let reach, newest > reach.upperBound else { return }
    learn(reach)
    catchUp()
  }

  /// The server went, or is back.
  func linkDidChange() {
    // It may come back with an earlier state.
    if screen?.linkState.isConnected == true { start() } else { heard = 0 }
  }

  private func learn(_ told: ClosedRange<Revision>) {
    let isAtEnd = reach.map { $0.upperBound == revision } ?? true
    let newest = max(told.upperBound, heard)
    reach = told.lowerBound...newest
    revision = isAtEnd ? newest : max(told.lowerBound, min(revision, newest))
    didChange()
  }

  // MARK: - Going back and forth

  func go(by step: Revision) { go(to: revision + step) }

  func go(to wanted: Revision) {
    guard let screen else { return }
    guard screen.linkState.isConnected else { return screen.say("other revisions need the server", isTrouble: true) }
    guard let reach else {
      if trouble != nil { start() }
      return
    }
    revision = max(reach.lowerBound, min(wanted, reach.upperBound))
    didChange()
    // Also where one is already: by now there may be newer ones.
    ask()
  }

  /// Another part of the board is seen: of a large one what comes into sight is asked for.
  func didScroll() {
    if !isHere, screen?.linkState.isConnected == true { ask() }
  }

  private func ask() {
    guard let screen, asked == nil else { return }
    let wanted = revision
    asked = wanted
    let board = PastBoard(
      board: screen.page.board.id, revision: wanted, region: BoardRegion(around: screen.seen),
      isLarge: screen.page.part != nil || contents.region != nil)
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
    if let missing = contents.linksAreMissing { screen?.say(missing.message, isTrouble: true) }
    if let reach = contents.reach { learn(reach) }
    didChange()
    catchUp()
  }

  /// Asks for what is to be seen, where that is not here.
  private func catchUp() {
    if revision != shown || !isHere { ask() }
  }

  /// - Parameter wanted: nil when it was not about one revision.
  private func fail(_ refusal: Refusal, at wanted: Revision? = nil) {
    guard refusal != BoardInquiries.givenUp else { return }
    didChange()
    guard let shown else { return trouble = refusal.message }
    guard let wanted else { return }
    // Lost with the connection, it is asked for again on the next; the thumb stays where one wants to go.
    if refusal.code != .unavailable {
      // One can't go there; what is seen stays, unless one is on the way to another.
      guard revision == wanted else { return ask() }
      revision = shown
    }
    screen?.say("not revision \(wanted): \(refusal.message)", isTrouble: true)
  }

  /// Whether what is seen is here.
  private var isHere: Bool { contents.region.map { $0.covers(screen?.seen ?? $0.cells) } ?? true }

  // MARK: - What is shown

  /// What the board was called; nil before anything is here.
  var boardName: String? { shown == nil ? nil : contents.name ?? "not there then" }

  /// The notes; of a large board those that are in sight.
  var notes: [PastNote] {
    // The marks at the edges would count what was asked for, not what there was.
    guard contents.region != nil, let seen = screen?.seen else { return contents.notes }
    return contents.notes.filter { !$0.values.cells.intersection(seen).isEmpty }
  }

  private var linkStates: [LinkState] {
    let outlines = Dictionary(contents.notes.map { ($0.id, $0.values.outline) }) { first, _ in first }
    return contents.links.enumerated().compactMap { number, link in
      guard let from = outlines[link.from], let to = outlines[link.to] else { return nil }
      return LinkState(id: number, from: from, to: to, label: link.label)
    }
  }
}
