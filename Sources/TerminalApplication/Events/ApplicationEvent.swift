import TerminalCells

/// An event of an application: from keys, mouse, timers, the system or the network, all in one queue.
public struct ApplicationEvent: Hashable, Sendable {
  /// The kind of event, with its data.
  public enum Kind: Hashable, Sendable {
    /// A key was pressed.
    case key(KeyEvent)
    /// A mouse event; its position is in cells of the screen.
    case mouse(MouseEvent)
    /// Text was pasted.
    case paste(PasteEvent)
    /// The screen size has changed.
    case resize(Size)
    /// The terminal's window gained or lost the focus.
    case focus(isGained: Bool)
    /// The terminal has answered a query.
    case answer(TerminalReply)
    /// A timer is due.
    case timer(TimerID)
    /// A signal was received.
    case signal(ApplicationSignal)
    /// Data arrived over the network. The poster defines the numbers, for example as live queries. Several queued
    /// events of this kind are merged into one.
    case deltas(Set<UInt64>)
    /// The connection or the presence of others has changed; the poster keeps the details. Several queued events of
    /// this kind are merged into one.
    case connection
  }

  /// The kind of event.
  public var kind: Kind
  /// The time, in milliseconds of a monotonic clock.
  public var time: Int64

  /// Creates an event with its time in milliseconds.
  public init(_ kind: Kind, at time: Int64) {
    self.kind = kind
    self.time = time
  }

  /// Creates an event from one that the driver has decoded.
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

  /// The mask that matches the event.
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

/// A signal that applications handle.
public enum ApplicationSignal: Hashable, Sendable {
  /// Ctrl-C from outside; the application may ask before it ends.
  case interrupt
  /// A request to end without asking.
  case terminate
  /// The terminal was closed; the application ends without asking.
  case hangup
  /// The process was stopped and has resumed.
  case resume
}

/// A set of kinds of events.
public struct EventMask: OptionSet, Hashable, Sendable {
  /// The raw bits.
  public let rawValue: UInt16

  /// Creates a set from bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Keys, except those of `cancel`.
  public static let key = EventMask(rawValue: 1)
  /// Mouse events.
  public static let mouse = EventMask(rawValue: 2)
  /// Pasted text.
  public static let paste = EventMask(rawValue: 4)
  /// Changes of the screen size.
  public static let resize = EventMask(rawValue: 8)
  /// Focus changes of the terminal's window.
  public static let focus = EventMask(rawValue: 16)
  /// Answers of the terminal.
  public static let answer = EventMask(rawValue: 32)
  /// Timers.
  public static let timer = EventMask(rawValue: 64)
  /// Signals.
  public static let signal = EventMask(rawValue: 128)
  /// Data from the network.
  public static let deltas = EventMask(rawValue: 256)
  /// Changes of the connection.
  public static let connection = EventMask(rawValue: 1_024)
  /// The keys that cancel: Escape, Ctrl-C and Ctrl-Q. They are accepted while other keys wait.
  public static let cancel = EventMask(rawValue: 512)
  /// All input of the user.
  public static let input: EventMask = [.key, .cancel, .mouse, .paste]
  /// All events.
  public static let any = EventMask(rawValue: .max)
}

/// The mode of an application. A timer fires only in its modes. All other events are sent in every mode, because a
/// drag or a modal window does not stop the network; in `modal`, keys and mouse events go only to the modal window.
public enum EventMode: Hashable, Sendable, CaseIterable {
  /// No special mode.
  case `default`
  /// The mouse button is held and a responder tracks the mouse.
  case tracking
  /// A modal window is open.
  case modal
}
