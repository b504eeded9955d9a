import TerminalCells

/// The last cut or copied text, from any note.
final class TextClipboard {
  private(set) var text = ""
  private let status: StatusMessages
  private let link: BoardConnection

  init(status: StatusMessages, link: BoardConnection) { (self.status, self.link) = (status, link) }

  /// Copies a text to the program's own clipboard, which all notes share, and to the terminal's.
  func copy(_ text: String) {
    self.text = text
    guard let sequence = TerminalSequences.clipboard(text) else {
      return status.show("too long for the terminal's clipboard; in a note here Ctrl-V pastes it")
    }
    link.sendToTerminal(sequence)
  }

  /// Discards the only copy of a text; it stays on the clipboard in case the wrong key was pressed.
  func discard(_ text: String) {
    self.text = text
    status.show("discarded; in a note Ctrl-V pastes it")
  }
}
