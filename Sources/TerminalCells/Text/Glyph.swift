/// A character with up to two combining marks, in one 64-bit word. Grids therefore need no string table, and cells
/// are compared as numbers. A third mark is not drawn.
public struct Glyph: Hashable, Sendable {
  /// The character's 21 bits, and 21 for each mark.
  let bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  /// Creates a glyph without marks. The scalar must be one that `CellText` draws, not a control character or a mark.
  init(_ scalar: Unicode.Scalar) { bits = UInt64(scalar.value) }

  /// A blank.
  public static let space = Glyph(bits: 0x20)

  /// The character.
  var base: Unicode.Scalar {
    guard let scalar = Unicode.Scalar(UInt32(bits & 0x1F_FFFF)) else { preconditionFailure("a glyph has a scalar") }
    return scalar
  }

  /// The marks, the nearest first.
  var marks: (Unicode.Scalar?, Unicode.Scalar?) {
    let first = UInt32(bits >> 21 & 0x1F_FFFF)
    let second = UInt32(bits >> 42 & 0x1F_FFFF)
    return (first == 0 ? nil : Unicode.Scalar(first), second == 0 ? nil : Unicode.Scalar(second))
  }

  /// Returns the glyph with one more mark; unchanged if it has two.
  func marked(_ mark: Unicode.Scalar) -> Glyph {
    if bits >> 21 == 0 { return Glyph(bits: bits | UInt64(mark.value) << 21) }
    if bits >> 42 == 0 { return Glyph(bits: bits | UInt64(mark.value) << 42) }
    return self
  }

  /// The number of cells, 1 or 2.
  public var width: Int { CellText.width(of: base) == 2 ? 2 : 1 }

  /// The glyph as text.
  public var text: String {
    var text = String.UnicodeScalarView()
    text.append(base)
    if let mark = marks.0 { text.append(mark) }
    if let mark = marks.1 { text.append(mark) }
    return String(text)
  }

  /// Whether terminals may disagree on its width: all glyphs with marks, and less common emoji and symbols. After
  /// such a glyph the cursor is positioned explicitly, so that a different width affects only one cell.
  var isDoubtful: Bool {
    if bits < 0x300 { return false }
    if bits >> 21 != 0 { return true }
    // Greek, Cyrillic, arrows, box drawing and blocks, kana, ideographs, Hangul syllables.
    switch bits {
    case 0x370...0x3FF, 0x400...0x4FF, 0x2010...0x2027, 0x2190...0x2193, 0x2400...0x2426, 0x2500...0x259F: return false
    case 0x3001...0x3029, 0x3041...0x3096, 0x30A0...0x30FF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: return false
    default: return true
    }
  }
}
