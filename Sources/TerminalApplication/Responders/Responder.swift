import TerminalCells

/// Whoever can answer an event or a command. What one does not answer goes to the next:
/// window, window controller, application, application delegate.
///
/// Responders belong to whoever runs the application's turns; nothing in them is shared between threads.
open class Responder {
  private struct Handler {
    let state: () -> CommandState
    let perform: () -> Void
  }

  private var handlers = [Command: Handler]()

  /// A responder that answers nothing.
  public init() {}

  /// Whoever is asked next; nil at the end of the chain.
  open var nextResponder: Responder? { nil }

  // MARK: - Events

  /// A key went down. Returns whether that was answered, as do the others below; otherwise the next responder is asked.
  open func keyDown(_ key: KeyEvent) -> Bool { false }

  /// The mouse did something; where, in cells of the screen.
  open func mouse(_ mouse: MouseEvent) -> Bool { false }

  /// Text came from the clipboard.
  open func paste(_ paste: PasteEvent) -> Bool { false }

  /// Hands an event of a person to this responder alone.
  func answers(_ kind: ApplicationEvent.Kind) -> Bool {
    switch kind {
    case .key(let key): keyDown(key)
    case .mouse(let event): mouse(event)
    case .paste(let event): paste(event)
    default: false
    }
  }

  /// This responder and those behind it; of a chain that runs in a circle each one once.
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

  /// Answers a command from now on.
  /// - Parameters:
  ///   - state: whether it makes sense now; asked whenever a menu opens and before it is performed.
  ///   - perform: does it.
  public func on(
    _ command: Command, state: @escaping () -> CommandState = { CommandState() }, perform: @escaping () -> Void
  ) {
    handlers[command] = Handler(state: state, perform: perform)
  }

  /// Whether it answers a command, be that enabled or not: the first one of a chain is the command's target.
  open func answers(_ command: Command) -> Bool { handlers[command] != nil }

  /// What it and those behind it answer.
  public var commands: Set<Command> { chain.reduce(into: []) { $0.formUnion($1.handlers.keys) } }

  /// How a command stands that it answers.
  open func state(of command: Command) -> CommandState { handlers[command]?.state() ?? .disabled }

  /// Does what it answers.
  open func perform(_ command: Command) { handlers[command]?.perform() }
}
