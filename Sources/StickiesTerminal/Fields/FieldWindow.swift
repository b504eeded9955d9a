import TerminalApplication
import TerminalCells

/// A window with one line of text. Keys that mean something to a text are the line's, not the menu's: control and z takes
/// back what was typed, and does not stop the program.
class FieldWindow: Window {
  let field = LineField()

  /// Commands of the menu whose keys a text takes, and that come before it elsewhere.
  private static let taken = Set(
    BoardMenu.bar.commands.filter { item in
      guard let key = item.key, !key.isText else { return false }
      return TextEditor.command(for: KeyEvent(key.key, key.modifiers)) != nil
    }.map(\.command))

  override func answers(_ command: Command) -> Bool { Self.taken.contains(command) || super.answers(command) }

  override func paste(_ paste: PasteEvent) -> Bool {
    field.paste(paste.text)
    setNeedsDisplay()
    return true
  }
}
