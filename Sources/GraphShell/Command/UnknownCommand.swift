import ArgumentParser
import GraphJSON

/// An unknown subcommand. Reported before the argument parser takes the word for an argument of another command.
struct UnknownCommand: Error, CustomStringConvertible {
  let description: String

  /// Finds the first word that should name a subcommand and does not, at this or a lower level.
  static func find(
    in arguments: [String], of command: any ParsableCommand.Type, path: [String] = []
  ) -> UnknownCommand? {
    let names = command.configuration.subcommands.map(name)
    guard let word = arguments.first, !word.hasPrefix("-"), !names.isEmpty else { return nil }
    if let known = command.configuration.subcommands.first(where: { name(of: $0) == word }) {
      return find(in: Array(arguments.dropFirst()), of: known, path: path + [word])
    }
    // The root's own `help`; the words after it name a command, too.
    if path.isEmpty, word == "help" { return find(in: Array(arguments.dropFirst()), of: command) }
    let unknown = (path + [word]).joined(separator: " ")
    let more = Suggestion.sentence(
      for: unknown, among: names.map { (path + [$0]).joined(separator: " ") }, letters: word.count,
      otherwise: "; see \(RunningProgram.current.name) \((["help"] + path).joined(separator: " "))")
    return UnknownCommand(description: "there is no command \"\(unknown)\"\(more)")
  }

  /// Without a stated name, ArgumentParser makes one from a description of the type. Each description searches the
  /// conformances of all loaded modules: a tenth of a millisecond, for each of sixty commands at each start.
  private static func name(of command: any ParsableCommand.Type) -> String {
    guard let name = command.configuration.commandName else {
      preconditionFailure("\(command) states its name in its configuration")
    }
    return name
  }
}
