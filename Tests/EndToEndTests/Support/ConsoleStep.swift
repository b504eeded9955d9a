/// A command of a page with the output that the page shows.
struct ConsoleStep {
  let command: String
  var output = ""

  /// Reads the blocks of a page that are marked as `console`: lines that begin with `$` are commands.
  static func read<Page: StringProtocol>(_ page: Page) -> [ConsoleStep] {
    var steps = [ConsoleStep]()
    var isConsole = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isConsole = line == "```console"
      } else if isConsole, line.hasPrefix("$ ") {
        steps.append(ConsoleStep(command: String(line.dropFirst(2))))
      } else if isConsole {
        steps[steps.count - 1].output += line + "\n"
      }
    }
    return steps
  }
}
