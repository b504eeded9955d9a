// Tests: LineLogHandlerTests.swift

extension StringProtocol {
  /// The text for one line of a log or a terminal: a client's text can't end the line, imitate another one, or send the
  /// terminal a command. Control characters, characters that change the direction of text, and other invisible ones are
  /// escaped. Variation selectors stay, because they belong to the emoji before them.
  package var escapedForLine: String {
    var line = ""
    for scalar in unicodeScalars {
      let properties = scalar.properties
      switch properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
        line += "\\u{\(String(scalar.value, radix: 16))}"
      case _ where properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector:
        line += "\\u{\(String(scalar.value, radix: 16))}"
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }
}
