import TerminalCells

/// The application object: the event queue, the windows, the menu bar, and the turn that processes them.
///
/// It reads no clock, keys or sockets, and never waits. A driver posts events, calls `runTurn`, writes the returned
/// grid, and sleeps until the returned time or the next event:
///
/// ```swift
/// while true {
///   let turn = application.runTurn(at: now())
///   if let grid = turn.grid { write(grid) }
///   if let code = turn.exitCode { exit(code) }
///   wait(until: turn.wakeTime)
/// }
/// ```
open class Application: Responder {
  /// The lifecycle of an application.
  public enum Phase: Hashable, Sendable {
    /// Created, without an interface.
    case made
    /// Running turns.
    case running
    /// Asked to end; waiting for `replyToTerminate`.
    case asking
    /// Ends after this turn.
    case terminating(code: Int32)
    /// Ended.
    case terminated(code: Int32)
  }

  /// The current phase of the lifecycle.
  public internal(set) var phase = Phase.made { didSet { askForTurn() } }
  /// The delegate, held weakly.
  public weak var delegate: ApplicationDelegate?
  /// The menu bar, which contains every command with its key.
  public var menuBar = Menu("", []) { didSet { isScreenStale = true } }
  /// The size of the screen, in cells.
  public internal(set) var screenSize: Size
  /// The windows on the screen, from bottom to top.
  public internal(set) var windows = [Window]()
  /// The window that receives keys; the one most recently made key.
  public internal(set) weak var keyWindow: Window?
  /// The time of the current turn, in milliseconds. Between turns it is the clock's time if there is a clock, so that
  /// it is always current.
  public var now: Int64 {
    guard !isInTurn, let clock else { return turnTime }
    return max(turnTime, clock())
  }
  /// The clock whose times are passed to `runTurn`.
  public var clock: (() -> Int64)?
  var turnTime: Int64 = 0
  /// The number of times the screen was drawn.
  public internal(set) var displayCount = 0

  var queue: EventQueue
  var timers = TimerTable()
  var timerHandlers = [TimerID: () -> Void]()
  /// Whether a part outside the windows has changed: the set of windows, the screen size, or the menu bar.
  var isScreenStale = true { didSet { if isScreenStale { askForTurn() } } }
  /// The open modal windows, the newest last.
  var modals = [Window]()
  /// The responder that receives mouse events until the button is released.
  weak var captured: Responder?
  var isTracking = false
  private let interface: (Application) throws -> MainInterface

  /// Creates an application; called by an `ApplicationLauncher` with a seed.
  public required init(_ seed: LaunchArguments) {
    screenSize = seed.screenSize
    queue = EventQueue(capacity: seed.queueCapacity)
    interface = seed.interface
  }

  /// The delegate.
  open override var nextResponder: Responder? { delegate }

  /// Creates the main interface and shows its windows, the last one in front. A second call does nothing.
  /// - Throws: the errors of the interface's factory, and `ApplicationError.menu` if a key is assigned to two
  ///   commands, or a command of the windows, the application or its delegate has no key.
  public func finishLaunching() throws {
    guard phase == .made else { return }
    delegate?.applicationWillFinishLaunching(self)
    let made = try interface(self)
    let answered = made.windows.reduce(into: commands) { $0.formUnion($1.commands) }
    let problems = made.menuBar.problems(commands: answered.sorted { $0.name < $1.name })
    guard problems.isEmpty else { throw ApplicationError.menu(problems) }
    menuBar = made.menuBar
    phase = .running
    for window in made.windows { orderFront(window) }
    delegate?.applicationDidFinishLaunching(self)
  }

  // MARK: - Events

  /// The events that a turn accepts now; others stay queued in order. By default all events.
  open var acceptedEvents: EventMask { .any }

  /// Sends an event to its target; a subclass can override it to see every event first.
  /// - Returns: whether the event was handled.
  @discardableResult
  open func send(_ event: ApplicationEvent) -> Bool {
    switch event.kind {
    case .key(let key): return sendKey(key)
    case .mouse(let mouse): return sendMouse(mouse)
    case .paste: return sendAlong(keyTarget, event.kind)
    case .timer(let timer): return fire(timer)
    case .resize(let size):
      guard size != screenSize else { return true }
      screenSize = size
      isScreenStale = true
      for window in windows { window.screenDidResize(size) }
      delegate?.application(self, didResize: size)
    case .focus(let isGained): delegate?.application(self, didChangeFocus: isGained)
    case .answer(let answer): delegate?.application(self, didReceive: answer)
    case .deltas(let numbers): delegate?.application(self, didReceive: numbers)
    case .connection: delegate?.applicationConnectionDidChange(self)
    case .signal(let signal): receive(signal)
    }
    return true
  }

  // MARK: - Drawing

  /// Draws the background under all windows; by default nothing.
  open func drawBackground(into grid: inout Grid) {}

  /// Redraws the screen at the end of this turn.
  public func setNeedsDisplay() { isScreenStale = true }

  /// Called outside a turn when one is needed: an event was posted or the screen is outdated. It may be called
  /// several times before the driver runs the turn.
  public var turnIsNeeded: () -> Void = {}

  /// Whether a turn is running. A turn needs no further request: it draws at its end and returns the time of the next
  /// one.
  var isInTurn = false

  func askForTurn() {
    if !isInTurn { turnIsNeeded() }
  }

  // MARK: - Ending

  /// Asks the delegate, and ends after the current turn, or after the next one between turns. Queued events are still
  /// handled, and the screen is drawn.
  /// - Parameter asks: false if the user cannot be asked, for example after a signal.
  public func terminate(code: Int32 = 0, asks: Bool = true) {
    switch phase {
    case .terminating, .terminated: return
    case .asking: if asks { return }
    case .made, .running: break
    }
    guard asks, let delegate else { return phase = .terminating(code: code) }
    switch delegate.applicationShouldTerminate(self) {
    case .now: phase = .terminating(code: code)
    case .later: phase = .asking
    case .cancel: break
    }
  }

  /// Answers `.later`; without a pending question it does nothing.
  public func replyToTerminate(_ mayEnd: Bool, code: Int32 = 0) {
    guard phase == .asking else { return }
    phase = mayEnd ? .terminating(code: code) : .running
  }
}
