import CommandLineIO
import GraphModel
import StickiesModel

/// Prints the results of the commands to standard output.
enum Console {
  /// Prints a line, or ends the program with an error if that fails.
  static func print(_ text: String) {
    StandardOutput.write(text) { message in
      let error = JSON.object([.init("code", .string("failed")), .init("message", .string(message))])
      StandardError.write(
        CommandLine.arguments.contains("--json")
          ? JSON.object([.init("error", error)]).text : "stickiesd: \(message)")
    }
  }

  /// Prints one line for a person. Names, labels and paths are text of others: their control characters are escaped.
  static func printLine(_ text: String) { print(text.escapedForLine) }

  /// Writes a message to standard error, after the program's name; escaped in the same way.
  static func message(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    StandardError.write("stickiesd: " + lines.map(\.escapedForLine).joined(separator: "\n"))
  }
}
