import TerminalApplication
import TerminalCells

/// A question: a few lines, and keys that answer it.
struct QuestionText {
  struct Choice {
    var key: Character
    var title: String
    var perform: () -> Void
  }

  var title: String
  var lines: [String]
  var choices: [Choice]
  /// What escape means; nil for nothing.
  var cancel: (() -> Void)?

  var rows: [String] {
    lines + [""] + choices.map { "\($0.key)  \($0.title)" } + (cancel == nil ? [] : ["Esc  Cancel"])
  }
}

/// A modal window that asks: no other window hears keys or mouse until it is answered.
final class QuestionWindow: Window {
  let text: QuestionText
  weak var screen: BoardScreen?

  init(_ text: QuestionText, on screen: BoardScreen) {
    self.text = text
    self.screen = screen
    super.init(frame: Rect(x: 0, y: 0, width: 0, height: 0), title: text.title)
    place(in: screen.application.screenSize)
  }

  private func place(in screen: Size) {
    let wanted = (text.rows + [text.title]).map { CellText.width(of: $0) }.max() ?? 0
    let size = Size(width: min(wanted + 4, screen.width), height: min(text.rows.count + 2, screen.height))
    frame = Rect(
      x: (screen.width - size.width) / 2, y: (screen.height - size.height) / 2, width: size.width, height: size.height)
  }

  override func screenDidResize(_ size: Size) { place(in: size) }

  override func keyDown(_ key: KeyEvent) -> Bool {
    switch key.key {
    case .character(let character) where key.modifiers.isEmpty:
      if let choice = text.choices.first(where: { $0.key == character }) { close(choice.perform) }
    case .enter: if let first = text.choices.first { close(first.perform) }
    case .escape: if let cancel = text.cancel { close(cancel) }
    default: break
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind else { return true }
    let row = mouse.position.y - frame.minY - 1 - text.lines.count - 1
    if text.choices.indices.contains(row) { close(text.choices[row].perform) }
    return true
  }

  private func close(_ perform: () -> Void) {
    screen?.question = nil
    application?.endModal(self)
    perform()
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    let style = screen?.theme.panel ?? .standard
    grid.shadow(of: frame, clip: clip)
    grid.fill(frame, style, clip: clip)
    grid.box(frame, .light, screen?.theme.panelBorder ?? style, clip: clip)
    grid.draw(" \(text.title) ", x: frame.minX + 2, y: frame.minY, style, clip: clip)
    for (index, row) in text.rows.enumerated() {
      grid.draw(row, x: frame.minX + 2, y: frame.minY + 1 + index, style, clip: clip.intersection(frame.inset(1)))
    }
    if let cursor = grid.cursor, frame.contains(cursor) { grid.cursor = nil }
  }
}

extension BoardScreen {
  /// Asks, before anything else goes on.
  func ask(_ text: QuestionText) {
    endGesture()
    if let question { application.endModal(question) }
    let window = QuestionWindow(text, on: self)
    question = window
    application.beginModal(window)
  }
}
