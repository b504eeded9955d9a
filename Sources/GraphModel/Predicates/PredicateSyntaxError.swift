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

  /// Of a line that is longer than a terminal's, this many characters around the place are shown.
  static let window = 60

  /// The text with a caret under the place, for a terminal; of a long one what is around the place, with `…` where it is
  /// cut.
  public var pointer: String {
    let line = text.map { $0.isNewline ? " " : $0 }
    let place = min(max(0, column - 1), line.count)
    var shown = line.indices
    if line.count > Self.window + Self.window / 3 {
      let start = min(max(0, place - Self.window / 2), line.count - Self.window)
      shown = start..<start + Self.window
    }
    let (before, after) = (shown.lowerBound > 0 ? "…" : "", shown.upperBound < line.count ? "…" : "")
    let indent = before.count + place - shown.lowerBound
    return before + String(line[shown]) + after + "\n" + String(repeating: " ", count: indent) + "^"
  }
}
