import Foundation
import GraphModel
import GraphTesting
import Testing

/// Every command's help has an example, and every example can be typed.
@Suite struct ExampleTests {
  /// The names of all commands that can be run.
  private static func commands(_ command: JSON, _ path: [String] = []) -> [[String]] {
    let parts = command["subcommands"]?.arrayValue ?? []
    guard !parts.isEmpty else { return command["shouldDisplay"] == .bool(true) ? [path] : [] }
    return parts.flatMap { part in
      let name = part["commandName"]?.stringValue ?? ""
      return name == "help" ? [] : commands(part, path + [name])
    }
  }

  @Test func everyCommandHasAParsableExample() throws {
    let daemon = try Daemon()
    let dump = try daemon.run("--experimental-dump-help").json()
    let commands = Self.commands(try #require(dump["command"]))
    #expect(commands.count > 45)
    var count = 0
    for path in commands {
      let help = try Daemon.run(["help"] + path, server: daemon.socket.description, author: "a", input: nil).output
      let examples = help.components(separatedBy: "\nEXAMPLES:\n").dropFirst().joined()
        .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(!examples.isEmpty, "\(path) has no example")
      for example in examples {
        count += 1
        #expect(example.hasPrefix("stickies \(path.joined(separator: " "))"), "\(example)")
        // There is no daemon: a command that reports this has parsed its arguments.
        let result = try BackgroundProcess(
          daemon, ["-c", "cd '\(daemon.home.path)' && \(example)"], program: "/bin/sh"
        ).end()
        #expect(result.status != 64, "\(example): \(result.errors)")
      }
    }
    #expect(count >= commands.count)
  }
}
