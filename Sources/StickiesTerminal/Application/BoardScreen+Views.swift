import TerminalApplication

/// Commands that change the view.
extension BoardScreen {
  private func view(
    _ command: Command, isChecked: @escaping () -> Bool = { false }, title: @escaping () -> String? = { nil },
    _ perform: @escaping () -> Void
  ) {
    on(command) { [weak self] in
      CommandState(isEnabled: self?.editing.current == nil, isChecked: isChecked(), title: title())
    } perform: { [weak self] in
      perform()
      self?.application.setNeedsDisplay()
    }
  }

  func answerViews() {
    view(.search) { [weak self] in self?.search.open() }
    view(.filter, isChecked: { [weak self] in self?.filtering.filter.isOn == true }) { [weak self] in self?.openFilter()
    }
    view(.showAll) { [weak self] in self?.filtering.showAll() }
    view(.history) { [weak self] in self?.history.open() }
    view(.list, isChecked: { [weak self] in self?.list.isOpen == true }) { [weak self] in self?.list.toggle() }
    on(.groupList) { [weak self] in
      guard let self else { return .disabled }
      return CommandState(
        isEnabled: editing.current == nil && list.isOpen, isChecked: list.state.isGrouped)
    } perform: { [weak self] in
      guard let self else { return }
      if pages.page.part != nil { return report("a board this large is loaded in parts and has no sections") }
      list.state.isGrouped.toggle()
      application.setNeedsDisplay()
    }
    for (command, step) in [(.narrowList, -ListPaneState.step), (.widenList, ListPaneState.step)] as [(Command, Int)] {
      on(command) { [weak self] in
        CommandState(isEnabled: self?.editing.current == nil && self?.list.frame.isEmpty == false)
      } perform: { [weak self] in
        self?.list.widen(by: step)
      }
    }
    view(.nextBoard) { [weak self] in self?.pages.scrollPages(by: 1) }
    view(.previousBoard) { [weak self] in self?.pages.scrollPages(by: -1) }
    view(.goToBoard) { [weak self] in
      guard let self, pages.mayLeave() else { return }
      notes.chooseBoard("Go to Board") { [weak self] board in
        self?.pages.directory.number(of: board.id).map { self?.pages.jump(toPage: $0) }
      }
    }
    for number in 1...9 {
      view(.board(number)) { [weak self] in self?.pages.jump(toPage: number - 1) }
    }
    answerSelection()
  }

  private func answerSelection() {
    view(.editMode, title: { [weak self] in self?.selection.mode.button.title }) { [weak self] in
      guard let self else { return }
      if selection.mode.isEditing { selection.mode.cancel(at: now) } else { selection.mode.begin(at: now) }
      selection.slide()
    }
    view(.select) { [weak self] in
      guard let self, let focused = pages.focused else { return }
      selection.mode.begin(at: now)
      selection.slide()
      selection.toggle(focused.id)
    }
    view(.selectAll) { [weak self] in
      guard let self else { return }
      selection.mode.begin(at: now)
      selection.slide()
      if pages.page.part != nil { return selection.selectAllOfBoard() }
      selection.mode.selection.select(navigation.shownIDs)
    }
  }
}
