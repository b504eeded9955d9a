import TerminalApplication
import TerminalCells

/// The application of the board: it draws the board with its bars. Menus, questions and similar are windows above
/// them.
class StickiesApplication: Application {
  fileprivate var screen: BoardScreen? { delegate as? BoardScreen }

  /// The reason why the application does not allow changes; nil if it does.
  var readOnlyReason: String? { nil }

  override var acceptedEvents: EventMask {
    screen?.navigation.keepsKeysWaiting == true ? .any.subtracting([.key, .paste]) : .any
  }

  // Settles a scroll between boards first, so that the event acts on the board that the scroll ends on.
  override func send(_ event: ApplicationEvent) -> Bool {
    if TooSmallMessage.isTooSmall(screenSize), !isSafeUnseen(event) { return false }
    if case .key = event.kind { screen?.services.status.dismiss() }
    if case .mouse(let mouse) = event.kind, case .press = mouse.kind { screen?.services.status.dismiss() }
    if case .paste(let paste) = event.kind, paste.isOpen {
      screen?.report("the paste is not complete: further input is added to it; Esc ends it", isTrouble: true)
    }
    if leavesFromModal(event) { return super.send(ApplicationEvent(.key(Self.quitAnywhere), at: event.time)) }
    if let screen, !screen.pages.continuesScroll(event) { screen.pages.endScroll() }
    return super.send(event)
  }

  private static let quitAnywhere = KeyEvent(.character("q"), .control)

  /// Whether Ctrl-C quits. It cancels a question, and in an editor it copies the selection; everywhere else it quits.
  private func leavesFromModal(_ event: ApplicationEvent) -> Bool {
    guard case .key(KeyEvent(.character("c"), .control)) = event.kind, let window = modalWindow ?? keyWindow else {
      return false
    }
    return !(window is QuestionWindow) && !(window is NoteWindow)
  }

  /// The open text that receives typing.
  private enum OpenText { case note, field }

  private var openText: OpenText? {
    let window = modalWindow ?? keyWindow
    if window is FieldWindow { return .field }
    return window != nil && window === screen?.editing.current?.window ? .note : nil
  }

  /// Whether an event may be handled while the screen is too small to show its effect. Typing goes into the open
  /// text, because it would be lost otherwise; apart from that, keys can only quit or suspend.
  private func isSafeUnseen(_ event: ApplicationEvent) -> Bool {
    switch event.kind {
    case .key(let key):
      if key == KeyEvent(.character("c"), .control) { return true }
      // A question is readable at smaller sizes, its answers longest of all. Where they do not fit, only cancel
      // works.
      if let question = modalWindow as? QuestionWindow {
        return key.key == .escape || question.isTypedOver || TooSmallMessage.fitsQuestions(screenSize)
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

  /// Whether keys are commands of the board, not text for an editor or a modal window.
  private var isBoardUnderKeys: Bool { modalWindow == nil && screen?.editing.current == nil }

  /// A sentence about the effect of keys while the screen is too small, for the message there.
  var unseenKeys: String {
    if modalWindow is QuestionWindow { return "A question waits for an answer." }
    return switch openText {
    case .note: "Typed text goes into the note; Esc ends it, Ctrl-Q leaves."
    case .field: "Typed text goes into the field; Ctrl-Q leaves."
    case nil: "Until then \(isBoardUnderKeys ? "q" : "Ctrl-Q") leaves and no key changes anything."
    }
  }

  override func drawBackground(into grid: inout Grid) {
    screen?.renderer.drawBackground(into: &grid, unseenKeys: unseenKeys)
  }
}

/// A read-only application, for a screen on a wall: a stray key changes nothing.
final class ViewerApplication: StickiesApplication {
  override var readOnlyReason: String? { "opened to view only" }
}

/// The initial views of `stickies open`; the raw values are the option's values.
public enum BoardInterface: String, CaseIterable, Sendable {
  /// The board alone.
  case board
  /// The board with the list beside it.
  case list
}

extension ApplicationConfiguration {
  /// The configuration of the application of `stickies open`.
  /// - Parameters:
  ///   - application: the name of its class, `editor` or `viewer`.
  ///   - interface: the initial view, a raw value of `BoardInterface`.
  public static func board(application: String = "editor", interface: String = "board") -> Self {
    // More keys than the driver can read at once.
    Self(application: application, interface: interface, queueCapacity: 8_192)
  }
}

extension ApplicationLauncher {
  /// Registers the names that a configuration can use.
  func registerBoards() {
    register(application: StickiesApplication.self, as: "editor")
    register(application: ViewerApplication.self, as: "viewer")
    for interface in BoardInterface.allCases {
      register(interface: interface.rawValue) { application in
        let screen = (application as? StickiesApplication)?.screen
        let windows: [Window?] =
          switch interface {
          case .board: []
          case .list: [screen?.list.window]
          }
        return MainInterface(menuBar: BoardMenu.bar, windows: windows.compactMap(\.self))
      }
    }
  }
}
