// Tests: OptionValuesTests.swift
import ArgumentParser

/// Values of options that begin with a dash: `edit 1 --text "--- rule"`.
///
/// The argument parser splits the command line before it knows the options. It refuses a word such as `---`, and takes
/// every `-h`, also that of `--at -1h`, for a request for help. It reads neither from the form `--text=VALUE`: such a
/// value is joined to its option.
enum OptionValues {
  /// The arguments with such values joined to their options.
  static func joined(_ arguments: [String], of command: any ParsableCommand.Type) -> [String] {
    let words = arguments.prefix { $0 != "--" }
    // The options are only listed if a word needs it.
    guard zip(words, words.dropFirst()).contains(where: { $0.hasPrefix("--") && isMisread($1) }) else {
      return arguments
    }
    var leaf = command
    var count = 0
    while count < words.count {
      let word = words[count]
      guard let next = leaf.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
      leaf = next
      count += 1
    }
    let names = Set(CommandArguments(of: leaf).options.filter(\.takesValue).map { "--" + $0.name })
    var result = Array(words[..<count])
    while count < words.count {
      let word = words[count]
      count += 1
      guard names.contains(word), count < words.count else {
        result.append(word)
        continue
      }
      // The next word is the option's value, also if it is an option's name.
      if isMisread(words[count]) { result.append("\(word)=\(words[count])") } else { result += [word, words[count]] }
      count += 1
    }
    return result + arguments[words.count...]
  }

  /// Whether the parser does not take a word for a value, wherever it is. All flags of the commands have long names.
  private static func isMisread(_ word: String) -> Bool {
    guard word.hasPrefix("-"), word.utf8.count > 1 else { return false }
    return !word.hasPrefix("--") || word.hasPrefix("---") || word.hasPrefix("--=") || word == "--help"
  }
}
