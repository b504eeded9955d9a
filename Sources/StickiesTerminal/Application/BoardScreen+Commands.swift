import StickiesKit
import TerminalApplication
import TerminalCells

/// What each command does, and when it makes sense. While somebody types, only those do that no editor would take.
extension BoardScreen {
  func answerCommands() {
    answerAlways()
    answerNotes()
    answerPlaces()
    answerViews()
  }

  /// A command that makes no sense while an editor is open, so that the editor has its key.
  private func board(
    _ command: Command, state: @escaping () -> CommandState = { CommandState() }, _ perform: @escaping () -> Void
  ) {
    on(command) { [weak self] in
      guard let self, editing == nil || isMenuOpen else { return .disabled }
      return state()
    } perform: {
      perform()
    }
  }

  private func note(_ command: Command, check: ((Note) -> Bool)? = nil, _ perform: @escaping () -> Void) {
    noteCommands.insert(command)
    board(
      command,
      state: { [weak self] in
        let notes = self?.targets ?? []
        return CommandState(
          isEnabled: self?.hasTargets == true && self?.allowsEditing == true,
          isChecked: !notes.isEmpty && notes.allSatisfy { check?($0) ?? false },
          title: self?.title(of: command))
      }, perform)
  }

  /// A key of something that is done to notes, while there is none: what follows would be taken for other commands, so it is
  /// said.
  func tellNoTarget(_ key: KeyEvent) -> Bool {
    let equivalent = KeyEquivalent(key.key, key.modifiers)
    guard editing == nil, !hasTargets, allowsEditing,
      application.menuBar.commands.contains(where: { $0.key == equivalent && noteCommands.contains($0.command) })
    else { return false }
    say(mode.isEditing ? "no note is selected" : "no note is chosen: Tab or a click chooses one")
    return true
  }

  private func answerAlways() {
    on(.quitAnywhere) { [weak self] in self?.application.terminate() }
    board(.quit) { [weak self] in self?.application.terminate() }
    board(.suspend) { [weak self] in self?.link.stop() }
    on(.cancel) { [weak self] in self?.cancel() }
    on(.openMenu) { [weak self] in self?.openMenu() }
    board(.undo) { [weak self] in self?.undo(isRedo: false) }
    board(.redo) { [weak self] in self?.undo(isRedo: true) }
    board(.help) { [weak self] in
      guard let self else { return }
      beginModal(HelpWindow(on: self))
    }
  }

  private func answerNotes() {
    board(.newNote) { [weak self] in self?.newNote() }
    note(.editNote) { [weak self] in
      guard let self, let focused else { return }
      if linkStart != nil { endLink(at: focused) } else { edit(focused) }
    }
    note(.editOutside) { [weak self] in
      guard let self, let focused else { return }
      editOutside(focused)
    }
    note(.link) { [weak self] in self?.linkOrEnd() }
    note(.writeOnLink) { [weak self] in self?.writeOnLink() }
    note(.tag) { [weak self] in self?.askForTag() }
    note(.moveToBoard) { [weak self] in self?.askForBoard() }
    note(.deleteNote) { [weak self] in self?.deleteNotes() }
    note(.color) { [weak self] in self?.color() }
    note(.collapse, check: \.collapsed) { [weak self] in
      self?.toggle("Collapse", \.collapsed, property: "collapsed")
    }
    note(.pin, check: \.pinned) { [weak self] in self?.toggle("Pin", \.pinned, property: "pinned") }
    note(.lock, check: \.locked) { [weak self] in self?.toggle("Lock", \.locked, property: "locked") }
    note(.raise) { [weak self] in
      guard let self, let focused else { return }
      raise(focused)
    }
    note(.lower) { [weak self] in
      self?.changeEach("Lower", "lowered") { self?.lower($0) }
    }
    note(.closeWindow) { [weak self] in
      guard let self else { return }
      closeWindows(targets.compactMap { self.page.windows[$0.id] })
    }
  }

  /// All of them become what follows the color of the first.
  private func color() {
    let colors = StickiesKit.Color.allCases
    func next(_ note: Note) -> StickiesKit.Color {
      colors[((colors.firstIndex(of: note.color) ?? 0) + 1) % colors.count]
    }
    if let all {
      return changeAll(all, WholeChange(doing: "Coloring", done: "colored")) {
        .set("color", .string(next($0).rawValue))
      }
    }
    var color: StickiesKit.Color?
    change("Color") { note in
      color = color ?? next(note)
      note.color = color ?? note.color
    }
  }

  /// What each becomes goes by what it was.
  /// - Parameters:
  ///   - done: what is said of it when it was all of a large board.
  ///   - inRow: whether it is one step with what was done so to the same notes just before.
  private func changeEach(
    _ name: String, _ done: String, inRow: Bool = false, _ body: @escaping (Note) -> Void
  ) {
    guard let all else { return change(name, inRow: inRow, body) }
    changeEach(all, name, WholeChange(doing: "Changing", done: done), body)
  }

  private func toggle(_ name: String, _ path: ReferenceWritableKeyPath<Note, Bool>, property: String) {
    if let all {
      let change = WholeChange(doing: "Changing", done: "changed", sparesLocked: name != "Lock")
      return changeAll(all, change) {
        .set(property, .bool(!$0[keyPath: path]))
      }
    }
    var value: Bool?
    change(name, isForLocked: name == "Lock") { note in
      let new = value ?? !note[keyPath: path]
      value = new
      note[keyPath: path] = new
    }
  }

  private func answerPlaces() {
    board(.nextNote) { [weak self] in self?.focusNext(by: 1) }
    board(.previousNote) { [weak self] in self?.focusNext(by: -1) }
    board(.notesOn) { [weak self] in self?.focusFar(by: self?.notesPerPage ?? 1) }
    board(.notesBack) { [weak self] in self?.focusFar(by: -(self?.notesPerPage ?? 1)) }
    board(.firstNote) { [weak self] in self?.focusFar(by: -.max) }
    board(.lastNote) { [weak self] in self?.focusFar(by: .max) }
    board(.nextHidden) { [weak self] in self?.showNextHidden() }
    for step in Step.allCases {
      // With no note in focus the arrows move the board.
      board(.move(step)) { [weak self] in
        guard let self else { return }
        guard hasTargets else { return scroll(by: step.scroll) }
        changeEach("Move", "moved", inRow: true) { note in
          note.x += Double(step.offset.x) * BoardScale.pointsPerColumn
          note.y += Double(step.offset.y) * BoardScale.pointsPerRow
        }
      }
      note(.grow(step)) { [weak self] in
        self?.changeEach("Resize", "resized", inRow: true) { note in
          self?.setSize(
            of: note, width: note.width + Double(step.offset.x) * BoardScale.pointsPerColumn,
            height: note.height + Double(step.offset.y) * BoardScale.pointsPerRow)
        }
      }
      board(.scroll(step)) { [weak self] in self?.scroll(by: step.scroll) }
    }
  }

  /// Escape: the innermost thing that is open ends.
  func cancel() {
    if dragged != nil { return takeDragBack() }
    if editing != nil { return endEditing() }
    if canGiveUp {
      giveUp()
    } else if linkStart != nil {
      cancelLink()
    } else if field != nil {
      closeSearch()
    } else if mode.isEditing {
      mode.cancel(at: now)
      slide()
    } else {
      page.windows.clearFocus()
      message = nil
    }
    application.setNeedsDisplay()
  }

  /// Whether a command is chosen there: what makes no sense in the middle of writing ends it.
  private var isMenuOpen: Bool { application.keyWindow is MenuWindow }

  func openMenu(_ index: Int = 0) {
    let window = MenuWindow(application.menuBar, open: index, on: self)
    beginModal(window)
  }

  /// Performs what was chosen in the menu, which is closed again.
  func perform(chosen command: Command) {
    if application.send(command) { return }
    endEditing()
    application.send(command)
  }
}

extension Step {
  /// One step of the board under the screen.
  var scroll: Point { Point(x: offset.x * 8, y: offset.y * 4) }
}
