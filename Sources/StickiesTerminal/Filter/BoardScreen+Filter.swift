import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication

/// The filter of the screen. Hidden notes do not change, and the status line shows that the filter is active.
extension BoardScreen {
  func openFilter() {
    editing.end()
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
}
