/// The colors that a terminal can show. Every color is mapped to the nearest available one.
public enum ColorDepth: Int, Hashable, Sendable, Comparable, CaseIterable {
  /// No colors, only bold, faint, underlined and reverse.
  case none
  /// The palette's first 16 colors, whose values the user configures.
  case sixteen
  /// The palette of 256 colors.
  case palette
  /// RGB with 8 bits per component.
  case direct

  /// Compares the number of colors.
  public static func < (one: ColorDepth, other: ColorDepth) -> Bool { one.rawValue < other.rawValue }

  /// Determines the depth from NO_COLOR, COLORTERM and TERM, in this order; the flag `isANSI` takes precedence and
  /// selects 16 colors.
  ///
  /// GNU screen does not support direct colors, even if it inherited a COLORTERM that says so; tmux, whose TERM may
  /// also be `screen`, does.
  public init(environment: [String: String], isANSI: Bool = false) {
    let term = if let name = environment["TERM"] { name } else { "" }
    if isANSI {
      self = .sixteen
    } else if environment["NO_COLOR"].map({ !$0.isEmpty }) == true || ["", "dumb"].contains(term)
      || term.hasPrefix("vt1") || term.hasPrefix("vt2")
    {
      self = .none
    } else if term.hasPrefix("screen"), environment["TMUX"] == nil {
      self = term.hasSuffix("256color") ? .palette : .sixteen
    } else if environment["COLORTERM"].map(["truecolor", "24bit"].contains) == true || term.hasSuffix("direct")
      || ["xterm-kitty", "alacritty", "foot", "wezterm", "xterm-ghostty"].contains(term)
    {
      self = .direct
    } else {
      self = term.contains("256") ? .palette : .sixteen
    }
  }

  /// Returns the nearest available color.
  public func nearest(to color: Color) -> Color {
    switch (self, color) {
    case (.none, _): .standard
    case (_, .standard), (.direct, _), (.palette, .palette): color
    case (.sixteen, .palette(let index)) where index < 16: color
    case (.sixteen, _): Self.nearest(to: color, from: 0..<16)
    // The user configures the first 16 colors; only the others have known values.
    case (.palette, _): Self.nearestInCube(to: color)
    }
  }

  /// Returns the style with the nearest colors. If both colors become equal, the text is drawn in black or white.
  public func nearest(to style: Style) -> Style {
    var nearest = style
    nearest.foreground = self.nearest(to: style.foreground)
    nearest.background = self.nearest(to: style.background)
    if nearest.foreground == nearest.background, style.foreground != style.background,
      let luminance = nearest.background.luminance
    {
      let light = self == .sixteen ? Color.palette(15) : .palette(231)
      let dark = self == .sixteen ? Color.palette(0) : .palette(16)
      nearest.foreground = luminance < 0.18 ? light : dark
    }
    return nearest
  }

  private static func nearest(to color: Color, from indices: Range<UInt8>) -> Color {
    guard let wanted = color.components else { return color }
    let best = indices.min {
      distance(wanted, Color.sixteen[Int($0)]) < distance(wanted, Color.sixteen[Int($1)])
    }
    guard let best else { preconditionFailure("a palette has colors") }
    return .palette(best)
  }

  private static func nearestInCube(to color: Color) -> Color {
    guard let wanted = color.components else { return color }
    func level(_ value: UInt8) -> Int { value < 48 ? 0 : value < 115 ? 1 : (Int(value) - 35) / 40 }
    let cube = Color.palette(
      UInt8(16 + 36 * level(wanted.red) + 6 * level(wanted.green) + level(wanted.blue)))
    let average = (Int(wanted.red) + Int(wanted.green) + Int(wanted.blue)) / 3
    let gray = Color.palette(UInt8(232 + min(max((average - 3) / 10, 0), 23)))
    guard let inCube = cube.components, let inGrays = gray.components else { return cube }
    return distance(wanted, inGrays) < distance(wanted, inCube) ? gray : cube
  }

  /// The perceptual distance of two colors: the eye is most sensitive to green, and to red the more red the colors
  /// contain.
  private static func distance(
    _ one: (red: UInt8, green: UInt8, blue: UInt8), _ other: (red: UInt8, green: UInt8, blue: UInt8)
  ) -> Int {
    let mean = (Int(one.red) + Int(other.red)) / 2
    let (red, green, blue) = (
      Int(one.red) - Int(other.red), Int(one.green) - Int(other.green), Int(one.blue) - Int(other.blue)
    )
    return (512 + mean) * red * red + 1024 * green * green + (767 - mean) * blue * blue
  }
}
