import CommandLineIO
import ArgumentParser
import GraphClient
import GraphModel
import GraphWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The end of a failed command: a message or JSON on standard error, and an exit code.
package enum CommandFailure {
  package static let refused: Int32 = 2
  package static let notFound: Int32 = 4
  package static let usage: Int32 = 64
  package static let noDaemon: Int32 = 69
  package static let notTrusted: Int32 = 76
  package static let notPermitted: Int32 = 77

  /// The description of an error: JSON output has the code and the members, text output only the message.
  package struct Report {
    package var code: String
    package var message: String
    package var exit: Int32
    package var members = [JSON.Member]()

    package init(code: String, message: String, exit: Int32, members: [JSON.Member] = []) {
      (self.code, self.message, self.exit, self.members) = (code, message, exit, members)
    }
  }

  private static var program: any ShellProgram { RunningProgram.current }

  /// Reports an error and exits.
  /// - Parameter command: the command that ran; nil if the error occurred before, and includes the usage itself.
  static func exit(_ error: any Error, of command: (any ParsableCommand.Type)?, json: Bool) -> Never {
    if let code = error as? ExitCode { endProcess(code.rawValue) }
    if let report = report(error) {
      write(report, json: json)
      endProcess(report.exit)
    }
    let code = program.command.exitCode(for: error)
    if code == .success {
      let arguments = Array(CommandLine.arguments.dropFirst())
      // Output for programs gets no examples.
      let isNoHelp = arguments.contains("--version") || arguments.contains("--experimental-dump-help")
      let text = program.command.fullMessage(for: error)
      printed(
        isNoHelp ? text : text + (text.hasSuffix("\n") ? "" : "\n") + CommandExamples.text(for: arguments, of: program))
    } else {
      // JSON output has only the message; the usage is for users.
      var text = ParserMessage.text(json ? program.command.message(for: error) : explained(error, of: command))
      if command == nil, let hint = hint(on: text, CommandLine.arguments, of: program) {
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        text = ([lines[0] + hint] + lines.dropFirst()).joined(separator: "\n")
      }
      write(Report(code: "usage", message: text, exit: usage), json: json)
    }
    endProcess(code == .success ? 0 : code == .validationFailure ? usage : code.rawValue)
  }

  /// The end of a message about arguments that can't be parsed; nil if there is no advice.
  /// - Parameter arguments: the process's arguments, with the program's path.
  static func hint(on message: String, _ arguments: [String], of program: any ShellProgram) -> String? {
    let words = arguments.prefix { $0 != "--" }.dropFirst()
    guard let first = words.first else { return nil }
    if first.hasPrefix("-") {
      let commands = program.command.configuration.subcommands.map { $0._commandName }
      guard let command = words.first(where: commands.contains) else { return nil }
      return "; options follow the command: \(program.name) \(command) \(first)"
    }
    return dashHint(first, words.dropFirst(), message, program)
  }

  /// A hint for a text or name that begins with a dash and was taken for an option.
  private static func dashHint(
    _ command: String, _ words: ArraySlice<String>, _ message: String, _ program: any ShellProgram
  ) -> String? {
    guard program.commandsWithText.contains(command),
      message.hasPrefix("unknown option") || words.contains(where: { isNoOption($0, of: message) })
    else { return nil }
    let path = program.command.path(in: [command] + words).joined(separator: " ")
    return "; put a text that begins with - after --: \(program.name) \(path) -- \"- milk\""
  }

  /// Whether a word begins with a dash and is not an option in the usage that a message contains.
  private static func isNoOption(_ word: String, of message: String) -> Bool {
    word.hasPrefix("-") && word != "-" && !message.contains("[\(word)]") && !message.contains("[\(word) ")
  }

  /// Prints text that is not an object of the graph: help, versions, scripts, candidates.
  package static func printed(_ text: String) {
    StandardOutput.write(text) { write(Report(code: "failed", message: $0, exit: 1), json: false) }
  }

  /// The message and the usage of the command.
  private static func explained(_ error: any Error, of command: (any ParsableCommand.Type)?) -> String {
    guard let command, error is ValidationError else { return program.command.fullMessage(for: error) }
    let usage = program.command.usageString(for: command).replacing("\n", with: "\n       ")
    // The usage begins with the command's words: `company open [<person>]`.
    let name = usage.split(separator: " ").prefix { $0.first?.isLetter == true }.joined(separator: " ")
    return "\(program.command.message(for: error))\nUsage: \(usage)\n  See '\(name) --help' for more information."
  }

  /// Marks an unknown outcome in JSON: a script that repeats the command could apply it twice.
  package static func outcome(of refusal: Refusal) -> [JSON.Member] {
    refusal.isOutcomeUnknown ? [.init("outcome", .string("unknown"))] : []
  }

  /// The text with a caret under the error, also after wide characters.
  private static func pointer(_ error: PredicateSyntaxError) -> String {
    error.pointer { TextTable.width(TextTable.visible(String($0))) }
  }

  private static func report(_ error: any Error) -> Report? {
    switch error {
    case let error as any ReportedError: return error.report
    case let failure as ConnectFailure:
      return Report(code: "noDaemon", message: program.sentence(forUnreachable: failure.address), exit: noDaemon)
    case let failure as SecurityFailure: return report(failure)
    case let failure as StoreFailure:
      return Report(
        code: Refusal.Code.unavailable.rawValue, message: failure.description, exit: exitCode(of: .unavailable))
    case let refusal as Refusal:
      let details = ModelRefusal.brief(refusal.violations.dropFirst().map(\.message), of: refusal)
      return Report(
        code: refusal.code.rawValue, message: refusal.message + details, exit: exitCode(of: refusal.code),
        members: outcome(of: refusal))
    case let error as PredicateSyntaxError:
      return Report(
        code: "malformed", message: "the predicate can't be read at \(error)\n\(pointer(error))", exit: usage)
    case let error as UnreadableSort:
      return Report(
        code: "malformed", message: "--sort can't be read at \(error.cause)\n\(pointer(error.cause))", exit: usage)
    case let error as FetchSyntaxError:
      let option =
        switch error.part {
        case .properties: "--properties"
        case .groups: "--group-by"
        case .order: "--sort"
        }
      return Report(
        code: "malformed", message: "\(option) can't be read at \(error.cause)\n\(pointer(error.cause))", exit: usage)
    case let error as UnreadableCommandLine: return Report(code: "usage", message: error.description, exit: usage)
    case let error as InvalidArgumentEncoding: return Report(code: "usage", message: error.description, exit: usage)
    case let error as UnknownCommand: return Report(code: "usage", message: error.description, exit: usage)
    case let error as ServerAddress.ParseError: return Report(code: "usage", message: error.description, exit: usage)
    default: return nil
    }
  }

  private static func report(_ failure: SecurityFailure) -> Report {
    guard let key = failure.key else {
      return Report(code: failure.code.rawValue, message: failure.message, exit: notTrusted)
    }
    let command = "\(program.name) \(program.connectingCommand) --server \(failure.address) --pin \(key)"
    return Report(
      code: failure.code.rawValue, message: "\(failure.message); to trust it: \(command)", exit: notTrusted,
      members: [.init("key", .string(key.description))])
  }

  package static func exitCode(of code: Refusal.Code) -> Int32 {
    switch code {
    case .conflict, .invalid, .denied, .unique, .notAllowed, .limit: refused
    case .notFound, .pruned: notFound
    case .malformed: usage
    case .unavailable, .cancelled: 1
    }
  }

  /// Prints a report on standard error.
  /// - Parameter program: the program; nil for the one that runs.
  static func write(_ report: Report, json: Bool, of program: (any ShellProgram)? = nil) {
    guard !json else {
      let members = [JSON.Member("code", .string(report.code)), .init("message", .string(report.message))]
      return StandardError.write(JSON.object([.init("error", .object(members + report.members))]).text)
    }
    // The message may quote a text or a name, whose control characters must not reach the terminal.
    let name = (program ?? Self.program).name
    StandardError.write("\(name): " + TextTable.visibleLines(report.message))
  }
}

/// An error with its own report.
package protocol ReportedError: Error {
  var report: CommandFailure.Report { get }
}

/// The address accepts connections but does not send a welcome.
package struct WelcomeError: ReportedError, CustomStringConvertible {
  let reason: String

  package var description: String { reason }

  package var report: CommandFailure.Report {
    CommandFailure.Report(
      code: "noDaemon", message: "the daemon does not answer: \(reason)\(RunningProgram.current.adviceOnSilentDaemon)",
      exit: CommandFailure.noDaemon)
  }
}

/// A prefix of an id that matches several objects.
package struct AmbiguousID: ReportedError {
  struct Candidate {
    var id: ObjectID
    var entity: String
    var title: String
  }

  let prefix: String
  /// The objects that are listed.
  let candidates: [Candidate]
  /// Whether there are more objects than are listed.
  let hasMore: Bool

  package var report: CommandFailure.Report {
    let lines = candidates.map { "\n  \($0.id)  \($0.title)" }.joined()
    return CommandFailure.Report(
      code: "ambiguous",
      message: "\"\(prefix)\" is the beginning of several ids:\(lines)\(hasMore ? "\n  …" : "")",
      exit: CommandFailure.refused,
      members: [
        .init(
          "candidates",
          .array(
            candidates.map {
              .object([
                .init("id", .string($0.id.description)), .init("entity", .string($0.entity)),
                .init("title", .string($0.title)),
              ])
            }))
      ])
  }
}

/// `exit` of the C library, which a method hides.
private func endProcess(_ code: Int32) -> Never { exit(code) }
