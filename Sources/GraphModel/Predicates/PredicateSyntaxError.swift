/// A predicate that can't be read, with the place where it stops making sense.
public struct PredicateSyntaxError: Error, Hashable, CustomStringConvertible {
  /// In characters as a person counts them (grapheme clusters), from 1.
  public let column: Int
  /// What is wrong there, for a person.
  public let reason: String
  /// The text that was read; its beginning when it is too long.
  public let text: String

  /// - Parameter scalar: the place in Unicode scalars, from 1, as the lexer counts.
  public init(scalar: Int, reason: String, text: String) {
    column = String(text.unicodeScalars.prefix(max(0, scalar - 1))).count + 1
    self.reason = reason
    self.text = text
  }

  public var description: String { "column \(column): \(reason)" }

  /// The text with a caret under the place, for a terminal.
  public var pointer: String {
    let line = text.map { $0.isNewline ? " " : $0 }
    return String(line) + "\n" + String(repeating: " ", count: max(0, column - 1)) + "^"
  }
}
