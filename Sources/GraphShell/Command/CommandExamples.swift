import ArgumentParser

/// Examples at the end of a command's help.
enum CommandExamples {
  /// The examples for the help that was requested by these arguments.
  static func text(for arguments: [String], of program: any ShellProgram) -> String {
    let words = arguments.dropFirst(arguments.first == "help" ? 1 : 0)
    let path = program.command.path(in: words).joined(separator: " ")
    guard let lines = program.examples[path] else { return "" }
    return "\nEXAMPLES:\n" + lines.map { "  \(program.name) \($0)\n" }.joined()
  }
}

extension ParsableCommand {
  /// The words at the beginning of a command line that name subcommands.
  static func path(in words: some Sequence<String>) -> [String] {
    var command: any ParsableCommand.Type = self
    var path = [String]()
    for word in words {
      guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
      command = next
      path.append(word)
    }
    return path
  }
}
