/// Symbol fonts, whose bytes are numbers of glyphs and not characters of a code page.
///
/// The tables contain the glyphs that Unicode also has: all of Symbol, the regular part of Zapf Dingbats, and the
/// markers of Wingdings that lists use.
enum SymbolFont {
  case symbol, dingbats, wingdings
  /// A font with unknown glyphs.
  case other

  /// Creates the font with a name.
  init(name: String) {
    let name = name.lowercased().filter { $0.isLetter || $0.isNumber }
    self =
      name.hasPrefix("symbol")
      ? .symbol : name.contains("dingbats") ? .dingbats : name == "wingdings" ? .wingdings : .other
  }

  /// Returns the character of a byte; nil for a glyph that is unknown or not in Unicode.
  func scalar(_ byte: UInt8) -> Unicode.Scalar? {
    // Spaces and control characters are the same in all fonts.
    if byte <= 0x20 { return Unicode.Scalar(byte) }
    switch self {
    case .symbol: return Self.symbols[byte]
    case .dingbats: return Self.dingbat(byte)
    case .wingdings: return Self.wings[byte]
    // It may be a font of letters, so ASCII is right more often than not.
    case .other: return byte < 0x80 ? Unicode.Scalar(byte) : nil
    }
  }

  /// Returns the character for a code point in the private-use area, where Windows maps such fonts.
  func scalar(privateUse number: UInt32) -> Unicode.Scalar? {
    (0xF020...0xF0FF).contains(number) ? scalar(UInt8(number - 0xF000)) : nil
  }

  private static func table(_ parts: [(first: UInt8, letters: String)]) -> [UInt8: Unicode.Scalar] {
    var table = [UInt8: Unicode.Scalar]()
    for part in parts {
      for (offset, letter) in part.letters.unicodeScalars.enumerated() where letter != "\u{FFFD}" {
        table[part.first + UInt8(offset)] = letter
      }
    }
    return table
  }

  private static let symbols = table([
    (0x21, "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\u{203E}αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"),
    (0xA0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪"),
    (0xF1, "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"),
  ])

  /// The font is in Unicode's order, except for a few glyphs.
  private static func dingbat(_ byte: UInt8) -> Unicode.Scalar? {
    if let elsewhere = dingbatsElsewhere[byte] { return elsewhere }
    switch byte {
    case 0x21...0x7E: return Unicode.Scalar(0x2700 + UInt32(byte) - 0x20)
    case 0xA1...0xA7: return Unicode.Scalar(0x2761 + UInt32(byte) - 0xA1)
    case 0xB6...0xFE where byte != 0xF0: return Unicode.Scalar(0x2776 + UInt32(byte) - 0xB6)
    default: return nil
    }
  }

  private static let dingbatsElsewhere: [UInt8: Unicode.Scalar] = [
    0x25: "☎", 0x2A: "☛", 0x2B: "☞", 0x48: "★", 0x6C: "●", 0x6E: "■", 0x73: "▲", 0x74: "▼", 0x75: "◆", 0x77: "◗",
    0xA8: "♣", 0xA9: "♦", 0xAA: "♥", 0xAB: "♠", 0xAC: "①", 0xAD: "②", 0xAE: "③", 0xAF: "④", 0xB0: "⑤", 0xB1: "⑥",
    0xB2: "⑦", 0xB3: "⑧", 0xB4: "⑨", 0xB5: "⑩", 0xD5: "→", 0xD6: "↔", 0xD7: "↕",
  ]

  private static let wings: [UInt8: Unicode.Scalar] = [
    0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x36: "⌛", 0x3F: "✍", 0x46: "☞", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■",
    0x6F: "□", 0x70: "❐", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x9F: "•",
    0xA1: "○", 0xA7: "▪", 0xA8: "◻", 0xAB: "★", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔",
    0xEF: "⇦", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
  ]
}
