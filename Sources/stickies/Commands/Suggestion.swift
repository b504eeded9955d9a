import ArgumentParser

/// A subcommand that does not exist, told before the argument parser takes the word for an argument of something else.
struct UnknownCommand: Error, CustomStringConvertible {
  let description: String

  /// Looks for the first word that should name a subcommand and does not, here or one level down.
  static func find(
    in arguments: [String], of command: any ParsableCommand.Type = StickiesCommand.self, path: [String] = []
  ) -> UnknownCommand? {
    let names = command.configuration.subcommands.map { $0._commandName }
    guard let word = arguments.first, !word.hasPrefix("-"), !names.isEmpty else { return nil }
    if let known = command.configuration.subcommands.first(where: { $0._commandName == word }) {
      return find(in: Array(arguments.dropFirst()), of: known, path: path + [word])
    }
    // The root's own.
    if path.isEmpty, word == "help" { return nil }
    let guess = names.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    let suggestion = guess.flatMap { name, distance in
      distance <= max(1, name.count / 3) ? ". Did you mean \"\(name)\"?" : nil
    }
    let help = "see stickies \((["help"] + path).joined(separator: " "))"
    return UnknownCommand(
      description: "there is no command \"\((path + [word]).joined(separator: " "))\"\(suggestion ?? "; " + help)")
  }

  /// How many letters have to be put in, left out, changed or swapped with their neighbor.
  static func distance(_ left: String, _ right: String) -> Int {
    let (a, b) = (Array(left), Array(right))
    var rows = [Array(0...b.count)]
    for i in 1..<(a.count + 1) {
      var row = [i]
      for j in 1..<(b.count + 1) {
        let change = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, change)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, rows[i - 2][j - 2] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
