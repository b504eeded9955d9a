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

  /// Prints the description of a value.
  static func print(_ value: some CustomStringConvertible) { print(value.description) }
}
