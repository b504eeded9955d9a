import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// Opening and closing the editor of a note, and keeping its text if the note disappears.
extension BoardScreen {
  /// Whether a note may be changed; a locked one needs unlocking first, which a message explains.
  func mayChange(_ note: Note) -> Bool {
    guard linkIsOpen else { return false }
    guard note.locked else { return true }
    say("the note is locked; l unlocks it")
    return false
  }

  /// Whether changes are possible; shows the reason if not.
  var linkIsOpen: Bool {
    if case .closed(let why) = linkState {
      say("nothing can be changed now: \(why)", isTrouble: true)
      return false
    }
    guard let why = readOnlyReason else { return true }
    say("read-only: \(why)", isTrouble: true)
    return false
  }

  /// Why changes are not possible; nil if they are.
  var readOnlyReason: String? {
    if case .closed(let why) = linkState { return why }
    return (application as? StickiesApplication)?.readOnlyReason
  }

  /// Opens the editor of a note.
  func edit(_ controller: NoteController, at point: Point? = nil) {
    guard controller !== editing, let note = controller.note, mayChange(note) else { return }
    endEditing()
    focus(controller)
    search?.saveState()
    undoScope.beginGroup(named: "Typing")
    editing = controller
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
    var room = seen.inset(1)
    if mode.isEditing { room.size.height -= 1 }
    func beyond(_ place: Int, _ low: Int, _ high: Int) -> Int {
      place < low ? place - low : max(0, place - high + 1)
    }
    scroll(
      by: Point(
        x: beyond(min(text.minX + cursor.x, text.maxX), room.minX, room.maxX),
        y: beyond(text.minY + cursor.y - controller.scroll, room.minY, room.maxY)))
  }

  /// Closes the editor and sends the text.
  func endEditing() {
    guard let controller = editing else { return }
    editing = nil
    let note = controller.note
    controller.endEditing()
    // A new note that was left empty is discarded, unless another client has moved it to another board.
    if controller.isNew, let note, !note.isFault, note.text.isEmpty, controller.elsewhere == nil {
      remove(note)
      page.reconcile()
    }
    controller.isNew = false
    controller.elsewhere = nil
    save()
    undoScope.endGroup()
    follow(page.windows.resolveRemoval(controller.id), on: page)
    application.setNeedsDisplay()
  }

  /// Closes the editor if it belongs to this note; it may have closed before the user answered.
  private func endEditing(of controller: NoteController) {
    if editing === controller { endEditing() }
  }

  /// Creates a note under the mouse, or in the middle of the canvas, and opens its editor. The note is sent with the
  /// first character, and discarded if there is none.
  func newNote() {
    guard linkIsOpen else { return }
    guard !boardIsGone else { return say("there is no board for the note", isTrouble: true) }
    // The search does not match the new note and would hide it. The note is created at the current scroll position.
    search?.saveState()
    closeSearch()
    newNote(text: "", at: onBoard(free(placeOfNewNote)))
    guard let controller = focused else { return }
    controller.isNew = true
    edit(controller)
  }

  /// Creates a note from a paste while no text is open; one undo removes it.
  func newNote(pasting paste: PasteEvent) -> Bool {
    guard application.modalWindow == nil, paste.text.contains(where: { !$0.isWhitespace }) else { return false }
    newNote()
    guard let editing else { return true }
    _ = editing.paste(paste)
    // The rest of an unfinished paste goes into the same note.
    guard !paste.isOpen else { return true }
    let isTaken = editing.editedText?.isEmpty == false
    endEditing()
    if isTaken, !paste.isCut { say("the paste is now a note; u removes it") }
    return true
  }

  /// The place of a new note, so that it is completely visible if there is space.
  private var placeOfNewNote: Point {
    let size = Self.newNoteSize
    let wish = whereabouts.mouse ?? Point(x: canvas.middle.x - size.width / 2, y: canvas.middle.y - size.height / 2)
    return Point(
      x: max(canvas.minX, min(wish.x, canvas.maxX - size.width)),
      y: max(canvas.minY, min(wish.y, canvas.maxY - size.height)))
  }

  /// Moves the place of a new note beside notes at exactly that place, as long as it stays visible.
  private func free(_ wish: Point) -> Point {
    let shapes = page.windows.ids.compactMap { page.shape(of: $0) }
    var place = wish
    while place.x + Self.newNoteSize.width + 2 <= canvas.maxX, place.y + Self.newNoteSize.height + 1 <= canvas.maxY {
      let (x, y) = onBoard(place)
      guard shapes.contains(where: { $0.x == x && $0.y == y }) else { break }
      place = Point(x: place.x + 2, y: place.y + 1)
    }
    return place
  }

  /// The cells of a note of the model's default size, 200 points wide and high.
  static let newNoteSize = BoardScale.cells(x: 0, y: 0, width: 200, height: 200).size

  func newNote(text: String, at place: (x: Double, y: Double)) {
    endEditing()
    guard let note = context.insert(Note.self) else { return }
    (note.x, note.y) = place
    note.z = topHeight + 1
    note.board = page.board
    if filter.isOn { dress(note) }
    if !text.isEmpty { note.text = text }
    page.add(note.id)
    if let controller = page.windows[note.id] { focus(controller) }
    if !text.isEmpty { touch(note.id) }
  }

  /// Deletes a note; a note that was never sent is not deleted on the server.
  func remove(_ note: Note) {
    let id = note.id
    let isUnsent = note.isInserted && !unsent.contains(id)
    context.delete(note)
    page.drop(id)
    if !isUnsent { touch(id) }
  }

  private var topHeight: Double { page.windows.ids.compactMap { page.shape(of: $0)?.z }.max() ?? 0 }

  /// Reports that the note of the open editor is no longer shown, and searches for it on the server.
  func tell(_ loss: WindowRemovalReason, of controller: NoteController) {
    say(loss.sentence, isTrouble: true)
    if loss.kind == .deleted { return tellThatItIsGone(loss, controller) }
    if !page.isShown(loss.id) { return tellThatItLeft(loss, controller) }
    let search = DetachedNoteObserver(loss.id, in: context, perform: link.perform)
    controller.elsewhere = search
    search.didChange = { [weak self, weak controller, weak search] in
      guard let self, let controller, let search, editing === controller, controller.elsewhere === search else {
        return
      }
      found(search, loss, controller)
    }
    search.start()
  }

  private func found(_ search: DetachedNoteObserver, _ loss: WindowRemovalReason, _ controller: NoteController) {
    controller.followOthers()
    guard let note = search.note else {
      controller.elsewhere = nil
      withdrawQuestions(about: controller)
      var loss = loss
      (loss.kind, loss.author) = (.deleted, nil)
      return tellThatItIsGone(loss, controller)
    }
    guard !search.isTold, let board = note.board, board.id != page.board.id else { return }
    search.isTold = true
    tellThatItMoved(loss, controller, to: board.id)
  }

  private func tellThatItMoved(_ loss: WindowRemovalReason, _ controller: NoteController, to board: ObjectID) {
    let place = directory.number(of: board)
    let name = place.flatMap { directory.board(at: $0) }.map { " “\($0.name)”" } ?? ""
    ask(
      QuestionText(
        title: "The note has moved",
        lines: [loss.sentence + ".", "It is on the board\(name) now, and your text still goes into it."],
        choices: [.init(key: "w", title: "Keep writing", isEscape: true) {}]
          + (place == nil
            ? []
            : [
              .init(key: "g", title: "Go there") { [weak self] in
                guard let self, let place = directory.number(of: board) else { return }
                jump(toPage: place)
              }
            ]) + [
            .init(key: "c", title: "Copy the text") { [weak self, weak controller] in
              self?.copy(controller?.editedText ?? loss.text)
            }
          ], typing: { [weak controller] in _ = controller?.edit($0) }))
  }

  private func tellThatItIsGone(_ loss: WindowRemovalReason, _ controller: NoteController) {
    controller.isLost = true
    // Prevents that the answer to a pending save offers the text a second time.
    offered.insert(loss.id)
    ask(
      QuestionText(
        title: "The note is gone", lines: [loss.sentence + ".", "You can keep the text of the editor."],
        choices: [
          .init(key: "n", title: "New note with it") { [weak self] in
            guard let self else { return }
            let text = controller.editedText ?? loss.text
            let place = onBoard(controller.window.frame.origin)
            endEditing(of: controller)
            newNote(with: text, at: place)
          },
          .init(key: "c", title: "Copy it") { [weak self] in
            self?.copy(controller.editedText ?? loss.text)
            self?.endEditing(of: controller)
          },
          .init(key: "d", title: "Discard it", isForGood: true) { [weak self] in
            self?.discard(controller.editedText ?? loss.text)
            self?.endEditing(of: controller)
          },
        ], typing: { _ = controller.edit($0) }, text: { controller.editedText ?? loss.text },
        subject: controller))
  }

  /// Asks what to do with a text whose note is deleted.
  func offer(_ text: String, _ sentence: String) {
    var text = text
    ask(
      QuestionText(
        title: "Keep the text?", lines: [sentence + ".", "You can keep the text of the editor."],
        choices: [
          .init(key: "n", title: "New note with it") { [weak self] in
            guard let self else { return }
            newNote(with: text, at: onBoard(placeOfNewNote))
          },
          .init(key: "c", title: "Copy it") { [weak self] in self?.copy(text) },
          .init(key: "d", title: "Discard it", isForGood: true) { [weak self] in self?.discard(text) },
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
  private func newNote(with text: String, at place: (x: Double, y: Double)) {
    guard !boardIsGone else { return offer(text, "there is no board for the note") }
    newNote(text: text, at: place)
  }

  /// Copies a text to the program's own clipboard, which all notes share, and to the terminal's.
  func copy(_ text: String) {
    clipboard = text
    guard let sequence = TerminalSequences.clipboard(text) else {
      return say("too long for the terminal's clipboard; in a note here Ctrl-V pastes it")
    }
    link.sendToTerminal(sequence)
  }

  /// Discards the only copy of a text; it stays on the clipboard in case the wrong key was pressed.
  private func discard(_ text: String) {
    clipboard = text
    say("discarded; in a note Ctrl-V pastes it")
  }

  /// Opens the text in another program and saves the result.
  func editOutside(_ controller: NoteController) {
    // Retained, because the context drops notes that have left the board and that nothing references.
    guard let note = controller.note, mayChange(note) else { return }
    endEditing()
    // The closure is called again if the program saves more after the text was taken.
    var before = note.text
    link.editOutside(before) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let text):
        guard !UTF8Comparison.equal(text, before) else { return }
        guard !note.isDeleted, !note.isFault else {
          guard !boardIsGone else { return offer(text, "the note is gone") }
          newNote(text: text, at: onBoard(canvas.middle))
          return say("the note is gone; your text is in a new one", isTrouble: true)
        }
        // Other clients may have edited the text meanwhile.
        let all = TextSplice.merged(before, mine: text, theirs: note.text)
        before = text
        note.text = all
        // If the note was deleted meanwhile, the text will be offered.
        written[note.id] = all
        offered.remove(note.id)
        touch(note.id)
        if page.part == nil, !note.isInserted, !page.rows.contains(note.id) {
          say("the note is on another board now; your text goes into it", isTrouble: true)
        }
      case .failure(let refusal): say(refusal.message, isTrouble: true)
      }
    }
  }
}

extension TextSplice {
  /// Merges two versions of a text and keeps both edits. If they do not fit together, `mine` wins; the other one is
  /// in the history.
  static func merged(_ before: String, mine: String, theirs: String) -> String {
    let rebased = rebase(differences(from: before, to: mine), over: differences(from: before, to: theirs))
    return apply(rebased, to: theirs) ?? mine
  }
}
