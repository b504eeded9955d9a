/// A syntax error in a regular expression, with its position.
public struct RegularExpressionError: Error, Hashable, CustomStringConvertible {
  /// The position in characters (grapheme clusters), from 1.
  public let column: Int
  /// The error message, for a person.
  public let reason: String

  public var description: String { "column \(column): \(reason)" }
}
