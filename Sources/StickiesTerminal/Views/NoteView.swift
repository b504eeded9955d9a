import TerminalCells

/// A part of a note under the mouse.
public enum NotePart: Hashable, Sendable {
  /// The row with the title; drags move the note.
  case title
  /// The close mark, of the focused note only.
  case close
  /// The selection circle.
  case circle
  /// The corner whose drags resize the note.
  case resize
  /// The text, at the nearest offset in UTF-8.
  case text(Int)
  /// A cell of the laid-out text, for the editor of a note that is edited here.
  case editor(Point)
  /// The rest of the frame.
  case border
}

/// Draws a note. The first line is the title; if it fits, the body begins with the second line.
public struct NoteView: Sendable {
  /// The state to draw.
  public let state: NoteState

  /// The minimum useful size; smaller notes are drawn, too.
  public static let minimumSize = Size(width: 10, height: 3)
  /// Columns of the circle, including the space before the title.
  public static let circleWidth = 2

  /// Creates a view of a note.
  public init(_ state: NoteState) { self.state = state }

  // MARK: - Layout

  /// The rectangle of the text within a frame.
  public static func textFrame(in frame: Rect) -> Rect {
    let inside = frame.inset(1)
    return inside.size.width >= 10
      ? Rect(x: inside.minX + 1, y: inside.minY, width: inside.size.width - 2, height: inside.size.height) : inside
  }

  /// The width of the text in a frame, in columns; the width for its editor.
  public static func textWidth(of frame: Rect) -> Int { max(1, textFrame(in: frame.clamped).size.width) }

  /// The scroll position nearest to `scroll` at which the editor's cursor is visible.
  public static func scroll(_ scroll: Int, showing editor: TextEditor, in frame: Rect) -> Int {
    let rows = max(1, textFrame(in: frame.clamped).size.height)
    let cursor = editor.cursorPosition.y
    return max(0, min(max(scroll, cursor - rows + 1), cursor))
  }

  /// The scroll position, clamped to the existing rows.
  public func scroll(_ scroll: Int, cache: LayoutCache, theme: Theme) -> Int {
    let rows = rows(cache, theme).layout.rows.count
    return max(0, min(scroll, rows - Self.textFrame(in: state.frame.clamped).size.height))
  }

  private func marks(_ symbols: Symbols) -> String {
    var text = state.number
    if state.isCollapsed { text.append(symbols.badges.collapsed) }
    if state.marks.contains(.pinned) { text.append(symbols.badges.pinned) }
    if state.marks.contains(.locked) { text.append(symbols.badges.locked) }
    if state.marks.contains(.conflict) { text.append(symbols.badges.conflict) }
    if state.marks.contains(.unsent) { text.append(symbols.badges.unsent) }
    return text
  }

  /// The column of the close mark, reserved in all notes so that titles do not move with the focus.
  private func closeColumn(_ outline: Rect) -> Int { outline.maxX - 2 }

  /// The visible columns of the circle.
  private var circleColumns: Int { min(max(state.circleColumns, 0), Self.circleWidth) }

  private func titleStart(_ outline: Rect) -> Int { outline.minX + 2 + circleColumns }

  private func titleWidth(_ outline: Rect, marks: Int) -> Int {
    max(0, closeColumn(outline) - 1 - (marks == 0 ? 0 : marks + 1) - titleStart(outline))
  }

  /// The title, and the rows of the body.
  private func rows(_ cache: LayoutCache, _ theme: Theme) -> LayoutCache.Entry {
    let outline = state.outline
    return cache.entry(
      state.id, text: state.text, width: Self.textWidth(of: state.frame),
      titleWidth: titleWidth(outline, marks: marks(theme.symbols).count), cut: theme.symbols.cut)
  }

  /// The cells of the board that show the title.
  func titleText(theme: Theme, cache: LayoutCache) -> Rect {
    let outline = state.outline
    return Rect(x: titleStart(outline), y: outline.minY, width: rows(cache, theme).title.width, height: 1)
  }

  // MARK: - Drawing

  /// Draws the note with its top left cell at `origin`. The shadow lies outside its frame, and within `clip`.
  public func draw(into grid: inout Grid, at origin: Point, clip: Rect, theme: Theme, cache: LayoutCache) {
    let board = state.outline
    let outline = Rect(origin: origin, size: board.size).clamped
    let clip = clip.intersection(grid.bounds)
    guard !clip.isEmpty, !outline.isEmpty else { return }
    grid.shadow(of: outline, clip: clip)
    let inside = clip.intersection(outline)
    guard !inside.isEmpty else { return }
    grid.hideCursor(in: inside)
    let look = theme.note(state.color)
    grid.fill(inside, look.text)
    let local = outline.origin
    let shift = Point(x: local.x - board.minX, y: local.y - board.minY)
    drawFrame(into: &grid, at: local, clip: inside, theme: theme, cache: cache)
    guard outline.size.height > 1 else { return }
    let frame = Self.textFrame(in: state.frame.clamped.moved(x: shift.x, y: shift.y))
    // Includes the edge, where arrows mark that there is more text.
    let reach = Rect(
      x: frame.minX, y: frame.minY, width: max(0, outline.maxX - frame.minX), height: frame.size.height)
    if !reach.intersection(inside).isEmpty { drawText(into: &grid, outline, frame, inside, theme, look, cache) }
    drawFoot(into: &grid, outline, inside, theme, look)
  }

  /// Draws only the frame and the row with the title, over existing content.
  func drawFrame(into grid: inout Grid, at origin: Point, clip: Rect, theme: Theme, cache: LayoutCache) {
    let outline = Rect(origin: origin, size: state.outline.size).clamped
    let look = theme.note(state.color)
    if outline.size.height > 1 {
      grid.box(
        outline, state.isFocused ? theme.symbols.focusedBox : theme.symbols.box,
        state.isFocused ? look.focusedBorder : look.border, clip: clip)
    }
    drawTitle(into: &grid, outline, clip, theme, look, cache)
  }

  private func drawTitle(
    into grid: inout Grid, _ outline: Rect, _ clip: Rect, _ theme: Theme, _ look: Theme.NoteStyles, _ cache: LayoutCache
  ) {
    let y = outline.minY
    guard y >= clip.minY, y < clip.maxY else { return }
    let symbols = theme.symbols
    let style = state.isFocused ? look.focusedTitle : look.title
    let row = Rect(x: outline.minX, y: y, width: outline.size.width, height: 1)
    if outline.size.height == 1 {
      grid.fill(row, with: symbols.line, style, clip: clip)
      grid.draw(String(symbols.leftEnd), x: row.minX, y: y, style, clip: clip)
      grid.draw(String(symbols.rightEnd), x: row.maxX - 1, y: y, style, clip: clip)
    } else {
      grid.restyle(row, clip: clip) { $0 = style }
    }
    // Even in the narrowest notes the ends of the frame stay complete.
    let clip = clip.intersection(Rect(x: row.minX + 1, y: y, width: row.size.width - 2, height: 1))
    let marks = marks(symbols)
    if circleColumns > 0 {
      let mark = state.circle == .checked ? symbols.selected : symbols.unselected
      // The circle slides in from under the frame.
      grid.draw(" \(mark) ", x: row.minX + 1 - (Self.circleWidth - circleColumns), y: y, style, clip: clip)
    }
    let rows = rows(cache, theme)
    let start = Point(x: titleStart(outline), y: y)
    if !rows.title.text.isEmpty {
      let end = grid.draw(rows.title.text, x: start.x, y: y, style, clip: clip)
      grid.draw(" ", x: start.x - 1, y: y, style, clip: clip)
      let shown = Rect(x: start.x, y: y, width: rows.title.width, height: 1).intersection(clip)
      grid.highlight(state.matches, of: rows.title.text, x: start.x, y: y, theme.match, clip: shown)
      grid.draw(" ", x: end, y: y, style, clip: clip)
    }
    let close = closeColumn(outline)
    if !marks.isEmpty { grid.draw(" " + marks, x: close - 1 - marks.count, y: y, style, clip: clip) }
    if state.isFocused { grid.draw(String(symbols.close), x: close, y: y, style, clip: clip) }
  }

  private func drawText(
    into grid: inout Grid, _ outline: Rect, _ frame: Rect, _ clip: Rect, _ theme: Theme, _ look: Theme.NoteStyles,
    _ cache: LayoutCache
  ) {
    let area = clip.intersection(frame)
    let layout: TextLayout
    let text: String
    var isCut = false
    /// The search matches, relative to the laid-out text.
    var matches = [Range<Int>]()
    if let editor = state.editing {
      (layout, text) = (editor.layout, editor.text)
    } else {
      let rows = rows(cache, theme)
      (layout, text, isCut) = (rows.layout, rows.text, rows.isCut)
      matches = state.matches.map { $0.lowerBound - rows.start..<$0.upperBound - rows.start }
    }
    let scroll = max(0, min(state.scroll, layout.rows.count))
    for y in area.minY..<area.maxY {
      let row = scroll + y - frame.minY
      guard row < layout.rows.count else { break }
      let shown = layout.shown(row, of: text)
      grid.draw(shown, x: frame.minX, y: y, look.text, clip: area)
      if !matches.isEmpty {
        let place = layout.rows[row].visible
        let found = matches.filter { $0.overlaps(place) }
          .map { $0.lowerBound - place.lowerBound..<$0.upperBound - place.lowerBound }
        grid.highlight(found, of: String(shown), x: frame.minX, y: y, theme.match, clip: area)
      }
      guard let columns = state.editing?.selectedColumns(row: row) else { continue }
      let selected = Rect(x: frame.minX + columns.lowerBound, y: y, width: columns.count, height: 1)
      grid.restyle(selected, clip: area) { $0 = look.selected }
    }
    let edge = outline.maxX - 1
    if scroll > 0 { grid.draw(String(theme.symbols.arrows.up), x: edge, y: frame.minY, look.border, clip: clip) }
    if isCut || layout.rows.count - scroll > frame.size.height {
      grid.draw(String(theme.symbols.arrows.down), x: edge, y: frame.maxY - 1, look.border, clip: clip)
    }
    guard state.isFocused, let editor = state.editing else { return }
    let place = editor.cursorPosition
    let cursor = Point(
      x: min(frame.minX + place.x, frame.maxX), y: frame.minY + place.y - scroll)
    // After a full row the cursor is on the edge.
    let reach = clip.intersection(
      Rect(x: frame.minX, y: frame.minY, width: frame.size.width + 1, height: frame.size.height))
    if reach.contains(cursor) { grid.cursor = cursor }
  }

  private func drawFoot(
    into grid: inout Grid, _ outline: Rect, _ clip: Rect, _ theme: Theme, _ look: Theme.NoteStyles
  ) {
    let y = outline.maxY - 1
    guard y >= clip.minY, y < clip.maxY else { return }
    if state.isFocused {
      grid.draw(String(theme.symbols.resize), x: outline.maxX - 1, y: y, look.focusedBorder, clip: clip)
    }
    let width = outline.size.width - 6
    guard width > 0 else { return }
    let clip = clip.intersection(Rect(x: outline.minX + 1, y: y, width: outline.size.width - 2, height: 1))
    if let first = state.editors.first {
      // Only the first names: no note is wide enough for more.
      let names = state.editors.prefix(20).map(\.name).joined(separator: ", ")
      let line = TruncatedLine(
        "\(names) \(state.editors.count == 1 ? "edits" : "edit")", width: width, cut: theme.symbols.cut)
      grid.draw(" \(line.text) ", x: outline.minX + 2, y: y, theme.person(first.color), clip: clip)
    } else if !state.tags.isEmpty {
      let tags = state.tags.prefix(20).map { "#\($0)" }.joined(separator: " ")
      let line = TruncatedLine(tags, width: width, cut: theme.symbols.cut)
      grid.draw(" \(line.text) ", x: outline.minX + 2, y: y, look.faint, clip: clip)
    }
  }

  // MARK: - Mouse

  /// The part at a point of the board; nil outside the note.
  public func part(at point: Point, theme: Theme, cache: LayoutCache) -> NotePart? {
    let outline = state.outline
    guard outline.contains(point) else { return nil }
    if point.y == outline.minY {
      if state.isFocused, point.x == closeColumn(outline) { return .close }
      if circleColumns > 0, point.x > outline.minX, point.x < outline.minX + 2 + circleColumns { return .circle }
      return .title
    }
    if point.y == outline.maxY - 1, point.x >= outline.maxX - 2 { return .resize }
    let frame = Self.textFrame(in: state.frame.clamped)
    guard point.y >= frame.minY, point.y < frame.maxY, point.x > outline.minX, point.x < outline.maxX - 1 else {
      return .border
    }
    let cell = Point(x: max(0, point.x - frame.minX), y: point.y - frame.minY + max(0, state.scroll))
    if state.editing != nil { return .editor(cell) }
    let rows = rows(cache, theme)
    return .text(rows.start + rows.layout.offset(at: cell, in: rows.text))
  }
}
