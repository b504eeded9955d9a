import ArgumentParser
import GraphModel
import GraphReplica
import GraphWire

/// The log of any graph. Like the other commands of this folder, a program has it twice: for its own model, and in
/// `graph` for any.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List commits, the newest first.",
    discussion: "With --entity or --object, a commit is listed with its matching changes.")

  @OptionGroup var options: CommonOptions
  @OptionGroup var filter: HistoryOptions
  @Option(parsing: .unconditional, help: "At most this many, 1 to 100000.")
  var limit = 20
  @Option(parsing: .unconditional, help: "Only commits after this revision.")
  var after: Revision = 0
  @Option(parsing: .unconditional, help: "Only commits at or after this time or revision.")
  var since: String?
  @Option(parsing: .unconditional, help: "Only commits before this time, or up to this revision.")
  var until: String?
  @Flag(help: "The oldest first, instead of the newest.")
  var oldestFirst = false
  @Option(
    parsing: .unconditional,
    help: "At most this many changes of each commit. (default: \(Self.shownChanges); with --json all)")
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
    abstract: "Take back your newest commit that is not undone, or a given one.")

  @OptionGroup var options: CommonOptions
  @Argument(help: "One of your own commits, as log shows it.")
  var revision: Revision?
  @Option(parsing: .unconditional, help: "Your newest step with this name that is not undone.")
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
    abstract: "Redo your newest undo, unless you have changed something since.")

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    try await options.withHistory { shell in
      try await UndoPrinter(shell).printUndo { try await shell.client.redo() }
    }
  }
}
