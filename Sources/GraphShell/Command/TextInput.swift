import CommandLineIO
import GraphModel

/// Reads text from an argument, or from standard input for `-`.
package enum TextInput {
  package static func read(_ argument: String) throws -> String {
    guard argument == "-" else { return argument }
    guard let bytes = Descriptor.readToEnd(0) else {
      throw Refusal(.unavailable, "standard input can't be read")
    }
    guard var text = String(validating: bytes, as: UTF8.self) else {
      throw Refusal(.invalid, "standard input is not UTF-8")
    }
    text.removeByteOrderMark()
    text.removeLineEnding()
    // Empty input usually means that the command before the pipe failed.
    guard !text.isEmpty else {
      throw Refusal(
        .invalid, "standard input is empty, so nothing was written; for an empty text use \"\" instead of -")
    }
    return text
  }
}

extension String {
  /// Removes one line ending at the end, which editors and `echo` add to a text. CR and LF are one character, so that
  /// `hasSuffix("\n")` does not find them.
  package mutating func removeLineEnding() { if endsLine { removeLast() } }

  /// Whether the text ends with a line ending.
  package var endsLine: Bool { last == "\n" || last == "\r\n" }

  /// Removes the byte order mark that some programs write before UTF-8.
  package mutating func removeByteOrderMark() {
    if unicodeScalars.first == "\u{FEFF}" { unicodeScalars.removeFirst() }
  }
}
