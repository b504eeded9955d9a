/// A regular expression that can't be read, with the place where it stops making sense.
public struct RegularExpressionError: Error, Hashable, CustomStringConvertible {
  /// In characters as a person counts them (grapheme clusters), from 1.
  public let column: Int
  /// What is wrong there, for a person.
  public let reason: String

  public var description: String { "column \(column): \(reason)" }
}
