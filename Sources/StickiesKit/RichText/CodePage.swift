/// The sets of letters that a byte of rich text may stand in.
enum CodePage: Equatable {
  /// Windows, Western: what macOS writes, everything else being written by its number in Unicode.
  case windows1252
  /// The Macintosh's own, Western: what older systems wrote.
  case macRoman
  /// One that is not read, by its number in the file.
  case unknown(Int)

  /// The code page that a document names.
  init(number: Int) {
    switch number {
    case 1252, 0: self = .windows1252
    case 10_000: self = .macRoman
    default: self = .unknown(number)
    }
  }

  /// A byte's letter; nil beyond ASCII in a set that is not read.
  func scalar(_ byte: UInt8) -> Unicode.Scalar? {
    if byte < 0x80 { return Unicode.Scalar(byte) }
    switch self {
    case .windows1252: return byte < 0xA0 ? Self.windowsLetters[Int(byte) - 0x80] : Unicode.Scalar(byte)
    case .macRoman: return Self.macLetters[Int(byte) - 0x80]
    case .unknown: return nil
    }
  }

  /// From 0x80 to 0x9F.
  static let windowsLetters = Array(
    "€\u{81}‚ƒ„…†‡\u{2C6}‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—\u{2DC}™š›œ\u{9D}žŸ"
      .unicodeScalars)

  /// From 0x80 to 0xFF.
  private static let macLetters = Array(
    ("ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü"
      + "†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø"
      + "¿¡¬√ƒ≈∆«»…\u{A0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ"
      + "‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{F8FF}ÒÚÛÙı\u{2C6}\u{2DC}¯˘˙˚¸˝˛ˇ")
      .unicodeScalars)
}
