import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication

/// Showing some of the notes only. What is hidden is still there, and the status line says so for as long as it is.
extension BoardScreen {
  func openFilter() {
    endEditing()
    closeSearch()
    tagNames.ask()
    beginModal(FilterWindow(on: self))
  }

  /// What is offered changes under whoever chooses.
  func tagsDidChange(by difference: ResultsDifference?) {
    if let difference {
      for case let window as FilterWindow in application.windows { window.tagsDidChange(by: difference) }
    }
    application.setNeedsDisplay()
  }

  /// The filter is another one.
  func filterDidChange() {
    // What was found was looked for within the other one.
    closeSearch()
    for page in directory.pages.values { page.filter = filter }
    page.refresh()
    // Nothing is done to what it hides: of a large board that is more than the notes that were here.
    all?.narrow(to: filter.predicate, mode.selection.target)
    wasFiltered = true
    application.setNeedsDisplay()
  }

  /// A note that is made under a filter shall not vanish from it.
  func dress(_ note: Note) {
    if !filter.colors.isEmpty, !filter.colors.contains(note.color),
      let color = StickiesKit.Color.allCases.first(where: filter.colors.contains)
    {
      note.color = color
    }
    guard let name = filter.tags.sorted().first, let tag = tag(named: name.text) else { return }
    wear(tag, on: note)
  }

  /// Somebody edits a note that is not shown any more: it is still there, and so is the editor.
  func tellThatItLeft(_ loss: WindowLoss, _ controller: NoteController) {
    ask(
      QuestionText(
        title: "The note left the filter",
        lines: [loss.sentence + ".", "It is still on the board, and what you write goes into it."],
        choices: [
          .init(key: "w", title: "Write on", isEscape: true) {},
          .init(key: "s", title: "Show all notes") { [weak self] in self?.filter = BoardFilter() },
          .init(key: "c", title: "Copy the text") { [weak self, weak controller] in
            self?.copy(controller?.editedText ?? loss.text)
          },
        ], typing: { [weak controller] in _ = controller?.edit($0) }))
  }
}

extension BoardPage {
  /// Whether a note has a window: one that was made here has one until the server knows it.
  func isShown(_ id: ObjectID) -> Bool {
    guard filter.isOn, !made.contains(id), let note = note(id), !note.isFault, note.board?.id == board.id else {
      return true
    }
    return filter.passes(note)
  }
}
