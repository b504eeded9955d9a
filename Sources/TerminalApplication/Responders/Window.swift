import TerminalCells

/// A window on the screen: a frame, a title, a view and the one of its responders that is asked first. It draws its view;
/// a subclass draws frame, title and shadow as it likes.
open class Window: Responder, CellDrawing {
  /// Where it lies on the screen, in cells.
  public var frame: Rect { didSet { if frame != oldValue { setNeedsDisplay() } } }
  /// What it is called.
  public var title: String { didSet { if title != oldValue { setNeedsDisplay() } } }
  /// The view that it shows; its frame is in cells of the window.
  public var contentView: View {
    willSet { if newValue !== contentView { viewWillLeave(contentView) } }
    didSet {
      oldValue.contentOf = nil
      contentView.contentOf = self
      setNeedsDisplay()
    }
  }
  /// Whoever rules it; the controller keeps the window, not the other way round.
  public weak var windowController: WindowController?
  /// The application on whose screen it is; nil while it is on none.
  public internal(set) weak var application: Application?
  /// Where keys went before it was modal; they go there again when it has its answer.
  weak var keyWindowBefore: Window?
  /// Whether it has to be drawn anew.
  public private(set) var needsDisplay = true
  /// Who is asked first about keys; the window itself when no view is.
  public private(set) var firstResponder: Responder?

  /// A window; it comes on the screen by `Application.orderFront`.
  public init(frame: Rect, title: String = "", contentView: View? = nil) {
    self.frame = frame
    self.title = title
    self.contentView = contentView ?? View(frame: Rect(origin: Point(x: 0, y: 0), size: frame.size))
    super.init()
    self.contentView.contentOf = self
  }

  /// The controller; without one the application.
  open override var nextResponder: Responder? { windowController ?? application }

  /// Whether keys may go to it.
  open var canBecomeKey: Bool { true }

  /// Whether commands of menus may be meant for it; a panel's are for the window under it.
  open var canBecomeMain: Bool { canBecomeKey }

  /// Whether keys go to it.
  public var isKey: Bool { application?.keyWindow === self }

  /// Whether it is the one that commands are meant for.
  public var isMain: Bool { application?.mainWindow === self }

  /// Keys go to it now.
  open func didBecomeKey() {}

  /// Keys go elsewhere now.
  open func didResignKey() {}

  /// Called once in each turn, before it is drawn: what depends on state that others changed is set here.
  open func update() {}

  /// The screen has another size: a window may come to lie outside of it.
  open func screenDidResize(_ size: Size) {}

  // MARK: - First responder

  /// Chooses who is asked first; nil for the window itself.
  /// - Returns: false when the old one does not let go, or the new one does not want to.
  @discardableResult
  public func makeFirstResponder(_ responder: Responder?) -> Bool {
    guard responder !== firstResponder else { return true }
    if let responder, !responder.acceptsFirstResponder { return false }
    if let old = firstResponder, !old.resignFirstResponder() { return false }
    firstResponder = nil
    setNeedsDisplay()
    guard let responder else { return true }
    guard responder.becomeFirstResponder() else { return false }
    firstResponder = responder
    return true
  }

  /// A view leaves with what lies in it: nobody asks them any more, whether they like it or not.
  func viewWillLeave(_ view: View) {
    if let first = firstResponder as? View, first.isDescendant(of: view) {
      _ = first.resignFirstResponder()
      firstResponder = nil
    }
    application?.stopTracking(in: view)
    setNeedsDisplay()
  }

  // MARK: - Drawing

  /// It is drawn anew at the end of this turn, once, however often this is said.
  public func setNeedsDisplay() {
    needsDisplay = true
    application?.askForTurn()
  }

  func didDisplay() { needsDisplay = false }

  /// Draws the window's view.
  open func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    contentView.drawAll(
      into: &grid, frame: contentView.frame.moved(x: frame.minX, y: frame.minY), clip: clip.intersection(frame))
  }

  /// The highest view at a point of the screen; nil beside them.
  public func view(at point: Point) -> View? {
    contentView.view(at: Point(x: point.x - frame.minX, y: point.y - frame.minY))
  }
}

/// Rules a window: keeps it, and answers what its views leave unanswered.
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
