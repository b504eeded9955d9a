import TerminalCells

/// What can be drawn into a grid.
public protocol CellDrawing: AnyObject {
  /// Draws it.
  /// - Parameters:
  ///   - grid: the screen.
  ///   - frame: where it lies, in cells of the screen.
  ///   - clip: the cells that it may touch.
  func draw(into grid: inout Grid, frame: Rect, clip: Rect)
}

/// A rectangle of a window. Views lie in views; the last one of several lies on top.
open class View: Responder, CellDrawing {
  /// Where it lies in the view around it, in cells.
  public var frame: Rect { didSet { if frame != oldValue { setNeedsDisplay() } } }
  /// Whether neither it nor what lies in it is drawn or clicked.
  public var isHidden = false { didSet { if isHidden != oldValue { setNeedsDisplay() } } }
  /// The views in it, from the lowest to the highest.
  public private(set) var subviews = [View]()
  /// The view around it; nil for the content of a window.
  public private(set) weak var superview: View?
  /// Kept by the window for its content only; the others ask the view around them.
  weak var contentOf: Window?

  /// A view at a place in the one around it.
  public init(frame: Rect = Rect(x: 0, y: 0, width: 0, height: 0)) { self.frame = frame }

  /// The window that it lies in.
  public var window: Window? { contentOf ?? superview?.window }

  /// The view around it; of a window's content the window.
  open override var nextResponder: Responder? { superview ?? contentOf }

  /// Lays a view on top of the others; one that lies elsewhere leaves there.
  public func addSubview(_ view: View) {
    view.removeFromSuperview()
    subviews.append(view)
    view.superview = self
    setNeedsDisplay()
  }

  /// Leaves the view around it, and with what lies in it gives up being asked first.
  public func removeFromSuperview() {
    guard let superview else { return }
    window?.viewWillLeave(self)
    superview.subviews.removeAll { $0 === self }
    superview.setNeedsDisplay()
    self.superview = nil
  }

  /// The window is drawn anew at the end of this turn.
  public func setNeedsDisplay() { window?.setNeedsDisplay() }

  /// Whether it lies in `view`, or is that.
  func isDescendant(of view: View) -> Bool { self === view || (superview?.isDescendant(of: view) ?? false) }

  // MARK: - Drawing

  /// Draws what lies under the views in it; as it is, nothing.
  open func draw(into grid: inout Grid, frame: Rect, clip: Rect) {}

  func drawAll(into grid: inout Grid, frame: Rect, clip: Rect) {
    let clip = clip.intersection(frame)
    guard !isHidden, !clip.isEmpty else { return }
    draw(into: &grid, frame: frame, clip: clip)
    for view in subviews {
      view.drawAll(into: &grid, frame: view.frame.moved(x: frame.minX, y: frame.minY), clip: clip)
    }
  }

  // MARK: - Mouse

  /// The highest view at a point of the view around it; nil beside it.
  open func view(at point: Point) -> View? {
    guard !isHidden, frame.contains(point) else { return nil }
    let inside = Point(x: point.x - frame.minX, y: point.y - frame.minY)
    for view in subviews.reversed() {
      if let hit = view.view(at: inside) { return hit }
    }
    return self
  }

  /// A point of the screen, in cells of this view.
  public func convert(fromScreen point: Point) -> Point {
    let origin = screenOrigin
    return Point(x: point.x - origin.x, y: point.y - origin.y)
  }

  private var screenOrigin: Point {
    let around = superview?.screenOrigin ?? contentOf?.frame.origin ?? Point(x: 0, y: 0)
    return Point(x: around.x + frame.minX, y: around.y + frame.minY)
  }
}
