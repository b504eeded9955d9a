import TerminalApplication
import TerminalCells

/// Scrolls the board while a note is dragged at an edge of the canvas. The note can thus be moved to invisible
/// places.
extension MouseController {
  /// Time between two scroll steps, in milliseconds.
  private static let edgeMilliseconds: Int64 = 50

  /// Updates the position of a drag and starts the timer.
  func watchEdges(_ point: Point) {
    edgePlace = point
    guard edgeTimer == nil else { return }
    // The timer fires only in tracking mode, so it need not be cancelled.
    edgeTimer = application.schedule(
      at: now + Self.edgeMilliseconds, every: Self.edgeMilliseconds, modes: [.tracking]
    ) { [weak self] in
      self?.scrollAtEdge()
    }
  }

  private func scrollAtEdge() {
    guard let point = edgePlace, let step = edgeStep(at: point) else { return }
    pages.scroll(by: step)
    if let dragged { drag(dragged, to: point) }
  }

  /// The scroll step for a drag position; nil in the middle. Above and below the canvas there are bars to drag over;
  /// at the left and right edges of the screen, the outermost column counts.
  private func edgeStep(at point: Point) -> Point? {
    let x = point.x <= viewport.canvas.minX ? -2 : point.x >= viewport.canvas.maxX - 1 ? 2 : 0
    let y = point.y < viewport.canvas.minY ? -1 : point.y >= viewport.canvas.maxY ? 1 : 0
    return x == 0 && y == 0 ? nil : Point(x: x, y: y)
  }
}
