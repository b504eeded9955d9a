import TerminalCells

/// Says on an empty board what can be done first.
public struct EmptyBoard: Hashable, Sendable {
  /// What is said, line by line, the first one bold.
  public let lines: [String]

  /// Any words.
  public init(lines: [String]) { self.lines = lines }

  /// An empty board's words, with the keys as they are.
  public init(board: String, newNoteKey: String, helpKey: String) {
    lines = [
      board.isEmpty ? "Nothing sticks here yet." : "Nothing sticks to \(board) yet.", "",
      "\(newNoteKey)  makes a note: type at once.", "Or click twice where it shall lie.",
      "\(helpKey)  shows all commands.",
    ]
  }

  /// A search or a filter that nothing passes.
  public static func nothingFound(_ clearKey: String) -> EmptyBoard {
    EmptyBoard(lines: ["Nothing found.", "", "\(clearKey)  shows all notes again."])
  }

  /// Draws it in the middle of a board of a color.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme, color: PaperColor = .gray) {
    let frame = frame.clamped
    let clip = clip.intersection(frame)
    let width = lines.map { CellLine($0, width: frame.size.width, cut: theme.symbols.cut).width }.max() ?? 0
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

/// What is shown instead of everything else where there is no room for it.
public struct TooSmall: Hashable, Sendable {
  /// The smallest screen that is worked on.
  public static let least = Size(width: 40, height: 10)

  /// Whether a screen is too small.
  public static func isTooSmall(_ size: Size) -> Bool { size.width < least.width || size.height < least.height }

  /// Whether the answers of a question can be read on a screen.
  public static func fitsQuestions(_ size: Size) -> Bool { size.width >= 24 && size.height >= 7 }

  /// What keys do meanwhile, as a sentence.
  public let keys: String

  /// The message.
  public init(keys: String) { self.keys = keys }

  /// Draws it over `frame`, as much of it as fits.
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
