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
    if text.hasSuffix("\n") { text.removeLast() }
    // Empty input usually means that the command before the pipe failed.
    guard !text.isEmpty else {
      throw Refusal(
        .invalid, "standard input is empty, so nothing was written; for an empty text use \"\" instead of -")
    }
    return text
  }
}
