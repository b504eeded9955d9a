import TerminalApplication
import TerminalCells

extension Command {
  static let quit = Command("quit")
  static let quitAnywhere = Command("quit-anywhere")
  static let suspend = Command("suspend")
  static let help = Command("help")
  static let openMenu = Command("open-menu")
  static let cancel = Command("cancel")

  static let newNote = Command("new-note")
  static let editNote = Command("edit-note")
  static let editOutside = Command("edit-outside")
  static let deleteNote = Command("delete-note")
  static let undo = Command("undo")
  static let redo = Command("redo")

  static let nextNote = Command("next-note")
  static let previousNote = Command("previous-note")
  static let notesOn = Command("notes-on")
  static let notesBack = Command("notes-back")
  static let firstNote = Command("first-note")
  static let lastNote = Command("last-note")
  static let nextHidden = Command("next-hidden")
  static let raise = Command("raise")
  static let lower = Command("lower")
  static let closeWindow = Command("close-window")
  static let color = Command("color")
  static let collapse = Command("collapse")
  static let pin = Command("pin")
  static let lock = Command("lock")
  static let tag = Command("tag")
  static let link = Command("link")
  static let writeOnLink = Command("write-on-link")
  static let moveToBoard = Command("move-to-board")

  static let select = Command("select")
  static let selectAll = Command("select-all")
  static let editMode = Command("edit-mode")

  static let search = Command("search")
  static let list = Command("list")
  static let groupList = Command("group-list")
  static let narrowList = Command("narrow-list")
  static let widenList = Command("widen-list")
  static let filter = Command("filter")
  static let showAll = Command("show-all")
  static let history = Command("history")
  static let revisionBack = Command("revision-back")
  static let revisionOn = Command("revision-on")
  static let revisionsBack = Command("revisions-back")
  static let revisionsOn = Command("revisions-on")
  static let oldestRevision = Command("oldest-revision")
  static let newestRevision = Command("newest-revision")
  static let conflicts = Command("conflicts")
  static let syncOn = Command("sync-on")
  static let syncOff = Command("sync-off")
  static let resync = Command("resync")
  static let deleteEverywhere = Command("delete-everywhere")
  static let goToBoard = Command("go-to-board")
  static let nextBoard = Command("next-board")
  static let previousBoard = Command("previous-board")

  static func board(_ number: Int) -> Command { Command("board-\(number)") }
  static func move(_ step: ArrowDirection) -> Command { Command("move-\(step.rawValue)") }
  static func grow(_ step: ArrowDirection) -> Command { Command("grow-\(step.rawValue)") }
  static func scroll(_ step: ArrowDirection) -> Command { Command("scroll-\(step.rawValue)") }
}

/// A direction of the arrow keys.
enum ArrowDirection: String, CaseIterable {
  case left, right, up, down

  var key: Key {
    switch self {
    case .left: .left
    case .right: .right
    case .up: .up
    case .down: .down
    }
  }

  /// The offset of one step, in columns and rows.
  var offset: Point {
    switch self {
    case .left: Point(x: -1, y: 0)
    case .right: Point(x: 1, y: 0)
    case .up: Point(x: 0, y: -1)
    case .down: Point(x: 0, y: 1)
    }
  }
}

/// The menu bar: every command with its key.
enum BoardMenu {
  static var bar: Menu {
    Menu("", [.submenu(board), .submenu(note), .submenu(text), .submenu(arrange), .submenu(selection), .submenu(view)])
  }

  /// The menu bar of the history, with the commands that work on a past state of the board.
  static var past: Menu {
    Menu("", [.submenu(pastBoard), .submenu(history), .submenu(pastView)])
  }

  private static func item(_ title: String, _ command: Command, _ key: Key, _ modifiers: Modifiers = []) -> MenuItem {
    .command(MenuCommand(title, command, KeyEquivalent(key, modifiers)))
  }

  private static var board: Menu {
    let numbers = (1...9).map { item("Board \($0)", .board($0), .character(Character("\($0)"))) }
    return Menu(
      "Board",
      [
        item("Next Board", .nextBoard, .right, .alt), item("Previous Board", .previousBoard, .left, .alt),
        item("Go to Board", .goToBoard, .character("b")), .submenu(Menu("Go To", numbers)), .submenu(sync), .separator,
        item("Help", .help, .character("?")), item("Menu", .openMenu, .function(10)),
        item("Cancel", .cancel, .escape), item("Suspend", .suspend, .character("z"), .control), .separator,
        item("Quit", .quit, .character("q")), item("Quit While Editing", .quitAnywhere, .character("q"), .control),
      ])
  }

  /// Sync is changed by function keys, which no text contains.
  private static var sync: Menu {
    Menu(
      "Sync",
      [
        item("Conflicts", .conflicts, .character("C")), .separator, item("Sync On", .syncOn, .function(5)),
        item("Sync Off", .syncOff, .function(6)), item("Delete Local and Resync", .resync, .function(7)),
        item("Delete Local and Remote", .deleteEverywhere, .function(8)),
      ])
  }

  private static var note: Menu {
    Menu(
      "Note",
      [
        item("New Note", .newNote, .character("n")), item("Edit", .editNote, .enter),
        item("Edit in $EDITOR", .editOutside, .character("E")), .separator,
        item("Color", .color, .character("c")), item("Tag", .tag, .character("t")),
        item("Move to Board", .moveToBoard, .character("m")), item("Link or Unlink", .link, .character("L")),
        item("Write on Link", .writeOnLink, .character("W")), item("Collapse", .collapse, .character("-")),
        item("Pin", .pin, .character("p")), item("Lock", .lock, .character("l")), .separator,
        item("Undo", .undo, .character("u")), item("Redo", .redo, .character("r"), .control),
        item("Delete", .deleteNote, .delete),
      ])
  }

  private static var text: Menu {
    Menu("Text", TextCommands.all.map { item($0.title, $0.command, $0.key.key, $0.key.modifiers) })
  }

  private static var arrange: Menu {
    let moves = ArrowDirection.allCases.map { item("Move \($0.rawValue.capitalizedWord)", .move($0), $0.key) }
    let grows = ArrowDirection.allCases.map { item(growTitle($0), .grow($0), $0.key, .shift) }
    return Menu(
      "Arrange",
      [
        item("Raise", .raise, .character("r")), item("Lower", .lower, .character("R")),
        item("Close Window", .closeWindow, .character("w")), .separator,
      ] + moves + [.separator] + grows)
  }

  private static func growTitle(_ step: ArrowDirection) -> String {
    switch step {
    case .left: "Narrower"
    case .right: "Wider"
    case .up: "Shorter"
    case .down: "Taller"
    }
  }

  private static var selection: Menu {
    Menu(
      "Selection",
      [
        item("Next Note", .nextNote, .tab), item("Previous Note", .previousNote, .tab, .shift),
        item("Next Page of Notes", .notesOn, .pageDown), item("Previous Page of Notes", .notesBack, .pageUp),
        item("First Note", .firstNote, .home), item("Last Note", .lastNote, .end),
        item("Next Note Out of Sight", .nextHidden, .character("o")), .separator,
        item("Edit Mode", .editMode, .character("e")), item("Select", .select, .character(" ")),
        item("Select All", .selectAll, .character("a")),
      ])
  }

  private static var view: Menu {
    Menu(
      "View",
      [
        item("Search", .search, .character("/")), item("Show Only", .filter, .character("f")),
        item("Show All Notes", .showAll, .character("F")),
      ] + list + [item("History", .history, .character("h")), .separator] + scrolls)
  }

  private static var list: [MenuItem] {
    [
      item("List", .list, .character("v")), item("List by Color", .groupList, .character("g")),
      item("Narrower List", .narrowList, .character("<")), item("Wider List", .widenList, .character(">")),
    ]
  }

  private static var scrolls: [MenuItem] {
    ArrowDirection.allCases.map { item("Scroll \($0.rawValue.capitalizedWord)", .scroll($0), $0.key, .control) }
  }

  // MARK: - History

  private static var pastBoard: Menu {
    Menu(
      "Board",
      [
        item("Help", .help, .character("?")), item("Menu", .openMenu, .function(10)),
        item("Cancel", .cancel, .escape), item("Suspend", .suspend, .character("z"), .control), .separator,
        item("Quit", .quitAnywhere, .character("q"), .control),
      ])
  }

  private static var history: Menu {
    Menu(
      "History",
      [
        item("Previous Revision", .revisionBack, .left), item("Next Revision", .revisionOn, .right),
        item("Ten Back", .revisionsBack, .pageUp), item("Ten Forward", .revisionsOn, .pageDown),
        item("Oldest Revision", .oldestRevision, .home), item("Newest Revision", .newestRevision, .end), .separator,
        item("Back to Now", .history, .character("h")),
      ])
  }

  private static var pastView: Menu { Menu("View", list + [.separator] + scrolls) }
}

extension String {
  /// The string with its first letter in upper case.
  var capitalizedWord: String { prefix(1).uppercased() + dropFirst() }
}
