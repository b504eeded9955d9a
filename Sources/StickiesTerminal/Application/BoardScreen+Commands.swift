import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// Registers the commands: what each does and when it is enabled. While a note is edited, only commands whose keys no
/// editor uses are enabled.
extension BoardScreen {
  func answerCommands() {
    answerAlways()
    answerNotes()
    answerPlaces()
    answerViews()
    answerSync()
  }

  /// Registers a command that is disabled while an editor is open, so that the editor gets its key.
  private func board(
    _ command: Command, state: @escaping () -> CommandState = { CommandState() }, _ perform: @escaping () -> Void
  ) {
    on(command) { [weak self] in
      guard let self, editing.current == nil || isMenuOpen else { return .disabled }
      return state()
    } perform: {
      perform()
    }
  }

  /// - Parameter operation: what the command does with the notes, for which the user needs a right; nil for nothing.
  private func note(
    _ command: Command, _ operation: AccessRules.Operation? = .update, check: ((Note) -> Bool)? = nil,
    _ perform: @escaping () -> Void
  ) {
    commandsNeedingTarget[command] = .some(operation)
    board(
      command,
      state: { [weak self] in
        guard let self else { return .disabled }
        let targets = notes.targets
        return CommandState(
          isEnabled: notes.hasTargets && pages.allowsEditing && missingRight(for: command) == nil,
          isChecked: !targets.isEmpty && targets.allSatisfy { check?($0) == true },
          title: toolBar.title(of: command))
      }, perform)
  }

  /// Reports that no note is chosen when a key would act on notes. Otherwise the keys that follow would run other
  /// commands.
  /// - Returns: whether the key was such a key.
  func reportMissingTarget(_ key: KeyEvent) -> Bool {
    let equivalent = KeyEquivalent(key.key, key.modifiers)
    guard editing.current == nil, !notes.hasTargets, pages.allowsEditing,
      application.menuBar.commands.contains(where: {
        $0.key == equivalent && commandsNeedingTarget[$0.command] != nil
      })
    else { return false }
    report(selection.mode.isEditing ? "no note is selected" : "no note is chosen; use Tab or a click")
    return true
  }

  /// Reports the missing right when a key belongs to a command that the user's role or a rule does not allow.
  /// - Returns: whether the key was such a key.
  func reportMissingRight(_ key: KeyEvent) -> Bool {
    guard editing.current == nil, let command = application.menuBar.command(for: key)?.command,
      let why = missingRight(for: command)
    else { return false }
    report(why, isTrouble: true)
    return true
  }

  /// The right that the user lacks for a command on the targets; nil if none is missing.
  private func missingRight(for command: Command) -> String? {
    if command == .newNote { return rights.refusalOfNewNote(on: pages.page.board) }
    guard case .some(.some(let operation)) = commandsNeedingTarget[command] else { return nil }
    return notes.refusal(operation, of: notes.targets)
  }

  private func answerAlways() {
    on(.quitAnywhere) { [weak self] in self?.application.terminate() }
    board(.quit) { [weak self] in self?.application.terminate() }
    board(.suspend) { [weak self] in self?.link.stop() }
    on(.cancel) { [weak self] in self?.cancel() }
    on(.openMenu) { [weak self] in self?.openMenu() }
    board(.undo) { [weak self] in self?.notes.undo(isRedo: false) }
    board(.redo) { [weak self] in self?.notes.undo(isRedo: true) }
    board(.help) { [weak self] in
      guard let self else { return }
      services.modals.begin(HelpWindow(on: self))
    }
  }

  private func answerNotes() {
    board(
      .newNote, state: { [weak self] in CommandState(isEnabled: self?.missingRight(for: .newNote) == nil) },
      { [weak self] in self?.editing.newNote() })
    note(.editNote) { [weak self] in
      guard let self, let focused = pages.focused else { return }
      if links.start != nil { links.end(at: focused) } else { editing.edit(focused) }
    }
    note(.editOutside) { [weak self] in
      guard let self, let focused = pages.focused else { return }
      editing.editOutside(focused)
    }
    // A link is an object of its own, which needs no right to change its notes.
    note(.link, .insert) { [weak self] in self?.links.linkOrEnd() }
    note(.writeOnLink, .insert) { [weak self] in self?.links.writeOnLink() }
    note(.tag) { [weak self] in self?.notes.askForTag() }
    note(.moveToBoard) { [weak self] in self?.notes.askForBoard() }
    note(.deleteNote, .delete) { [weak self] in self?.notes.delete() }
    note(.color) { [weak self] in self?.notes.changeColor() }
    note(.collapse, check: \.collapsed) { [weak self] in
      self?.notes.toggle("Collapse", \.collapsed, property: \.collapsed)
    }
    note(.pin, check: \.pinned) { [weak self] in self?.notes.toggle("Pin", \.pinned, property: \.pinned) }
    note(.lock, check: \.locked) { [weak self] in self?.notes.toggle("Lock", \.locked, property: \.locked) }
    note(.raise) { [weak self] in
      guard let self, let focused = pages.focused else { return }
      notes.raise(focused)
    }
    note(.lower) { [weak self] in
      self?.notes.changeEach("Lower", "lowered") { self?.notes.lower($0) }
    }
    note(.closeWindow, nil) { [weak self] in
      guard let self else { return }
      notes.closeWindows(notes.targets.compactMap { self.pages.page.windows[$0.id] })
    }
  }

  private func answerPlaces() {
    board(.nextNote) { [weak self] in self?.navigation.focusNext(by: 1) }
    board(.previousNote) { [weak self] in self?.navigation.focusNext(by: -1) }
    board(.notesOn) { [weak self] in self?.navigation.focusPage(by: 1) }
    board(.notesBack) { [weak self] in self?.navigation.focusPage(by: -1) }
    board(.firstNote) { [weak self] in self?.navigation.focusFar(by: -.max) }
    board(.lastNote) { [weak self] in self?.navigation.focusFar(by: .max) }
    board(.nextHidden) { [weak self] in self?.navigation.showNextHidden() }
    for step in ArrowDirection.allCases {
      // Without a focused note the arrow keys scroll the board.
      board(.move(step)) { [weak self] in
        guard let self else { return }
        guard notes.hasTargets else { return pages.scroll(by: step.scroll) }
        notes.changeEach("Move", "moved", inRow: true) { note in
          note.x += Double(step.offset.x) * BoardScale.pointsPerColumn
          note.y += Double(step.offset.y) * BoardScale.pointsPerRow
        }
      }
      note(.grow(step)) { [weak self] in
        self?.notes.changeEach("Resize", "resized", inRow: true) { note in
          self?.notes.setSize(
            of: note, width: note.width + Double(step.offset.x) * BoardScale.pointsPerColumn,
            height: note.height + Double(step.offset.y) * BoardScale.pointsPerRow)
        }
      }
      board(.scroll(step)) { [weak self] in self?.pages.scroll(by: step.scroll) }
    }
  }

  /// Handles Escape: ends the innermost thing that is open.
  func cancel() {
    if mouseInput.dragged != nil { return mouseInput.cancelDrag() }
    if editing.current != nil { return editing.end() }
    if busy.canCancel {
      cancelWait()
    } else if links.start != nil {
      links.cancel()
    } else if search.window != nil {
      search.close()
    } else if selection.mode.isEditing {
      selection.mode.cancel(at: now)
      selection.slide()
    } else {
      pages.page.windows.clearFocus()
      services.status.clear()
    }
    application.setNeedsDisplay()
  }

  /// Cancels the pending requests, or quitting if there are none.
  func cancelWait() {
    // The queued keys were meant for the result of the cancelled request.
    if navigation.keepsKeysWaiting { application.discardEvents([.key, .paste]) }
    if busy.isWaiting {
      busy.cancelRequests()
      history.window?.past.cancel()
    } else {
      quitting.cancel()
    }
    navigation.releaseKeys()
  }

  /// Whether the menu is open. Commands that are disabled while editing can be chosen there; choosing one ends the
  /// editing.
  var isMenuOpen: Bool { application.keyWindow is MenuWindow }

  func openMenu(_ index: Int = 0) {
    let window = MenuWindow(application.menuBar, open: index, on: self)
    services.modals.begin(window)
  }

  /// Performs a command that was chosen in the menu, which is closed by then.
  func perform(chosen command: Command) {
    if application.send(command) { return }
    editing.end()
    application.send(command)
  }
}

extension ArrowDirection {
  /// One scroll step of the board, in cells.
  var scroll: Point { Point(x: offset.x * 8, y: offset.y * 4) }
}
