import GraphModel
import GraphTesting

/// Texts that are difficult to preserve: marks of front matter, line ends of all kinds, control characters, letters of
/// several bytes.
struct RandomTexts {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private static let pieces = [
    "---", "\n", "\r\n", "\r", "a", "é", "word", " ", "\u{0}", "\u{7}", "id: x", "😀", "\u{FEFF}", "tags: []", "\t",
    "e\u{301}", "\"", "\\", "]", ",",
  ]

  mutating func text(_ count: Int = 30) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...count, using: &random) {
      text += Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)]
    }
    return text
  }

  mutating func id() -> UniqueID {
    UniqueID(high: .random(in: 1 ... .max, using: &random), low: .random(in: 0 ... .max, using: &random))
  }
}
