import TerminalCells

/// Draws the cursors of other users: a mark, followed by a flag with the name. Titles identify notes, so a flag that
/// would cover a title goes before its mark, or both go behind the title.
extension Canvas {
  /// Maximum width of a name, in columns.
  private static let nameColumns = 16

  /// Draws one cursor.
  /// - Parameter title: returns the columns of the title that covers a point of the screen.
  func draw(
    _ pointer: PointerState, into grid: inout Grid, _ shift: Point, _ clip: Rect, _ theme: Theme,
    title: (Point) -> Range<Int>?
  ) {
    let cell = Rect(origin: pointer.place, size: Size(width: 1, height: 1)).clamped.moved(x: shift.x, y: shift.y)
    guard clip.contains(cell.origin) else { return }
    let y = cell.minY
    /// The number of columns from `x` on, at most `count`, that show no title.
    func free(_ count: Int, from x: Int) -> Int {
      (x..<min(x + count, clip.maxX)).prefix { title(Point(x: $0, y: y)) == nil }.count
    }
    var line = TruncatedLine(pointer.person.name, width: Self.nameColumns, cut: theme.symbols.cut)
    var (mark, name) = (cell.minX, cell.minX + 1)
    let hidden = (mark..<min(mark + 1 + line.width, clip.maxX)).compactMap { title(Point(x: $0, y: y)) }.first
    if let hidden {
      let (before, behind) = (mark - line.width, hidden.upperBound)
      if before >= clip.minX, free(line.width + 1, from: before) == line.width + 1 {
        name = before
      } else if behind + 1 < clip.maxX {
        (mark, name) = (behind, behind + 1)
        line = TruncatedLine(line.text, width: free(line.width, from: name), cut: theme.symbols.cut)
      } else {
        // There is only space for the mark.
        line = TruncatedLine("", width: 0, cut: theme.symbols.cut)
      }
    }
    let tag = theme.person(pointer.person.color)
    let own = grid[mark, y].style
    let color = theme.depth == .none ? own : Style(tag.background, on: own.background)
    grid.draw(String(theme.symbols.pointer), x: mark, y: y, color, clip: clip)
    let end = grid.draw(line.text, x: name, y: y, tag, clip: clip)
    let start = min(mark, name)
    grid.hideCursor(in: Rect(x: start, y: y, width: max(mark + 1, end) - start, height: 1))
  }
}
