import StickiesKit
import TerminalApplication
import TerminalCells

/// Asks for one line.
final class PromptWindow: Window {
  private var editor = TextEditor("", width: 200)
  private weak var screen: BoardScreen?
  private let done: (String) -> Void

  init(_ title: String, on screen: BoardScreen, done: @escaping (String) -> Void) {
    (self.screen, self.done) = (screen, done)
    let size = screen.application.screenSize
    let place = Point(x: max(0, size.width / 2 - 20), y: max(0, size.height / 2 - 1))
    super.init(
      frame: Rect(origin: place, size: Size(width: min(40, size.width), height: 3)), title: title)
  }

  override func keyDown(_ key: KeyEvent) -> Bool {
    switch key.key {
    case .escape: application?.endModal(self)
    case .enter:
      application?.endModal(self)
      done(editor.text)
    default: _ = editor.handle(.key(key))
    }
    setNeedsDisplay()
    return true
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let theme = screen?.theme else { return }
    grid.fill(frame, theme.panel, clip: clip)
    grid.box(frame, .light, theme.panelBorder, clip: clip)
    grid.draw(" \(title) ", x: frame.minX + 2, y: frame.minY, theme.panel, clip: clip)
    grid.draw(editor.text, x: frame.minX + 2, y: frame.minY + 1, theme.panel, clip: frame.inset(1))
    grid.cursor = Point(x: min(frame.minX + 2 + editor.cursorPosition.x, frame.maxX - 2), y: frame.minY + 1)
  }
}

extension BoardScreen {
  /// Asks for a tag: notes that have it lose it, the others get it.
  func askForTag() {
    guard !targets.isEmpty else { return }
    application.beginModal(
      PromptWindow("Tag", on: self) { [weak self] name in
        guard let self, !name.isEmpty else { return }
        tag(name)
      })
  }

  func tag(_ name: String) {
    guard let property = context.model.entity(named: "Note")?.property(named: "tags")?.number else { return }
    let worn = targets.compactMap { note in note.tags.first { $0.name == name } }
    if worn.count == targets.count {
      return change("Untag") { note in
        for tag in note.tags where tag.name == name { note.remove(tag, from: property) }
      }
    }
    // A tag of that name that is there already becomes this one.
    guard let tag = worn.first ?? context.insert(Tag.self) else { return }
    if worn.isEmpty { tag.name = name }
    change("Tag") { note in
      if !note.tags.contains(where: { $0.name == name }) { note.add(tag, to: property) }
    }
  }
}
