/// The row of dots that says where one is, and the second way to page. With more pages than there is room, it shows those
/// around the current one, and its ends say that there are more.
public struct PageDots: Hashable, Sendable {
  /// One dot.
  public enum Dot: Hashable, Sendable {
    /// A page.
    case page
    /// The page that one is on.
    case current
    /// A page, with more of them beyond it.
    case more
  }

  /// How many pages there are.
  public let count: Int
  /// The page that one is on; it may be one that is not there.
  public let current: Int
  /// The page of the first dot.
  public let first: Int
  /// The dots, from left to right.
  public let dots: [Dot]

  /// Dots for pages.
  /// - Parameter room: how many dots there may be; with less than 3 there are none when not all of them fit.
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

  /// The page to jump to when a dot is clicked; nil beside the row.
  public func page(ofDot index: Int) -> Int? { dots.indices.contains(index) ? first + index : nil }

  /// The page to jump to when the row is clicked left of its current dot; nil on the first page.
  public var previous: Int? { current > 0 ? min(current, count) - 1 : nil }

  /// The page to jump to when it is clicked right of it; nil on the last page.
  public var next: Int? { current < count - 1 ? max(current, -1) + 1 : nil }

  /// "3 of 12", for where there is no room, and for whoever can't see dots; empty when there are no pages.
  public var text: String { count == 0 ? "" : "\(max(0, min(current, count - 1)) + 1) of \(count)" }
}
