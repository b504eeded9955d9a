import TerminalCells

/// What happens to an application: keys, time, the system and the network, all in one queue.
public struct ApplicationEvent: Hashable, Sendable {
  /// What happened.
  public enum Kind: Hashable, Sendable {
    /// A key went down.
    case key(KeyEvent)
    /// The mouse did something; where, in cells of the screen.
    case mouse(MouseEvent)
    /// Text came from the clipboard.
    case paste(PasteEvent)
    /// The screen has another size.
    case resize(Size)
    /// The terminal's window got the focus, or lost it.
    case focus(isGained: Bool)
    /// The terminal answered a question.
    case answer(TerminalAnswer)
    /// A timer is due.
    case timer(TimerID)
    /// The system wants something.
    case signal(ApplicationSignal)
    /// Something came over the network; the numbers say what it concerns, in the words of whoever posts it: live queries,
    /// for example. Those that wait are merged into one.
    case deltas(Set<UInt64>)
    /// Something was heard of the connection, or over it of others who are there. Whoever posts it keeps what; those that
    /// wait are one.
    case connection
  }

  /// What happened.
  public var kind: Kind
  /// When, in milliseconds of a clock that never goes back.
  public var time: Int64

  /// Something that happened at a time, in milliseconds.
  public init(_ kind: Kind, at time: Int64) {
    self.kind = kind
    self.time = time
  }

  /// What the driver's decoder made of bytes.
  public init(terminal event: TerminalEvent, at time: Int64) {
    switch event {
    case .key(let key): self.init(.key(key), at: time)
    case .mouse(let mouse): self.init(.mouse(mouse), at: time)
    case .paste(let paste): self.init(.paste(paste), at: time)
    case .resize(let size): self.init(.resize(size), at: time)
    case .focus(let isGained): self.init(.focus(isGained: isGained), at: time)
    case .answer(let answer): self.init(.answer(answer), at: time)
    }
  }

  /// Which mask lets it through.
  public var mask: EventMask {
    switch kind {
    case .key(let key): Self.isCancel(key) ? .cancel : .key
    case .mouse: .mouse
    case .paste: .paste
    case .resize: .resize
    case .focus: .focus
    case .answer: .answer
    case .timer: .timer
    case .signal: .signal
    case .deltas: .deltas
    case .connection: .connection
    }
  }

  private static func isCancel(_ key: KeyEvent) -> Bool {
    key.key == .escape || key == KeyEvent(.character("c"), .control) || key == KeyEvent(.character("q"), .control)
  }
}

/// A signal, as far as an application cares.
public enum ApplicationSignal: Hashable, Sendable {
  /// Ctrl-C from outside; the application may ask before it ends.
  case interrupt
  /// It is to end; nobody is asked.
  case terminate
  /// The terminal is gone; nobody is asked.
  case hangup
  /// It was stopped and goes on.
  case resume
}

/// Kinds of events.
public struct EventMask: OptionSet, Hashable, Sendable {
  /// The set as bits.
  public let rawValue: UInt16

  /// A set of bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Keys, less those of `cancel`.
  public static let key = EventMask(rawValue: 1)
  /// The mouse.
  public static let mouse = EventMask(rawValue: 2)
  /// Text from the clipboard.
  public static let paste = EventMask(rawValue: 4)
  /// Another size of the screen.
  public static let resize = EventMask(rawValue: 8)
  /// Focus of the terminal's window.
  public static let focus = EventMask(rawValue: 16)
  /// Answers of the terminal.
  public static let answer = EventMask(rawValue: 32)
  /// Timers.
  public static let timer = EventMask(rawValue: 64)
  /// Signals.
  public static let signal = EventMask(rawValue: 128)
  /// What came over the network.
  public static let deltas = EventMask(rawValue: 256)
  /// What was heard of the connection.
  public static let connection = EventMask(rawValue: 1_024)
  /// Keys that lead out of whatever goes on: Escape, Ctrl-C and Ctrl-Q. They come through where other keys wait.
  public static let cancel = EventMask(rawValue: 512)
  /// What a person does.
  public static let input: EventMask = [.key, .cancel, .mouse, .paste]
  /// All of them.
  public static let any = EventMask(rawValue: .max)
}

/// What an application is in the middle of. Timers belong to modes; all other events come in every mode, for neither a
/// drag nor a question stops the network, and keys and mouse are sent by mode: in `modal` to the modal window only.
public enum EventMode: Hashable, Sendable, CaseIterable {
  /// Nothing special.
  case `default`
  /// A button is held and something follows the mouse.
  case tracking
  /// One window wants an answer first.
  case modal
}
