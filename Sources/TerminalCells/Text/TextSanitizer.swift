/// Sanitizes text for printing: nothing in it can control the terminal, and invisible characters cannot disturb the
/// text beside them.
public enum TextSanitizer {
  /// The destination of a multiline text.
  public enum Target: Hashable, Sendable {
    /// A terminal: invisible characters are escaped.
    case terminal
    /// A file or another program: only control characters are escaped.
    case file
  }

  /// Sanitizes one line of a table or a message. Control characters and line breaks become `�`, a tab becomes a
  /// space; direction marks and other invisible characters are removed, as on a board.
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

  /// Sanitizes a multiline text. Tabs and line breaks stay; other control characters are written as `\u{1B}`. For a
  /// terminal, invisible characters are escaped too, and every line ending becomes a line feed, because a carriage
  /// return alone would overwrite the line.
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
          // One by one: appending a sequence copies the text.
          let escape = "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
          for letter in escape.unicodeScalars { result.append(letter) }
        } else {
          result.append(scalar)
        }
      }
    }
    return String(result)
  }

  // MARK: - Scalars

  /// The flags of England, Scotland and Wales are this character followed by tags.
  private static let flag: Unicode.Scalar = "\u{1F3F4}"

  private static func isTag(_ scalar: Unicode.Scalar) -> Bool { (0xE0020...0xE007F).contains(scalar.value) }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
  }

  private static func isLineSeparator(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value == 0x2028 || scalar.value == 0x2029
  }

  /// Joiners and selectors are not hidden: they change the characters beside them, in emoji and in many scripts.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0xAD: false
    case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180D, 0x180F, 0x115F, 0x1160: false
    case 0xFFF9...0xFFFB: true
    default: scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
