/// Places for notes of which nothing says where they stick: a grid beside what is on the board.
///
/// The grid begins at the top of the board's notes, right of them, and fills columns from top to bottom. A column is as
/// wide as its widest note; all columns end at about the same height, so that the grid is somewhat wider than high, as
/// screens are. Equal input has equal places.
public enum NoteLayout {
  /// The place and size of a note, in points.
  public struct Frame: Sendable, Equatable {
    /// The left edge.
    public var x: Double
    /// The top edge.
    public var y: Double
    /// At least 1.
    public var width: Double
    /// At least 1.
    public var height: Double

    /// A place and a size.
    public init(x: Double, y: Double, width: Double, height: Double) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
  }

  /// The space between two notes, in points.
  public static let gap: Double = 24
  /// A place beyond this is not used: there a note would have no neighbors that a screen can show.
  static let farthest: Double = 1e9

  /// Frames for notes of these sizes.
  /// - Parameters:
  ///   - sizes: the frames of the new notes, of which only the sizes count.
  ///   - occupied: the notes that lie on the board.
  /// - Returns: a frame for each size, in their order. No two overlap, and none overlaps a note of the board.
  public static func frames(for sizes: [Frame], beside occupied: [Frame]) -> [Frame] {
    let near = occupied.filter { abs($0.x) < farthest && abs($0.y) < farthest && $0.width < farthest }
    let left = near.map { $0.x + $0.width + gap }.max() ?? 0
    let top = near.map(\.y).min() ?? 0
    let area = sizes.reduce(0) { $0 + ($1.width + gap) * ($1.height + gap) }
    let tallest = sizes.map(\.height).max() ?? 0
    // Three to two: a column of at least the tallest note.
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
