import TerminalCells

/// Converts between points of a board, as in the model, and cells of a screen.
public enum BoardScale {
  /// Points per column of cells.
  public static let pointsPerColumn = 8.0
  /// Points per row of cells.
  public static let pointsPerRow = 16.0

  private static func cell(_ points: Double, _ scale: Double) -> Int {
    let cells = (points / scale).rounded(.down)
    guard cells.isFinite else { return points > 0 ? Rect.farthest : points < 0 ? -Rect.farthest : 0 }
    return Int(min(max(cells, -Double(Rect.farthest)), Double(Rect.farthest)))
  }

  /// The cells of a note, at least `NoteView.minimumSize`. Numbers beyond any screen are clamped.
  public static func cells(x: Double, y: Double, width: Double, height: Double) -> Rect {
    Rect(
      x: cell(x, pointsPerColumn), y: cell(y, pointsPerRow),
      width: max(NoteView.minimumSize.width, cell(width, pointsPerColumn)),
      height: max(NoteView.minimumSize.height, cell(height, pointsPerRow)))
  }

  /// The points of a position in cells.
  public static func points(_ place: Point) -> (x: Double, y: Double) {
    (Double(place.x) * pointsPerColumn, Double(place.y) * pointsPerRow)
  }

  /// The points of a size in cells.
  public static func points(_ size: Size) -> (width: Double, height: Double) {
    (Double(size.width) * pointsPerColumn, Double(size.height) * pointsPerRow)
  }
}
