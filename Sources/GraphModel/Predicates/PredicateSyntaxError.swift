/// A syntax error in a predicate, with its position.
public struct PredicateSyntaxError: Error, Hashable, CustomStringConvertible {
  /// The position in characters (grapheme clusters), from 1.
  public let column: Int
  /// The error message, for a person.
  public let reason: String
  /// The parsed text; only its beginning if it is too long.
  public let text: String

  /// - Parameter scalar: the position in Unicode scalars, from 1, as the lexer counts.
  public init(scalar: Int, reason: String, text: String) {
    column = String(text.unicodeScalars.prefix(max(0, scalar - 1))).count + 1
    self.reason = reason
    self.text = text
  }

  public var description: String { "column \(column): \(reason)" }

  /// The number of characters shown around the error if the text is longer than a line of a terminal.
  static let window = 60

  /// The text with a caret under the error, for a terminal; a long text is truncated on both sides with `…`.
  ///
  /// Each character counts as one column; `pointer(width:)` takes wide ones into account.
  public var pointer: String { pointer { _ in 1 } }

  /// The text with a caret under the error, for a terminal; a long text is truncated on both sides with `…`.
  /// - Parameter width: returns the columns of a character in the terminal.
  public func pointer(width: (Character) -> Int) -> String {
    // A character may have any number of marks.
    let line = text.map { $0.isNewline ? " " : Character(String($0.unicodeScalars.prefix(8))) }
    let place = min(max(0, column - 1), line.count)
    var shown = line.indices
    if line.count > Self.window + Self.window / 3 {
      let start = min(max(0, place - Self.window / 2), line.count - Self.window)
      shown = start..<start + Self.window
    }
    let (before, after) = (shown.lowerBound > 0 ? "…" : "", shown.upperBound < line.count ? "…" : "")
    let indent = before.count + line[shown.lowerBound..<place].reduce(0) { $0 + width($1) }
    return before + String(line[shown]) + after + "\n" + String(repeating: " ", count: indent) + "^"
  }
}
