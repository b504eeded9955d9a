import TerminalCells

/// Draws a hint on an empty board.
public struct EmptyBoardHint: Hashable, Sendable {
  /// The lines of the hint; the first one is bold.
  public let lines: [String]

  /// Creates a hint from any lines.
  public init(lines: [String]) { self.lines = lines }

  /// Creates the hint of an empty board, with the given keys.
  public init(board: String, newNoteKey: String, helpKey: String) {
    lines = [
      board.isEmpty ? "There are no notes yet." : "There are no notes on \(board) yet.", "",
      "\(newNoteKey)  creates a note; just type.", "Or click twice where it should go.",
      "\(helpKey)  shows all commands.",
    ]
  }

  /// The hint for a search or filter without results.
  public static func nothingFound(_ clearKey: String) -> EmptyBoardHint {
    EmptyBoardHint(lines: ["Nothing found.", "", "\(clearKey)  shows all notes again."])
  }

  /// Draws the hint in the middle of a board of a color.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme, color: PaperColor = .gray) {
    let frame = frame.clamped
    let clip = clip.intersection(frame)
    let width = lines.map { TruncatedLine($0, width: frame.size.width, cut: theme.symbols.cut).width }.reduce(0, max)
    let area = frame.centered(Size(width: width, height: lines.count))
    grid.hideCursor(in: clip.intersection(area))
    for (row, line) in lines.prefix(area.size.height).enumerated() {
      let style = row == 0 ? theme.board(color).bold : theme.link(color)
      grid.draw(
        line, x: area.minX, y: area.minY + row, width: width, style, clip: clip.intersection(area),
        cut: theme.symbols.cut)
    }
  }
}

/// The message that replaces everything on a screen that is too small.
public struct TooSmallMessage: Hashable, Sendable {
  /// The smallest usable screen.
  public static let least = Size(width: 40, height: 10)

  /// Whether a screen is too small.
  public static func isTooSmall(_ size: Size) -> Bool { size.width < least.width || size.height < least.height }

  /// Whether the answers of a question fit on a screen.
  public static func fitsQuestions(_ size: Size) -> Bool { size.width >= 24 && size.height >= 7 }

  /// A sentence about what keys do meanwhile.
  public let keys: String

  /// Creates the message.
  public init(keys: String) { self.keys = keys }

  /// Draws as much of the message over `frame` as fits.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let clip = clip.intersection(frame)
    grid.hideCursor(in: clip)
    grid.fill(clip, theme.board(.gray))
    let words = "Too small: make it \(Self.least.width) by \(Self.least.height) or larger.\n\(keys)"
    let layout = TextLayout(words, width: frame.size.width)
    for row in layout.rows.indices {
      grid.draw(
        layout.shown(row, of: words), x: frame.minX, y: frame.minY + row, theme.board(.gray), clip: clip)
    }
  }
}
