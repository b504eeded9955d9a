import ArgumentParser

/// Examples at the end of a command's help.
enum Examples {
  /// The examples for the help that was requested by these arguments.
  static func text(for arguments: [String], of program: any ShellProgram) -> String {
    var words = arguments[...]
    if words.first == "help" { words = words.dropFirst() }
    var command: any ParsableCommand.Type = program.command
    var path = [String]()
    while let word = words.popFirst(),
      let next = command.configuration.subcommands.first(where: { $0._commandName == word })
    {
      command = next
      path.append(word)
    }
    guard let lines = program.examples[path.joined(separator: " ")] else { return "" }
    return "\nEXAMPLES:\n" + lines.map { "  \(program.name) \($0)\n" }.joined()
  }
}
