import GraphModel
import TerminalApplication

/// The commands of the replica, and the objects to which the server has given ids.
extension BoardScreen {
  private func answer(_ command: Command, _ perform: @escaping (SyncController) -> Void) {
    on(command) { [weak self] in
      guard let self, editing.current == nil || isMenuOpen else { return .disabled }
      return CommandState(isEnabled: sync.allows(command))
    } perform: { [weak self] in
      if let self { perform(sync) }
    }
  }

  func answerSync() {
    answer(.conflicts) { [weak self] sync in
      self?.editing.end()
      self?.search.close()
      sync.showConflicts()
    }
    answer(.syncOn) { $0.turnOn() }
    answer(.syncOff) { $0.turnOff() }
    answer(.resync) { $0.resync() }
    answer(.deleteEverywhere) { $0.deleteEverywhere() }
  }

  /// Keeps windows, focus and selection of objects that have got the server's ids.
  func objectsWereIdentified(_ ids: [ObjectID: ObjectID]) {
    // Before the rows of the pages change: a window whose note left the rows would close.
    pages.identify(ids)
    saving.identify(ids)
    if let focus = list.focus, let new = ids[focus] { list.focus = new }
  }
}
