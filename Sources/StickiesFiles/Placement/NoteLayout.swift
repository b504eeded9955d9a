/// Places notes without a position in a grid beside the board's other notes.
///
/// The grid begins at the top of the board's notes, to their right, and fills columns from top to bottom. A column is
/// as wide as its widest note. All columns end at about the same height, so that the grid is somewhat wider than
/// high, like a screen. Equal input gives equal positions.
public enum NoteLayout {
  /// The position and size of a note, in points.
  public struct Frame: Sendable, Equatable {
    /// The left edge.
    public var x: Double
    /// The top edge.
    public var y: Double
    /// At least 1.
    public var width: Double
    /// At least 1.
    public var height: Double

    /// Creates a frame from a position and a size.
    public init(x: Double, y: Double, width: Double, height: Double) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
  }

  /// The space between two notes, in points.
  public static let gap: Double = 24
  /// Notes beyond this coordinate are ignored: new notes beside them could not share a screen with any other.
  static let farthest: Double = 1e9

  /// Returns frames for notes of the given sizes.
  /// - Parameters:
  ///   - sizes: frames of the new notes; only their sizes are used.
  ///   - occupied: the frames of the board's notes.
  /// - Returns: a frame for each size, in order. No two overlap, and none overlaps a note of the board.
  public static func frames(for sizes: [Frame], beside occupied: [Frame]) -> [Frame] {
    let near = occupied.filter { abs($0.x) < farthest && abs($0.y) < farthest && $0.width < farthest }
    // On an empty board, the grid begins at the origin.
    var (left, top) = (0.0, 0.0)
    if let right = near.map({ $0.x + $0.width + gap }).max(), let upper = near.map(\.y).min() {
      (left, top) = (right, upper)
    }
    let area = sizes.reduce(0) { $0 + ($1.width + gap) * ($1.height + gap) }
    let tallest = sizes.reduce(0) { max($0, $1.height) }
    // The grid's ratio is 3:2, and a column is at least as high as the tallest note.
    let height = max(tallest, (area / 1.5).squareRoot())
    var (x, y, width) = (left, top, 0.0)
    return sizes.map { size in
      if y > top, y + size.height > top + height {
        (x, y, width) = (x + width + gap, top, 0)
      }
      defer {
        y += size.height + gap
        width = max(width, size.width)
      }
      return Frame(x: x, y: y, width: size.width, height: size.height)
    }
  }
}
