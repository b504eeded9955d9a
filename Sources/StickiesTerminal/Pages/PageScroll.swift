/// The animation of a scroll to a page, as a pure function of time. If it is reversed, it returns from its current
/// position; beyond the first and last page it springs back.
///
/// It advances per drawn frame, by a limited time each, so that a slow frame does not skip the animation.
struct PageScroll: Hashable {
  /// Duration of a scroll to any page, in milliseconds.
  static let milliseconds = 160.0
  /// Time between two frames, in milliseconds.
  static let frameMilliseconds: Int64 = 16
  /// Maximum time by which one frame advances the scroll, in milliseconds.
  static let longestFrame: Int64 = 40
  /// The distance that the scroll can go beyond the ends, in pages.
  static let overshoot = 0.15

  /// The current position, in pages.
  private(set) var offset: Double
  /// The page at which the scroll ends.
  private(set) var page: Int
  private var goal: Double
  private var speed = 0.0
  private var last: Int64

  /// Creates a scroll that rests on a page.
  init(from page: Int, at now: Int64) {
    (self.page, offset, goal, last) = (page, Double(page), Double(page), now)
  }

  /// Directs the scroll to a page, clamped to the existing ones.
  /// - Parameter count: the number of pages.
  mutating func turn(to page: Int, count: Int) {
    assert(count > 0, "a scroll ends at a page")
    self.page = max(0, min(page, count - 1))
    goal = Double(self.page) + (page < 0 ? -Self.overshoot : page >= count ? Self.overshoot : 0)
    speed = abs(goal - offset) / Self.milliseconds
  }

  /// Advances the scroll.
  /// - Returns: whether it has arrived.
  mutating func advance(at now: Int64) -> Bool {
    let step = speed * Double(max(0, min(now - last, Self.longestFrame)))
    last = now
    if abs(goal - offset) > step {
      offset += goal > offset ? step : -step
      return false
    }
    offset = goal
    guard goal != Double(page) else { return true }
    // Springs back from beyond the end.
    goal = Double(page)
    speed = Self.overshoot / Self.milliseconds
    return false
  }
}
