/// Text as a program prints it that does not draw: nothing in it commands the terminal, and nothing that is invisible
/// moves what stands beside it.
public enum PrintedText {
  /// Where a whole text goes.
  public enum Target: Hashable, Sendable {
    /// What a person would not see is written out.
    case terminal
    /// A file or another program: only control characters are written out.
    case file
  }

  /// One line of a table or of a message. Control characters and ends of lines become `�`, a tab a space; marks of
  /// direction and other invisible characters are left out, as a board does.
  public static func line(_ text: some StringProtocol) -> String {
    var result = String.UnicodeScalarView()
    let scalars = text.unicodeScalars
    if let plain = scalars.firstIndex(where: { $0.value < 0x20 || $0.value >= 0x7F }) {
      result.append(contentsOf: scalars[..<plain])
      var isInFlag = false
      for scalar in scalars[plain...] {
        let isTag = isInFlag && isTag(scalar)
        isInFlag = isTag || scalar == flag
        if scalar == "\t" {
          result.append(" ")
        } else if isControl(scalar) || isLineSeparator(scalar) {
          result.append("\u{FFFD}")
        } else if isTag || !isHidden(scalar) {
          result.append(scalar)
        }
      }
      return String(result)
    }
    return String(text)
  }

  /// A text with all of its lines. Tabs and ends of lines stay; other control characters are written as `\u{1B}`. On a
  /// terminal, invisible characters are written so too, and every end of a line is one: a carriage return alone would
  /// overwrite the line.
  public static func whole(_ text: String, for target: Target) -> String {
    var result = String.UnicodeScalarView()
    var isAfterReturn = false
    var isInFlag = false
    for scalar in text.unicodeScalars {
      defer { isAfterReturn = scalar == "\r" }
      let isTag = isInFlag && isTag(scalar)
      isInFlag = isTag || scalar == flag
      switch scalar {
      case "\t": result.append(scalar)
      case "\n":
        if target == .file || !isAfterReturn { result.append(scalar) }
      case "\r": result.append(target == .file ? scalar : "\n")
      default:
        let isWritten = target == .file || isTag || !(isHidden(scalar) || isLineSeparator(scalar))
        if isControl(scalar) || !isWritten {
          result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
        } else {
          result.append(scalar)
        }
      }
    }
    return String(result)
  }

  // MARK: - Scalars

  /// The flags of England and its like are this one, and tags that say which.
  private static let flag: Unicode.Scalar = "\u{1F3F4}"

  private static func isTag(_ scalar: Unicode.Scalar) -> Bool { (0xE0020...0xE007F).contains(scalar.value) }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
  }

  private static func isLineSeparator(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value == 0x2028 || scalar.value == 0x2029
  }

  /// Joiners and selectors are part of how the letters beside them look, in emoji and in many scripts.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0xAD: false
    case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180D, 0x180F, 0x115F, 0x1160: false
    case 0xFFF9...0xFFFB: true
    default: scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
