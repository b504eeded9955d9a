import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Rules the window of one note: what keys and mouse do in it. It knows its note by id; the note knows nothing of it.
final class NoteController: WindowController, WindowControlling {
  private(set) var id: ObjectID
  weak var screen: BoardScreen?
  /// Names it among those on the screen.
  var number = 0
  /// Where its text is on the screen.
  var textFrame = Rect(x: 0, y: 0, width: 1, height: 1)
  /// Where the note was seen last, on the board.
  var lastFrame = Rect(x: 0, y: 0, width: 10, height: 3)
  /// The editor, while somebody edits here.
  var editor: TextEditor?
  /// The first row of the text that shows.
  var scroll = 0
  /// The note that is edited here. Held, not looked up: for a moment after its insert was answered, the context knows it by
  /// its new id already and this controller by the old one, and a letter that is typed then has to go somewhere.
  var edited: Note?
  /// Follows the note that is edited here after it has left what is shown; nil while it has not.
  var elsewhere: NoteElsewhere?
  /// What the editor said before it took over a text that others changed, with what was typed since, until what was on
  /// its way then is answered.
  var draft: String?
  /// What the server had of the text when the editor last agreed with the note: all else in the editor was typed here.
  var common = ""
  /// The same when the draft was kept.
  var commonOfDraft = ""
  var gesture: NoteGesture?
  /// Set for a note that was made here, until its first editor closes.
  var isNew = false
  /// Set while the text under the editor has nowhere to go: the note is deleted or out of sight.
  var isLost = false
  /// What stood in an editor that closed while its text had nowhere to go.
  var lastText: String?

  init(_ id: ObjectID, application: Application) {
    self.id = id
    let window = NoteWindow(frame: Rect(x: 0, y: 0, width: 0, height: 0))
    super.init(window: window, application: application)
  }

  var note: Note? { edited ?? screen?.page.note(id) }

  // MARK: - For the window set

  var isEditing: Bool { editor != nil }

  var editedText: String? { editor?.text ?? lastText }

  var unsentText: String? {
    guard let editor, isLost || screen?.unsent.contains(id) == true else { return nil }
    return editor.text
  }

  func objectDidBecome(_ id: ObjectID) {
    self.id = id
    window.setNeedsDisplay()
  }

  // MARK: - Events

  /// So many letters that wait are no typing.
  private static let fewestAtOnce = 16

  override func keyDown(_ key: KeyEvent) -> Bool {
    guard editor != nil else { return false }
    // Without a selection there is nothing to copy: it is a wish to leave.
    if key == KeyEvent(.character("c"), .control), editor?.selection.isEmpty == true { return false }
    // Letter by letter a long paste would be laid out once for each.
    if let typed = key.typed, let ahead = screen?.application.takeTyped(atLeast: Self.fewestAtOnce), !ahead.isEmpty {
      return edit(.paste(PasteEvent(text: typed + ahead)))
    }
    return edit(.key(key))
  }

  override func paste(_ paste: PasteEvent) -> Bool {
    guard editor != nil else { return false }
    if paste.isCut { screen?.say("too much to paste at once: the end is left out", isTrouble: true) }
    return edit(.paste(paste))
  }

  override func mouse(_ mouse: MouseEvent) -> Bool { screen?.noteMouse(mouse, on: self) ?? false }

  // MARK: - Commands of whoever writes in it

  override func answers(_ command: Command) -> Bool { textKey(command) != nil || super.answers(command) }

  override func state(of command: Command) -> CommandState {
    guard textKey(command) != nil else { return super.state(of: command) }
    let needsSelection = command == .copyText || command == .cutText
    return CommandState(isEnabled: !needsSelection || editor?.selection.isEmpty == false)
  }

  override func perform(_ command: Command) {
    guard let key = textKey(command) else { return super.perform(command) }
    _ = edit(.key(key))
  }

  private func textKey(_ command: Command) -> KeyEvent? { editor == nil ? nil : TextCommands.keys[command] }
}

/// The window of a note on the screen. It takes keys and mouse; the board draws all notes at once, so that what lies under
/// others costs nothing.
final class NoteWindow: Window {}
