import GraphModel
import TerminalCells

/// Editing in place. Typed text goes into the note at once, and remote changes are merged under the cursor.
extension NoteController {
  /// Maximum length of a note's text, in bytes of UTF-8; the model's own limit.
  static let maximumText = 4 << 20

  /// Opens the editor, with the cursor after the text or in a cell of it.
  func beginEditing(at point: Point? = nil) {
    guard editor == nil, let note else { return }
    var editor = TextEditor(note.text, width: textFrame.size.width)
    if let point { editor.perform(.place(point, isSelecting: false)) }
    (self.editor, edited, lastText) = (editor, note, nil)
    common = screen?.saving.storedText(of: id) ?? note.text
    keepCursorInSight()
    screen?.editing.showCursor(of: self)
    window.setNeedsDisplay()
  }

  /// Closes the editor.
  func endEditing() {
    if isLost { lastText = editor?.text }
    (editor, edited, draft) = (nil, nil, nil)
    isLost = false
    scroll = 0
    window.setNeedsDisplay()
  }

  /// Passes an event to the editor, after it has adopted the note's text. The editor returns complete texts, and an
  /// outdated one would delete remote changes.
  func edit(_ event: TerminalEvent) -> Bool {
    followOthers()
    guard var editor, let screen else { return false }
    editor.width = textFrame.size.width
    editor.clipboard = screen.services.clipboard.text
    let before = editor.text
    let outcome = editor.handle(event, rows: max(1, textFrame.size.height))
    let count = editor.text.utf8.count
    guard count <= Self.maximumText || count <= before.utf8.count else {
      screen.report("a note can have at most \(Self.maximumText >> 20) MiB of text", isTrouble: true)
      return true
    }
    self.editor = editor
    guard outcome.isHandled else { return false }
    if let copied = outcome.copied { screen.services.clipboard.copy(copied) }
    if !outcome.changes.isEmpty {
      if let draft { self.draft = TextSplice.merged(before, mine: editor.text, theirs: draft) }
      if !isLost { write(editor.text) }
    }
    keepCursorInSight()
    screen.editing.showCursor(of: self)
    window.setNeedsDisplay()
    return true
  }

  /// Sets the note's text; the context computes the difference.
  func write(_ text: String) {
    guard let note, !note.isDeleted, !note.isFault else { return }
    note.text = text
    screen?.saving.textDidChange(text, of: id)
  }

  /// Adopts remote changes of the text; the cursor keeps its place in the text.
  func followOthers() {
    guard var editor, !isLost, let note, !note.isFault, !note.isDeleted else { return }
    defer { rememberCommon() }
    guard !UTF8Comparison.equal(editor.text, note.text) else { return }
    // If the server refuses the save in flight, its text is no longer in the note.
    if draft == nil, screen?.saving.unsent.contains(id) == true { (draft, commonOfDraft) = (editor.text, common) }
    editor.adopt(note.text)
    self.editor = editor
    keepCursorInSight()
    window.setNeedsDisplay()
  }

  /// Updates the common text. It separates local from remote edits if the note is deleted and restored. While remote
  /// edits are not adopted, or a save is unanswered, the previous common text remains valid.
  func rememberCommon() {
    guard let editor, let screen, !isLost, !screen.saving.unsent.isOnItsWay(id) else { return }
    guard let note, !note.isFault, !note.isDeleted, UTF8Comparison.equal(editor.text, note.text) else { return }
    if let stored = screen.saving.storedText(of: id) { common = stored }
  }

  /// Continues editing after the note was restored, and merges text typed meanwhile into it.
  func comeBack() {
    let wasLost = isLost
    (isLost, elsewhere) = (false, nil)
    guard let editor, let screen else { return }
    if let there = screen.pages.page.note(id) { edited = there }
    guard wasLost, let note, !note.isFault, !note.isDeleted else { return followOthers() }
    draft = nil
    screen.saving.offered.remove(id)
    let text = TextSplice.merged(common, mine: editor.text, theirs: note.text)
    if !UTF8Comparison.equal(text, note.text) { write(text) }
    followOthers()
  }

  /// Keeps the editor's text, including what was in flight, after the note was deleted.
  func keepDraft() {
    // If the delete was known already, the editor has adopted nothing since, and its text is newer than the draft.
    if !isLost, let draft, var editor {
      editor.adopt(draft)
      self.editor = editor
      // The draft does not contain later remote changes.
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
