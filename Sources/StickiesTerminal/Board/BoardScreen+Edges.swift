import TerminalApplication
import TerminalCells

/// A note that is dragged to an edge of the canvas takes the board along: so it comes to places that are out of sight.
extension BoardScreen {
  /// How often the board moves on, in milliseconds.
  private static let edgeMilliseconds: Int64 = 50

  /// A note is dragged to a point of the screen.
  func watchEdges(_ point: Point) {
    edgePlace = point
    guard edgeTimer == nil else { return }
    // It fires while something is dragged and at no other time, so nobody ends it.
    edgeTimer = application.schedule(
      at: now + Self.edgeMilliseconds, every: Self.edgeMilliseconds, modes: [.tracking]
    ) { [weak self] in
      self?.scrollAtEdge()
    }
  }

  private func scrollAtEdge() {
    guard let point = edgePlace, let step = edgeStep(at: point) else { return }
    scroll(by: step)
    if let dragged { drag(dragged, to: point) }
  }

  /// Which way the board goes; nil in its middle. Above and below the canvas there are bars to drag over; where the screen
  /// ends with it, its last column counts.
  private func edgeStep(at point: Point) -> Point? {
    let x = point.x <= canvas.minX ? -2 : point.x >= canvas.maxX - 1 ? 2 : 0
    let y = point.y < canvas.minY ? -1 : point.y >= canvas.maxY ? 1 : 0
    return x == 0 && y == 0 ? nil : Point(x: x, y: y)
  }
}
