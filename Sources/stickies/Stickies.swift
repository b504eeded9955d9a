import ArgumentParser
import GraphModel
import GraphShell
import GraphWire
import StickiesKit
import StickiesModel

/// `stickies`: the client for the shell.
@main
struct StickiesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stickies", abstract: "Write, list, change and watch sticky notes.",
    discussion: """
      The commands need a running daemon: start stickiesd in another terminal. They connect to it on your Unix-domain \
      socket, or at the address in --server or STICKIES_SERVER. Options follow the command: stickies list --json. Name \
      a note by its number or by the beginning of its id.

      Exit codes: 0 done, 1 failed, 2 refused, 4 not found, 64 usage, 69 no daemon answers, 76 not \
      secure, 77 your role does not allow it, 124 timeout of wait, 130 interrupted.
      """,
    version: "stickies \(Stickies.version) (protocol \(ProtocolLimits.version), "
      + "model \(StickiesModel.model.name) \(StickiesModel.model.version) \(StickiesModel.model.hash))",
    subcommands: [
      Open.self, Add.self, List.self, Show.self, EditCommand.self, Move.self, Resize.self, ColorCommand.self,
      Raise.self,
      Lower.self, TagCommand.self, Untag.self, LinkCommand.self, Unlink.self, Delete.self, BoardCommand.self,
      Search.self, Watch.self, WaitCommand.self,
    ] + ShellCommands.history + [
      ImportCommand.self, Export.self, SyncFolder.self, SyncCommand.self, ShellCommands.graph, Status.self, Doctor.self,
      Login.self,
      Logout.self,
      Whoami.self,
    ] + ShellCommands.completion)

  static func main() async { await StickiesProgram().run() }
}

/// Coordinates may be negative: `move 3 -10,20`. The argument parser would take `-10,20` for options, so such words
/// are marked before parsing where a point or a size can occur, and the mark is removed when they are read.
enum NegativeArgumentEscaping {
  private static let mark: Character = "\u{2060}"

  static func protected(_ arguments: [String]) -> [String] {
    var isOption = true
    return arguments.indices.map { index in
      let argument = arguments[index]
      if argument == "--" { isOption = false }
      let separator: Character? =
        switch arguments[0] {
        case "move": ","
        case "resize": "x"
        default: index > 0 && arguments[index - 1] == "--position" ? "," : nil
        }
      guard isOption, argument.hasPrefix("-"), let separator, Self.numbers(argument, separator) != nil else {
        return argument
      }
      return String(mark) + argument
    }
  }

  /// Parses two numbers with a separator.
  static func numbers(_ argument: String, _ separator: Character) -> (Double, Double)? {
    let text = argument.first == mark ? argument.dropFirst() : argument[...]
    let parts = text.lowercased().split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == 2, let first = Double(decimal: parts[0]), let second = Double(decimal: parts[1]) else {
      return nil
    }
    return (first, second)
  }
}

/// A point `X,Y`, in points.
struct Point: ExpressibleByArgument {
  let x, y: Double

  init?(argument: String) {
    guard let (x, y) = NegativeArgumentEscaping.numbers(argument, ",") else { return nil }
    (self.x, self.y) = (x, y)
  }
}

/// A size `WxH`, in points. The daemon checks the limits, which are the model's rules.
struct Size: ExpressibleByArgument {
  let width, height: Double

  init?(argument: String) {
    guard let (width, height) = NegativeArgumentEscaping.numbers(argument, "x") else { return nil }
    (self.width, self.height) = (width, height)
  }
}

extension Color: ExpressibleByArgument {}
