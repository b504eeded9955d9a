import GraphModel
import GraphReplica
import StickiesKit
import StickiesModel
import TerminalCells

/// The region of a large board that is followed. It is the visible area and as much again on every side, so that a
/// scroll shows loaded notes while the next piece is being loaded.
struct BoardRegion: Hashable {
  /// The region in cells of the board.
  let cells: Rect

  /// The region around the visible area.
  init(around seen: Rect) {
    let (width, height) = (max(1, seen.size.width), max(1, seen.size.height))
    cells = Rect(x: seen.minX - width, y: seen.minY - height, width: 3 * width, height: 3 * height)
  }

  /// Whether the region contains the complete visible area.
  func covers(_ seen: Rect) -> Bool { seen.isEmpty || cells.intersection(seen) == seen }

  /// Whether the region contains the visible area and a quarter of a screen around it. If so, it need not be
  /// replaced.
  func serves(_ seen: Rect) -> Bool {
    covers(
      Rect(
        x: seen.minX - seen.size.width / 4, y: seen.minY - seen.size.height / 4,
        width: seen.size.width + 2 * (seen.size.width / 4), height: seen.size.height + 2 * (seen.size.height / 4)))
  }

  // MARK: - Conditions

  /// The notes that intersect the region. Small notes are drawn larger than they are, so the minimum size extends the
  /// region.
  var notes: GraphPredicate { Self.notes(meeting: cells, reach: NoteView.minimumSize) }

  /// The notes that intersect a rectangle of cells.
  /// - Parameter reach: the minimum size that each note is assumed to have.
  static func notes(meeting cells: Rect, reach: Size = Size(width: 0, height: 0)) -> GraphPredicate {
    let (low, high) = points(cells)
    let (left, top) = (low.x - BoardScale.points(reach).width, low.y - BoardScale.points(reach).height)
    return .and([
      GraphPredicate(Note.self) { $0.x < high.x && $0.x + $0.width > left },
      GraphPredicate(Note.self) { $0.y < high.y && $0.y + $0.height > top },
    ])
  }

  /// The links that begin at a note of the region.
  var links: GraphPredicate {
    let (low, high) = Self.points(cells)
    let reach = BoardScale.points(NoteView.minimumSize)
    let (left, top) = (low.x - reach.width, low.y - reach.height)
    return .and([
      GraphPredicate(Link.self) { $0.from.x < high.x && $0.from.x + $0.from.width > left },
      GraphPredicate(Link.self) { $0.from.y < high.y && $0.from.y + $0.from.height > top },
    ])
  }

  /// The notes outside on one side. Each outside note belongs to one side: those at the corners are left or right.
  func notes(beyond side: BoardSide) -> GraphPredicate {
    let (low, high) = Self.points(cells)
    let reach = BoardScale.points(NoteView.minimumSize)
    let (left, top) = (low.x - reach.width, low.y - reach.height)
    let between = GraphPredicate(Note.self) { $0.x < high.x && $0.x + $0.width > left }
    return switch side {
    case .left: GraphPredicate(Note.self) { $0.x < high.x && $0.x + $0.width <= left }
    case .right: GraphPredicate(Note.self) { $0.x >= high.x }
    case .up: .and([between, GraphPredicate(Note.self) { $0.y < high.y && $0.y + $0.height <= top }])
    case .down: .and([between, GraphPredicate(Note.self) { $0.y >= high.y }])
    }
  }

  /// Whether a note, in points, lies outside the region.
  func isBeyond(x: Double, y: Double, width: Double, height: Double) -> Bool {
    let (low, high) = Self.points(cells)
    let reach = BoardScale.points(NoteView.minimumSize)
    return x >= high.x || y >= high.y || x + width <= low.x - reach.width || y + height <= low.y - reach.height
  }

  private static func points(_ cells: Rect) -> (low: (x: Double, y: Double), high: (x: Double, y: Double)) {
    (BoardScale.points(cells.origin), BoardScale.points(Point(x: cells.maxX, y: cells.maxY)))
  }
}

/// A side of the visible area.
enum BoardSide: Int, CaseIterable {
  case left, right, up, down

  /// The side of the visible area that a note lies on; nil for a visible note. The rule is that of
  /// `BoardRegion.notes(beyond:)`.
  static func side(of note: Rect, beyond seen: Rect) -> BoardSide? {
    if note.maxX <= seen.minX { return .left }
    if note.minX >= seen.maxX { return .right }
    if note.maxY <= seen.minY { return .up }
    return note.minY >= seen.maxY ? .down : nil
  }
}
