import TerminalCells

/// An object that can handle events and commands. Unhandled ones go to the next responder: window, window controller,
/// application, application delegate.
///
/// Responders belong to the thread that runs the application's turns and are not thread-safe.
open class Responder {
  private struct Handler {
    let state: () -> CommandState
    let perform: () -> Void
  }

  private var handlers = [Command: Handler]()

  /// Creates a responder without handlers.
  public init() {}

  /// The next responder; nil at the end of the chain.
  open var nextResponder: Responder? { nil }

  // MARK: - Events

  /// Handles a key press. Like the methods below, it returns whether the event was handled; otherwise the next
  /// responder is asked.
  open func keyDown(_ key: KeyEvent) -> Bool { false }

  /// Handles a mouse event; its position is in cells of the screen.
  open func mouse(_ mouse: MouseEvent) -> Bool { false }

  /// Handles pasted text.
  open func paste(_ paste: PasteEvent) -> Bool { false }

  /// Sends a user event to this responder only.
  func answers(_ kind: ApplicationEvent.Kind) -> Bool {
    switch kind {
    case .key(let key): keyDown(key)
    case .mouse(let event): mouse(event)
    case .paste(let event): paste(event)
    default: false
    }
  }

  /// This responder and its successors; in a cyclic chain each one once.
  public var chain: [Responder] {
    var found = [Responder]()
    var next: Responder? = self
    while let responder = next, !found.contains(where: { $0 === responder }) {
      found.append(responder)
      next = responder.nextResponder
    }
    return found
  }

  // MARK: - Commands

  /// Registers a handler for a command.
  /// - Parameters:
  ///   - state: returns the command's state; called when a menu opens and before the command is performed.
  ///   - perform: performs the command.
  public func on(
    _ command: Command, state: @escaping () -> CommandState = { CommandState() }, perform: @escaping () -> Void
  ) {
    handlers[command] = Handler(state: state, perform: perform)
  }

  /// Returns whether this responder handles a command, enabled or not; the first one in a chain that does is the
  /// target.
  open func answers(_ command: Command) -> Bool { handlers[command] != nil }

  /// All commands that this responder and its successors handle.
  public var commands: Set<Command> { chain.reduce(into: []) { $0.formUnion($1.handlers.keys) } }

  /// Returns the state of a command that this responder handles; disabled for any other.
  open func state(of command: Command) -> CommandState { handlers[command]?.state() ?? .disabled }

  /// Performs a command that this responder handles.
  open func perform(_ command: Command) { handlers[command]?.perform() }
}
