import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// Keeps the text when the edited note disappears.
extension EditingController {
  /// Reports that the note of the open editor is no longer shown, and searches for it on the server.
  func noteDidLeave(_ loss: WindowRemovalReason, of controller: NoteController) {
    report(sentence(of: loss), isTrouble: true)
    if loss.kind == .deleted { return askAboutDeletedNote(loss, controller) }
    if !pages.page.isShown(loss.id) { return askAboutFilteredNote(loss, controller) }
    let search = DetachedNoteObserver(loss.id, in: context)
    controller.elsewhere = search
    search.didChange = { [weak self, weak controller, weak search] in
      guard let self, let controller, let search, current === controller, controller.elsewhere === search else {
        return
      }
      observerDidChange(search, loss, controller)
    }
    search.start()
  }

  /// To a user who sees a part of the graph, a note that moves out of sight leaves in the same way as a deleted one.
  private func sentence(of loss: WindowRemovalReason) -> String {
    loss.kind == .deleted && rights.seesPart ? "the note is no longer there for you" : loss.sentence
  }

  private func observerDidChange(
    _ search: DetachedNoteObserver, _ loss: WindowRemovalReason, _ controller: NoteController
  ) {
    controller.followOthers()
    guard let note = search.note else {
      controller.elsewhere = nil
      questions.withdraw(about: controller)
      var loss = loss
      (loss.kind, loss.author) = (.deleted, nil)
      return askAboutDeletedNote(loss, controller)
    }
    guard !search.isReported, let board = note.board, board.id != pages.page.board.id else { return }
    search.isReported = true
    askAboutMovedNote(loss, controller, to: board.id)
  }

  private func askAboutMovedNote(_ loss: WindowRemovalReason, _ controller: NoteController, to board: ObjectID) {
    let place = pages.directory.number(of: board)
    let name = if let there = place.flatMap({ pages.directory.board(at: $0) }) { " “\(there.name)”" } else { "" }
    questions.ask(
      QuestionText(
        title: "The note has moved",
        lines: [sentence(of: loss) + ".", "It is on the board\(name) now, and your text still goes into it."],
        choices: [.init(key: "w", title: "Keep writing", isEscape: true) {}]
          + (place == nil
            ? []
            : [
              .init(key: "g", title: "Go there") { [weak self] in
                guard let self, let place = pages.directory.number(of: board) else { return }
                pages.jump(toPage: place)
              }
            ]) + [
            .init(key: "c", title: "Copy the text") { [weak self, weak controller] in
              self?.services.clipboard.copy(controller?.editedText ?? loss.text)
            }
          ], typing: { [weak controller] in _ = controller?.edit($0) }))
  }

  private func askAboutDeletedNote(_ loss: WindowRemovalReason, _ controller: NoteController) {
    controller.isLost = true
    // Prevents that the answer to a pending save offers the text a second time.
    saving.offered.insert(loss.id)
    questions.ask(
      QuestionText(
        title: "The note is gone", lines: [sentence(of: loss) + ".", "You can keep the text of the editor."],
        choices: [
          .init(key: "n", title: "New note with it") { [weak self] in
            guard let self else { return }
            let text = controller.editedText ?? loss.text
            let place = viewport.onBoard(controller.window.frame.origin)
            end(of: controller)
            newNote(with: text, at: place)
          },
          .init(key: "c", title: "Copy it") { [weak self] in
            self?.services.clipboard.copy(controller.editedText ?? loss.text)
            self?.end(of: controller)
          },
          .init(key: "d", title: "Discard it", isForGood: true) { [weak self] in
            self?.services.clipboard.discard(controller.editedText ?? loss.text)
            self?.end(of: controller)
          },
        ], typing: { _ = controller.edit($0) }, text: { controller.editedText ?? loss.text },
        subject: controller))
  }

  /// Reports that the edited note no longer passes the filter; its editor stays open.
  func askAboutFilteredNote(_ loss: WindowRemovalReason, _ controller: NoteController) {
    questions.ask(
      QuestionText(
        title: "The note left the filter",
        lines: [sentence(of: loss) + ".", "It is still on the board, and your text still goes into it."],
        choices: [
          .init(key: "w", title: "Keep writing", isEscape: true) {},
          .init(key: "s", title: "Show all notes") { [weak self] in self?.filtering.showAll() },
          .init(key: "c", title: "Copy the text") { [weak self, weak controller] in
            self?.services.clipboard.copy(controller?.editedText ?? loss.text)
          },
        ], typing: { [weak controller] in _ = controller?.edit($0) }))
  }
}
