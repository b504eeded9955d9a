import TerminalCells

/// Draws the tool bar of edit mode: the commands on the selected notes.
public struct ToolBarView: Hashable, Sendable {
  /// A button of the bar.
  public struct Item: Hashable, Sendable {
    /// The title, without a count.
    public var title: String
    /// The key of the same command.
    public var key: String
    /// Whether the command acts on the selection. If so, the title has the count, and the button is disabled at zero.
    public var actsOnSelection: Bool

    /// Creates a button.
    public init(_ title: String, key: String = "", actsOnSelection: Bool = false) {
      self.title = title
      self.key = key
      self.actsOnSelection = actsOnSelection
    }
  }

  /// The buttons, from the left.
  public let items: [Item]
  /// The number of selected notes; nil outside edit mode.
  public let count: Int?
  /// The fraction of the bar that has slid in, from 0 (invisible) to 1.
  public let slide: Double

  /// Creates a tool bar.
  public init(_ items: [Item], count: Int? = nil, slide: Double = 1) {
    self.items = items
    self.count = count
    self.slide = slide.isNaN ? 1 : min(max(slide, 0), 1)
  }

  private func isEnabled(_ item: Item) -> Bool { !item.actsOnSelection || selected > 0 }

  /// The number of selected notes; 0 outside edit mode.
  private var selected: Int { if let count { count } else { 0 } }

  /// The titles of the buttons.
  /// - Parameter isTight: whether only the first action has the count.
  private func texts(isTight: Bool) -> [String] {
    let first = items.firstIndex(where: \.actsOnSelection)
    return items.enumerated().map { place, item in
      item.actsOnSelection && (!isTight || place == first) ? "\(item.title) (\(selected))" : item.title
    }
  }

  /// The buttons with their columns, from 0. If they do not fit, keys are dropped first, then repeated counts, then
  /// buttons.
  private func placed(width: Int) -> [(place: Int, x: Int, text: String, key: String)] {
    let keyed = items.map { $0.key.isEmpty ? 0 : CellText.width(of: $0.key) + 1 }
    func columns(_ texts: [String]) -> [Int] { texts.map { CellText.width(of: $0) + 3 } }
    var texts = texts(isTight: false)
    if columns(texts).reduce(1, +) > width + 1 { texts = self.texts(isTight: true) }
    let titles = columns(texts)
    let showsKeys = titles.reduce(1, +) + keyed.reduce(0, +) <= width
    var x = 1
    var placed = [(place: Int, x: Int, text: String, key: String)]()
    for (place, item) in items.enumerated() {
      let own = titles[place] + (showsKeys ? keyed[place] : 0)
      guard x + own <= width + 1 else { break }
      placed.append((place, x, texts[place], showsKeys ? item.key : ""))
      x += own
    }
    return placed
  }

  private func shift(_ frame: Rect) -> Int { Int((1 - slide) * Double(frame.size.width)) }

  /// Draws the bar in the first row of `frame`.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let shift = shift(frame)
    let row = Rect(
      x: frame.minX + shift, y: frame.minY, width: frame.size.width - shift, height: min(1, frame.size.height))
    let clip = clip.intersection(row)
    grid.hideCursor(in: clip)
    grid.fill(clip, theme.bar)
    for (place, x, text, key) in placed(width: frame.size.width) {
      let isEnabled = isEnabled(items[place])
      let style = isEnabled ? theme.otherButton : theme.disabled
      var end = grid.draw(" \(text)", x: row.minX + x, y: row.minY, style, clip: clip)
      if !key.isEmpty {
        end = grid.draw(" \(key)", x: end, y: row.minY, isEnabled ? theme.hint : theme.disabled, clip: clip)
      }
      grid.draw(" ", x: end, y: row.minY, style, clip: clip)
    }
  }

  /// The index of the button at a point, disabled ones included.
  public func part(at point: Point, frame: Rect) -> Int? {
    let frame = frame.clamped
    let x = point.x - frame.minX - shift(frame)
    guard frame.contains(point), point.y == frame.minY, x >= 0 else { return nil }
    return placed(width: frame.size.width).first { _, start, text, key in
      let width = CellText.width(of: text) + (key.isEmpty ? 0 : CellText.width(of: key) + 1) + 2
      return x >= start && x < start + width
    }?.place
  }
}
