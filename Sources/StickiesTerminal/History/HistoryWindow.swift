import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// The board as it was: a modal window that takes keys and mouse, over a canvas that shows a revision and can't be changed.
final class HistoryWindow: Window {
  /// The revisions that can be shown; nil before anybody knows.
  private(set) var reach: ClosedRange<Revision>?
  /// The one that the thumb is at.
  private(set) var revision: Revision = 0
  private(set) var past = PastContents()
  /// The revision that this is of; nil before there is any.
  private(set) var shown: Revision?
  private var lines = [LinkState]()
  /// The revision that is asked for, while its answer is awaited. However fast the thumb is dragged, one question is on its
  /// way, and the next one is for where the thumb is then.
  private var asked: Revision?
  private var isDragging = false
  private let layouts = LayoutCache()
  /// Names the notes for the layouts: from revision to revision most of them say the same.
  private var numbers = [ObjectID: Int]()
  private weak var screen: BoardScreen?
  /// What is asked for here; closed with the window, so that a late answer is nobody's.
  private let inquiries: BoardInquiries

  init(on screen: BoardScreen) {
    self.screen = screen
    inquiries = screen.makeInquiries("Loading the history…")
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: screen.application.screenSize))
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  func start() {
    inquiries.reach { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let reach):
        self.reach = reach
        go(to: reach.upperBound)
      case .failure(let refusal): fail(refusal)
      }
    }
  }

  /// What the board was called that is shown; nil before there is any.
  var boardName: String? { shown == nil ? nil : past.name ?? "not there then" }

  /// It is seen no more.
  func close() { inquiries.close() }

  private func fail(_ refusal: Refusal) {
    guard let screen, screen.history === self else { return }
    screen.closeHistory()
    screen.say("no history: \(refusal.message)", isTrouble: true)
  }

  // MARK: - Going back and forth

  private func go(to wanted: Revision) {
    guard let reach else { return }
    revision = max(reach.lowerBound, min(wanted, reach.upperBound))
    setNeedsDisplay()
    ask()
  }

  private func ask() {
    guard let screen, asked == nil else { return }
    let wanted = revision
    asked = wanted
    let board = PastBoard(
      board: screen.page.board.id, revision: wanted, region: BoardRegion(around: screen.seen),
      isLarge: screen.page.part != nil || past.region != nil)
    inquiries.past(board) { [weak self] result in
      guard let self else { return }
      asked = nil
      switch result {
      case .success(let past):
        (self.past, shown) = (past, wanted)
        lines = linkStates
        if let missing = past.linksAreMissing { screen.say(missing.message, isTrouble: true) }
      case .failure(let refusal):
        guard let shown, refusal.code != .unavailable else { return fail(refusal) }
        // One can't go there; what is seen stays, unless one is on the way to another.
        guard revision == wanted else { return ask() }
        revision = shown
        screen.say("not revision \(wanted): \(refusal.message)", isTrouble: true)
        return setNeedsDisplay()
      }
      setNeedsDisplay()
      if revision != wanted || !isHere { ask() }
    }
  }

  /// Whether what is seen is here.
  private var isHere: Bool { past.region.map { $0.covers(screen?.seen ?? $0.cells) } ?? true }

  /// Scrolls the board under it; of a large one what comes into sight is asked for.
  private func scroll(by step: Point) {
    screen?.scroll(by: step)
    setNeedsDisplay()
    if !isHere { ask() }
  }

  // MARK: - Events

  override func keyDown(_ key: KeyEvent) -> Bool {
    if key.modifiers.contains(.control), let step = Step.allCases.first(where: { $0.key == key.key }) {
      scroll(by: step.scroll)
      return true
    }
    switch key.key {
    case .left: go(to: revision - 1)
    case .right: go(to: revision + 1)
    case .pageUp: go(to: revision - 10)
    case .pageDown: go(to: revision + 10)
    case .home: go(to: 0)
    case .end: go(to: .max)
    case .escape, .character("h"), .character("q"): screen?.closeHistory()
    default: break
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    guard let scrubber else { return true }
    switch mouse.kind {
    case .press(.left):
      switch scrubber.part(at: mouse.position, frame: scrubberFrame) {
      case .revision(let revision):
        isDragging = true
        go(to: Revision(clamping: revision))
      case .close: screen?.closeHistory()
      case nil: break
      }
    case .drag(.left) where isDragging:
      go(to: Revision(clamping: scrubber.revision(atColumn: mouse.position.x, frame: scrubberFrame)))
    case .release: isDragging = false
    case .wheel(let direction): scroll(by: direction.scroll)
    default: break
    }
    return true
  }

  // MARK: - Drawing

  /// The two lowest rows of the canvas.
  private var scrubberFrame: Rect {
    guard let area = screen?.canvas else { return Rect(x: 0, y: 0, width: 0, height: 0) }
    let height = min(2, area.size.height)
    return Rect(x: area.minX, y: area.maxY - height, width: area.size.width, height: height)
  }

  private var scrubber: HistoryScrubber? {
    guard let reach else { return nil }
    // On the way to a revision nobody knows yet who made it.
    let commit = past.commit.flatMap { $0.revision == revision ? $0 : nil }
    return HistoryScrubber(
      first: UInt64(clamping: reach.lowerBound), last: UInt64(clamping: reach.upperBound),
      current: UInt64(clamping: revision), time: commit.map { LocalTime.text($0.time) } ?? "",
      author: commit?.author ?? "")
  }

  private func state(_ note: PastNote) -> NoteState {
    let number = numbers[note.id] ?? numbers.count
    numbers[note.id] = number
    let values = note.values
    return NoteState(
      id: number, frame: values.cells, z: values.shape.z, text: values.text, color: values.color, tags: values.tags,
      marks: values.marks, isCollapsed: values.isCollapsed)
  }

  /// The lines between the notes that are shown.
  private var linkStates: [LinkState] {
    let outlines = Dictionary(past.notes.map { ($0.id, $0.values.outline) }) { first, _ in first }
    return past.links.enumerated().compactMap { number, link in
      guard let from = outlines[link.from], let to = outlines[link.to] else { return nil }
      return LinkState(id: number, from: from, to: to, label: link.label)
    }
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let screen else { return }
    defer { scrubber?.draw(into: &grid, frame: scrubberFrame, clip: clip, theme: screen.theme) }
    // Until something of the past is here, the board lies beneath as it is now.
    guard shown != nil else { return }
    let board = Canvas(
      color: past.color ?? .gray, origin: screen.page.scroll,
      // Of a large board the marks at the edges would count what was asked for, not what there was.
      notes: past.notes.map(state).filter { past.region == nil || !$0.frame.intersection(screen.seen).isEmpty },
      links: lines)
    board.draw(into: &grid, frame: screen.canvas, clip: clip, theme: screen.theme, cache: layouts)
    screen.drawBusy(into: &grid)
  }
}

extension BoardScreen {
  func openHistory() {
    endEditing()
    let window = HistoryWindow(on: self)
    history = window
    beginModal(window)
    window.start()
  }

  func closeHistory() {
    guard let window = history else { return }
    history = nil
    window.close()
    application.endModal(window)
  }
}
