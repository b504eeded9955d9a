import GraphModel

/// A command-line argument that is not UTF-8. Swift would replace the invalid bytes by U+FFFD, store the changed
/// text, and look for files under the changed name.
public struct InvalidArgumentEncoding: Error, CustomStringConvertible {
  /// The argument's index, from 1; the program's name is argument 0.
  public let place: Int
  /// The argument with U+FFFD for the invalid bytes.
  public let repaired: String

  public var description: String {
    "argument \(place), \"\(repaired.excerpt)\", is not UTF-8: write it in UTF-8, or pass the text on standard input "
      + "or in a UTF-8 file"
  }

  /// Returns the first argument that is not UTF-8; nil if all are.
  public static func first() -> InvalidArgumentEncoding? {
    for place in 1..<max(Int(CommandLine.argc), 1) {
      guard let word = CommandLine.unsafeArgv[place], String(validatingCString: word) == nil else { continue }
      return InvalidArgumentEncoding(place: place, repaired: String(cString: word))
    }
    return nil
  }
}
