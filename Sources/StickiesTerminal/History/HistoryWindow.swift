import CommandLineIO
import GraphModel
import StickiesFiles
import StickiesKit
import TerminalApplication
import TerminalCells

/// The board as of a revision: a modal window that takes keys and mouse, over a read-only canvas. Nothing done here
/// changes the present board beneath: the window blocks all commands except a few that only change the view. It stays
/// until the user closes it or the board is deleted; if it closed by itself, keys meant for it would reach the
/// present board.
final class HistoryWindow: ModalWindow {
  override class var passing: Set<Command> {
    [.quitAnywhere, .suspend, .help, .openMenu, .list, .groupList, .narrowList, .widenList]
  }

  let past: PastReader
  private var isDragging = false
  private let layouts = LayoutCache()
  /// The numbers of notes in the layout cache. They stay the same for all revisions, because most texts are equal in
  /// adjacent ones.
  private var numbers = [ObjectID: Int]()
  private weak var history: HistoryController?

  init(for history: HistoryController) {
    self.history = history
    past = PastReader(for: history)
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: history.application.screenSize))
    past.didChange = { [weak self] in self?.setNeedsDisplay() }
    for step in ArrowDirection.allCases { on(.scroll(step)) { [weak self] in self?.scroll(by: step.scroll) } }
    on(.cancel) { [weak self] in self?.escape() }
    on(.history) { [weak self] in self?.history?.close() }
    on(.revisionBack) { [weak past] in past?.go(by: -1) }
    on(.revisionOn) { [weak past] in past?.go(by: 1) }
    on(.revisionsBack) { [weak past] in past?.go(by: -10) }
    on(.revisionsOn) { [weak past] in past?.go(by: 10) }
    on(.oldestRevision) { [weak past] in past?.go(to: 0) }
    on(.newestRevision) { [weak past] in past?.go(to: .max) }
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  /// Scrolls the board beneath.
  private func scroll(by step: Point) {
    history?.pages.scroll(by: step)
    past.didScroll()
  }

  /// Scrolls to a note of the past.
  func show(_ note: PastNote) {
    history?.navigation.bringIntoSight(note.values.cells)
    past.didScroll()
  }

  // MARK: - Events

  override func state(of command: Command) -> CommandState {
    Self.passing.contains(command) ? history?.delegate?.state(of: command) ?? .disabled : super.state(of: command)
  }

  override func keyDown(_ key: KeyEvent) -> Bool {
    if BoardMenu.past.command(for: key) != nil { return false }
    if key == KeyEvent(.character("q")) {
      history?.close()
    } else if BoardMenu.bar.command(for: key) != nil {
      // The key is a command of the board, which is not available here.
      reportPast()
    }
    return true
  }

  override func paste(_ paste: PasteEvent) -> Bool {
    reportPast()
    return true
  }

  private func reportPast() { history?.report("this is the past: Esc goes back to now") }

  /// Cancels the wait that the overlay offers to cancel, or returns to the present.
  private func escape() {
    guard let history else { return }
    let isOffered = history.busy.offersToCancel
    if past.shown != nil, isOffered {
      history.delegate?.cancelWait()
      return
    }
    history.close()
    // If no past state was shown, the visible overlay can belong to an earlier wait, which Escape cancels too.
    if isOffered, history.busy.canCancel { history.delegate?.cancelWait() }
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    if history?.listMouse(mouse) == true { return true }
    switch mouse.kind {
    case .press(.left): press(mouse.position)
    case .drag(.left) where isDragging:
      guard let scrubber else { break }
      past.go(to: Revision(clamping: scrubber.revision(atColumn: mouse.position.x, frame: scrubberFrame)))
    case .release: isDragging = false
    case .wheel(let direction): scroll(by: direction.scroll)
    default: break
    }
    return true
  }

  private func press(_ point: Point) {
    switch scrubber?.part(at: point, frame: scrubberFrame) {
    case .revision(let revision):
      isDragging = true
      past.go(to: Revision(clamping: revision))
    case .close: history?.close()
    case nil:
      if scrubberFrame.contains(point) || history?.delegate?.openMenu(at: point) == true { break }
      reportPast()
    }
  }

  // MARK: - Drawing

  /// The last two rows of the canvas.
  private var scrubberFrame: Rect {
    guard let area = history?.viewport.canvas else { return Rect(x: 0, y: 0, width: 0, height: 0) }
    let height = min(2, area.size.height)
    return Rect(x: area.minX, y: area.maxY - height, width: area.size.width, height: height)
  }

  private var scrubber: HistoryScrubber? {
    guard let reach = past.reach else { return nil }
    // Author and time of a revision are unknown until it has been loaded.
    let commit = past.contents.commit.flatMap { $0.revision == past.revision ? $0 : nil }
    let (time, author): (String, String) =
      if let commit { (LocalTime.text(commit.time), commit.author) } else { ("", "") }
    return HistoryScrubber(
      first: UInt64(clamping: reach.lowerBound), last: UInt64(clamping: reach.upperBound),
      current: UInt64(clamping: past.revision), time: time, author: author)
  }

  private func state(_ note: PastNote) -> NoteState {
    let number = numbers[note.id] ?? numbers.count
    numbers[note.id] = number
    let values = note.values
    return NoteState(
      id: number, frame: values.cells, z: values.shape.z, text: values.text, color: values.color, tags: values.tags,
      marks: values.marks, isCollapsed: values.isCollapsed)
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let history, !TooSmallMessage.isTooSmall(grid.size) else { return }
    defer { scrubber?.draw(into: &grid, frame: scrubberFrame, clip: clip, theme: history.theme) }
    // Until the first past state has been loaded, the present board stays visible.
    guard past.shown != nil || past.trouble != nil else { return }
    let board = Canvas(
      color: past.contents.color ?? .gray, origin: history.pages.page.scroll, notes: past.notes.map(state),
      links: past.lines)
    board.draw(into: &grid, frame: history.viewport.canvas, clip: clip, theme: history.theme, cache: layouts)
    if let trouble = past.trouble {
      EmptyBoardHint(lines: ["No history: \(trouble).", "", "Esc  goes back to now."])
        .draw(into: &grid, frame: history.viewport.canvas, clip: clip, theme: history.theme)
    }
    history.delegate?.drawBusy(into: &grid)
  }
}
