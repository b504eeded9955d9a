/// How a cell looks.
public struct Style: Hashable, Sendable {
  /// Bold and the like.
  public struct Attributes: OptionSet, Hashable, Sendable {
    /// The set as bits.
    public let rawValue: UInt8

    /// A set of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }

    /// Bold.
    public static let bold = Attributes(rawValue: 1)
    /// Faint.
    public static let dim = Attributes(rawValue: 2)
    /// Italic.
    public static let italic = Attributes(rawValue: 4)
    /// Underlined.
    public static let underline = Attributes(rawValue: 8)
    /// Foreground and background exchanged.
    public static let reverse = Attributes(rawValue: 16)
  }

  /// The color of the character.
  public var foreground: Color
  /// The color behind it.
  public var background: Color
  /// Bold and the like.
  public var attributes: Attributes

  /// A look; as it comes, the terminal's own.
  public init(_ foreground: Color = .standard, on background: Color = .standard, _ attributes: Attributes = []) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  /// The terminal's own.
  public static let standard = Style()

  /// 26 bits for each color, 5 for the attributes.
  var bits: UInt64 { foreground.bits | background.bits << 26 | UInt64(attributes.rawValue) << 52 }

  init(bits: UInt64) {
    self.init(
      Color(bits: bits & 0x3FF_FFFF), on: Color(bits: bits >> 26 & 0x3FF_FFFF),
      Attributes(rawValue: UInt8(bits >> 52 & 0x1F)))
  }
}

/// A cell of a grid, in 16 bytes: what it shows and how it looks.
///
/// A wide character takes two cells: a head, which holds it, and a continuation to its right, which looks the same. A grid
/// never holds the one without the other.
public struct Cell: Hashable, Sendable {
  enum Part: UInt64 { case whole = 0, head = 1, continuation = 2 }

  let glyphBits: UInt64
  /// The style's 57 bits, and the part above them.
  let lookBits: UInt64

  init(glyphBits: UInt64, lookBits: UInt64) {
    self.glyphBits = glyphBits
    self.lookBits = lookBits
  }

  init(_ glyph: Glyph, style: UInt64, _ part: Part) {
    glyphBits = part == .continuation ? 0 : glyph.bits
    lookBits = style | part.rawValue << 58
  }

  static let styleMask: UInt64 = 1 << 58 - 1

  /// A blank that looks like the terminal's own.
  public static let blank = Cell(.space, style: 0, .whole)

  var part: Part { Part(rawValue: lookBits >> 58) ?? .whole }
  var styleBits: UInt64 { lookBits & Self.styleMask }

  /// What it shows; nothing in the right half of a wide character.
  public var text: String { isContinuation ? "" : Glyph(bits: glyphBits).text }

  /// How it looks.
  public var style: Style { Style(bits: styleBits) }

  /// True in the left half of a wide character.
  public var isWide: Bool { part == .head }

  /// True in the right half of a wide character.
  public var isContinuation: Bool { part == .continuation }

  func styled(_ style: UInt64) -> Cell {
    Cell(glyphBits: glyphBits, lookBits: lookBits & ~Self.styleMask | style)
  }
}
