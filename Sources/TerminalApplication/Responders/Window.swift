import TerminalCells

/// A window on the screen: a frame and a title. A subclass draws its content, edge and shadow.
open class Window: Responder {
  /// The frame, in cells of the screen.
  public var frame: Rect { didSet { if frame != oldValue { setNeedsDisplay() } } }
  /// The title.
  public var title: String { didSet { if title != oldValue { setNeedsDisplay() } } }
  /// The window's controller, which retains the window.
  public weak var windowController: WindowController?
  /// The application that shows the window; nil while it is off screen.
  public internal(set) weak var application: Application?
  /// The key window before this one became modal; it becomes key again afterwards.
  weak var keyWindowBefore: Window?
  /// Whether the window must be redrawn.
  public private(set) var needsDisplay = true

  /// Creates a window; `Application.orderFront` shows it.
  public init(frame: Rect, title: String = "") {
    self.frame = frame
    self.title = title
  }

  /// The controller, or without one the application.
  open override var nextResponder: Responder? { windowController ?? application }

  /// Whether the window can receive keys.
  open var canBecomeKey: Bool { true }

  /// Whether the window receives keys.
  public var isKey: Bool { application?.keyWindow === self }

  /// Called when the window begins to receive keys.
  open func didBecomeKey() {}

  /// Called when the window ceases to receive keys.
  open func didResignKey() {}

  /// Called once in each turn before drawing, to update what depends on other objects' state.
  open func update() {}

  /// Called after the screen size has changed, which may leave the window outside of the screen.
  open func screenDidResize(_ size: Size) {}

  // MARK: - Drawing

  /// Redraws the window at the end of this turn, once regardless of the number of calls.
  public func setNeedsDisplay() {
    needsDisplay = true
    application?.askForTurn()
  }

  func didDisplay() { needsDisplay = false }

  /// Draws the window; by default nothing.
  /// - Parameters:
  ///   - grid: the screen.
  ///   - frame: the window's frame, in cells of the screen.
  ///   - clip: the cells that may be changed.
  open func draw(into grid: inout Grid, frame: Rect, clip: Rect) {}
}

/// Controls a window: retains it, and handles the events and commands that it leaves unhandled.
open class WindowController: Responder {
  /// The window.
  public let window: Window
  private weak var application: Application?

  /// Creates a controller for a window; the application is the next responder.
  public init(window: Window, application: Application?) {
    self.window = window
    self.application = application
    super.init()
    window.windowController = self
  }

  /// The application.
  open override var nextResponder: Responder? { window.application ?? application }
}
