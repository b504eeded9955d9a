import TerminalCells

/// The number of notes beyond each edge of a canvas, for boards too large for a mark at each place.
struct OffscreenCounts: Hashable {
  /// The number of notes on each side; a side without notes has no mark.
  let counts: [BoardSide: Int]

  /// Frame and text of each mark, in a fixed order.
  func marks(in frame: Rect, symbols: Symbols) -> [(place: Rect, text: String)] {
    BoardSide.allCases.compactMap { side in
      guard let count = counts[side], count > 0, !frame.isEmpty else { return nil }
      let text =
        switch side {
        case .left: "\(symbols.arrows.left)\(count)"
        case .right: "\(count)\(symbols.arrows.right)"
        case .up: "\(symbols.arrows.up)\(count)"
        case .down: "\(symbols.arrows.down)\(count)"
        }
      let middle = frame.middle
      let width = min(text.count, frame.size.width)
      let origin =
        switch side {
        case .left: Point(x: frame.minX, y: middle.y)
        case .right: Point(x: frame.maxX - width, y: middle.y)
        case .up: Point(x: middle.x - width / 2, y: frame.minY)
        case .down: Point(x: middle.x - width / 2, y: frame.maxY - 1)
        }
      return (Rect(origin: origin, size: Size(width: width, height: 1)), text)
    }
  }

  func draw(into grid: inout Grid, frame: Rect, theme: Theme) {
    for mark in marks(in: frame, symbols: theme.symbols) {
      grid.hideCursor(in: mark.place)
      grid.draw(mark.text, x: mark.place.minX, y: mark.place.minY, theme.note(.gray).title, clip: frame)
    }
  }
}
