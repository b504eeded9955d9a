import ArgumentParser
import CommandLineIO

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The commands of GraphShell, for the list of a program's subcommands.
public enum ShellCommands {
  /// `graph`: the commands for any model.
  public static let graph: any ParsableCommand.Type = GraphCommand.self

  /// The commands for the history of the program's own model, or of the daemon's.
  public static let history: [any ParsableCommand.Type] = [
    LogCommand.self, Undo.self, Redo.self, Restore.self, Why.self, Diff.self, Follow.self,
  ]

  /// Completion in bash, zsh and fish.
  public static let completion: [any ParsableCommand.Type] = [CompletionCommand.self, Complete.self]
}

extension ShellProgram {
  /// Parses the process's arguments and runs the command that they name; an error ends the process with its exit
  /// code.
  public func run() async {
    // A write to a closed pipe returns an error. NIO ignores the signal anyway.
    signal(SIGPIPE, SIG_IGN)
    StandardOutput.reserveDescriptors()
    TokenSecret.preventCoreDumps()
    await RunningProgram.$value.withValue(self) { await runCommand() }
  }

  private func runCommand() async {
    let arguments = OptionValues.joined(prepared(Array(CommandLine.arguments.dropFirst())), of: command)
    let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
    // The command to which an error belongs; before it runs, the argument parser knows it.
    var running: (any ParsableCommand.Type)?
    do {
      try UnreadableCommandLine.check()
      if let unreadable = InvalidArgumentEncoding.first() { throw unreadable }
      if let unknown = UnknownCommand.find(in: arguments, of: command) { throw unknown }
      var parsed = try command.parseAsRoot(arguments)
      running = type(of: parsed)
      if var asynchronous = parsed as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try parsed.run()
      }
    } catch {
      CommandFailure.exit(error, of: running, json: wantsJSON)
    }
  }
}
