/// A color, independent of the terminal's capabilities; `ColorDepth` maps it to them.
public enum Color: Hashable, Sendable {
  /// The terminal's own color for text or for the background.
  case standard
  /// A color of the palette: 0 to 7, their bright variants 8 to 15, a cube of 216 colors, and 24 grays.
  case palette(UInt8)
  /// Red, green and blue.
  case rgb(UInt8, UInt8, UInt8)

  /// Creates a color from a number such as `0xFFEE99`.
  public init(hex: UInt32) {
    self = .rgb(UInt8(hex >> 16 & 0xFF), UInt8(hex >> 8 & 0xFF), UInt8(hex & 0xFF))
  }

  /// 26 bits.
  var bits: UInt64 {
    switch self {
    case .standard: 0
    case .palette(let index): 1 << 24 | UInt64(index)
    case .rgb(let red, let green, let blue): 2 << 24 | UInt64(red) << 16 | UInt64(green) << 8 | UInt64(blue)
    }
  }

  init(bits: UInt64) {
    switch bits >> 24 & 3 {
    case 1: self = .palette(UInt8(bits & 0xFF))
    case 2: self = Color(hex: UInt32(bits & 0xFF_FFFF))
    default: self = .standard
    }
  }

  /// The RGB components, as in xterm for the palette; nil for the terminal's own color, which is unknown.
  public var components: (red: UInt8, green: UInt8, blue: UInt8)? {
    switch self {
    case .standard: return nil
    case .rgb(let red, let green, let blue): return (red, green, blue)
    case .palette(let index):
      if index < 16 { return Self.sixteen[Int(index)] }
      if index < 232 {
        let place = Int(index) - 16
        return (Self.levels[place / 36], Self.levels[place / 6 % 6], Self.levels[place % 6])
      }
      let gray = 8 + 10 * (index - 232)
      return (gray, gray, gray)
    }
  }

  static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

  static let sixteen: [(red: UInt8, green: UInt8, blue: UInt8)] = [
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
    (255, 255, 255),
  ]
}

extension Color {
  /// The relative luminance from 0 to 1 (WCAG's, with a polynomial instead of the power); nil for the terminal's own
  /// color.
  public var luminance: Double? {
    guard let (red, green, blue) = components else { return nil }
    func linear(_ value: UInt8) -> Double {
      let part = Double(value) / 255
      return part * (part * (part * 0.305_306_011 + 0.682_171_111) + 0.012_522_878)
    }
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  }

  /// Returns the contrast ratio of two colors, from 1 to 21; text is readable from 4.5. Nil if one is the terminal's
  /// own.
  public func contrast(with other: Color) -> Double? {
    guard let mine = luminance, let theirs = other.luminance else { return nil }
    return (max(mine, theirs) + 0.05) / (min(mine, theirs) + 0.05)
  }

  /// Returns a mix with another color: 0 is this one, 1 the other. The terminal's own color is returned unchanged.
  public func mixed(with other: Color, _ part: Double) -> Color {
    guard let mine = components, let theirs = other.components else { return self }
    let part = min(max(part, 0), 1)
    func mix(_ from: UInt8, _ to: UInt8) -> UInt8 {
      UInt8(Double(from) + (Double(to) - Double(from)) * part + 0.5)
    }
    return .rgb(mix(mine.red, theirs.red), mix(mine.green, theirs.green), mix(mine.blue, theirs.blue))
  }

  /// Returns this color, mixed with black or white as far as needed for the contrast with `background`.
  public func legible(on background: Color, contrast: Double = 4.5) -> Color {
    let white = Color.rgb(255, 255, 255)
    let black = Color.rgb(0, 0, 0)
    guard let now = self.contrast(with: background), now < contrast,
      let inWhite = white.contrast(with: background), let inBlack = black.contrast(with: background)
    else { return self }
    let target = inWhite > inBlack ? white : black
    for step in 1..<10 {
      let tried = mixed(with: target, Double(step) / 10)
      if let reached = tried.contrast(with: background), reached >= contrast { return tried }
    }
    return target
  }
}
