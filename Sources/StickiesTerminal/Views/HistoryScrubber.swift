import TerminalCells

/// Draws the track of a board's history, with a thumb at the shown revision. Its time and author are below.
public struct HistoryScrubber: Hashable, Sendable {
  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// The track, at a revision; a drag continues from there.
    case revision(UInt64)
    /// The mark that returns to the present.
    case close
  }

  /// The oldest readable revision.
  public let first: UInt64
  /// The newest revision.
  public let last: UInt64
  /// The shown revision.
  public let current: UInt64
  /// The formatted time of the revision.
  public let time: String
  /// The author of the revision.
  public let author: String

  /// Creates a scrubber.
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

  /// The column of the thumb on a track of a width.
  private func column(_ width: Int) -> Int {
    guard last > first, width > 1 else { return max(0, width - 1) }
    return Int((Double(current - first) / Double(last - first) * Double(width - 1)).rounded())
  }

  /// Draws the track in the first row of `frame` and the text in the second.
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

  /// The part at a point; nil where nothing can be clicked. A drag may leave the row; pass the row's own `y` then.
  public func part(at point: Point, frame: Rect) -> Part? {
    let frame = frame.clamped
    guard point.y == frame.minY, frame.contains(point) else { return nil }
    if point.x >= frame.maxX - 3 { return .close }
    return .revision(revision(atColumn: point.x, frame: frame))
  }

  /// The revision at a column of the screen, clamped to the track, for drags.
  public func revision(atColumn x: Int, frame: Rect) -> UInt64 {
    let track = track(frame.clamped)
    guard track.size.width > 1, last > first else { return last }
    let column = min(max(x, track.minX), track.maxX - 1) - track.minX
    if column == track.size.width - 1 { return last }
    return first + min(last - first, UInt64(Double(last - first) * Double(column) / Double(track.size.width - 1)))
  }
}
