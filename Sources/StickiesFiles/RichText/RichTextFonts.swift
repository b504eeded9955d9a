/// The fonts of a rich text, which determine how its bytes are decoded.
struct RichTextFonts {
  enum GlyphSource {
    /// Nil for the document's own.
    case page(CodePage?)
    case symbols(SymbolFont)
  }

  private struct Font {
    var charset = 1
    var name = [UInt8]()
    var isNamed = false
  }

  private var fonts = [Int: Font]()
  /// The font of the last lookup.
  private var cached: (font: Int, letters: GlyphSource)?

  /// - Returns: false if the table is full.
  mutating func setCharset(_ charset: Int, of font: Int) -> Bool {
    cached = nil
    guard fonts[font] != nil || fonts.count < RichText.maximumTableSize else { return false }
    fonts[font, default: Font()].charset = charset
    return true
  }

  /// Appends a byte to a font's name; a semicolon ends it. Names are kept only for fonts with a character set.
  mutating func name(_ byte: UInt8, of font: Int) {
    guard var known = fonts[font], !known.isNamed else { return }
    if byte == UInt8(ascii: ";") { known.isNamed = true } else if known.name.count < 64 { known.name.append(byte) }
    fonts[font] = known
    cached = nil
  }

  mutating func letters(of font: Int) -> GlyphSource {
    if let cached, cached.font == font { return cached.letters }
    let letters = Self.letters(fonts[font])
    cached = (font, letters)
    return letters
  }

  private static func letters(_ font: Font?) -> GlyphSource {
    guard let font else { return .page(nil) }
    guard font.charset == 2 else { return .page(CodePage(charset: font.charset)) }
    return .symbols(SymbolFont(name: String(decoding: font.name, as: UTF8.self)))
  }
}

/// Consecutive bytes of one code page.
struct ByteRun {
  private(set) var page = CodePage.windows1252
  private(set) var bytes = [UInt8]()
  private(set) var isEscaped = [Bool]()

  mutating func append(_ byte: UInt8, _ isEscaped: Bool, _ page: CodePage) {
    self.page = page
    bytes.append(byte)
    self.isEscaped.append(isEscaped)
  }
}
