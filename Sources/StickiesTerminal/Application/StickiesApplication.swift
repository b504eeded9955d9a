import TerminalApplication
import TerminalCells

/// The application of the board: it draws the board with its bars; menus, questions and the like are windows above.
class StickiesApplication: Application {
  fileprivate var screen: BoardScreen? { delegate as? BoardScreen }

  /// Why nothing can be changed with it; nil where it can.
  var readOnlyReason: String? { nil }

  override var acceptedEvents: EventMask {
    screen?.keepsKeysWaiting == true ? .any.subtracting([.key, .paste]) : .any
  }

  // Whatever is done during a scroll is done on the board that it ends on.
  override func send(_ event: ApplicationEvent) -> Bool {
    if TooSmall.isTooSmall(screenSize), !isSafeUnseen(event) { return false }
    if case .key = event.kind { screen?.forgetMessage() }
    if case .mouse(let mouse) = event.kind, case .press = mouse.kind { screen?.forgetMessage() }
    if case .paste(let paste) = event.kind, paste.isOpen {
      screen?.say("a paste has no end yet: what comes is taken for more of it, Esc ends it", isTrouble: true)
    }
    if leavesFromModal(event) { return super.send(ApplicationEvent(.key(Self.quitAnywhere), at: event.time)) }
    if let screen, !screen.pages(event) { screen.settlePages() }
    return super.send(event)
  }

  private static let quitAnywhere = KeyEvent(.character("q"), .control)

  /// Ctrl-C leaves from everywhere but a question, which it takes back; in an editor with something selected it copies that.
  private func leavesFromModal(_ event: ApplicationEvent) -> Bool {
    guard case .key(KeyEvent(.character("c"), .control)) = event.kind, let window = modalWindow ?? keyWindow else {
      return false
    }
    return !(window is QuestionWindow) && !(window is NoteWindow)
  }

  /// A text that is open, and takes what is typed.
  private enum OpenText { case note, field }

  private var openText: OpenText? {
    let window = modalWindow ?? keyWindow
    if window is FieldWindow { return .field }
    return window != nil && window === screen?.editing?.window ? .note : nil
  }

  /// Where there is no room to see what is done, what is typed goes into the text that is open, for it would be lost. All
  /// else that keys do there is to leave.
  private func isSafeUnseen(_ event: ApplicationEvent) -> Bool {
    switch event.kind {
    case .key(let key):
      if key == KeyEvent(.character("c"), .control) { return true }
      // A question is still read there, its answers longest of all; without them it can be taken back.
      if let question = modalWindow as? QuestionWindow {
        return key.key == .escape || question.isTypedOver || TooSmall.fitsQuestions(screenSize)
      }
      let command = menuBar.command(for: key)?.command
      if command == .quitAnywhere { return true }
      switch openText {
      case .note: return key.typed != nil || key == KeyEvent(.backspace) || key.key == .escape
      case .field: return LineField.isTyped(key) || key == KeyEvent(.backspace)
      case nil: return isBoardUnderKeys && (command == .suspend || command == .quit)
      }
    case .paste: return openText != nil || (modalWindow as? QuestionWindow)?.isTypedOver == true
    case .mouse: return false
    default: return true
    }
  }

  /// Whether keys are commands of the board, and none is a letter, or what an editor takes back.
  private var isBoardUnderKeys: Bool { modalWindow == nil && screen?.editing == nil }

  /// What keys do where there is no room to see it.
  var unseenKeys: String {
    if modalWindow is QuestionWindow { return "A question waits to be read." }
    return switch openText {
    case .note: "What you type goes into the note; Esc ends it, Ctrl-Q leaves."
    case .field: "What you type goes into the field; Ctrl-Q leaves."
    case nil: "Until then \(isBoardUnderKeys ? "q" : "Ctrl-Q") leaves and no key changes anything."
    }
  }

  override func drawBackground(into grid: inout Grid) { screen?.drawBackground(into: &grid) }
}

/// The same to look only, for a screen on a wall: a stray key changes nothing.
final class ViewerApplication: StickiesApplication {
  override var readOnlyReason: String? { "opened to look only" }
}

/// What a board can begin with, by the names that a person gives.
public enum BoardInterface: String, CaseIterable, Sendable {
  /// The board alone.
  case board
  /// The board with the list beside it.
  case list
}

extension ApplicationConfiguration {
  /// An application of `stickies open`.
  /// - Parameters:
  ///   - application: its class, `editor` or `viewer`.
  ///   - interface: what it begins with, one of `BoardInterface`.
  public static func board(application: String = "editor", interface: String = "board") -> Self {
    // As many keys as the driver can read at once, and more.
    Self(application: application, interface: interface, queueCapacity: 8_192)
  }
}

extension ApplicationLauncher {
  /// Makes the names known that a configuration may have here.
  func registerBoards() {
    register(application: StickiesApplication.self, as: "editor")
    register(application: ViewerApplication.self, as: "viewer")
    for interface in BoardInterface.allCases {
      register(interface: interface.rawValue) { application in
        let screen = (application as? StickiesApplication)?.screen
        let windows: [Window?] =
          switch interface {
          case .board: []
          case .list: [screen?.listWindow]
          }
        return MainInterface(menuBar: BoardMenu.bar, windows: windows.compactMap(\.self))
      }
    }
  }
}
