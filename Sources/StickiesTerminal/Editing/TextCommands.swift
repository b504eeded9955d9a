import TerminalApplication
import TerminalCells

extension Command {
  static let selectText = Command("select-text")
  static let cutText = Command("cut-text")
  static let copyText = Command("copy-text")
  static let pasteText = Command("paste-text")
  static let undoTyping = Command("undo-typing")
  static let redoTyping = Command("redo-typing")
  static let deleteWord = Command("delete-word")
  static let deleteToRowStart = Command("delete-to-row-start")
  static let deleteToParagraphEnd = Command("delete-to-paragraph-end")
}

/// The commands on the text of a note that is being edited; each corresponds to a key of the editor.
enum TextCommands {
  static let all: [(title: String, command: Command, key: KeyEvent)] = [
    ("Select All Text", .selectText, control("a")), ("Cut", .cutText, control("x")), ("Copy", .copyText, control("c")),
    ("Paste", .pasteText, control("v")), ("Undo Typing", .undoTyping, control("_")),
    ("Redo Typing", .redoTyping, control("y")), ("Delete Word", .deleteWord, control("w")),
    ("Delete to Row Start", .deleteToRowStart, control("u")),
    ("Delete to Paragraph End", .deleteToParagraphEnd, control("k")),
  ]

  static let keys = Dictionary(uniqueKeysWithValues: all.map { ($0.command, $0.key) })

  private static func control(_ character: Character) -> KeyEvent { KeyEvent(.character(character), .control) }
}
