import ArgumentParser
import CommandLineIO
import Foundation
import GraphModel
import GraphWire
import StickiesModel

/// Parses the command line and reports errors in it.
extension Daemon {
  static func main() async {
    StandardOutput.reserveDescriptors()
    TokenSecret.preventCoreDumps()
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      try UnreadableCommandLine.check()
    } catch {
      refuse(error.description, json: false)
    }
    if let unreadable = InvalidArgumentEncoding.first() {
      refuse(unreadable.description, json: arguments.contains("--json"))
    }
    do {
      var command = try parseAsRoot(arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      report(error, arguments)
    }
  }

  private static func report(_ error: any Error, _ arguments: [String]) -> Never {
    let isNoHelp = arguments.contains("--version") || arguments.contains("--experimental-dump-help")
    if exitCode(for: error) == .success, !(error is ExitCode) {
      let text = fullMessage(for: error)
      Console.print(isNoHelp ? text : text + (text.hasSuffix("\n") ? "" : "\n") + examples(for: arguments))
      exit(withError: nil)
    }
    guard exitCode(for: error) == .validationFailure, !(error is ExitCode) else { exit(withError: error) }
    // A program needs the message only; the usage text is for people.
    if arguments.contains("--json") {
      refuse(ParserMessage.text(message(for: error)), json: true)
    }
    // Without a command, the first argument must be an option. Any other word is a misspelled command.
    let names = configuration.subcommands.map { $0._commandName }
    if let word = arguments.first, !word.hasPrefix("-"), word != "help", !names.contains(word) {
      refuse("there is no command \"\(word.excerpt)\"; the commands are \(names.joined(separator: ", "))", json: false)
    }
    refuse(ParserMessage.text(fullMessage(for: error)), json: false)
  }

  private static func refuse(_ sentence: String, json: Bool) -> Never {
    let object = JSON.object([.init("code", .string("usage")), .init("message", .string(sentence))])
    if json { StandardError.write(JSON.object([.init("error", object)]).text) } else { Console.message(sentence) }
    exit(withError: ExitCode.validationFailure)
  }

  /// The examples at the end of a help text.
  private static let examples: [String: [String]] = [
    "": ["", "--listen unix:///tmp/notes.sock", "backup notes.sqlite"],
    "serve": ["serve --schema Schema/Company --data company --listen tcp://127.0.0.1:7333"],
    "check": ["check", "check --data company --schema Schema/Company --json"],
    "backup": ["backup notes.sqlite", "backup --replace --throttle 20 notes.sqlite"],
    "restore": ["restore notes.sqlite"],
    "migrate": ["migrate --dry-run", "migrate"],
    "certificate": ["certificate --name notes.example.org", "certificate --show"],
    "user": ["user add ann", "user rename ann anna", "user list"],
    "grant": ["grant ann reader", "grant ann editor --on Board:Plans", "grant list"],
    "share": ["share Board:Plans reader --label guests --expires 30d", "share list"],
    "access": ["access explain ann Board:Plans"],
    "audit": ["audit --since 24h", "audit --user ann --json"],
    "token": ["token create ann --label laptop --expires 90d", "token list"],
    "compact": ["compact --keep-age 90d --dry-run", "compact --keep-commits 10000"],
  ]

  private static func examples(for arguments: [String]) -> String {
    let word = arguments.first { !$0.hasPrefix("-") && $0 != "help" } ?? ""
    guard let lines = examples[word] else { return "" }
    return "\nEXAMPLES:\n" + lines.map { "  stickiesd\($0.isEmpty ? "" : " " + $0)\n" }.joined()
  }
}
