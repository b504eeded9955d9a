/// A character set of the bytes in a rich text, by its Windows number.
///
/// macOS names one for the document (`\ansicpg`, the system's language) and one for each font (`\fcharset`). The C
/// library converts them; the Western ones are decoded by two tables here, so that most texts need no converter, and
/// the Macintosh sets that the library lacks by those of `MacCodePages`.
struct CodePage: Hashable {
  /// The Windows number; 10,000 and above are Macintosh sets.
  let number: Int

  /// Windows Western.
  static let windows1252 = CodePage(number: 1252)
  /// Macintosh Western, written by older systems.
  static let macRoman = CodePage(number: 10_000)

  /// Creates the code page for `\ansicpg`.
  init(number: Int) { self.number = number == 0 ? 1252 : number }

  /// Creates the code page for a font's `\fcharset`; nil for the document's own, and for one without a code page.
  init?(charset: Int) {
    guard let number = Self.charsets[charset] else { return nil }
    self.number = number
  }

  private static let charsets = [
    0: 1252, 77: 10_000, 78: 10_001, 79: 10_003, 80: 10_008, 81: 10_002, 83: 10_005, 84: 10_004, 85: 10_006,
    86: 10_081, 87: 10_021, 88: 10_029, 89: 10_007, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253,
    162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
  ]

  /// The C library's name for the page; nil if none is known.
  var converter: String? {
    switch number {
    case 437, 737, 775, 850, 852, 855, 857, 858, 860...866, 869, 874, 932, 949, 950, 1250...1258: "CP\(number)"
    case 708: "ISO-8859-6"
    case 819: "ISO-8859-1"
    // GB18030 includes all of 936.
    case 936, 10_008, 54_936: "GB18030"
    // The Macintosh sets begin like those of Windows and differ in few characters.
    case 10_001: "CP932"
    case 10_002: "CP950"
    case 10_003: "CP949"
    case 10_021: "CP874"
    case 10_029: "MAC-CENTRALEUROPE"
    case 1361: "JOHAB"
    case 20_866: "KOI8-R"
    case 21_866: "KOI8-U"
    case 20_932, 51_932: "EUC-JP"
    case 51_936: "EUC-CN"
    case 51_949: "EUC-KR"
    case 28_591...28_599: "ISO-8859-\(number - 28_590)"
    case 28_603, 28_605: "ISO-8859-\(number - 28_590)"
    case 65_001: "UTF-8"
    default: nil
    }
  }

  /// Whether a character can have two bytes, the second of which can be an ASCII code.
  var hasPairs: Bool {
    [932, 936, 949, 950, 1361, 10_001, 10_002, 10_003, 10_008, 54_936, 20_932, 51_932, 51_936, 51_949].contains(number)
  }

  /// Characters of the page that the C library's converter lacks.
  var exceptions: [UInt8: Unicode.Scalar] {
    switch number {
    case 936: [0x80: "€"]
    case 10_001, 10_002: [0x80: "\\", 0xA0: "\u{A0}", 0xFD: "©", 0xFE: "™", 0xFF: "…"]
    case 10_003: [0x80: "\u{A0}", 0x81: "₩", 0x82: "–", 0x83: "©", 0x84: "\\", 0xFF: "…"]
    case 10_008: [0x80: "ü", 0xA0: "\u{A0}", 0xFD: "©", 0xFE: "™", 0xFF: "…"]
    default: [:]
    }
  }

  /// Decodes a byte that is not ASCII; nil if the page has no table here.
  func scalar(_ byte: UInt8) -> Unicode.Scalar? {
    switch self {
    case .windows1252: byte < 0xA0 ? Self.windowsLetters[Int(byte) - 0x80] : Unicode.Scalar(byte)
    case .macRoman: Self.macLetters[Int(byte) - 0x80]
    default: MacCodePages.scalar(byte, in: number)
    }
  }

  /// The second scalar of a byte that represents two; nil for all others.
  func second(_ byte: UInt8) -> Unicode.Scalar? { MacCodePages.second(byte, in: number) }

  /// From 0x80 to 0x9F.
  static let windowsLetters = Array(
    "€\u{81}‚ƒ„…†‡\u{2C6}‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—\u{2DC}™š›œ\u{9D}žŸ"
      .unicodeScalars)

  /// From 0x80 to 0xFF.
  static let macLetters = Array(
    ("ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü"
      + "†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø"
      + "¿¡¬√ƒ≈∆«»…\u{A0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ"
      + "‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{F8FF}ÒÚÛÙı\u{2C6}\u{2DC}¯˘˙˚¸˝˛ˇ")
      .unicodeScalars)
}
