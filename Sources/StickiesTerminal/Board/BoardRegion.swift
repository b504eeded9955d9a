import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// The part of a large board that is followed: what the canvas shows, and as much again on every side, so that a scroll
/// shows what is here already while the next part is on its way.
struct BoardRegion: Hashable {
  /// In cells of the board.
  let cells: Rect

  /// The part around what is seen.
  init(around seen: Rect) {
    let (width, height) = (max(1, seen.size.width), max(1, seen.size.height))
    cells = Rect(x: seen.minX - width, y: seen.minY - height, width: 3 * width, height: 3 * height)
  }

  /// Whether all that is seen lies inside.
  func covers(_ seen: Rect) -> Bool { seen.isEmpty || cells.intersection(seen) == seen }

  /// Whether it need not be asked for anew: a quarter of a screen around what is seen lies inside as well.
  func serves(_ seen: Rect) -> Bool {
    covers(
      Rect(
        x: seen.minX - seen.size.width / 4, y: seen.minY - seen.size.height / 4,
        width: seen.size.width + 2 * (seen.size.width / 4), height: seen.size.height + 2 * (seen.size.height / 4)))
  }

  // MARK: - Conditions

  /// The notes that lie inside, in part at least. Small notes are drawn larger than they are, so they count from farther.
  var notes: GraphPredicate { Self.notes(meeting: cells, reach: NoteView.minimumSize) }

  /// The notes that meet a rectangle of cells.
  /// - Parameter reach: as if each were at least that large.
  static func notes(meeting cells: Rect, reach: Size = Size(width: 0, height: 0)) -> GraphPredicate {
    let (low, high) = points(cells)
    let (left, top) = (low.x - BoardScale.points(reach).width, low.y - BoardScale.points(reach).height)
    return .and([
      GraphPredicate(Note.self) { $0.x < high.x && $0.x + $0.width > left },
      GraphPredicate(Note.self) { $0.y < high.y && $0.y + $0.height > top },
    ])
  }

  /// The links that begin at such a note.
  var links: GraphPredicate {
    let (low, high) = Self.points(cells)
    let reach = BoardScale.points(NoteView.minimumSize)
    let (left, top) = (low.x - reach.width, low.y - reach.height)
    return .and([
      GraphPredicate(Link.self) { $0.from.x < high.x && $0.from.x + $0.from.width > left },
      GraphPredicate(Link.self) { $0.from.y < high.y && $0.from.y + $0.from.height > top },
    ])
  }

  /// The notes that lie outside on a side. Each note outside is on one side: those at the corners are left or right.
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

  /// Whether a note, in points, is among those that lie outside on a side.
  func isBeyond(x: Double, y: Double, width: Double, height: Double) -> Bool {
    let (low, high) = Self.points(cells)
    let reach = BoardScale.points(NoteView.minimumSize)
    return x >= high.x || y >= high.y || x + width <= low.x - reach.width || y + height <= low.y - reach.height
  }

  private static func points(_ cells: Rect) -> (low: (x: Double, y: Double), high: (x: Double, y: Double)) {
    (BoardScale.points(cells.origin), BoardScale.points(Point(x: cells.maxX, y: cells.maxY)))
  }
}

/// Where notes lie that are not seen.
enum BoardSide: Int, CaseIterable {
  case left, right, up, down

  /// On which side of what is seen a note lies, by the rule of `BoardRegion.notes(beyond:)`; nil for one that is seen.
  static func side(of note: Rect, beyond seen: Rect) -> BoardSide? {
    if note.maxX <= seen.minX { return .left }
    if note.minX >= seen.maxX { return .right }
    if note.maxY <= seen.minY { return .up }
    return note.minY >= seen.maxY ? .down : nil
  }
}
