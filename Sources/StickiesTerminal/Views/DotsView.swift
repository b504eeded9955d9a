import GraphControllers
import TerminalCells

/// Draws a dot for each page, the current one filled. Of more pages than there is room for, those around the current one have
/// dots between two arrows, and numbers say where that is.
public struct DotsView: Hashable, Sendable {
  /// A part of it that can be clicked.
  public enum Part: Hashable, Sendable {
    /// A page.
    case page(Int)
    /// The page before, of more than have dots.
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

  /// What there is room for: the dots, whether arrows stand beside them, and where the current page is in numbers when not
  /// every page has a dot.
  private struct Row {
    let dots: PageDots
    let isCut: Bool
    let numbers: String

    init(_ count: Int, _ current: Int, width: Int) {
      isCut = 2 * count + 1 > width
      let text = PageDots(count: count, current: current, room: 0).text
      numbers = isCut ? text : ""
      // Two arrows, the numbers and the blanks between them; an odd number of dots, for one of them is in the middle.
      let room = (width - text.count - 4) / 2
      dots = PageDots(
        count: count, current: current, room: isCut ? max(0, min(DotsView.mostDots, room - (room + 1) % 2)) : count)
    }

    /// In columns, a dot with the blank behind it.
    var dotsWidth: Int { 2 * dots.dots.count }
    /// Between the arrows: dots, or the numbers when there is no room for any.
    var middle: Int { dots.dots.isEmpty ? numbers.count + 1 : dotsWidth }
    var width: Int {
      guard isCut else { return dotsWidth - 1 }
      return dots.dots.isEmpty ? numbers.count + 4 : dotsWidth + 4 + numbers.count
    }
  }

  /// Of more pages than there is room for so many have a dot: those around the current one.
  private static let mostDots = 9

  /// Draws them in the middle of the first row of `frame`, over what is there; one page needs no dot.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme, style: Style? = nil) {
    let frame = frame.clamped
    guard count > 1, !frame.isEmpty else { return }
    let clip = clip.intersection(Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: 1))
    let style = style ?? theme.bar
    let row = Row(count, current, width: frame.size.width)
    let symbols = theme.symbols
    let marks = row.dots.dots.map { dot in
      switch dot {
      case .page: symbols.dot
      case .current: symbols.currentDot
      case .more: symbols.moreDots
      }
    }
    var parts = marks.map(String.init)
    if row.isCut {
      if parts.isEmpty { parts = [row.numbers] }
      parts = [String(symbols.left)] + parts + [String(symbols.right)]
      if !marks.isEmpty { parts.append(row.numbers) }
    }
    grid.draw(parts.joined(separator: " "), x: start(row, frame), y: frame.minY, style, clip: clip)
  }

  private func start(_ row: Row, _ frame: Rect) -> Int { frame.minX + max(0, (frame.size.width - row.width) / 2) }

  /// What lies at a point; a dot takes the blank behind it, too.
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
