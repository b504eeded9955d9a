import GraphModel

/// A word of the command line that is no text. Swift puts U+FFFD in the place of such bytes, so it would be stored, and
/// files would be looked for under another name.
public struct UnreadableArgument: Error, CustomStringConvertible {
  /// From 1; the program's name is the word before.
  public let place: Int
  /// The word with U+FFFD for what can't be read.
  public let repaired: String

  public var description: String {
    "argument \(place), \"\(repaired.excerpt)\", is not UTF-8: write it in UTF-8, or give a text on standard input or in a "
      + "file that is"
  }

  /// The first of the command line's words that is no text; nil when all are.
  public static func first() -> UnreadableArgument? {
    for place in 1..<max(Int(CommandLine.argc), 1) {
      guard let word = CommandLine.unsafeArgv[place], String(validatingCString: word) == nil else { continue }
      return UnreadableArgument(place: place, repaired: String(cString: word))
    }
    return nil
  }
}
