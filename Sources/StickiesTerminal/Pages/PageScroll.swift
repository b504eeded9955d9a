/// A scroll on its way to a page, pure: time in, an offset out. Turned round on the way it goes back from where it is, and
/// beyond the first and the last page it springs back.
///
/// It advances by the frames that are drawn: however long one of them took, something is seen of the way.
struct PageScroll: Hashable {
  /// How long the way to the neighbor takes, and to any other page, in milliseconds.
  static let milliseconds = 160.0
  /// How often it is to be asked, in milliseconds.
  static let frameMilliseconds: Int64 = 16
  /// The time that one frame advances it by at most, in milliseconds.
  static let longestFrame: Int64 = 40
  /// How far it goes beyond the ends, in pages.
  static let overshoot = 0.15

  /// Where it is, in pages.
  private(set) var offset: Double
  /// The page that it ends on.
  private(set) var page: Int
  private var goal: Double
  private var speed = 0.0
  private var last: Int64

  /// A scroll that begins on a page, and goes nowhere yet.
  init(from page: Int, at now: Int64) {
    (self.page, offset, goal, last) = (page, Double(page), Double(page), now)
  }

  /// It goes to a page, or to the last one before it that is there.
  /// - Parameter count: how many pages there are.
  mutating func turn(to page: Int, count: Int) {
    self.page = max(0, min(page, count - 1))
    goal = Double(self.page) + (page < 0 ? -Self.overshoot : page >= count ? Self.overshoot : 0)
    speed = abs(goal - offset) / Self.milliseconds
  }

  /// Goes on.
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
    // At the end of what there is: back.
    goal = Double(page)
    speed = Self.overshoot / Self.milliseconds
    return false
  }
}
