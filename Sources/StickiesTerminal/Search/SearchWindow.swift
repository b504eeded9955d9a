import TerminalApplication
import TerminalCells

/// The search field: one line above the board, which gets the keys while it is open and focused.
final class SearchWindow: FieldWindow, LineFieldTextObserver, LineFieldEndObserver {
  private weak var search: BoardSearch?

  init(for search: BoardSearch) {
    self.search = search
    super.init(frame: search.frame)
    field.attach(EndEditOnReturnBehavior())
    field.observers.add(self)
    field.didCopy = { [clipboard = search.services.clipboard] in clipboard.copy($0) }
  }

  // The frame depends on the list and the size of the screen.
  override func update() { if let search { frame = search.frame } }

  func fieldDidChange(_ field: LineField) { search?.type(field.text) }

  func fieldDidEnd(_ field: LineField) { search?.goToFirst() }

  override func keyDown(_ key: KeyEvent) -> Bool {
    setNeedsDisplay()
    switch key.key {
    case .escape: search?.close()
    case .pageUp, .pageDown:
      search?.navigator?.focusPage(by: key.key == .pageUp ? -1 : 1)
    case .tab, .up, .down: search?.navigator?.focusNext(by: key.key == .up || key.modifiers.contains(.shift) ? -1 : 1)
    default: return field.handle(key)
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    setNeedsDisplay()
    switch (mouse.kind, view?.part(at: mouse.position, frame: frame)) {
    case (.press(.left), .text(let offset)): field.place(offset, isSelecting: mouse.modifiers.contains(.shift))
    case (.drag(.left), .text(let offset)): field.place(offset, isSelecting: true)
    case (.press(.left), .clear): search?.close()
    default: break
    }
    return true
  }

  private var view: SearchField? {
    search.map {
      SearchField(
        field.text, cursor: isKey ? field.editor.cursor : nil, selection: field.editor.selection,
        // While disconnected, the field reports that instead of searching forever.
        answer: $0.answer == .searching && !$0.connection.state.isConnected
          ? .failed("waits for the server") : $0.answer)
    }
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let search, let view, !TooSmallMessage.isTooSmall(grid.size) else { return }
    view.draw(into: &grid, frame: frame, clip: clip, theme: search.theme)
  }
}
