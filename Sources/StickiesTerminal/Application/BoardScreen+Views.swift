import TerminalApplication

/// Commands that change what is looked at.
extension BoardScreen {
  func answerViews() {
    for command in [Command.tag, .search, .list, .history, .nextBoard, .previousBoard] + (1...9).map(Command.board) {
      on(command, state: { .disabled }) {}
    }
    answerSelection()
  }

  private func answerSelection() {
    on(.editMode) { [weak self] in CommandState(isEnabled: self?.editing == nil, isChecked: self?.mode.isEditing == true)
    } perform: { [weak self] in
      guard let self else { return }
      if mode.isEditing { mode.cancel(at: now) } else { mode.begin(at: now) }
      application.setNeedsDisplay()
    }
    on(.select) { [weak self] in
      CommandState(isEnabled: self?.editing == nil && self?.focused != nil)
    } perform: { [weak self] in
      guard let self, let focused else { return }
      mode.begin(at: now)
      mode.toggle(focused.id)
      application.setNeedsDisplay()
    }
    on(.selectAll) { [weak self] in CommandState(isEnabled: self?.editing == nil) } perform: { [weak self] in
      guard let self else { return }
      mode.begin(at: now)
      mode.selection.select(page.windows.ids)
      application.setNeedsDisplay()
    }
  }
}
