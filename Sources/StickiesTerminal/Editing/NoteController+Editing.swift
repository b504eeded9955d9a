import GraphModel
import TerminalCells

/// Editing in place: what is typed goes into the note at once, and what others write comes in under the cursor.
extension NoteController {
  /// How long the text of a note may be, in bytes of UTF-8; the model's own limit.
  static let maximumText = 4 << 20

  /// Opens the editor, with the cursor behind the text or in a cell of it.
  func beginEditing(at point: Point? = nil) {
    guard editor == nil, let note else { return }
    var editor = TextEditor(note.text, width: textFrame.size.width)
    if let point { editor.perform(.place(point, isSelecting: false)) }
    (self.editor, edited, lastText) = (editor, note, nil)
    keepCursorInSight()
    window.setNeedsDisplay()
  }

  /// Closes it.
  func endEditing() {
    if isLost { lastText = editor?.text }
    (editor, edited, draft) = (nil, nil, nil)
    isLost = false
    scroll = 0
    window.setNeedsDisplay()
  }

  /// Hands an event to the editor, once that says what the note says: it hands back whole texts, and one without what others
  /// wrote meanwhile would delete it.
  func edit(_ event: TerminalEvent) -> Bool {
    followOthers()
    guard var editor, let screen else { return false }
    editor.width = textFrame.size.width
    editor.clipboard = screen.clipboard
    let outcome = editor.handle(event, rows: max(1, textFrame.size.height))
    let (before, after) = (self.editor?.text.utf8.count ?? 0, editor.text.utf8.count)
    guard after <= Self.maximumText || after <= before else {
      screen.say("a note takes \(Self.maximumText >> 20) MiB of text and has no room for that", isTrouble: true)
      return true
    }
    self.editor = editor
    guard outcome.isHandled else { return false }
    if let copied = outcome.copied { screen.copy(copied) }
    if !outcome.changes.isEmpty, !isLost { write(editor.text) }
    keepCursorInSight()
    window.setNeedsDisplay()
    return true
  }

  /// The note says what the editor says; the context finds out what of it is new.
  func write(_ text: String) {
    guard let note, !note.isDeleted, !note.isFault else { return }
    note.text = text
    screen?.written[id] = text
    screen?.offered.remove(id)
    screen?.touch(id)
  }

  /// Others may have written: their words come in, the cursor stays where it stands in the text.
  func followOthers() {
    guard var editor, !isLost, let note, !note.isFault, !note.isDeleted else { return }
    guard editor.text != note.text else { return }
    // Should the server have refused what is on its way, it is not in the note any more.
    if draft == nil, screen?.unsent.contains(id) == true { draft = editor.text }
    editor.adopt(note.text)
    self.editor = editor
    keepCursorInSight()
    window.setNeedsDisplay()
  }

  /// The note is gone, and what was on its way with it: the editor has it still.
  func keepDraft() {
    isLost = true
    if let draft, var editor {
      editor.adopt(draft)
      self.editor = editor
    }
    draft = nil
    window.setNeedsDisplay()
  }

  private func keepCursorInSight() {
    guard let editor else { return }
    scroll = NoteView.scroll(scroll, showing: editor, in: lastFrame)
  }
}
