/// Converts text to cells: the glyphs of each character and its number of columns.
///
/// Terminals agree only on letters and ideographs. Other characters are drawn as something on which terminals agree:
/// only the first emoji of a joined sequence, no skin tones, a flag as its two letters, and a symbol with an emoji
/// selector as the symbol. A control character is drawn as its symbol; direction marks and other invisible characters
/// are omitted, so that no text reaches the terminal as a command. Right-to-left text is drawn in its stored order.
public enum CellText {
  /// The columns of a tab, regardless of its position.
  public static let tabWidth = 4

  /// Returns the columns of a single scalar: 0 for marks and invisible ones, 2 for wide ones, otherwise 1.
  public static func width(of scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return value == 0xAD ? 0 : 1 }
    if isInvisible(scalar) { return 0 }
    return isWide(value) ? 2 : 1
  }

  /// Returns the columns of a character.
  public static func width(of character: Character) -> Int {
    if let ascii = ascii(character), character != "\r\n" { return ascii == 9 ? tabWidth : 1 }
    var width = 0
    eachGlyph(of: character) { width += $0.width }
    return width
  }

  /// Returns the columns of a text in one line.
  public static func width(of text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + width(of: $1) }
  }

  /// Returns the glyphs of a character, from left to right; empty if it is invisible.
  public static func glyphs(of character: Character) -> [Glyph] {
    var found = [Glyph]()
    eachGlyph(of: character) { found.append($0) }
    return found
  }

  /// The value of an ASCII character; a line feed for `\r\n`.
  ///
  /// The size is checked first, because comparing characters normalizes them, as `asciiValue` does: a letter with a
  /// hundred thousand marks would take seconds.
  static func ascii(_ character: Character) -> UInt8? { character.utf8.count <= 2 ? character.asciiValue : nil }

  static func eachGlyph(of character: Character, _ body: (Glyph) -> Void) {
    if let ascii = ascii(character) {
      if ascii >= 0x20, ascii < 0x7F { return body(Glyph(bits: UInt64(ascii))) }
      if character == "\r\n" { return body(Glyph("\u{240A}")) }
    }
    var waiting: Glyph?
    var isAfterJoiner = false
    for scalar in character.unicodeScalars {
      let properties = scalar.properties
      if scalar == "\u{200D}" {
        isAfterJoiner = true
        continue
      }
      if isAfterJoiner, let waiting, waiting.bits > 0x7F, properties.isEmoji { break }
      isAfterJoiner = false
      if scalar == "\t" {
        for _ in 0..<tabWidth { body(.space) }
      } else if (0x1F1E6...0x1F1FF).contains(scalar.value) {
        if let waiting { body(waiting) }
        waiting = Glyph(bits: UInt64(scalar.value - 0x1F1E6 + 0x41))
      } else if properties.isEmojiModifier, waiting != nil {
        continue
      } else if let picture = picture(of: scalar) {
        if let waiting { body(waiting) }
        waiting = Glyph(picture)
      } else if width(of: scalar) > 0 {
        if let waiting { body(waiting) }
        waiting = Glyph(scalar)
      } else if isMark(scalar) {
        // A mark without a letter is drawn on a blank, so that the user can see and delete it.
        waiting = (waiting ?? .space).marked(scalar)
      }
    }
    if let waiting { body(waiting) }
  }

  /// Returns the symbol that replaces a character that must not reach the terminal.
  private static func picture(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar.value {
    case 0x00...0x1F: Unicode.Scalar(0x2400 + scalar.value)
    case 0x7F: "\u{2421}"
    case 0x80...0x9F: "\u{FFFD}"
    case 0x2028, 0x2029: "\u{2424}"
    default: nil
    }
  }

  /// Whether it combines with a letter: nonspacing marks, and the vowels and finals of Hangul. Enclosing marks are
  /// not drawn.
  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FF).contains(scalar.value) { return true }
    return scalar.properties.generalCategory == .nonspacingMark && !scalar.properties.isVariationSelector
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    if (0x3400...0xA4CF).contains(value) || (0xAC00...0xD7A3).contains(value) { return false }
    if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return true }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return true
    default: return scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  private static func isWide(_ value: UInt32) -> Bool {
    if value < 0x1100 { return false }
    var low = 0
    var high = wideRanges.count
    while low < high {
      let middle = (low + high) / 2
      if wideRanges[middle].high < value { low = middle + 1 } else { high = middle }
    }
    return low < wideRanges.count && wideRanges[low].low <= value
  }
}
