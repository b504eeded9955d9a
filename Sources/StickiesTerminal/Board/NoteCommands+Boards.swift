import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication

/// Choosing another board by name, to go there or to move notes there.
extension NoteCommands {
  /// Maximum length of a board's name, in bytes of UTF-8; the model's own limit.
  static let maximumName = 200

  func askForBoard() {
    guard connection.allowsChanges, hasTargets else { return }
    let mark = targetMark
    chooseBoard("Move to Board") { [weak self] in
      if self?.isStillMeant(mark) == true { self?.move(to: $0) }
    }
  }

  /// The focused note that a prompt refers to; nil if it refers to the selection.
  var targetMark: NoteController? { selection.mode.isEditing ? nil : pages.focused }

  /// Whether the prompt's note is still the focused one. Shows a message if not, because the answer would apply to
  /// another note.
  func isStillMeant(_ mark: NoteController?) -> Bool {
    if selection.mode.isEditing || mark != nil && mark === pages.focused && mark?.note != nil { return true }
    report("the note is gone; nothing was changed", isTrouble: true)
    return false
  }

  /// Asks for the name of another board.
  func chooseBoard(_ title: String, _ done: @escaping (Board) -> Void) {
    pages.directory.ask()
    let offers: (String) -> [String] = { [weak self] text in
      guard let self else { return [] }
      return otherBoards.map(\.name).matching(text)
    }
    let window = PromptWindow(title, maximum: Self.maximumName, with: services, offers: offers) { [weak self] name in
      if let board = self?.otherBoard(named: name) { done(board) }
    }
    services.modals.begin(window)
  }

  private var otherBoards: [Board] {
    (0..<pages.directory.pageCount).compactMap { pages.directory.board(at: $0) }.filter { $0.id != pages.page.board.id }
  }

  /// The board with the name, or the only board whose name matches its beginning.
  private func otherBoard(named name: String) -> Board? {
    let boards = otherBoards
    let like = boards.filter { [$0.name].matching(name) == [$0.name] }
    let named = boards.first { UTF8Comparison.equal($0.name, name) }
    if let board = named ?? (like.count == 1 ? like.first : nil) { return board }
    let why = like.isEmpty ? "no other board is called" : "\(like.count) boards are called like"
    report("\(why) \(name); try again to see the names", isTrouble: true)
    return nil
  }

  private func move(to board: Board) {
    if let all = selection.all {
      let id = board.id
      let change = BulkChangeDescription(
        doing: "Moving", place: "to \(board.name)", done: "moved", undone: "brings them back")
      let property = context.model.property(Note.self, \.board).number
      return bulk.change(all, change) { _ in .set(property, .object(id)) }
    }
    withTargets { [weak self] notes in
      guard let self, connection.allowsChanges else { return }
      let free = notes.filter { !$0.locked }.count
      change(notes, "Move to Board") { $0.board = board }
      if free == notes.count {
        report("moved \(free == 1 ? "the note" : "\(free) notes") to \(board.name); u undoes it")
      }
    }
  }
}
