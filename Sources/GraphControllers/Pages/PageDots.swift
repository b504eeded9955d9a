/// A row of dots that shows the current page and accepts clicks. If not all pages fit, it shows those around the
/// current one, and the dots at its ends indicate further pages.
public struct PageDots: Hashable, Sendable {
  /// One dot.
  public enum Dot: Hashable, Sendable {
    /// A page.
    case page
    /// The current page.
    case current
    /// A page with further pages beyond it.
    case more
  }

  /// The number of pages.
  public let count: Int
  /// The current page; it may not exist.
  public let current: Int
  /// The page of the first dot.
  public let first: Int
  /// The dots, from left to right.
  public let dots: [Dot]

  /// Creates dots for pages.
  /// - Parameter room: the maximum number of dots; below 3, there are no dots unless all fit.
  public init(count: Int, current: Int, room: Int) {
    self.count = max(0, count)
    self.current = current
    let shown = self.count <= room ? self.count : room < 3 ? 0 : room
    let first = max(0, min(current - shown / 2, self.count - shown))
    self.first = first
    let pages = self.count
    dots = (0..<shown).map { index in
      let page = first + index
      if page == current { return .current }
      let isEnd = (index == 0 && page > 0) || (index == shown - 1 && page < pages - 1)
      return isEnd ? .more : .page
    }
  }

  /// Returns the page to show after a click on a dot; nil outside the row.
  public func page(ofDot index: Int) -> Int? { dots.indices.contains(index) ? first + index : nil }

  /// The page to show after a click left of the current dot; nil on the first page.
  public var previous: Int? { current > 0 ? min(current, count) - 1 : nil }

  /// The page to show after a click right of the current dot; nil on the last page.
  public var next: Int? { current < count - 1 ? max(current, -1) + 1 : nil }

  /// "3 of 12", for small views and for screen readers; empty without pages.
  public var text: String { count == 0 ? "" : "\(max(0, min(current, count - 1)) + 1) of \(count)" }
}
