/// Rewrites messages of the argument parser into the form of the programs' own messages.
package enum ParserMessage {
  /// The message without the parser's `Error: `, and with its first word in lower case. A name in capitals stays.
  package static func text(_ message: String) -> String {
    let prefix = "Error: "
    let text = message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : message
    guard let first = text.first, first.isUppercase, text.dropFirst().first?.isLowercase == true else { return text }
    return first.lowercased() + text.dropFirst()
  }
}
