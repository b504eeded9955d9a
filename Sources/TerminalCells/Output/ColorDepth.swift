/// How many colors a terminal shows. Every color is drawn as the nearest that there is.
public enum ColorDepth: Int, Hashable, Sendable, Comparable, CaseIterable {
  /// None: bold, faint, underlined and reverse are all there is.
  case none
  /// The palette's first 16, whose exact colors are the user's matter.
  case sixteen
  /// The palette.
  case palette
  /// Red, green and blue of 8 bits each.
  case direct

  /// The one with fewer colors is less.
  public static func < (one: ColorDepth, other: ColorDepth) -> Bool { one.rawValue < other.rawValue }

  /// What an environment says: NO_COLOR, COLORTERM and TERM, in this order. A flag comes before them: `isANSI`
  /// asks for 16 colors and no more.
  ///
  /// GNU screen cannot do direct colors, whatever COLORTERM says that it inherited; tmux, which may call itself
  /// `screen` too, can.
  public init(environment: [String: String], isANSI: Bool = false) {
    let term = environment["TERM"] ?? ""
    if isANSI {
      self = .sixteen
    } else if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false || ["", "dumb"].contains(term)
      || term.hasPrefix("vt1") || term.hasPrefix("vt2")
    {
      self = .none
    } else if term.hasPrefix("screen"), environment["TMUX"] == nil {
      self = term.hasSuffix("256color") ? .palette : .sixteen
    } else if ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "") || term.hasSuffix("direct")
      || ["xterm-kitty", "alacritty", "foot", "wezterm", "xterm-ghostty"].contains(term)
    {
      self = .direct
    } else {
      self = term.contains("256") ? .palette : .sixteen
    }
  }

  /// The nearest color that there is at this depth.
  public func nearest(to color: Color) -> Color {
    switch (self, color) {
    case (.none, _): .standard
    case (_, .standard), (.direct, _), (.palette, .palette): color
    case (.sixteen, .palette(let index)) where index < 16: color
    case (.sixteen, _): Self.nearest(to: color, from: 0..<16)
    // The first 16 are as the user likes them: of the rest, one knows what they look like.
    case (.palette, _): Self.nearestInCube(to: color)
    }
  }

  /// A style's nearest colors. Two colors that become one would hide the text: it is drawn in black or white then.
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
    return .palette(best ?? 0)
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

  /// How different two colors look: the eye sees green best, red the better the redder the colors are.
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
