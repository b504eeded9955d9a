/// The colors and attributes of a cell.
public struct Style: Hashable, Sendable {
  /// Text attributes.
  public struct Attributes: OptionSet, Hashable, Sendable {
    /// The raw bits.
    public let rawValue: UInt8

    /// Creates a set from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }

    /// Bold.
    public static let bold = Attributes(rawValue: 1)
    /// Faint.
    public static let dim = Attributes(rawValue: 2)
    /// Italic.
    public static let italic = Attributes(rawValue: 4)
    /// Underlined.
    public static let underline = Attributes(rawValue: 8)
    /// Exchanged foreground and background.
    public static let reverse = Attributes(rawValue: 16)
  }

  /// The text color.
  public var foreground: Color
  /// The background color.
  public var background: Color
  /// The text attributes.
  public var attributes: Attributes

  /// Creates a style; by default the terminal's own colors.
  public init(_ foreground: Color = .standard, on background: Color = .standard, _ attributes: Attributes = []) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  /// The terminal's own colors without attributes.
  public static let standard = Style()

  /// 26 bits for each color, 5 for the attributes.
  var bits: UInt64 { foreground.bits | background.bits << 26 | UInt64(attributes.rawValue) << 52 }

  init(bits: UInt64) {
    self.init(
      Color(bits: bits & 0x3FF_FFFF), on: Color(bits: bits >> 26 & 0x3FF_FFFF),
      Attributes(rawValue: UInt8(bits >> 52 & 0x1F)))
  }
}

/// A cell of a grid, in 16 bytes: a glyph and its style.
///
/// A wide character takes two cells: a head with the glyph and a continuation to its right with the same style. A
/// grid never contains one without the other.
public struct Cell: Hashable, Sendable {
  enum Part: UInt64 { case whole = 0, head = 1, continuation = 2 }

  let glyphBits: UInt64
  /// The style's 57 bits, with the part above them.
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

  /// A blank in the terminal's own colors.
  public static let blank = Cell(.space, style: 0, .whole)

  var part: Part { Part(rawValue: lookBits >> 58) ?? .whole }
  var styleBits: UInt64 { lookBits & Self.styleMask }

  /// The glyph's text; empty in the right half of a wide character.
  public var text: String { isContinuation ? "" : Glyph(bits: glyphBits).text }

  /// The style.
  public var style: Style { Style(bits: styleBits) }

  /// Whether it is the left half of a wide character.
  public var isWide: Bool { part == .head }

  /// Whether it is the right half of a wide character.
  public var isContinuation: Bool { part == .continuation }

  func styled(_ style: UInt64) -> Cell {
    Cell(glyphBits: glyphBits, lookBits: lookBits & ~Self.styleMask | style)
  }
}
