import TerminalCells

/// The styles for a terminal, by light or dark background and number of colors. Colors are chosen among those that
/// the terminal has and checked for contrast. Without colors, bold, faint and reverse distinguish the styles; color
/// is never the only distinction.
public struct Theme: Sendable {
  /// The styles of a note of one color.
  public struct NoteStyles: Hashable, Sendable {
    /// The text on the paper.
    public let text: Style
    /// The row with the title.
    public let title: Style
    /// The row with the title of the focused note.
    public let focusedTitle: Style
    /// The frame.
    public let border: Style
    /// The frame of the focused note.
    public let focusedBorder: Style
    /// Secondary text: tags, hints.
    public let faint: Style
    /// Selected text.
    public let selected: Style
  }

  /// Whether the background is dark.
  public let isDark: Bool
  /// The number of colors.
  public let depth: ColorDepth
  /// The characters to draw with.
  public let symbols: Symbols

  /// Menu bar, tool bar, status line.
  public let bar: Style
  /// The chosen item in a bar, a menu or a list.
  public let chosen: Style
  /// A disabled item in a bar or a menu.
  public let disabled: Style
  /// Keys and hints in a bar or a menu.
  public let hint: Style
  /// Panels over the board: an open menu, a question, the help.
  public let panel: Style
  /// The frame of a panel.
  public let panelBorder: Style
  /// The button that Return presses.
  public let button: Style
  /// Another button.
  public let otherButton: Style
  /// The list beside the board and the search field.
  public let list: Style
  /// Secondary text in a list.
  public let listFaint: Style
  /// Search matches.
  public let match: Style
  /// A good state, in a bar.
  public let good: Style
  /// A pending state, in a bar.
  public let waiting: Style
  /// An error state, in a bar.
  public let wrong: Style

  private let looks: [NoteStyles]
  private let boards: [Style]
  private let links: [Style]
  private let people: [Style]

  /// Creates the theme for a terminal.
  /// - Parameters:
  ///   - isDark: whether its background is dark; `Theme.isDark(_:)` derives it from the terminal's answer.
  ///   - depth: the number of colors.
  ///   - isASCII: whether to draw with ASCII only.
  public init(isDark: Bool = true, depth: ColorDepth = .direct, isASCII: Bool = false) {
    self.isDark = isDark
    self.depth = depth
    symbols = isASCII ? .ascii : .lines
    let inks = ThemeColors(isDark: isDark, depth: depth)
    looks = PaperColor.allCases.map { inks.note($0) }
    boards = PaperColor.allCases.map { inks.board($0) }
    links = boards.map { inks.on($0.background, 0x707070, 0xA0A0A0) }
    people = ThemeColors.people.map { inks.tag($0) }

    let barBack = inks.pick(light: 0xD0D4DA, dark: 0x2D333B, sixteen: 7)
    let panelBack = inks.pick(light: 0xF6F6F6, dark: 0x23272E, sixteen: 7)
    let listBack = inks.pick(light: 0xF2F2F2, dark: 0x1B1E23, sixteen: nil)
    let hasColor = depth != .none
    bar = hasColor ? inks.text(on: barBack) : Style(.standard, on: .standard, .reverse)
    chosen =
      hasColor
      ? inks.text(on: inks.pick(light: 0x1F5FBF, dark: 0x9CC4FF, sixteen: 4))
      : Style(.standard, on: .standard, [.reverse, .bold])
    disabled = hasColor ? inks.faint(on: barBack, 3) : Style(.standard, on: .standard, [.reverse, .dim])
    hint = hasColor ? inks.faint(on: barBack, 4.5) : Style(.standard, on: .standard, .reverse)
    panel = hasColor ? inks.text(on: panelBack) : .standard
    panelBorder = hasColor ? inks.faint(on: panelBack, 3) : .standard
    button = chosen
    otherButton = hasColor ? inks.text(on: barBack) : Style(.standard, on: .standard, .underline)
    list = hasColor && depth != .sixteen ? inks.text(on: listBack) : .standard
    listFaint =
      hasColor && depth != .sixteen ? inks.faint(on: listBack, 4.5) : Style(.standard, on: .standard, .dim)
    match =
      hasColor
      ? inks.text(on: inks.pick(light: 0xFFD54A, dark: 0xE0B020, sixteen: 11))
      : Style(.standard, on: .standard, [.bold, .underline])
    good = hasColor ? inks.on(barBack, 0x1E6B2E, 0x8FDD9B) : Style(.standard, on: .standard, .reverse)
    waiting =
      hasColor ? inks.on(barBack, 0x7A4B00, 0xFFCC66, .bold) : Style(.standard, on: .standard, [.reverse, .bold])
    wrong =
      hasColor
      ? Style(
        inks.legible(inks.exact(0xFFFFFF), on: inks.pick(light: 0xB3261E, dark: 0x9C2B24, sixteen: 1)),
        on: inks.pick(light: 0xB3261E, dark: 0x9C2B24, sixteen: 1), .bold)
      : Style(.standard, on: .standard, [.reverse, .bold, .underline])
  }

  /// Whether a background color reported by a terminal is dark; the terminal's own color counts as dark.
  public static func isDark(_ background: Color) -> Bool {
    guard let luminance = background.luminance else { return true }
    return luminance < 0.18
  }

  /// The styles of a note of a color.
  public func note(_ color: PaperColor) -> NoteStyles { looks[color.index] }

  /// The surface of a board of a color.
  public func board(_ color: PaperColor) -> Style { boards[color.index] }

  /// Lines and hints on a board of a color.
  public func link(_ color: PaperColor) -> Style { links[color.index] }

  /// The number of colors for people.
  static var peopleColors: Int { ThemeColors.people.count }

  /// The style of a person's name. Numbers beyond the palette wrap around.
  public func person(_ number: Int) -> Style { people[Int(number.magnitude % UInt(people.count))] }
}

/// Computes the colors of a theme.
struct ThemeColors {
  let isDark: Bool
  let depth: ColorDepth

  /// Colors of people, distinct from each other and from the papers.
  static let people: [UInt32] = [0xD6336C, 0x1C7ED6, 0x2F9E44, 0xE8590C, 0x7048E8, 0x0C8599, 0xC2A000, 0x9C36B5]

  func exact(_ hex: UInt32) -> Color { depth.nearest(to: Color(hex: hex)) }

  func pick(light: UInt32, dark: UInt32, sixteen: UInt8?) -> Color {
    if depth == .sixteen { return sixteen.map { .palette($0) } ?? .standard }
    return exact(isDark ? dark : light)
  }

  /// The contrast ratio of two colors; 0, which is never sufficient, if it is unknown.
  private static func contrast(_ one: Color, _ other: Color) -> Double {
    guard let contrast = one.contrast(with: other) else { return 0 }
    return contrast
  }

  /// Black or white, softened if the contrast remains sufficient.
  func ink(on background: Color) -> Color {
    guard background != .standard else { return .standard }
    func contrast(_ color: Color) -> Double { Self.contrast(color, background) }
    let (black, white) = (exact(0), exact(0xFFFFFF))
    let (soft, hard) =
      contrast(black) >= contrast(white) ? (exact(0x14181D), black) : (exact(0xF4F4F4), white)
    return depth == .direct && contrast(soft) >= 5 ? soft : hard
  }

  /// A color with sufficient contrast on `background` after rounding to one that the terminal has.
  func legible(_ color: Color, on background: Color, _ contrast: Double = 4.5) -> Color {
    guard background != .standard else { return depth.nearest(to: color) }
    let found = depth.nearest(to: color.legible(on: background, contrast: contrast))
    return Self.contrast(found, background) >= contrast ? found : ink(on: background)
  }

  func text(on background: Color) -> Style { Style(ink(on: background), on: background) }

  func on(_ background: Color, _ light: UInt32, _ dark: UInt32, _ attributes: Style.Attributes = []) -> Style {
    guard depth != .none else { return Style(.standard, on: .standard, attributes) }
    guard background != .standard else { return Style(.standard, on: .standard, attributes.union(.dim)) }
    return Style(legible(Color(hex: isDark ? dark : light), on: background), on: background, attributes)
  }

  func faint(on background: Color, _ contrast: Double) -> Style {
    guard background != .standard else { return Style(.standard, on: .standard, .dim) }
    let color = ink(on: background).mixed(with: background, 0.45)
    return Style(legible(color, on: background, contrast), on: background)
  }

  func note(_ color: PaperColor) -> Theme.NoteStyles {
    let paper = color.paper(isDark: isDark, depth: depth)
    guard depth != .none else {
      return Theme.NoteStyles(
        text: .standard, title: Style(.standard, on: .standard, .bold),
        focusedTitle: Style(.standard, on: .standard, [.bold, .reverse]), border: .standard,
        focusedBorder: Style(.standard, on: .standard, .bold), faint: Style(.standard, on: .standard, .dim),
        selected: Style(.standard, on: .standard, .reverse))
    }
    let ink = ink(on: paper)
    // With 16 colors, there is no color between a paper and its ink.
    let strip = depth == .sixteen ? paper : depth.nearest(to: paper.mixed(with: ink, 0.14))
    let stripe = Self.contrast(ink, strip) >= 4.5 ? strip : paper
    let line = depth == .sixteen ? ink : legible(paper.mixed(with: ink, 0.5), on: paper, 2)
    let attributes: Style.Attributes = depth == .sixteen ? [.bold, .reverse] : .bold
    return Theme.NoteStyles(
      text: Style(ink, on: paper), title: Style(ink, on: stripe, .bold),
      focusedTitle: depth == .sixteen ? Style(ink, on: paper, attributes) : Style(paper, on: ink, .bold),
      border: Style(line, on: paper), focusedBorder: Style(ink, on: paper, .bold),
      faint: faint(on: paper, 3.5), selected: Style(paper, on: ink))
  }

  /// A tint of the color on which all papers and shadows stand out.
  func board(_ color: PaperColor) -> Style {
    guard depth >= .palette else { return .standard }
    if depth == .palette { return text(on: .palette(isDark ? 234 : 254)) }
    let tint = Color(hex: isDark ? 0x1A1C20 : 0xE9EBEE)
    let paper = color.paper(isDark: isDark, depth: .direct)
    return text(on: color == .gray || color == .white ? tint : tint.mixed(with: paper, isDark ? 0.16 : 0.25))
  }

  func tag(_ hex: UInt32) -> Style {
    guard depth != .none else { return Style(.standard, on: .standard, .reverse) }
    return text(on: exact(hex))
  }
}
