import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication

/// The filter of the screen. Hidden notes do not change, and the status line shows that the filter is active.
extension BoardScreen {
  func openFilter() {
    endEditing()
    search.close()
    tags.names.ask()
    services.modals.begin(FilterWindow(filtering, tags, services))
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
    search.close()
    for page in pages.directory.pages.values { page.filter = filtering.filter }
    pages.page.refresh()
    selection.filterDidChange()
    application.setNeedsDisplay()
  }

  /// Reports that the edited note no longer passes the filter; its editor stays open.
  func tellThatItLeft(_ loss: WindowRemovalReason, _ controller: NoteController) {
    questions.ask(
      QuestionText(
        title: "The note left the filter",
        lines: [loss.sentence + ".", "It is still on the board, and what you write goes into it."],
        choices: [
          .init(key: "w", title: "Write on", isEscape: true) {},
          .init(key: "s", title: "Show all notes") { [weak self] in self?.filtering.filter = BoardFilter() },
          .init(key: "c", title: "Copy the text") { [weak self, weak controller] in
            self?.services.clipboard.copy(controller?.editedText ?? loss.text)
          },
        ], typing: { [weak controller] in _ = controller?.edit($0) }))
  }
}
