import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// Opens and closes the editor of a note, and keeps its text if the note disappears.
final class EditingController: BoardPart {
  let services: BoardServices
  /// The note that is edited here.
  private(set) var current: NoteController?
  /// Positions the windows on their notes.
  var layOut: () -> Void = {}
  let filtering: FilterController
  let pages: BoardPages
  let viewport: BoardViewport
  let questions: QuestionController
  let saving: SaveController
  private let connection: ConnectionMonitor
  private let presence: PresenceController
  private let selection: SelectionController
  private let search: BoardSearch

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ filtering: FilterController, _ pages: BoardPages,
    _ viewport: BoardViewport, _ presence: PresenceController, _ questions: QuestionController,
    _ selection: SelectionController, _ search: BoardSearch, _ saving: SaveController
  ) {
    (self.services, self.connection, self.filtering, self.pages) = (services, connection, filtering, pages)
    (self.viewport, self.presence, self.questions) = (viewport, presence, questions)
    (self.selection, self.search, self.saving) = (selection, search, saving)
  }

  /// Records that a note's window closed, and with it the note's editor.
  func windowDidClose(_ controller: NoteController) { if current === controller { current = nil } }

  /// Closes the editor without saving, because no save could succeed with its text.
  func discard() {
    current?.endEditing()
    current = nil
    undoScope.endGroup()
  }

  /// Whether a note may be changed; a locked one needs unlocking first, which a message explains.
  func mayChange(_ note: Note) -> Bool {
    guard connection.allowsChanges else { return false }
    if let why = rights.refusal(.update, of: note) {
      report(why, isTrouble: true)
      return false
    }
    guard note.locked else { return true }
    report("the note is locked; l unlocks it")
    return false
  }

  /// Opens the editor of a note.
  func edit(_ controller: NoteController, at point: Point? = nil) {
    guard controller !== current, let note = controller.note, mayChange(note) else { return }
    end()
    pages.focus(controller)
    search.controller?.saveState()
    undoScope.beginGroup(named: "Typing")
    current = controller
    layOut()
    controller.beginEditing(at: point)
    application.setNeedsDisplay()
  }

  /// Scrolls the board as little as possible to show the editor's cursor. A note may extend beyond the screen.
  func showCursor(of controller: NoteController) {
    guard let editor = controller.editor, !TooSmallMessage.isTooSmall(application.screenSize) else { return }
    let text = NoteView.textFrame(in: controller.lastFrame.clamped)
    let cursor = editor.cursorPosition
    // The edges show the marks of notes that are not visible, and the last row the tool bar.
    var room = viewport.seen.inset(1)
    if selection.mode.isEditing { room.size.height -= 1 }
    func beyond(_ place: Int, _ low: Int, _ high: Int) -> Int {
      place < low ? place - low : max(0, place - high + 1)
    }
    pages.scroll(
      by: Point(
        x: beyond(min(text.minX + cursor.x, text.maxX), room.minX, room.maxX),
        y: beyond(text.minY + cursor.y - controller.scroll, room.minY, room.maxY)))
  }

  /// Closes the editor and sends the text.
  func end() {
    guard let controller = current else { return }
    current = nil
    let note = controller.note
    controller.endEditing()
    // A new note that was left empty is discarded, unless another client has moved it to another board.
    if controller.isNew, let note, !note.isFault, note.text.isEmpty, controller.elsewhere == nil {
      remove(note)
      pages.page.reconcile()
    }
    controller.isNew = false
    controller.elsewhere = nil
    saving.save()
    undoScope.endGroup()
    pages.windowsDidChange(pages.page.windows.resolveRemoval(controller.id))
    application.setNeedsDisplay()
  }

  /// Closes the editor if it belongs to this note; it may have closed before the user answered.
  func end(of controller: NoteController) {
    if current === controller { end() }
  }

  /// Creates a note under the mouse, or in the middle of the canvas, and opens its editor. The note is sent with the
  /// first character, and discarded if there is none.
  func newNote() {
    guard connection.allowsChanges else { return }
    guard !pages.boardIsGone else { return report("there is no board for the note", isTrouble: true) }
    if let why = rights.refusalOfNewNote(on: pages.page.board) { return report(why, isTrouble: true) }
    // The search does not match the new note and would hide it. The note is created at the current scroll position.
    search.controller?.saveState()
    search.close()
    newNote(text: "", at: viewport.onBoard(free(placeOfNewNote)))
    guard let controller = pages.focused else { return }
    controller.isNew = true
    edit(controller)
  }

  /// Creates a note from a paste while no text is open; one undo removes it.
  func newNote(pasting paste: PasteEvent) -> Bool {
    guard application.modalWindow == nil, paste.text.contains(where: { !$0.isWhitespace }) else { return false }
    newNote()
    guard let controller = current else { return true }
    _ = controller.paste(paste)
    // The rest of an unfinished paste goes into the same note.
    guard !paste.isOpen else { return true }
    let isTaken = controller.editedText?.isEmpty == false
    end()
    if isTaken, !paste.isCut { report("the paste is now a note; u removes it") }
    return true
  }

  /// The place of a new note, so that it is completely visible if there is space.
  var placeOfNewNote: Point {
    let size = Self.newNoteSize
    let preferred =
      presence.userPosition.mouse
      ?? Point(x: viewport.canvas.middle.x - size.width / 2, y: viewport.canvas.middle.y - size.height / 2)
    return Point(
      x: max(viewport.canvas.minX, min(preferred.x, viewport.canvas.maxX - size.width)),
      y: max(viewport.canvas.minY, min(preferred.y, viewport.canvas.maxY - size.height)))
  }

  /// Moves the place of a new note beside notes at exactly that place, as long as it stays visible.
  private func free(_ preferred: Point) -> Point {
    let shapes = pages.page.windows.ids.compactMap { pages.page.shape(of: $0) }
    var place = preferred
    while place.x + Self.newNoteSize.width + 2 <= viewport.canvas.maxX,
      place.y + Self.newNoteSize.height + 1 <= viewport.canvas.maxY
    {
      let (x, y) = viewport.onBoard(place)
      guard shapes.contains(where: { $0.x == x && $0.y == y }) else { break }
      place = Point(x: place.x + 2, y: place.y + 1)
    }
    return place
  }

  /// The cells of a note of the model's default size, 200 points wide and high.
  static let newNoteSize = BoardScale.cells(x: 0, y: 0, width: 200, height: 200).size

  func newNote(text: String, at place: (x: Double, y: Double)) {
    end()
    let note = Note(in: context)
    (note.x, note.y) = place
    note.z = topHeight + 1
    note.board = pages.page.board
    if filtering.filter.isOn { filtering.apply(to: note) }
    if !text.isEmpty { note.text = text }
    pages.page.add(note.id)
    if let controller = pages.page.windows[note.id] { pages.focus(controller) }
    if !text.isEmpty { saving.touch(note.id) }
  }

  /// Deletes a note; a note that was never sent is not deleted on the server.
  func remove(_ note: Note) {
    let id = note.id
    let isUnsent = note.isInserted && !saving.unsent.contains(id)
    context.delete(note)
    pages.page.drop(id)
    if !isUnsent { saving.touch(id) }
  }

  /// The height of the topmost note; 0 on an empty board. Lowered notes can have negative heights.
  private var topHeight: Double {
    guard let top = pages.page.windows.ids.compactMap({ pages.page.shape(of: $0)?.z }).max() else { return 0 }
    return top
  }

  /// Asks what to do with a text whose note is deleted.
  func offer(_ text: String, _ sentence: String) {
    var text = text
    questions.ask(
      QuestionText(
        title: "Keep the text?", lines: [sentence + ".", "You can keep the text of the editor."],
        choices: [
          .init(key: "n", title: "New note with it") { [weak self] in
            guard let self else { return }
            newNote(with: text, at: viewport.onBoard(placeOfNewNote))
          },
          .init(key: "c", title: "Copy it") { [weak self] in self?.services.clipboard.copy(text) },
          .init(key: "d", title: "Discard it", isForGood: true) { [weak self] in self?.services.clipboard.discard(text)
          },
        ],
        typing: { event in
          switch event {
          case .key(let key): text += key.typed ?? (key == KeyEvent(.enter) ? "\n" : "")
          case .paste(let paste): text += paste.text
          default: break
          }
        }, text: { text }))
  }

  /// Creates a note with such a text; without a board, asks again.
  func newNote(with text: String, at place: (x: Double, y: Double)) {
    guard !pages.boardIsGone else { return offer(text, "there is no board for the note") }
    newNote(text: text, at: place)
  }

  /// Opens the text in another program and saves the result.
  func editOutside(_ controller: NoteController) {
    // Retained, because the context drops notes that have left the board and that nothing references.
    guard let note = controller.note, mayChange(note) else { return }
    end()
    // The closure is called again if the program saves more after the text was taken.
    var before = note.text
    link.editOutside(before) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let text):
        guard !UTF8Comparison.equal(text, before) else { return }
        guard !note.isDeleted, !note.isFault else {
          guard !pages.boardIsGone else { return offer(text, "the note is gone") }
          newNote(text: text, at: viewport.onBoard(viewport.canvas.middle))
          return report("the note is gone; your text is in a new one", isTrouble: true)
        }
        // Other clients may have edited the text meanwhile.
        let all = TextSplice.merged(before, mine: text, theirs: note.text)
        before = text
        note.text = all
        saving.textDidChange(all, of: note.id)
        if pages.page.part == nil, !note.isInserted, !pages.page.rows.contains(note.id) {
          report("the note is on another board now; your text goes into it", isTrouble: true)
        }
      case .failure(let refusal): report(refusal.message, isTrouble: true)
      }
    }
  }
}
