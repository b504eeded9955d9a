import GraphTesting
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

/// Texts, places and notes at random.
extension SeededGenerator {
  mutating func chance() -> Bool { below(2) == 0 }

  /// Letters, wide ones, emoji, marks, and what must never reach a terminal.
  mutating func text(_ count: Int) -> String {
    let pieces = [
      "a", "word", " ", " ", "\n", "é", "日", "本語", "👍🏽", "👨‍👩‍👧", "🇩🇪", "\t", "z\u{308}\u{323}\u{301}", "\u{200B}",
      "\u{1B}[2J", "\r\n", "\u{7}", "\u{9B}31m", "\u{202E}", "\u{2028}", "\u{0}", "עב",
    ]
    return (0..<count).map { _ in pieces[below(pieces.count)] }.joined()
  }

  mutating func rect(_ reach: Int = 60) -> Rect {
    let isHuge = below(12) == 0
    let far = [Int.max / 2, -Int.max / 2, 1 << 40, -1 << 31]
    return Rect(
      x: isHuge ? far[below(far.count)] : below(reach) - 12, y: isHuge ? far[below(far.count)] : below(reach / 2) - 8,
      width: below(12) == 0 ? Int.max / 4 : below(40), height: below(12) == 0 ? Int.max / 4 : below(14))
  }

  /// The frame of a view, over the edges too.
  mutating func frame() -> Rect {
    Rect(x: below(20) - 5, y: below(12) - 2, width: below(60), height: below(14))
  }

  mutating func theme() -> Theme {
    Theme(isDark: chance(), depth: ColorDepth.allCases[below(4)], isASCII: chance())
  }

  mutating func note(_ id: Int) -> NoteState {
    let frame = rect()
    var note = NoteState(
      id: id, frame: frame, z: below(9) == 0 ? .nan : Double(below(5)), text: text(below(60)),
      color: PaperColor.allCases[below(11)], marks: NoteBadges(rawValue: UInt8(below(16))), isCollapsed: below(5) == 0,
      isFocused: below(4) == 0)
    if chance() { note.tags = [text(3), text(2)] }
    if below(4) == 0 { (note.circle, note.circleColumns) = (chance() ? .checked : .empty, 1 + below(2)) }
    if below(4) == 0 { note.editors = (0...below(3)).map { _ in DisplayedUser(text(3), color: below(100) - 50) } }
    note.scroll = below(6) - 1
    if below(3) == 0 {
      var editor = TextEditor(note.text, width: NoteView.textWidth(of: frame))
      _ = editor.perform(.move(.wordLeft, isSelecting: true))
      note.editing = editor
    }
    return note
  }
}

extension Grid {
  /// A grid of the size of a small terminal, or another.
  static func screen(_ width: Int = 80, _ height: Int = 24) -> Grid { Grid(Size(width: width, height: height)) }

  /// The drawing of a view at a size, as text.
  static func picture(_ width: Int, _ height: Int, _ draw: (inout Grid, Rect) -> Void) -> String {
    var grid = Grid.screen(width, height)
    draw(&grid, grid.bounds)
    return grid.text
  }
}

/// Draws into a grid full of dots, and sees whether a cell outside of `inside` changed, or a wide character was halved.
func expectDrawsInside(
  _ inside: Rect, seed: UInt64, in size: Size = Size(width: 50, height: 20), _ draw: (inout Grid) -> Void,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  var grid = Grid(size)
  grid.fill(grid.bounds, with: ".", Style(.palette(3), on: .palette(4)))
  let before = grid
  draw(&grid)
  #expect(grid.isWellFormed, "seed \(seed)", sourceLocation: sourceLocation)
  for y in 0..<size.height {
    for x in 0..<size.width where !inside.contains(Point(x: x, y: y)) {
      #expect(grid[x, y] == before[x, y], "seed \(seed): \(x), \(y)", sourceLocation: sourceLocation)
    }
  }
  if let cursor = grid.cursor {
    #expect(inside.contains(cursor), "seed \(seed): the cursor is at \(cursor)", sourceLocation: sourceLocation)
  }
  // No control character and nothing invisible reaches a cell.
  let text = grid.text
  #expect(
    !text.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control }, "seed \(seed)",
    sourceLocation: sourceLocation)
}
