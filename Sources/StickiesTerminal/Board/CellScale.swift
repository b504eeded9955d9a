import GraphControllers
import TerminalCells

/// Points of the shared board, and cells of this screen. A cell is 8 points wide and 16 high, so that a note as the model
/// makes it, 200 by 200, has 25 columns and 12 rows.
enum CellScale {
  static let pointsPerColumn = 8.0
  static let pointsPerRow = 16.0
  /// Farther out than this, in cells, nothing is drawn in its place: others may write any number into a note.
  static let farthest = 1_000_000.0
  /// The smallest window: a frame, and a letter or two in it.
  static let smallest = Size(width: 10, height: 3)
  /// The largest one.
  static let largest = Size(width: 1_000, height: 1_000)

  static func columns(_ points: Double) -> Int { cells(points / pointsPerColumn) }

  static func rows(_ points: Double) -> Int { cells(points / pointsPerRow) }

  private static func cells(_ value: Double) -> Int {
    guard !value.isNaN else { return 0 }
    return Int(min(max(value, -farthest), farthest).rounded())
  }

  /// Where a note lies on the board, in cells from the board's origin.
  static func frame(of shape: WindowShape) -> Rect {
    return Rect(
      x: columns(shape.x), y: rows(shape.y),
      width: min(max(columns(shape.width), smallest.width), largest.width),
      height: min(max(rows(shape.height), smallest.height), largest.height))
  }
}
