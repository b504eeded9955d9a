import TerminalCells

/// Draws a dot for each page, the current one filled. More pages than there is room for show as numbers.
public struct DotsView: Hashable, Sendable {
  /// A part of it that can be clicked.
  public enum Part: Hashable, Sendable {
    /// A page.
    case page(Int)
    /// The page before, beside the numbers.
    case previous
    /// The page behind.
    case next
  }

  /// How many pages there are.
  public let count: Int
  /// The page that shows, from 0.
  public let current: Int

  /// Dots.
  public init(count: Int, current: Int) {
    self.count = max(0, count)
    self.current = min(max(0, current), max(0, count - 1))
  }

  private func dotsFit(_ width: Int) -> Bool { 2 * count + 1 <= width }

  private var numbers: String { "\(current + 1) of \(count)" }

  /// The column of the first dot, or of the arrow before the numbers.
  private func start(_ frame: Rect) -> Int {
    let width = dotsFit(frame.size.width) ? 2 * count - 1 : numbers.count + 4
    return frame.minX + max(0, (frame.size.width - width) / 2)
  }

  /// Draws them in the middle of the first row of `frame`, over what is there; one page needs no dot.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme, style: Style? = nil) {
    let frame = frame.clamped
    guard count > 1, !frame.isEmpty else { return }
    let clip = clip.intersection(Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: 1))
    let style = style ?? theme.bar
    let (x, y) = (start(frame), frame.minY)
    let symbols = theme.symbols
    if dotsFit(frame.size.width) {
      for page in 0..<count {
        grid.draw(String(page == current ? symbols.currentDot : symbols.dot), x: x + 2 * page, y: y, style, clip: clip)
      }
    } else {
      grid.draw("\(symbols.left) \(numbers) \(symbols.right)", x: x, y: y, style, clip: clip)
    }
  }

  /// What lies at a point; a dot takes the blank behind it, too.
  public func part(at point: Point, frame: Rect) -> Part? {
    let frame = frame.clamped
    guard count > 1, frame.contains(point), point.y == frame.minY else { return nil }
    let x = point.x - start(frame)
    if dotsFit(frame.size.width) { return x >= 0 && x < 2 * count ? .page(x / 2) : nil }
    if x == 0 || x == 1 { return .previous }
    let end = numbers.count + 2
    return x == end || x == end + 1 ? .next : nil
  }
}
