import TerminalApplication
import TerminalCells

/// The visible area: which cells of the screen show the board, and which part of the board they show.
final class BoardViewport: BoardPart {
  let services: BoardServices
  /// The columns of the list at the left; 0 if there is no list.
  var listWidth: () -> Int = { 0 }
  /// Whether the search field takes a row above the board.
  var isSearchOpen: () -> Bool = { false }
  private let pages: BoardPages

  init(_ services: BoardServices, _ pages: BoardPages) { (self.services, self.pages) = (services, pages) }

  /// The frame of the board: below the menu bar and the open search field, and above the status line.
  var canvas: Rect {
    let size = application.screenSize
    let list = listWidth()
    let top = isSearchOpen() ? 2 : 1
    return Rect(x: list, y: top, width: size.width - list, height: max(0, size.height - 1 - top))
  }

  /// The frame of the search field, above the canvas.
  var searchFrame: Rect { Rect(x: canvas.minX, y: 1, width: canvas.size.width, height: 1) }

  /// The frame of the status line.
  var statusFrame: Rect {
    let size = application.screenSize
    return Rect(x: 0, y: size.height - 1, width: size.width, height: 1)
  }

  /// The visible area of the board, in cells.
  var seen: Rect { Rect(origin: pages.page.scroll, size: canvas.size) }

  /// Converts a rectangle from board cells to screen cells.
  func onScreen(_ rect: Rect) -> Rect {
    rect.moved(x: canvas.minX - pages.page.scroll.x, y: canvas.minY - pages.page.scroll.y)
  }

  /// Converts a cell of the screen to points of the board.
  func onBoard(_ point: Point) -> (x: Double, y: Double) {
    (
      Double(point.x - canvas.minX + pages.page.scroll.x) * BoardScale.pointsPerColumn,
      Double(point.y - canvas.minY + pages.page.scroll.y) * BoardScale.pointsPerRow
    )
  }

  /// Converts a cell of the screen to a cell of the board.
  func boardCell(_ point: Point) -> Point {
    Point(x: point.x - canvas.minX + pages.page.scroll.x, y: point.y - canvas.minY + pages.page.scroll.y)
  }
}
