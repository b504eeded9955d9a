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

/// `complete -- WORD...`, called by shells: prints candidates for the last word. Names of objects come from
/// the live graph; without a daemon, or after a timeout, there are none, without a message.
struct Complete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "complete", abstract: "Print completions of the last word.", shouldDisplay: false)

  /// The timeout of a completion, in milliseconds.
  static let maximumDelayMilliseconds: Int64 = 500

  @Flag(
    help: "WORD... is bash's line up to the cursor and the part that readline replaces; prints quoted text."
  )
  var bash = false

  @Argument(help: "The words after \(RunningProgram.current.name); the last one is completed and may be empty.")
  var words: [String] = []

  @MainActor
  func run() async throws {
    guard bash else { return try await complete(words, in: nil) }
    guard words.count == 2 else { throw ValidationError("--bash takes a line and the part of it to replace") }
    if let line = BashLine(words[0], replacing: words[1]) { try await complete(line.words, in: line) }
  }

  /// Prints the candidates for the last word.
  /// - Parameter line: bash's line, for which the candidates are quoted.
  @MainActor
  private func complete(_ words: [String], in line: BashLine?) async throws {
    let place = CompletionContext(words)
    let candidates: [CompletionCandidate]
    switch place.wanted {
    case .nothing: candidates = []
    // Inserted text never begins with a tab.
    case .files: return CommandFailure.printed(bash ? "\tfiles" : CompletionCandidate.files)
    case .words(let words): candidates = words
    case .things(let kind, let mayBeginWithDash):
      let server = place.server
      let things = try? await TimeLimit.run(milliseconds: Self.maximumDelayMilliseconds, late: { ExitCode.failure }) {
        try await LiveCandidates.find(kind, server: server)
      }
      guard let things else { return }
      candidates = things.filter { $0.isOneLine && (mayBeginWithDash || !$0.word.hasPrefix("-")) }
    }
    // Compares bytes, as the store does: a letter may be one scalar or two.
    for candidate in candidates where candidate.word.utf8.starts(with: place.typed.utf8) {
      guard let line else {
        CommandFailure.printed(place.lead + candidate.line)
        continue
      }
      if let text = line.replacement(for: place.lead + candidate.word) { CommandFailure.printed(text) }
    }
  }
}

/// A word that completion offers, with its description.
public struct CompletionCandidate: Sendable {
  /// The word.
  public let word: String
  /// The description; empty for none.
  public let text: String

  /// Creates a candidate.
  public init(word: String, text: String = "") { (self.word, self.text) = (word, text) }

  /// The line that requests the shell's own completion of file names.
  static let files = ":files"

  /// The word, a tab and the text. A name equal to `:files` gets the tab as well, which marks it as a word.
  var line: String { text.isEmpty && word != Self.files ? word : "\(word)\t\(text)" }

  /// Whether a shell can display and insert the word. It must not be empty or contain a control character, a line
  /// separator or a change of text direction.
  var isOneLine: Bool {
    !word.isEmpty
      && word.unicodeScalars.allSatisfy { scalar in
        switch scalar.value {
        case 0x2028...0x202E, 0x2066...0x2069: false
        default: scalar.properties.generalCategory != .control
        }
      }
  }
}

/// Determines the possible values of the last word from the commands' declarations.
struct CompletionContext {
  /// Kinds of live names.
  enum Kind: Equatable, Sendable {
    case entity, object, author
    /// The names that the program offers for values of this name.
    case value(String)
  }

  enum CompletionTarget {
    case nothing
    case files
    case words([CompletionCandidate])
    /// Live objects; in some places a word that begins with a dash would be an option.
    case things(Kind, mayBeginWithDash: Bool)
  }

  private(set) var wanted = CompletionTarget.nothing
  /// The typed part; of an option's value the part after the equals sign.
  private(set) var typed: String
  /// The prefix `--entity=` if the value follows it; it is printed again before each candidate.
  private(set) var lead = ""
  /// The value of `--server` among the words.
  private(set) var server: String?

  init(_ words: [String], of program: any ShellProgram = RunningProgram.current) {
    // A shell may pass no word at all instead of an empty one.
    typed = if let last = words.last { last } else { "" }
    var before = words.dropLast()
    let words = words.prefix { $0 != "--" }
    if let place = words.firstIndex(of: "--server"), place + 1 < before.endIndex { server = before[place + 1] }
    if let word = words.first(where: { $0.hasPrefix("--server=") }) { server = String(word.dropFirst(9)) }
    var command = program.command
    var path = [String]()
    while let word = before.first, let next = Self.subcommand(word, of: command) {
      command = next
      path.append(word)
      before = before.dropFirst()
    }
    let subcommands = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    guard subcommands.isEmpty else {
      let names = subcommands.map { CompletionCandidate(word: $0._commandName, text: $0.configuration.abstract) }
      if before.isEmpty {
        wanted = .words(
          typed.hasPrefix("-") ? [CompletionCandidate(word: "--help"), CompletionCandidate(word: "--version")] : names)
      } else if path.isEmpty, before.first == "help" {
        wanted = .words(names)
      }
      return
    }
    let arguments = CommandArguments(of: command)
    if let (name, value) = Self.parted(typed), !before.contains("--"),
      let option = arguments.options.first(where: { $0.takesValue && $0.name == name })
    {
      (lead, typed) = ("--\(name)=", value)
      wanted = Self.values(of: option, path, program, mayBeginWithDash: true)
    } else {
      wanted = Self.wanted(Array(before), typed, arguments, path, program)
    }
  }

  /// Splits `--entity=Per` into name and value.
  private static func parted(_ word: String) -> (name: String, value: String)? {
    guard word.hasPrefix("--"), let sign = word.firstIndex(of: "=") else { return nil }
    return (String(word[..<sign].dropFirst(2)), String(word[word.index(after: sign)...]))
  }

  private static func subcommand(
    _ name: String, of command: any ParsableCommand.Type
  ) -> (any ParsableCommand.Type)? {
    command.configuration.subcommands.first { $0._commandName == name }
  }

  /// The candidates for a word.
  /// - Parameter before: the words between the command and the one to be completed.
  private static func wanted(
    _ before: [String], _ typed: String, _ arguments: CommandArguments, _ path: [String],
    _ program: any ShellProgram
  ) -> CompletionTarget {
    var positional = 0
    var option: CommandArguments.Argument?
    var isOver = false
    for word in before {
      if option != nil {
        option = nil
      } else if !isOver, word == "--" {
        isOver = true
      } else if !isOver, word.hasPrefix("--") {
        // `--entity=Person` already has its value.
        option = arguments.options.first { $0.takesValue && "--" + $0.name == word }
      } else if isOver || !word.hasPrefix("-") || word == "-" {
        positional += 1
      }
    }
    if let option { return values(of: option, path, program, mayBeginWithDash: true) }
    if !isOver, typed.hasPrefix("-") {
      return .words(
        arguments.options.filter { $0.isRepeating || !before.contains("--" + $0.name) }
          .map { CompletionCandidate(word: "--" + $0.name, text: $0.abstract) })
    }
    guard let last = arguments.positionals.last else { return .nothing }
    guard positional < arguments.positionals.count || last.isRepeating else { return .nothing }
    let place = min(positional, arguments.positionals.count - 1)
    return values(of: arguments.positionals[place], path, program, mayBeginWithDash: isOver)
  }

  /// The candidates for a value, determined by its name, which the help shows too.
  private static func values(
    of argument: CommandArguments.Argument, _ path: [String], _ program: any ShellProgram, mayBeginWithDash: Bool
  ) -> CompletionTarget {
    if !argument.values.isEmpty { return .words(argument.values.map { CompletionCandidate(word: $0) }) }
    let isGraph = path.first == GraphCommand.configuration.commandName
    switch argument.valueName {
    case "author": return .things(.author, mayBeginWithDash: mayBeginWithDash)
    case "entity": return .things(.entity, mayBeginWithDash: mayBeginWithDash)
    case "object", "from", "to", "id":
      if isGraph { return .things(.object, mayBeginWithDash: mayBeginWithDash) }
    case "file", "path", "paths", "DIR": return .files
    default: break
    }
    guard program.completedValues.contains(argument.valueName) else { return .nothing }
    return .things(.value(argument.valueName), mayBeginWithDash: mayBeginWithDash)
  }
}

/// A command's options and arguments, from the argument parser's help dump.
struct CommandArguments {
  struct Argument {
    let name: String
    let valueName: String
    let abstract: String
    let values: [String]
    let takesValue: Bool
    let isRepeating: Bool
  }

  private(set) var options = [Argument]()
  private(set) var positionals = [Argument]()

  init(of command: any ParsableCommand.Type) {
    // The form of the dump belongs to the argument parser; without arguments there are no candidates.
    guard let dump = try? JSON(parsing: command._dumpHelp()),
      let arguments = dump["command"]?["arguments"]?.arrayValue
    else { return }
    for argument in arguments where argument["shouldDisplay"] == .bool(true) {
      let kind = argument["kind"]?.stringValue
      let parsed = Argument(
        name: Self.text(argument["preferredName"]?["name"]), valueName: Self.text(argument["valueName"]),
        abstract: Self.text(argument["abstract"]), values: Self.values(of: argument), takesValue: kind == "option",
        isRepeating: argument["isRepeating"] == .bool(true))
      if kind == "positional" { positionals.append(parsed) } else { options.append(parsed) }
    }
  }

  /// A text of the dump, which omits empty ones.
  private static func text(_ json: JSON?) -> String { if let text = json?.stringValue { text } else { "" } }

  /// All cases of a type with few values; otherwise the values that the command declares; empty for any value.
  private static func values(of argument: JSON) -> [String] {
    let values = argument["allValues"] ?? argument["completionKind"]?["list"]?["values"]
    guard let items = values?.arrayValue else { return [] }
    return items.compactMap(\.stringValue)
  }
}
