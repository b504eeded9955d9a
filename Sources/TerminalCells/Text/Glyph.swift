/// What one cell, or two of a row, can show: a character and up to two marks on it, held in one word. So grids need no
/// table of strings, and two cells are compared by comparing numbers; a third mark on one letter is not drawn.
public struct Glyph: Hashable, Sendable {
  /// The character's 21 bits, and 21 for each mark.
  let bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  /// A character without marks. It has to be one that `CellText` would draw: no control character, no mark.
  init(_ scalar: Unicode.Scalar) { bits = UInt64(scalar.value) }

  /// A blank.
  public static let space = Glyph(bits: 0x20)

  /// The character.
  var base: Unicode.Scalar { Unicode.Scalar(UInt32(bits & 0x1F_FFFF)) ?? "\u{FFFD}" }

  /// The marks, the nearest first.
  var marks: (Unicode.Scalar?, Unicode.Scalar?) {
    let first = UInt32(bits >> 21 & 0x1F_FFFF)
    let second = UInt32(bits >> 42 & 0x1F_FFFF)
    return (first == 0 ? nil : Unicode.Scalar(first), second == 0 ? nil : Unicode.Scalar(second))
  }

  /// With one more mark; unchanged if there is no room.
  func marked(_ mark: Unicode.Scalar) -> Glyph {
    if bits >> 21 == 0 { return Glyph(bits: bits | UInt64(mark.value) << 21) }
    if bits >> 42 == 0 { return Glyph(bits: bits | UInt64(mark.value) << 42) }
    return self
  }

  /// Cells that it takes, 1 or 2.
  public var width: Int { CellText.width(of: base) == 2 ? 2 : 1 }

  /// What it shows, as text.
  public var text: String {
    var text = String.UnicodeScalarView()
    text.append(base)
    if let mark = marks.0 { text.append(mark) }
    if let mark = marks.1 { text.append(mark) }
    return String(text)
  }

  /// True if terminals may disagree about how many cells it takes: whatever has marks, and emoji and symbols beyond
  /// those that everybody knows. After such a one the cursor is put where it belongs, so that a disagreement stays in
  /// one cell.
  var isDoubtful: Bool {
    if bits < 0x300 { return false }
    if bits >> 21 != 0 { return true }
    // Greek, Cyrillic, arrows, lines and blocks, kana, ideographs, syllables of Hangul.
    switch bits {
    case 0x370...0x3FF, 0x400...0x4FF, 0x2010...0x2027, 0x2190...0x2193, 0x2400...0x2426, 0x2500...0x259F: return false
    case 0x3001...0x3029, 0x3041...0x3096, 0x30A0...0x30FF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: return false
    default: return true
    }
  }
}
