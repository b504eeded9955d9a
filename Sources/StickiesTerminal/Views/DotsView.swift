import GraphControllers
import TerminalCells

/// Draws a dot for each page, the current one filled. If not all dots fit, those around the current one are drawn
/// between two arrows, followed by the position in numbers.
public struct DotsView: Hashable, Sendable {
  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// A page.
    case page(Int)
    /// The previous page, if not every page has a dot.
    case previous
    /// The next page.
    case next
  }

  /// The number of pages.
  public let count: Int
  /// The current page, from 0.
  public let current: Int

  /// Creates dots.
  public init(count: Int, current: Int) {
    self.count = max(0, count)
    self.current = min(max(0, current), max(0, count - 1))
  }

  /// The layout for a width: dots, arrows, and the position in numbers if not every page has a dot.
  private struct Row {
    let dots: PageDots
    let isCut: Bool
    let numbers: String

    init(_ count: Int, _ current: Int, width: Int) {
      isCut = 2 * count + 1 > width
      let text = PageDots(count: count, current: current, room: 0).text
      numbers = isCut ? text : ""
      // Two arrows, the numbers and the spaces between them. The number of dots is odd, so that one is in the middle.
      let room = (width - text.count - 4) / 2
      dots = PageDots(
        count: count, current: current, room: isCut ? max(0, min(DotsView.mostDots, room - (room + 1) % 2)) : count)
    }

    /// The width in columns, with a space after each dot.
    var dotsWidth: Int { 2 * dots.dots.count }
    /// The width between the arrows: dots, or the numbers if there is no space for dots.
    var middle: Int { dots.dots.isEmpty ? numbers.count + 1 : dotsWidth }
    var width: Int {
      guard isCut else { return dotsWidth - 1 }
      return dots.dots.isEmpty ? numbers.count + 4 : dotsWidth + 4 + numbers.count
    }
  }

  /// Maximum number of dots if not every page has one.
  private static let mostDots = 9

  /// Draws the dots centered in the first row of `frame`; nothing for a single page.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme, style: Style? = nil) {
    let frame = frame.clamped
    guard count > 1, !frame.isEmpty else { return }
    let clip = clip.intersection(Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: 1))
    let style = style ?? theme.bar
    let row = Row(count, current, width: frame.size.width)
    let symbols = theme.symbols
    let marks = row.dots.dots.map { dot in
      switch dot {
      case .page: symbols.dots.other
      case .current: symbols.dots.current
      case .more: symbols.dots.more
      }
    }
    var parts = marks.map(String.init)
    if row.isCut {
      if parts.isEmpty { parts = [row.numbers] }
      parts = [String(symbols.arrows.left)] + parts + [String(symbols.arrows.right)]
      if !marks.isEmpty { parts.append(row.numbers) }
    }
    grid.draw(parts.joined(separator: " "), x: start(row, frame), y: frame.minY, style, clip: clip)
  }

  private func start(_ row: Row, _ frame: Rect) -> Int { frame.minX + max(0, (frame.size.width - row.width) / 2) }

  /// The part at a point; a dot includes the space after it.
  public func part(at point: Point, frame: Rect) -> Part? {
    let frame = frame.clamped
    guard count > 1, frame.contains(point), point.y == frame.minY else { return nil }
    let row = Row(count, current, width: frame.size.width)
    let x = point.x - start(row, frame) - (row.isCut ? 2 : 0)
    if x >= 0, let page = row.dots.page(ofDot: x / 2) { return .page(page) }
    guard row.isCut else { return nil }
    if x == -2 || x == -1 { return .previous }
    return x == row.middle || x == row.middle + 1 ? .next : nil
  }
}
