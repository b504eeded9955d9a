import TerminalCells

/// The application object: the queue that everything that happens goes through, the windows, the menu bar, and the turn.
///
/// It reads no clock, no keys and no socket, and never waits. A driver posts events, calls `runTurn`, writes the grid that
/// it returns, and sleeps until the time that it names or until something happens:
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
  /// How far it has come.
  public enum Phase: Hashable, Sendable {
    /// It is made, and has no interface yet.
    case made
    /// Turns may come.
    case running
    /// Somebody wants it to end, and somebody is asked first.
    case asking
    /// It ends with this turn.
    case terminating(code: Int32)
    /// It has ended.
    case terminated(code: Int32)
  }

  /// How far it has come.
  public internal(set) var phase = Phase.made { didSet { askForTurn() } }
  /// What is particular to this application; it keeps nobody alive.
  public weak var delegate: ApplicationDelegate?
  /// Every command with its key.
  public var menuBar = Menu("", []) { didSet { isScreenStale = true } }
  /// The screen, in cells.
  public internal(set) var screenSize: Size
  /// The windows on the screen, from the lowest to the highest.
  public internal(set) var windows = [Window]()
  /// Where keys go; the last of several that was made so.
  public internal(set) weak var keyWindow: Window?
  /// The time of the turn that runs, in milliseconds; between turns the clock's, where there is one: what is told then
  /// is told now, however long ago the last turn was.
  public var now: Int64 { isInTurn ? turnTime : max(turnTime, clock?() ?? 0) }
  /// The clock that `runTurn` is told the time of.
  public var clock: (() -> Int64)?
  var turnTime: Int64 = 0
  /// How many times the screen was drawn.
  public internal(set) var displayCount = 0

  var queue: EventQueue
  var timers = TimerTable()
  var timerHandlers = [TimerID: () -> Void]()
  /// Something changed that belongs to no window: a window came or went, the size, the menu bar.
  var isScreenStale = true { didSet { if isScreenStale { askForTurn() } } }
  /// Windows that want an answer, the newest last.
  var modals = [Window]()
  /// Who gets the mouse until its button is up.
  weak var captured: Responder?
  var isTracking = false
  private let interface: (Application) throws -> MainInterface

  /// Made by an `ApplicationLauncher`, which passes the seed on.
  public required init(_ seed: ApplicationSeed) {
    screenSize = seed.screenSize
    queue = EventQueue(capacity: seed.queueCapacity)
    interface = seed.interface
  }

  /// The delegate.
  open override var nextResponder: Responder? { delegate }

  /// Makes the main interface and puts its windows on the screen, the last one in front. A second call does nothing.
  /// - Throws: what the interface's factory throws, and `ApplicationError.menu` when a key stands for two commands, or a
  ///   command has none that the windows, the application or its delegate answer.
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

  /// Which events a turn takes now; the others wait in their order until they are among them. As it is, all of them.
  open var acceptedEvents: EventMask { .any }

  /// Hands an event to whom it concerns; a subclass sees every one of them first.
  /// - Returns: whether somebody answered it.
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
    case .signal(let signal): take(signal)
    }
    return true
  }

  // MARK: - Drawing

  /// Draws what lies under all windows; as it is, nothing.
  open func drawBackground(into grid: inout Grid) {}

  /// The screen is drawn anew at the end of this turn.
  public func setNeedsDisplay() { isScreenStale = true }

  /// Called when something is to be done outside a turn: an event was posted, or the screen is not what it is to be. May be
  /// called more than once before the turn; whoever runs turns runs one then.
  public var turnIsNeeded: () -> Void = {}

  /// In a turn nobody is asked for another: it draws at its end, and says itself when the next is due.
  var isInTurn = false

  func askForTurn() {
    if !isInTurn { turnIsNeeded() }
  }

  // MARK: - Ending

  /// Asks the delegate, and ends after the turn that runs, or the next one when none does: what was sent is still
  /// answered, and the screen drawn.
  /// - Parameter asks: false when nobody can be asked, as by a signal.
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

  /// The answer to `.later`; without that question it does nothing.
  public func replyToTerminate(_ mayEnd: Bool, code: Int32 = 0) {
    guard phase == .asking else { return }
    phase = mayEnd ? .terminating(code: code) : .running
  }
}
