import ArgumentParser
import GraphClient
import GraphJSON
import GraphModel
import GraphReplica
import GraphWire

struct Follow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Print each commit as a line of JSON, for backups and other programs.",
    discussion: """
      Runs until Ctrl-C; with --until-now it ends after the newest present commit. Each line has a token: after an \
      interruption, give --since the token of the last line that you processed, and no commit is missed. A token of \
      another store, of a store that was restored from a backup since, or of pruned commits is refused with exit \
      code 4. Standard error names the commits that are damaged, and the objects whose changes are printed without \
      values because of damage; the exit code is then 1.
      """)

  @OptionGroup var options: CommonOptions
  @OptionGroup var filter: HistoryOptions
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Begin after this token or revision; 0 is the beginning. Default: now.", valueName: "token"))
  var since: String?
  @Flag(help: "End after the newest present commit.")
  var untilNow = false

  func validate() throws {
    _ = try start()
  }

  /// The commit after which the command begins.
  private enum Start {
    case now
    case token(Token)
    case revision(Revision)
  }

  private func start() throws -> Start {
    guard let since else { return .now }
    if let token = Token(since) { return .token(token) }
    guard let revision = Revision(since), revision >= 0 else {
      throw ValidationError("--since takes a token from a line of follow, or a revision of 0 or more")
    }
    return .revision(revision)
  }

  @MainActor
  func run() async throws {
    try await options.withHistory(reconnects: true) { shell in
      shell.client.reportLostConnections(to: shell.output)
      var printed = try await token(at: start(), shell)
      var reached = printed
      var damage = DamageNotice()
      let commits = shell.client.commits(
        since: printed, filter: try await filter.filter(shell), untilNow: untilNow, omitsDamage: true)
      for try await followed in commits {
        reached = followed.token
        damage.formUnion(followed.damage)
        // The damage is reported immediately, because without --until-now the command does not end.
        if !untilNow, !followed.damage.isEmpty {
          CommandFailure.write(IncompleteResult(followed.damage, shell.model).report, json: shell.output.json)
        }
        guard let commit = followed.commit else { continue }
        shell.output.print(ObjectJSON.commit(commit, token: followed.token, shell.model))
        printed = followed.token
      }
      // The last commits did not match; the token lets the next run skip them.
      if reached != printed { shell.output.print(JSON.object([.init("token", .string(reached.description))])) }
      try IncompleteResult.check(damage, shell.model)
    }
  }

  @MainActor
  private func token(at start: Start, _ shell: CommandContext) async throws -> Token {
    switch start {
    case .now: return shell.head
    case .token(let token): return token
    case .revision(let revision): return try await WatchPrinter.token(of: revision, shell.head, shell.client)
    }
  }
}

extension ObjectJSON {
  fileprivate static func commit(_ entry: CommitEntry, token: Token, _ model: Model) -> JSON {
    guard case .object(let members) = commit(entry, model) else { return .null }
    return .object([.init("token", .string(token.description))] + members)
  }
}

/// The options that filter commits of the history.
struct HistoryOptions: ParsableArguments {
  @Option(
    name: .customLong("author"), parsing: .unconditionalSingleValue,
    help: "Only commits of this author; may be repeated.")
  var authors: [String] = []
  @Option(
    name: .customLong("entity"), parsing: .unconditionalSingleValue,
    help: "Only changes of objects of this entity; may be repeated.")
  var entities: [String] = []
  @Option(
    name: .customLong("object"), parsing: .unconditional,
    help: "Only changes of this object, by its number or the beginning of its id.")
  var object: String?

  @MainActor
  func filter(_ shell: CommandContext) async throws -> HistoryFilter {
    var filter = HistoryFilter(authors: authors, entities: try entities.map { try shell.known($0).number })
    if let object { filter.object = try await ObjectFinder(shell).past(object).description }
    return filter
  }
}
