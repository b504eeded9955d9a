import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// Opening and closing the editor of a note, and what becomes of its text when the note goes away under it.
extension BoardScreen {
  /// A locked note is not changed by accident.
  func mayChange(_ note: Note) -> Bool {
    guard linkIsOpen else { return false }
    guard note.locked else { return true }
    say("the note is locked; l unlocks it")
    return false
  }

  /// Whether anything can be changed at all.
  var linkIsOpen: Bool {
    if case .closed(let why) = linkState {
      say("read-only: \(why)", isTrouble: true)
      return false
    }
    return true
  }

  /// Somebody wants to type into a note.
  func edit(_ controller: NoteController, at point: Point? = nil) {
    guard controller !== editing, let note = controller.note, mayChange(note) else { return }
    endEditing()
    focus(controller)
    undoScope.beginGroup(named: "Typing")
    editing = controller
    layOut()
    controller.beginEditing(at: point)
    application.setNeedsDisplay()
  }

  /// The editor closes; what was typed is on its way.
  func endEditing() {
    guard let controller = editing else { return }
    editing = nil
    controller.endEditing()
    // Made here and left empty: nobody wanted it.
    if controller.isNew, let note = controller.note, note.text.isEmpty {
      remove(note)
      page.reconcile()
    }
    controller.isNew = false
    save()
    undoScope.endGroup()
    follow(page.windows.resolveLoss(controller.id), on: page)
    application.setNeedsDisplay()
  }

  /// The same, where it is this note's editor that is open; it may have closed before anybody could answer.
  private func endEditing(of controller: NoteController) {
    if editing === controller { endEditing() }
  }

  /// A note under the mouse, or in the middle of what shows; typing goes into it at once. It is sent with the first letter
  /// and is gone again when there is none.
  func newNote() {
    guard linkIsOpen else { return }
    guard !boardIsGone else { return say("there is no board to make it on", isTrouble: true) }
    newNote(text: "", at: onBoard(placeOfNewNote))
    guard let controller = focused else { return }
    controller.isNew = true
    edit(controller)
  }

  /// So that all of it is in sight, as far as there is room: one types where one looks.
  private var placeOfNewNote: Point {
    let size = Self.newNoteSize
    let wish = whereabouts.mouse ?? Point(x: canvas.middle.x - size.width / 2, y: canvas.middle.y - size.height / 2)
    return Point(
      x: max(canvas.minX, min(wish.x, canvas.maxX - size.width)),
      y: max(canvas.minY, min(wish.y, canvas.maxY - size.height)))
  }

  /// The cells of a note as the model makes it, 200 points wide and high.
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

  /// Takes a note off the board; what the server never had is not told to it.
  func remove(_ note: Note) {
    let id = note.id
    let isUnsent = note.isInserted && !unsent.contains(id)
    context.delete(note)
    page.drop(id)
    if !isUnsent { touch(id) }
  }

  private var topHeight: Double { page.windows.ids.compactMap { page.shape(of: $0)?.z }.max() ?? 0 }

  /// The note of an open editor is not there any more.
  func tell(_ loss: WindowLoss, of controller: NoteController) {
    say(loss.sentence, isTrouble: true)
    if !page.isShown(loss.id) { return tellThatItLeft(loss, controller) }
    controller.isLost = true
    ask(
      QuestionText(
        title: "The note is gone", lines: [loss.sentence + ".", "What stood in the editor can be kept."],
        choices: [
          .init(key: "n", title: "New note with it") { [weak self] in
            guard let self else { return }
            let text = controller.editedText ?? loss.text
            let place = onBoard(controller.window.frame.origin)
            endEditing(of: controller)
            newNote(text: text, at: place)
          },
          .init(key: "c", title: "Copy it") { [weak self] in
            self?.copy(controller.editedText ?? loss.text)
            self?.endEditing(of: controller)
          },
          .init(key: "d", title: "Discard it") { [weak self] in self?.endEditing(of: controller) },
        ], typing: { _ = controller.edit(.key($0)) }, text: { controller.editedText ?? loss.text },
        subject: controller))
  }

  /// A text that somebody typed has no place any more.
  func offer(_ text: String, _ sentence: String) {
    var text = text
    ask(
      QuestionText(
        title: "Where to with the text?", lines: [sentence + ".", "What stood in the editor can be kept."],
        choices: [
          .init(key: "n", title: "New note with it") { [weak self] in
            guard let self else { return }
            newNote(text: text, at: onBoard(placeOfNewNote))
          },
          .init(key: "c", title: "Copy it") { [weak self] in self?.copy(text) },
          .init(key: "d", title: "Discard it") {},
        ],
        typing: { key in
          switch key.key {
          case .character(let character) where key.modifiers.isEmpty: text.append(character)
          case .enter: text.append("\n")
          default: break
          }
        }, text: { text }))
  }

  /// Puts a text on the terminal's clipboard.
  func copy(_ text: String) {
    guard let sequence = TerminalSequences.clipboard(text) else {
      return say("too long for the terminal's clipboard; it can be pasted here with Ctrl-V")
    }
    link.sendToTerminal(sequence)
  }

  /// Hands the text to another program, and takes back what it makes of it.
  func editOutside(_ controller: NoteController) {
    guard let note = controller.note, mayChange(note) else { return }
    endEditing()
    let id = controller.id
    let before = note.text
    link.editOutside(before) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let text):
        guard text != before else { return }
        // A note that is gone has a face still, and nothing behind it.
        guard page.values(of: id) != nil, let note = page.note(id), !note.isDeleted else {
          newNote(text: text, at: onBoard(canvas.middle))
          return say("the note is gone; what was written is in a new one", isTrouble: true)
        }
        note.text = merged(before, mine: text, theirs: note.text)
        touch(id)
      case .failure(let refusal): say(refusal.message, isTrouble: true)
      }
    }
  }

  /// Others may have written while another program had the text: both stay.
  private func merged(_ before: String, mine: String, theirs: String) -> String {
    let mine = TextSplice.smallest(from: before, to: mine)
    let their = TextSplice.smallest(from: before, to: theirs)
    let rebased = TextSplice.rebase([mine], over: [their])
    return TextSplice.apply(rebased, to: theirs) ?? theirs
  }
}
