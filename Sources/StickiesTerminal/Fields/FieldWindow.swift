import TerminalApplication
import TerminalCells

/// A window with one line of text. Keys that edit text go to the field instead of the menu: Ctrl-Z undoes typing and
/// does not suspend the program.
class FieldWindow: Window {
  let field = LineField()

  /// Commands of the menu whose keys edit text in a field.
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
