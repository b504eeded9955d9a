/// An event from a terminal. `TerminalDecoder` decodes it from bytes; the driver adds `.resize`.
public enum TerminalEvent: Hashable, Sendable {
  /// A key was pressed or repeats.
  case key(KeyEvent)
  /// A mouse event.
  case mouse(MouseEvent)
  /// Text was pasted; it is never interpreted as keys.
  case paste(PasteEvent)
  /// The screen size has changed.
  case resize(Size)
  /// The terminal's window gained or lost the focus.
  case focus(isGained: Bool)
  /// The terminal has answered a query. Terminals leave most queries unanswered, so do not wait for an answer.
  case answer(TerminalReply)
}

/// A key press.
///
/// A character typed with shift has no `.shift`: `A`, not shift and `a`. With control or alt, a letter is lowercase
/// and shift is a modifier: control, shift and `a`.
public struct KeyEvent: Hashable, Sendable {
  /// The key.
  public var key: Key
  /// The modifiers held with the key.
  public var modifiers: Modifiers

  /// Creates a key press.
  public init(_ key: Key, _ modifiers: Modifiers = []) {
    self.key = key
    self.modifiers = modifiers
  }

  /// The text that the key inserts into a multiline text; nil for any other key.
  public var typed: String? {
    if key == .character("j"), modifiers == .control { return "\n" }
    guard modifiers.isEmpty else { return nil }
    return switch key {
    case .character(let character): String(character)
    case .enter: "\n"
    case .tab: "\t"
    default: nil
    }
  }
}

/// A key.
public enum Key: Hashable, Sendable {
  /// A key that types a character, including the space bar. A multi-scalar cluster arrives scalar by scalar.
  case character(Character)
  /// Return.
  case enter
  /// Tab; back tab has `.shift`.
  case tab
  /// Deletes the character before the cursor.
  case backspace
  /// Escape alone, not the beginning of a sequence.
  case escape
  /// An arrow.
  case up
  /// An arrow.
  case down
  /// An arrow.
  case left
  /// An arrow.
  case right
  /// Home.
  case home
  /// End.
  case end
  /// Page up.
  case pageUp
  /// Page down.
  case pageDown
  /// Insert.
  case insert
  /// Deletes the character after the cursor.
  case delete
  /// The menu key.
  case menu
  /// A function key, from 1.
  case function(Int)
}

/// Modifier keys.
public struct Modifiers: OptionSet, Hashable, Sendable {
  /// The raw bits, as terminals send them: shift 1, alt 2, control 4, super 8.
  public let rawValue: UInt8

  /// Creates a set from bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Shift.
  public static let shift = Modifiers(rawValue: 1)
  /// Alt, or option, or meta.
  public static let alt = Modifiers(rawValue: 2)
  /// Control.
  public static let control = Modifiers(rawValue: 4)
  /// Super or command.
  public static let command = Modifiers(rawValue: 8)
}

/// A mouse event.
public struct MouseEvent: Hashable, Sendable {
  /// The kind of mouse event.
  public enum Kind: Hashable, Sendable {
    /// A button was pressed.
    case press(MouseButton)
    /// A button was released. Old terminals do not report which; then it is the one pressed last.
    case release(MouseButton)
    /// The mouse moved with a button held.
    case drag(MouseButton)
    /// The mouse moved without a button.
    case move
    /// The wheel turned by one step.
    case wheel(WheelDirection)
  }

  /// The kind of event.
  public var kind: Kind
  /// The cell under the mouse.
  public var position: Point
  /// The modifiers held. Most terminals keep shift for their own use.
  public var modifiers: Modifiers

  /// Creates a mouse event.
  public init(_ kind: Kind, at position: Point, _ modifiers: Modifiers = []) {
    self.kind = kind
    self.position = position
    self.modifiers = modifiers
  }
}

/// A mouse button.
public enum MouseButton: Hashable, Sendable {
  /// The left button.
  case left
  /// The middle button.
  case middle
  /// The right button.
  case right
  /// An extra button, from 8.
  case other(Int)
}

/// The direction of the mouse wheel.
public enum WheelDirection: Hashable, Sendable {
  /// Away from the user; content above becomes visible.
  case up
  /// Toward the user.
  case down
  /// To the left.
  case left
  /// To the right.
  case right
}

/// Pasted text.
public struct PasteEvent: Hashable, Sendable {
  /// The text with lines separated by `\n`, without control characters except tabs.
  public var text: String
  /// Whether the paste exceeded the decoder's limit and was truncated.
  public var isCut: Bool
  /// Whether the paste was interrupted before its end. Subsequent pastes continue it, until its end or a lone escape.
  public var isOpen: Bool

  /// Creates a paste.
  public init(text: String, isCut: Bool = false, isOpen: Bool = false) {
    self.text = text
    self.isCut = isCut
    self.isOpen = isOpen
  }
}

/// A terminal's answer to a query.
public enum TerminalReply: Hashable, Sendable {
  /// The position of the cursor.
  case cursor(Point)
  /// The background color.
  case background(red: UInt8, green: UInt8, blue: UInt8)
  /// The state of a private mode, such as 2026, synchronized updates; 0 means that the terminal does not know it.
  case mode(Int, value: Int)
  /// The active flags of the kitty keyboard protocol; only terminals with the protocol answer.
  case keyboard(flags: Int)
  /// The kind of terminal (primary device attributes). Nearly every terminal answers this query; if it is sent last,
  /// no earlier query will be answered afterwards.
  case attributes
}
