import TerminalApplication
import TerminalCells

/// Counts the successive presses on one cell.
final class ClickCounter {
  /// Maximum time between the presses of a double click, in milliseconds.
  static let doubleClickMilliseconds: Int64 = 400

  private let application: Application
  private var last: (point: Point, time: Int64, count: Int)?

  init(_ application: Application) { self.application = application }

  /// The number of successive presses on one cell, including this one.
  func count(_ point: Point) -> Int {
    let now = application.now
    var count = 1
    if let last, last.point == point, now - last.time <= Self.doubleClickMilliseconds { count += last.count }
    last = (point, now, count)
    return count
  }
}
