import TerminalCells

/// A window on the screen: a frame and a title. A subclass draws what is in it, with edge and shadow as it likes.
open class Window: Responder {
  /// Where it lies on the screen, in cells.
  public var frame: Rect { didSet { if frame != oldValue { setNeedsDisplay() } } }
  /// What it is called.
  public var title: String { didSet { if title != oldValue { setNeedsDisplay() } } }
  /// Whoever rules it; the controller keeps the window, not the other way round.
  public weak var windowController: WindowController?
  /// The application on whose screen it is; nil while it is on none.
  public internal(set) weak var application: Application?
  /// Where keys went before it was modal; they go there again when it has its answer.
  weak var keyWindowBefore: Window?
  /// Whether it has to be drawn anew.
  public private(set) var needsDisplay = true

  /// A window; it comes on the screen by `Application.orderFront`.
  public init(frame: Rect, title: String = "") {
    self.frame = frame
    self.title = title
  }

  /// The controller; without one the application.
  open override var nextResponder: Responder? { windowController ?? application }

  /// Whether keys may go to it.
  open var canBecomeKey: Bool { true }

  /// Whether keys go to it.
  public var isKey: Bool { application?.keyWindow === self }

  /// Keys go to it now.
  open func didBecomeKey() {}

  /// Keys go elsewhere now.
  open func didResignKey() {}

  /// Called once in each turn, before it is drawn: what depends on state that others changed is set here.
  open func update() {}

  /// The screen has another size: a window may come to lie outside of it.
  open func screenDidResize(_ size: Size) {}

  // MARK: - Drawing

  /// It is drawn anew at the end of this turn, once, however often this is said.
  public func setNeedsDisplay() {
    needsDisplay = true
    application?.askForTurn()
  }

  func didDisplay() { needsDisplay = false }

  /// Draws it; as it is, nothing.
  /// - Parameters:
  ///   - grid: the screen.
  ///   - frame: where it lies, in cells of the screen.
  ///   - clip: the cells that it may touch.
  open func draw(into grid: inout Grid, frame: Rect, clip: Rect) {}
}

/// Rules a window: keeps it, and answers what it leaves unanswered.
open class WindowController: Responder {
  /// The window.
  public let window: Window
  private weak var application: Application?

  /// Takes a window; the application is the next responder.
  public init(window: Window, application: Application?) {
    self.window = window
    self.application = application
    super.init()
    window.windowController = self
  }

  /// The application.
  open override var nextResponder: Responder? { window.application ?? application }
}
