import TerminalCells

/// The palette of boards and notes, by the model's names.
public enum PaperColor: String, Hashable, Sendable, CaseIterable {
  /// A color of the model.
  case yellow, blue, green, pink, purple, gray, orange, red, teal, brown, white

  /// Creates the color with the model's name; gray for a name that this program does not know.
  public init(name: String) { self = PaperColor(rawValue: name) ?? .gray }

  /// The index in the palette.
  var index: Int {
    guard let index = Self.allCases.firstIndex(of: self) else { preconditionFailure("allCases has every color") }
    return index
  }

  /// The paper's color: pastel on a light background, deep on a dark one. With 16 colors, no two papers share a
  /// color.
  func paper(isDark: Bool, depth: ColorDepth) -> Color {
    switch depth {
    case .none: .standard
    case .sixteen: .palette(Self.sixteen[index])
    case .palette: .palette((isDark ? Self.deep : Self.pastel)[index].palette)
    case .direct: Color(hex: (isDark ? Self.deep : Self.pastel)[index].direct)
    }
  }

  private static let sixteen: [UInt8] = [11, 4, 2, 13, 5, 7, 9, 1, 6, 3, 15]

  private static let pastel: [(direct: UInt32, palette: UInt8)] = [
    (0xFFF2A8, 229), (0xBFE0FF, 153), (0xC8EFC0, 157), (0xFFCFE0, 218), (0xE0D0FF, 183), (0xDCDCDC, 252),
    (0xFFD9A8, 222), (0xFFC0B8, 217), (0xB8ECE6, 159), (0xE3CFB8, 180), (0xFFFFFF, 231),
  ]

  private static let deep: [(direct: UInt32, palette: UInt8)] = [
    (0x665A10, 58), (0x1F4A73, 24), (0x25562B, 22), (0x73304F, 89), (0x4E3A7A, 54), (0x4C4C4C, 239),
    (0x7A4A14, 94), (0x7A2B24, 88), (0x14585A, 23), (0x5A4230, 95), (0xD8D8D8, 252),
  ]
}
