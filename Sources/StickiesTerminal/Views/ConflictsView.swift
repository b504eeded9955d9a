import TerminalCells

/// Draws the edits that the server has refused: a list, and below it the reason and both values of the focused one.
public struct ConflictsView: Hashable, Sendable {
  /// The values of a property.
  public struct Values: Hashable, Sendable {
    /// The property, such as `Note.color`.
    public var name: String
    /// The user's value; empty for none.
    public var mine: String
    /// The server's value; empty for none.
    public var theirs: String
    /// The author of the server's value, and its revision.
    public var author: String

    /// Creates the values of a property.
    public init(name: String, mine: String = "", theirs: String = "", author: String = "") {
      (self.name, self.mine, self.theirs, self.author) = (name, mine, theirs, author)
    }
  }

  /// An edit in conflict.
  public struct Edit: Hashable, Sendable {
    /// The number of the edit.
    public var number: Int64
    /// The properties that it changes.
    public var title: String
    /// The user who made it.
    public var author: String
    /// When it was made.
    public var time: String
    /// Why the server has refused it.
    public var reason: String
    /// The values of each property.
    public var values: [Values]

    /// Creates an edit in conflict.
    public init(
      number: Int64, title: String, author: String = "", time: String = "", reason: String = "", values: [Values] = []
    ) {
      (self.number, self.title, self.author, self.time) = (number, title, author, time)
      (self.reason, self.values) = (reason, values)
    }
  }

  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// An edit, by its place in the list.
    case edit(Int)
    /// The close mark.
    case close
    /// The rest of the panel.
    case panel
  }

  /// The edits, oldest first.
  public let edits: [Edit]
  /// The place of the focused edit.
  public let focus: Int
  /// The first visible place.
  public let top: Int
  /// The keys and their effects; empty if there are none.
  public let keys: String

  /// Creates a list of edits in conflict.
  public init(_ edits: [Edit], focus: Int = 0, top: Int = 0, keys: String = "") {
    self.edits = edits
    self.focus = min(max(focus, 0), max(0, edits.count - 1))
    self.top = min(max(top, 0), max(0, edits.count - 1))
    self.keys = keys
  }

  /// The sentence for an empty list.
  static let nothing = "No edit is in conflict. Edits that the server refuses wait here, with both values."

  private static let largest = Size(width: 78, height: 22)
  /// The rows of a value; longer ones are truncated.
  private static let valueRows = 4
  private static let labelWidth = 8

  private struct Layout {
    let panel: Rect
    let list: Rect
    let detail: Rect
  }

  private func place(_ screen: Rect) -> Layout {
    let (width, height) = (max(0, screen.size.width - 2), max(0, screen.size.height - 2))
    let panel = screen.centered(
      Size(width: min(Self.largest.width, width), height: min(Self.largest.height, height)))
    let inside = panel.inset(1)
    // The last row of the panel has the keys.
    let rows = max(0, inside.size.height - 1)
    let listed = min(edits.count, max(1, rows / 3))
    return Layout(
      panel: panel,
      list: Rect(x: inside.minX, y: inside.minY, width: inside.size.width, height: min(listed, rows)),
      detail: Rect(
        x: inside.minX + 1, y: inside.minY + listed + 1, width: max(0, inside.size.width - 2),
        height: max(0, rows - listed - 1)))
  }

  /// The number of rows of the list on a screen.
  public func rows(in screen: Rect) -> Int { place(screen.clamped).list.size.height }

  /// Draws the list in the middle of a screen.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let place = place(frame)
    let clip = clip.intersection(frame)
    grid.panel(place.panel, theme: theme, clip: clip)
    let inside = clip.intersection(place.panel)
    let cut = theme.symbols.cut
    grid.draw(
      " Conflicts ", x: place.panel.minX + 2, y: place.panel.minY, width: place.panel.size.width - 6, theme.panel.bold,
      clip: inside, cut: cut)
    grid.draw(String(theme.symbols.close), x: place.panel.maxX - 3, y: place.panel.minY, theme.panel, clip: inside)
    grid.draw(
      edits.isEmpty || keys.isEmpty ? "Esc close" : keys, x: place.panel.minX + 2, y: place.panel.maxY - 2,
      width: place.panel.size.width - 4, theme.panelBorder, clip: inside, cut: cut)
    for row in 0..<place.list.size.height where edits.indices.contains(top + row) {
      draw(edits[top + row], isFocused: top + row == focus, into: &grid, place.list, row: row, inside, theme)
    }
    drawDetail(into: &grid, place.detail, inside.intersection(place.panel.inset(1)), theme)
  }

  private func draw(
    _ edit: Edit, isFocused: Bool, into grid: inout Grid, _ list: Rect, row: Int, _ clip: Rect, _ theme: Theme
  ) {
    let line = Rect(x: list.minX, y: list.minY + row, width: list.size.width, height: 1)
    let style = isFocused ? theme.chosen : theme.panel
    if isFocused { grid.fill(line.intersection(clip), style) }
    let end = [edit.author, edit.time].filter { !$0.isEmpty }.joined(separator: " ")
    let shown = TruncatedLine(end, width: line.size.width / 2, cut: theme.symbols.cut)
    grid.draw(
      "\(edit.number)  \(edit.title)", x: line.minX + 1, y: line.minY, width: line.size.width - shown.width - 4, style,
      clip: clip, cut: theme.symbols.cut)
    grid.draw(shown.text, x: line.maxX - 1 - shown.width, y: line.minY, style, clip: clip)
  }

  private func drawDetail(into grid: inout Grid, _ area: Rect, _ clip: Rect, _ theme: Theme) {
    guard edits.indices.contains(focus) else {
      var y = area.minY
      draw(Self.nothing, indent: 0, into: &grid, area, &y, theme.panel, clip)
      return
    }
    let edit = edits[focus]
    var y = area.minY
    draw(edit.reason, indent: 0, into: &grid, area, &y, theme.panel, clip)
    for values in edit.values {
      y += 1
      draw(values.name, indent: 0, into: &grid, area, &y, theme.panel.bold, clip)
      let theirs = values.author.isEmpty ? values.theirs : "\(values.theirs)  (\(values.author))"
      for (label, text) in [("mine", values.mine), ("theirs", theirs)] where !text.isEmpty {
        if y < area.maxY { grid.draw(label, x: area.minX, y: y, theme.panelBorder, clip: clip) }
        draw(text, indent: Self.labelWidth, into: &grid, area, &y, theme.panel, clip)
      }
    }
  }

  /// Draws a text on as many rows as it needs, up to `valueRows`.
  private func draw(
    _ text: String, indent: Int, into grid: inout Grid, _ area: Rect, _ y: inout Int, _ style: Style, _ clip: Rect
  ) {
    let width = area.size.width - indent
    guard width > 0, !text.isEmpty else { return }
    let layout = TextLayout(text, width: width)
    for row in layout.rows.indices.prefix(Self.valueRows) {
      if y < area.maxY { grid.draw(layout.shown(row, of: text), x: area.minX + indent, y: y, style, clip: clip) }
      y += 1
    }
  }

  /// The part at a point; nil outside the panel.
  public func part(at point: Point, frame: Rect) -> Part? {
    let place = place(frame.clamped)
    guard place.panel.contains(point) else { return nil }
    if point.y == place.panel.minY, point.x == place.panel.maxX - 3 { return .close }
    let row = top + point.y - place.list.minY
    return place.list.contains(point) && edits.indices.contains(row) ? .edit(row) : .panel
  }
}
