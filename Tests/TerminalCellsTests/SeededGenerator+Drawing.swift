import GraphTesting
import TerminalCells

/// Texts, looks and drawings at random.
extension SeededGenerator {
  mutating func one<T>(of items: [T]) -> T { items[below(items.count)] }

  static let pieces = [
    "a", "b", "word", " ", " ", "\n", "é", "e\u{301}", "日", "本語", "👍🏽", "👨‍👩‍👧", "🇩🇪", "❤️", "\t", "한", "ß", "z\u{308}\u{323}",
    "नि",
    "\u{200B}", "\u{1B}", "\r\n", "עב", "🎉", "—", "─",
  ]

  mutating func text(_ count: Int) -> String { (0..<count).map { _ in one(of: Self.pieces) }.joined() }

  mutating func style() -> Style {
    let colors: [Color] = [
      .standard, .standard, .palette(1), .palette(12), .palette(200), .rgb(255, 200, 0), .rgb(1, 2, 3),
    ]
    return Style(one(of: colors), on: one(of: colors), Style.Attributes(rawValue: UInt8(below(3) == 0 ? below(32) : 0)))
  }

  /// Draws something somewhere, over the edges too.
  mutating func scribble(on grid: inout Grid) {
    let x = below(grid.size.width + 6) - 4
    let y = below(grid.size.height + 2) - 1
    let rect = Rect(x: x, y: y, width: below(12), height: below(6))
    let clip: Rect? = below(2) == 0 ? nil : Rect(x: below(10), y: below(4), width: below(20), height: below(8))
    let look = style()
    switch below(6) {
    case 0: grid.fill(rect, with: one(of: [" ", ".", "日"]), look, clip: clip)
    case 1: grid.box(rect, one(of: [.light, .double, .ascii]), look, clip: clip)
    case 2: grid.shade(rect, clip: clip)
    case 3: grid.fill(grid.bounds, clip: clip)
    default: grid.draw(text(6), x: x, y: y, look, clip: clip)
    }
    grid.cursor = below(3) == 0 ? nil : Point(x: below(grid.size.width), y: below(grid.size.height))
  }
}
