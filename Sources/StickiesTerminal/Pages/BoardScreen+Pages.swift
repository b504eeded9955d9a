import GraphControllers
import GraphModel
import TerminalApplication

extension BoardScreen: BoardPagesDelegate {
  func pages(_ pages: BoardPages, windowsDidChange changes: [WindowChange<NoteController>], on page: BoardPage) {
    for change in changes {
      switch change {
      case .opened(let controller, _):
        (controller.screen, controller.number) = (self, pages.nextNumber())
        // A neighbor board's windows are not on the screen yet.
        if page === pages.page { application.orderBack(controller.window) }
      case .closed(let controller, let id):
        editing.windowDidClose(controller)
        links.windowDidClose(controller)
        // Ends the undo step of the drag.
        if mouseInput.dragged === controller {
          mouseInput.endGesture()
          reportDisappearance(id, from: page)
        }
        // Notes that the filter hides are deselected. In a large board windows also close by scrolling: the selection
        // stays then, and a selection of all is a predicate.
        if page.part == nil || selection.all == nil && !page.isShown(id) { selection.mode.selection.remove(id) }
        application.orderOut(controller.window)
      case .objectRemoved(let controller, let loss): editing.noteDidLeave(loss, of: controller)
      case .objectRestored(let controller, _):
        controller.comeBack()
        // The note exists again, so the question about its text is obsolete.
        questions.withdraw(about: controller)
        report("the note is back")
      case .identified(_, let id, let old):
        selection.mode.selection.identify(old, as: id)
        presence.userPosition.identify(old, as: id)
      }
    }
    // A field keeps the keys, also while a question covers it.
    let keyWindow = application.settledKeyWindow
    let isNoteKey = keyWindow == nil || keyWindow is NoteWindow
    if !changes.isEmpty, isNoteKey, let focused = pages.focused { application.makeKey(focused.window) }
    application.setNeedsDisplay()
  }

  func pagesWillLeaveBoard(_ pages: BoardPages) -> () -> Void {
    // Gestures and windows that are in progress belong to the previous board.
    mouseInput.boardWillChange()
    if links.start != nil { links.cancel() }
    history.close()
    while let modal = application.modalWindow, !(modal is QuestionWindow) { application.endModal(modal) }
    let orphan = pages.boardIsGone ? editing.current?.editedText : nil
    if pages.boardIsGone, let controller = editing.current { questions.withdraw(about: controller) }
    let hasRole = rights.role(on: pages.page.board.id) != nil
    let sentence = "the board \(pages.page.name) is " + (hasRole ? "deleted" : "closed: you have no role on it now")
    editing.end()
    search.close()
    // So do its requests.
    busy.boardWillChange()
    navigation.releaseKeys()
    selection.boardWillChange()
    saving.save()
    return { [weak self] in
      guard let self else { return }
      presence.boardDidChange()
      if let orphan, !orphan.isEmpty { editing.offer(orphan, sentence) }
      busy.wake()
    }
  }

  /// Reports why a note disappeared while it was dragged.
  private func reportDisappearance(_ id: ObjectID, from page: BoardPage) {
    guard let deletion = page.lastChange, deletion.deleted.contains(id) else {
      return report("the note is no longer on this board", isTrouble: true)
    }
    // A note that moves out of sight leaves in the same way as a deleted one.
    if rights.seesPart { return report("the note is no longer there for you", isTrouble: true) }
    let author = deletion.author.isEmpty ? "someone" : deletion.author
    report("\(author) has deleted the note", isTrouble: true)
  }
}
