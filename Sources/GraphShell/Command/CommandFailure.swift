import ArgumentParser
import Glibc
import GraphClient
import GraphModel
import GraphWire
import StickiesKit

/// The end of a failed command: a message or JSON on standard error, and an exit code.
enum CommandFailure {
  static let refused: Int32 = 2
  static let notFound: Int32 = 4
  static let usage: Int32 = 64
  static let noDaemon: Int32 = 69

  /// The description of an error: JSON output has the code and the members, text output only the message.
  struct Report {
    var code: String
    var message: String
    var exit: Int32
    var members = [JSON.Member]()
  }

  /// Reports an error and exits.
  /// - Parameter command: the command that ran; nil if the error occurred before, and includes the usage itself.
  static func exit(_ error: any Error, of command: (any ParsableCommand.Type)?, json: Bool) -> Never {
    if let code = error as? ExitCode { Glibc.exit(code.rawValue) }
    if let report = report(error) {
      tell(report, json: json)
      Glibc.exit(report.exit)
    }
    let code = StickiesCommand.exitCode(for: error)
    if code == .success {
      let arguments = Array(CommandLine.arguments.dropFirst())
      // Output for programs gets no examples.
      let isNoHelp = arguments.contains("--version") || arguments.contains("--experimental-dump-help")
      let text = StickiesCommand.fullMessage(for: error)
      printed(isNoHelp ? text : text + (text.hasSuffix("\n") ? "" : "\n") + Examples.text(for: arguments))
    } else {
      // JSON output has only the message; the usage is for users.
      var text = json ? StickiesCommand.message(for: error) : explained(error, of: command)
      if text.hasPrefix("Error: ") { text.removeFirst("Error: ".count) }
      if command == nil, let hint = dashHint(CommandLine.arguments, text) {
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        text = ([lines[0] + hint] + lines.dropFirst()).joined(separator: "\n")
      }
      tell(Report(code: "usage", message: text, exit: usage), json: json)
    }
    Glibc.exit(code == .success ? 0 : code == .validationFailure ? usage : code.rawValue)
  }

  /// A hint for a text or name that begins with a dash and was taken for an option; nil if there is none.
  private static func dashHint(_ arguments: [String], _ message: String) -> String? {
    let words = arguments.prefix { $0 != "--" }
    guard let command = words.dropFirst().first, ["add", "search", "tag", "untag", "board"].contains(command),
      message.hasPrefix("Unknown option") || words.dropFirst(2).contains(where: { isNoOption($0, of: message) })
    else { return nil }
    return "; put a text that begins with - after --: stickies \(command) -- \"- milk\""
  }

  /// Whether a word begins with a dash and is not an option in the usage that a message contains.
  private static func isNoOption(_ word: String, of message: String) -> Bool {
    word.hasPrefix("-") && word != "-" && !message.contains("[\(word)]") && !message.contains("[\(word) ")
  }

  /// Prints text that is not an object of the graph: help, versions, scripts, candidates.
  static func printed(_ text: String) {
    StandardOutput.write(text) { tell(Report(code: "failed", message: $0, exit: 1), json: false) }
  }

  /// The message and the usage of the command.
  private static func explained(_ error: any Error, of command: (any ParsableCommand.Type)?) -> String {
    guard let command, error is ValidationError else { return StickiesCommand.fullMessage(for: error) }
    let usage = StickiesCommand.usageString(for: command).replacing("\n", with: "\n       ")
    // The usage begins with the command's words: `stickies open [<board>]`.
    let name = usage.split(separator: " ").prefix { $0.first?.isLetter == true }.joined(separator: " ")
    return "\(StickiesCommand.message(for: error))\nUsage: \(usage)\n  See '\(name) --help' for more information."
  }

  /// Marks an unknown outcome in JSON: a script that repeats the command could apply it twice.
  static func outcome(of refusal: Refusal) -> [JSON.Member] {
    refusal == GraphClient.unknownOutcome ? [.init("outcome", .string("unknown"))] : []
  }

  private static func report(_ error: any Error) -> Report? {
    switch error {
    case let error as any ReportedError: return error.report
    case let failure as ConnectFailure:
      return Report(code: "noDaemon", message: ServerAddressChoice.sentence(failure.address), exit: noDaemon)
    case let refusal as Refusal:
      let details = ModelRefusal.brief(refusal.violations.dropFirst().map(\.message), of: refusal)
      return Report(
        code: refusal.code.rawValue, message: refusal.message + details, exit: exitCode(of: refusal.code),
        members: outcome(of: refusal))
    case let error as PredicateSyntaxError:
      return Report(
        code: "malformed", message: "the predicate can't be read at \(error)\n\(error.pointer)", exit: usage)
    case let error as UnreadableSort:
      return Report(
        code: "malformed", message: "--sort can't be read at \(error.cause)\n\(error.cause.pointer)", exit: usage)
    case let error as FetchSyntaxError:
      let option =
        switch error.part {
        case .properties: "--properties"
        case .groups: "--group-by"
        case .order: "--sort"
        }
      return Report(
        code: "malformed", message: "\(option) can't be read at \(error.cause)\n\(error.cause.pointer)", exit: usage)
    case let error as UnreadableCommandLine: return Report(code: "usage", message: error.description, exit: usage)
    case let error as InvalidArgumentEncoding: return Report(code: "usage", message: error.description, exit: usage)
    case let error as UnknownCommand: return Report(code: "usage", message: error.description, exit: usage)
    case let error as ServerAddress.ParseError: return Report(code: "usage", message: error.description, exit: usage)
    default: return nil
    }
  }

  static func exitCode(of code: Refusal.Code) -> Int32 {
    switch code {
    case .conflict, .invalid, .denied, .unique, .notAllowed, .limit: refused
    case .notFound, .pruned: notFound
    case .malformed: usage
    case .unavailable: 1
    }
  }

  static func tell(_ report: Report, json: Bool) {
    guard !json else {
      let members = [JSON.Member("code", .string(report.code)), .init("message", .string(report.message))]
      return StandardError.write(JSON.object([.init("error", .object(members + report.members))]).text)
    }
    // The message may quote a note or a name, whose control characters must not reach the terminal.
    let lines = report.message.split(separator: "\n", omittingEmptySubsequences: false)
    StandardError.write("stickies: " + lines.map { TextTable.visible(String($0)) }.joined(separator: "\n"))
  }
}

/// An error with its own report.
protocol ReportedError: Error {
  var report: CommandFailure.Report { get }
}

/// The address accepts connections but does not send a welcome.
struct WelcomeError: ReportedError, CustomStringConvertible {
  let reason: String

  var description: String { reason }

  var report: CommandFailure.Report {
    CommandFailure.Report(
      code: "noDaemon", message: "the daemon does not answer: \(reason); run stickies doctor to find the cause",
      exit: CommandFailure.noDaemon)
  }
}

/// A prefix of an id that matches several objects.
struct AmbiguousID: ReportedError {
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

  var report: CommandFailure.Report {
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
