import GraphModel
import TerminalApplication
import TerminalCells

/// The board as it was: a modal window that takes the keys, over a canvas that shows a revision and can't be changed.
final class HistoryWindow: Window {
  /// Newest first.
  private(set) var commits = [PastCommit]()
  private(set) var place = 0
  private(set) var notes = [PastNote]()
  /// The question whose answer is shown; older ones are dropped.
  private var asked = 0
  private weak var screen: BoardScreen?

  /// Commits that are asked for at most.
  static let maximumCommits = 1_000

  init(on screen: BoardScreen) {
    self.screen = screen
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: screen.application.screenSize))
  }

  /// What is shown; nil before the first answer.
  var commit: PastCommit? { commits.indices.contains(place) ? commits[place] : nil }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  func start() {
    screen?.link.log(Self.maximumCommits) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let commits):
        self.commits = commits
        go(to: 0)
      case .failure(let refusal): fail(refusal)
      }
    }
  }

  private func fail(_ refusal: Refusal) {
    screen?.closeHistory()
    screen?.say("no history: \(refusal.message)", isTrouble: true)
  }

  private func go(to index: Int) {
    guard !commits.isEmpty, let screen else { return }
    place = max(0, min(index, commits.count - 1))
    asked += 1
    let number = asked
    screen.link.past(screen.page.board.id, commits[place].revision) { [weak self] result in
      guard let self, number == asked else { return }
      switch result {
      case .success(let notes): self.notes = notes
      case .failure(let refusal): fail(refusal)
      }
      setNeedsDisplay()
    }
    setNeedsDisplay()
  }

  override func keyDown(_ key: KeyEvent) -> Bool {
    switch key.key {
    case .left: go(to: place + 1)
    case .right: go(to: place - 1)
    case .pageUp: go(to: place + 10)
    case .pageDown: go(to: place - 10)
    case .home: go(to: commits.count - 1)
    case .end: go(to: 0)
    case .escape, .character("h"), .character("q"): screen?.closeHistory()
    default: break
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind, mouse.position.y == frame.maxY - 2, commits.count > 1 else { return true }
    let part = Double(mouse.position.x) / Double(max(1, frame.size.width - 1))
    go(to: Int((Double(commits.count - 1) * (1 - part)).rounded()))
    return true
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let screen else { return }
    let states = notes.enumerated().map { index, note in
      NoteState(
        id: index, frame: BoardScale.cells(x: note.x, y: note.y, width: note.width, height: note.height),
        z: note.z, text: note.text, color: PaperColor(name: note.color), isCollapsed: note.isCollapsed)
    }
    var canvas = screen.canvasState
    (canvas.notes, canvas.links, canvas.pointers) = (states, [], [])
    let area = screen.canvas
    canvas.draw(into: &grid, frame: area, clip: clip, theme: screen.theme, cache: LayoutCache())
    let row = Rect(x: 0, y: area.maxY - 1, width: area.size.width, height: 1)
    grid.fill(row, screen.theme.panel, clip: clip)
    let text = commit.map {
      "revision \($0.revision) by \($0.author)  \(place + 1) of \(commits.count)  Left Right Esc"
    }
    grid.draw(text ?? "reading the history", x: 1, y: row.minY, screen.theme.panel, clip: row)
  }
}

extension BoardScreen {
  func openHistory() {
    endEditing()
    let window = HistoryWindow(on: self)
    history = window
    application.beginModal(window)
    window.start()
  }

  func closeHistory() {
    guard let window = history else { return }
    history = nil
    application.endModal(window)
  }
}
