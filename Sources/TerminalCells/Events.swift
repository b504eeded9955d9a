/// What a terminal can tell a program. `TerminalDecoder` makes them of bytes; the driver adds `.resize`.
public enum TerminalEvent: Hashable, Sendable {
  /// A key went down, or repeats.
  case key(KeyEvent)
  /// The mouse did something.
  case mouse(MouseEvent)
  /// Text came from the clipboard; it is never taken for keys.
  case paste(PasteEvent)
  /// The screen has another size.
  case resize(Size)
  /// The terminal's window got the focus, or lost it.
  case focus(isGained: Bool)
  /// The terminal answered a question. Most questions are never answered: nothing may wait for one.
  case answer(TerminalAnswer)
}

/// A key press.
///
/// A character that shift makes is that character without `.shift`: `A`, not shift and `a`. With control or
/// alt, a letter is the small one and shift is told: control and shift and `a`.
public struct KeyEvent: Hashable, Sendable {
  /// The key.
  public var key: Key
  /// What was held down with it.
  public var modifiers: Modifiers

  /// A key press.
  public init(_ key: Key, _ modifiers: Modifiers = []) {
    self.key = key
    self.modifiers = modifiers
  }

  /// What it writes into a text of several lines; nil for a key that does something else.
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

/// A key, by what it means.
public enum Key: Hashable, Sendable {
  /// A key that writes. Space is one of them. A cluster that is typed as one arrives scalar by scalar.
  case character(Character)
  /// Return.
  case enter
  /// Tab; backwards with `.shift`.
  case tab
  /// Deletes to the left.
  case backspace
  /// Escape, alone.
  case escape
  /// An arrow.
  case up
  /// An arrow.
  case down
  /// An arrow.
  case left
  /// An arrow.
  case right
  /// To the beginning.
  case home
  /// To the end.
  case end
  /// One screen up.
  case pageUp
  /// One screen down.
  case pageDown
  /// Insert.
  case insert
  /// Deletes to the right.
  case delete
  /// The key that opens a menu.
  case menu
  /// A function key, from 1.
  case function(Int)
}

/// The keys that change the meaning of another one.
public struct Modifiers: OptionSet, Hashable, Sendable {
  /// The set as bits, those of a terminal: shift 1, alt 2, control 4, super 8.
  public let rawValue: UInt8

  /// A set of bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Shift.
  public static let shift = Modifiers(rawValue: 1)
  /// Alt, or option, or meta.
  public static let alt = Modifiers(rawValue: 2)
  /// Control.
  public static let control = Modifiers(rawValue: 4)
  /// Super, or command.
  public static let command = Modifiers(rawValue: 8)
}

/// Something that the mouse did.
public struct MouseEvent: Hashable, Sendable {
  /// What it did.
  public enum Kind: Hashable, Sendable {
    /// A button went down.
    case press(MouseButton)
    /// A button came up. Old terminals don't say which: then it is the one that went down last.
    case release(MouseButton)
    /// It moved with a button held.
    case drag(MouseButton)
    /// It moved with none.
    case move
    /// The wheel turned by one step.
    case wheel(WheelDirection)
  }

  /// What it did.
  public var kind: Kind
  /// The cell it is over.
  public var position: Point
  /// The keys held meanwhile. Terminals keep shift for themselves, mostly.
  public var modifiers: Modifiers

  /// Something that the mouse did.
  public init(_ kind: Kind, at position: Point, _ modifiers: Modifiers = []) {
    self.kind = kind
    self.position = position
    self.modifiers = modifiers
  }
}

/// A button of the mouse.
public enum MouseButton: Hashable, Sendable {
  /// The first one.
  case left
  /// The one in the middle.
  case middle
  /// The second one, for menus.
  case right
  /// One on the side, from 8.
  case other(Int)
}

/// Where the wheel turns to.
public enum WheelDirection: Hashable, Sendable {
  /// Away from the hand: what lies above comes in.
  case up
  /// Towards the hand.
  case down
  /// To the left.
  case left
  /// To the right.
  case right
}

/// A text from the clipboard.
public struct PasteEvent: Hashable, Sendable {
  /// The text, lines ended by `\n`, without control characters other than tab.
  public var text: String
  /// True if it was longer than the decoder takes; the rest is gone.
  public var isCut: Bool
  /// It fell silent before its end: what comes next is more of it, until its end comes or a lone escape.
  public var isOpen: Bool

  /// A text from the clipboard.
  public init(text: String, isCut: Bool = false, isOpen: Bool = false) {
    self.text = text
    self.isCut = isCut
    self.isOpen = isOpen
  }
}

/// A terminal's answer to a question.
public enum TerminalAnswer: Hashable, Sendable {
  /// Where its cursor is.
  case cursor(Point)
  /// Its background color.
  case background(red: UInt8, green: UInt8, blue: UInt8)
  /// Whether it knows a private mode, such as 2026, synchronized updates: 0 says no.
  case mode(Int, value: Int)
  /// Which flags of the kitty keyboard protocol are on; a terminal that answers knows the protocol.
  case keyboard(flags: Int)
  /// What kind of terminal it is (primary device attributes). Nearly every terminal answers this one: whoever
  /// asks it last knows that the questions before it will not be answered any more.
  case attributes
}
