import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Controls the window of one note: keys and mouse in it. It refers to its note by id; the note does not know it.
final class NoteController: WindowController, WindowControlling {
  private(set) var id: ObjectID
  weak var screen: BoardScreen?
  /// Identifies the note among those on the screen.
  var number = 0
  /// The frame of its text on the screen.
  var textFrame = Rect(x: 0, y: 0, width: 1, height: 1)
  /// The last known frame of the note, on the board.
  var lastFrame = Rect(x: 0, y: 0, width: 10, height: 3)
  /// The editor; nil while the note is not edited here.
  var editor: TextEditor?
  /// The first visible row of the text.
  var scroll = 0
  /// The note that is edited here. Retained, not looked up: just after its insert was answered, the context knows it
  /// by the new id and this controller by the old one, and text typed in between must reach it.
  var edited: Note?
  /// Follows the edited note after it has left the board; nil while it has not.
  var elsewhere: DetachedNoteObserver?
  /// The editor's text from before it took over a remote change, with later typing. Kept until the save in flight is
  /// answered.
  var draft: String?
  /// The text on the server when the editor last agreed with the note. The difference to the editor was typed here.
  var common = ""
  /// The same when the draft was kept.
  var commonOfDraft = ""
  var gesture: NoteGesture?
  /// Set for a note that was created here, until its first editor closes.
  var isNew = false
  /// Set while the editor's text can't be saved: the note is deleted or not loaded.
  var isLost = false
  /// The text of an editor that closed while the text could not be saved.
  var lastText: String?

  init(_ id: ObjectID, application: Application) {
    self.id = id
    let window = NoteWindow(frame: Rect(x: 0, y: 0, width: 0, height: 0))
    super.init(window: window, application: application)
  }

  var note: Note? { edited ?? screen?.pages.page.note(id) }

  // MARK: - For the window set

  var isEditing: Bool { editor != nil }

  var editedText: String? { editor?.text ?? lastText }

  var unsentText: String? {
    guard let editor, isLost || screen?.saving.unsent.contains(id) == true else { return nil }
    return editor.text
  }

  func objectDidBecome(_ id: ObjectID) {
    self.id = id
    window.setNeedsDisplay()
  }

  // MARK: - Events

  /// Minimum number of queued characters that are handled as a paste.
  private static let fewestAtOnce = 16

  override func keyDown(_ key: KeyEvent) -> Bool {
    guard editor != nil else { return false }
    // Without a selection Ctrl-C has nothing to copy and quits.
    if key == KeyEvent(.character("c"), .control), editor?.selection.isEmpty == true { return false }
    // Otherwise a long paste would be laid out once per character.
    if let typed = key.typed, let ahead = screen?.application.takeTyped(atLeast: Self.fewestAtOnce), !ahead.isEmpty {
      return edit(.paste(PasteEvent(text: typed + ahead)))
    }
    return edit(.key(key))
  }

  override func paste(_ paste: PasteEvent) -> Bool {
    guard editor != nil else { return false }
    if paste.isCut { screen?.report("too much to paste at once: the end is missing", isTrouble: true) }
    return edit(.paste(paste))
  }

  override func mouse(_ mouse: MouseEvent) -> Bool { screen?.mouseInput.noteMouse(mouse, on: self) == true }

  // MARK: - Commands of the editor

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

/// The window of a note on the screen. It receives keys and mouse; the board draws all notes at once, so that covered
/// notes cost nothing.
final class NoteWindow: Window {}
