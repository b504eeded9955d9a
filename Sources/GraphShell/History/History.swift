import ArgumentParser
import GraphModel
import GraphReplica
import GraphWire

/// The log of any graph. Like the other commands of this folder, a program has it twice: for its own model, and in
/// `graph` for any.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List the commits, the newest first: who changed what, and when.",
    discussion: "With --entity or --object a commit is listed with the matching changes only.")

  @OptionGroup var options: CommonOptions
  @OptionGroup var filter: HistoryOptions
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Print at most this many commits, 1 to 100000.", valueName: "count"))
  var limit = 20
  @Option(
    parsing: .unconditional, help: ArgumentHelp("Only commits after this revision.", valueName: "revision"))
  var after: Revision = 0
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only commits at or after this time or revision: \"1h ago\", yesterday, 2026-11-21T14:00:00Z, 40.",
      valueName: "when"))
  var since: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only commits before this time, or up to this revision.", valueName: "when"))
  var until: String?
  @Flag(help: "Print the oldest commits first.")
  var oldestFirst = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Print at most this many changes of each commit. (default: \(Self.shownChanges); with --json all)",
      valueName: "count"))
  var changes: UInt64?

  /// The default number of changes shown for each commit.
  private static let shownChanges: UInt64 = 10

  func validate() throws {
    if limit < 1 || limit > 100_000 { throw ValidationError("--limit must be from 1 to 100000") }
    if after < 0 { throw ValidationError("--after must be 0 or more") }
    if let since { _ = try RevisionSpecifier(since, option: "--since") }
    if let until { _ = try RevisionSpecifier(until, option: "--until") }
  }

  @MainActor
  func run() async throws {
    try await options.withHistory { shell in try await LogPrinter(shell).show(request(shell)) }
  }

  @MainActor
  private func request(_ shell: CommandContext) async throws -> LogRequest {
    var request = LogRequest(
      after: after, limit: UInt64(limit), filter: try await filter.filter(shell), oldestFirst: oldestFirst,
      changes: changes ?? (shell.output.json ? nil : Self.shownChanges))
    switch try since.map({ try RevisionSpecifier($0, option: "--since", toTheEnd: false) }) {
    case .revision(let revision)?: request.after = max(request.after, revision - 1)
    case .now?: request.filter.since = LocalClock.now
    case .time(let time)?: request.filter.since = time
    case nil: break
    }
    switch try until.map({ try RevisionSpecifier($0, option: "--until", toTheEnd: false) }) {
    case .revision(let revision)?:
      // In the protocol 0 means the head; there is no commit up to revision 0.
      guard revision > 0 else { throw Refusal(.notFound, "there is no commit up to revision 0") }
      request.through = revision
    case .time(let time)?: request.filter.until = time
    // All commits were made before now.
    case .now?, nil: break
    }
    return request
  }
}

struct Undo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Undo your newest commit that is not undone yet, or a given one.",
    discussion: "You can only undo your own commits. Values that another author has changed since stay as they are.")

  @OptionGroup var options: CommonOptions
  @Argument(help: "The revision of one of your own commits, as log prints it, such as 51.")
  var revision: Revision?
  @Option(
    parsing: .unconditional,
    help: "Undo your newest step with this name that is not undone yet; programs name steps of several commits.")
  var name: String?

  func validate() throws {
    if name != nil, revision != nil {
      throw ValidationError("name a step by its revision or by --name, not by both")
    }
    if name == "" { throw ValidationError("--name takes the name of a step") }
    if let revision, revision < 1 { throw ValidationError("a revision must be at least 1") }
  }

  @MainActor
  func run() async throws {
    try await options.withHistory { shell in
      if let name { return try await UndoPrinter(shell).undo(named: name) }
      try await UndoPrinter(shell).undo(revision)
    }
  }
}

struct Redo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Redo what your newest undo reverted, unless you have changed something since.")

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    try await options.withHistory { shell in
      try await UndoPrinter(shell).redo()
    }
  }
}
