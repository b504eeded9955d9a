import ArgumentParser
import Glibc
import GraphClient
import GraphModel
import GraphWire

/// How a command ends when it does not end well: a sentence or JSON on standard error, and an exit code.
enum Failure {
  static let refused: Int32 = 2
  static let notFound: Int32 = 4
  static let usage: Int32 = 64
  static let noDaemon: Int32 = 69

  static func exit(_ error: any Error, json: Bool) -> Never {
    if let code = error as? ExitCode { Glibc.exit(code.rawValue) }
    if let described = describe(error) {
      report(described.message, code: described.code, json: json)
      Glibc.exit(described.exit)
    }
    let code = StickiesCommand.exitCode(for: error)
    if code == .success {
      print(StickiesCommand.fullMessage(for: error))
    } else {
      // A program wants the sentence; how a command is written is for people.
      let text = json ? StickiesCommand.message(for: error) : StickiesCommand.fullMessage(for: error)
      report(text, code: "usage", json: json, prefix: false)
    }
    Glibc.exit(code == .success ? 0 : code == .validationFailure ? usage : code.rawValue)
  }

  private static func describe(_ error: any Error) -> (code: String, message: String, exit: Int32)? {
    switch error {
    case let failure as ConnectFailure:
      let listen = failure.address
      return (
        "noDaemon",
        "no stickiesd answers at \(listen); start one with: stickiesd --listen \(listen)", noDaemon
      )
    case let refusal as Refusal:
      let exit: Int32 =
        switch refusal.code {
        case .conflict, .invalid, .denied, .unique, .notAllowed, .limit: refused
        case .notFound: notFound
        case .malformed: usage
        case .unavailable: 1
        }
      let details = refusal.violations.dropFirst().map { "\n  \($0.message)" }.joined()
      return (refusal.code.rawValue, refusal.message + details, exit)
    case let error as PredicateSyntaxError:
      return ("malformed", "the predicate can't be read at \(error)\n\(error.pointer)", usage)
    case let error as UnreadableSort:
      return ("malformed", "--sort can't be read at \(error.cause)\n\(error.cause.pointer)", usage)
    case let error as UnknownCommand: return ("usage", error.description, usage)
    case let error as ServerAddress.ParseError: return ("usage", error.description, usage)
    default: return nil
    }
  }

  static func report(_ message: String, code: String, json: Bool, prefix: Bool = true) {
    let text: String
    if json {
      text =
        JSON.object([.init("error", .object([.init("code", .string(code)), .init("message", .string(message))]))]).text
    } else {
      // A sentence may quote a note or a name: neither may command the terminal.
      let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
      text = (prefix ? "stickies: " : "") + lines.map { TextTable.visible(String($0)) }.joined(separator: "\n")
    }
    StandardError.write(text)
  }
}
