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
    common = screen?.storedText(of: id) ?? note.text
    keepCursorInSight()
    screen?.showCursor(of: self)
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
    let before = self.editor?.text ?? ""
    let count = editor.text.utf8.count
    guard count <= Self.maximumText || count <= before.utf8.count else {
      screen.say("a note takes \(Self.maximumText >> 20) MiB of text and has no room for that", isTrouble: true)
      return true
    }
    self.editor = editor
    guard outcome.isHandled else { return false }
    if let copied = outcome.copied { screen.copy(copied) }
    if !outcome.changes.isEmpty {
      if let draft { self.draft = TextSplice.merged(before, mine: editor.text, theirs: draft) }
      if !isLost { write(editor.text) }
    }
    keepCursorInSight()
    screen.showCursor(of: self)
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
    defer { rememberCommon() }
    guard !Bytes.equal(editor.text, note.text) else { return }
    // Should the server have refused what is on its way, it is not in the note any more.
    if draft == nil, screen?.unsent.contains(id) == true { (draft, commonOfDraft) = (editor.text, common) }
    editor.adopt(note.text)
    self.editor = editor
    keepCursorInSight()
    window.setNeedsDisplay()
  }

  /// Should the note go now and come back later, this tells what was typed here from what others wrote. While words of
  /// others have not come in yet, and while they wait for an answer, what was common before still is.
  func rememberCommon() {
    guard let editor, let screen, !isLost, !screen.unsent.isOnItsWay(id) else { return }
    guard let note, !note.isFault, !note.isDeleted, Bytes.equal(editor.text, note.text) else { return }
    if let stored = screen.storedText(of: id) { common = stored }
  }

  /// The note is there again. What was typed while it was gone goes into it, beside what others have made of it.
  func comeBack() {
    let wasLost = isLost
    (isLost, elsewhere) = (false, nil)
    guard let editor, let screen else { return }
    if let there = screen.page.note(id) { edited = there }
    guard wasLost, let note, !note.isFault, !note.isDeleted else { return followOthers() }
    draft = nil
    screen.offered.remove(id)
    let text = TextSplice.merged(common, mine: editor.text, theirs: note.text)
    if !Bytes.equal(text, note.text) { write(text) }
    followOthers()
  }

  /// The note is gone, and what was on its way with it: the editor has it still.
  func keepDraft() {
    // Once it was known that the note is gone, the editor took over nothing any more: what it says is newer.
    if !isLost, let draft, var editor {
      editor.adopt(draft)
      self.editor = editor
      // It knows nothing of what others wrote since.
      common = commonOfDraft
    }
    isLost = true
    draft = nil
    window.setNeedsDisplay()
  }

  private func keepCursorInSight() {
    guard let editor else { return }
    scroll = NoteView.scroll(scroll, showing: editor, in: lastFrame)
  }
}
