import TerminalCells

/// Draws the line along which one goes back in a board's history: a thumb on it, and what stood at that revision.
public struct HistoryScrubber: Hashable, Sendable {
  /// A part of it that can be clicked.
  public enum Part: Hashable, Sendable {
    /// The line, at a revision; drags go on from there.
    case revision(UInt64)
    /// Back to the present.
    case close
  }

  /// The oldest revision that can be shown.
  public let first: UInt64
  /// The newest.
  public let last: UInt64
  /// The one that is shown.
  public let current: UInt64
  /// When it was made, in words.
  public let time: String
  /// Whose it is.
  public let author: String

  /// A scrubber.
  public init(first: UInt64, last: UInt64, current: UInt64, time: String = "", author: String = "") {
    self.first = min(first, last)
    self.last = max(first, last)
    self.current = min(max(current, self.first), self.last)
    self.time = time
    self.author = author
  }

  private func track(_ frame: Rect) -> Rect {
    Rect(x: frame.minX + 2, y: frame.minY, width: max(0, frame.size.width - 6), height: min(1, frame.size.height))
  }

  /// The thumb's column on a line of so many columns.
  private func column(_ width: Int) -> Int {
    guard last > first, width > 1 else { return max(0, width - 1) }
    return Int((Double(current - first) / Double(last - first) * Double(width - 1)).rounded())
  }

  /// Draws the line into the first row of `frame` and the words into the second.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let height = min(2, frame.size.height)
    let clip = clip.intersection(Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: height))
    guard !clip.isEmpty else { return }
    grid.hideCursor(in: clip)
    grid.fill(clip, theme.bar)
    let track = track(frame)
    grid.fill(track, with: theme.symbols.line, theme.hint, clip: clip)
    let column = column(track.size.width)
    let passed = Rect(x: track.minX, y: track.minY, width: column, height: 1)
    grid.fill(passed, with: theme.symbols.passed, theme.bar, clip: clip)
    grid.draw(
      String(theme.symbols.selected), x: track.minX + column, y: track.minY, theme.waiting,
      clip: clip.intersection(track))
    grid.draw(String(theme.symbols.close), x: frame.maxX - 2, y: frame.minY, theme.bar, clip: clip)
    var words = "revision \(current) of \(last)"
    if !time.isEmpty { words += ", \(time)" }
    if !author.isEmpty { words += ", \(author)" }
    grid.draw(
      words, x: frame.minX + 2, y: frame.minY + 1, width: frame.size.width - 3, theme.bar, clip: clip,
      cut: theme.symbols.cut)
  }

  /// What lies at a point; nil where nothing can be clicked. A drag may leave the row: give it the row's own `y`.
  public func part(at point: Point, frame: Rect) -> Part? {
    let frame = frame.clamped
    guard point.y == frame.minY, frame.contains(point) else { return nil }
    if point.x >= frame.maxX - 3 { return .close }
    return .revision(revision(atColumn: point.x, frame: frame))
  }

  /// The revision at a column of the screen, the nearest one beside the line: for drags.
  public func revision(atColumn x: Int, frame: Rect) -> UInt64 {
    let track = track(frame.clamped)
    guard track.size.width > 1, last > first else { return last }
    let column = min(max(x, track.minX), track.maxX - 1) - track.minX
    if column == track.size.width - 1 { return last }
    return first + min(last - first, UInt64(Double(last - first) * Double(column) / Double(track.size.width - 1)))
  }
}
