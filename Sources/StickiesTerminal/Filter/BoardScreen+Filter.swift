import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication

/// The filter of the screen. Hidden notes do not change, and the status line shows that the filter is active.
extension BoardScreen {
  func openFilter() {
    endEditing()
    closeSearch()
    tagNames.ask()
    services.modals.begin(FilterWindow(on: self))
  }

  /// Updates an open filter window when the tags change.
  func tagsDidChange(by difference: ResultsDifference?) {
    if let difference {
      for case let window as FilterWindow in application.windows { window.tagsDidChange(by: difference) }
    }
    application.setNeedsDisplay()
  }

  /// Applies a new filter.
  func filterDidChange() {
    // The search result was restricted by the old filter.
    closeSearch()
    for page in directory.pages.values { page.filter = filter }
    page.refresh()
    // Hidden notes are deselected; in a large board this includes notes that are not loaded.
    all?.narrow(to: filter.predicate, mode.selection.target)
    wasFiltered = true
    application.setNeedsDisplay()
  }

  /// Gives a new note a color and a tag that pass the filter, so that it stays visible.
  func dress(_ note: Note) {
    if !filter.colors.isEmpty, !filter.colors.contains(note.color),
      let color = StickiesKit.Color.allCases.first(where: filter.colors.contains)
    {
      note.color = color
    }
    guard let name = filter.tags.sorted().first, let tag = tag(named: name.text) else { return }
    wear(tag, on: note)
  }

  /// Reports that the edited note no longer passes the filter; its editor stays open.
  func tellThatItLeft(_ loss: WindowRemovalReason, _ controller: NoteController) {
    ask(
      QuestionText(
        title: "The note left the filter",
        lines: [loss.sentence + ".", "It is still on the board, and what you write goes into it."],
        choices: [
          .init(key: "w", title: "Write on", isEscape: true) {},
          .init(key: "s", title: "Show all notes") { [weak self] in self?.filter = BoardFilter() },
          .init(key: "c", title: "Copy the text") { [weak self, weak controller] in
            self?.services.clipboard.copy(controller?.editedText ?? loss.text)
          },
        ], typing: { [weak controller] in _ = controller?.edit($0) }))
  }
}

extension BoardPage {
  /// Whether a note has a window; a note created here has one until the server knows it.
  func isShown(_ id: ObjectID) -> Bool {
    guard filter.isOn, !made.contains(id), let note = note(id), !note.isFault, note.board?.id == board.id else {
      return true
    }
    return filter.passes(note)
  }
}
