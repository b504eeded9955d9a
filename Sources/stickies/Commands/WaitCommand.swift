import ArgumentParser
import GraphClient
import GraphModel
import GraphWire

/// `stickies wait`: lets a script wait for changes of others without polling.
struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until matching notes exist, or for a revision.",
    discussion: """
      Ends with exit code 0 as soon as the condition holds, at once if it already does, and with 124 after --timeout. \
      <id> can name notes that do not exist yet; all of them must match. Lost connections are restored.
      """)

  @OptionGroup var options: CommonOptions
  @Argument(help: "Numbers or complete ids of notes, all of which must match.")
  var id: [String] = []
  @OptionGroup var filter: NoteFilterArguments
  @OptionGroup var goal: WaitOptions

  func validate() throws {
    let asksForNotes = !id.isEmpty || filter.condition != nil || filter.board != nil
    try goal.check(asksForObjects: asksForNotes, "notes by --where, --board or their ids")
    let named = namedCount
    if named > 0, let count = goal.count, count > named {
      throw ValidationError(
        "\(Output.count(named, "note")) can never be \(count): --count can be at most the number of named notes")
    }
  }

  /// The number of different notes: `3` and `#3` are the same.
  private var namedCount: Int { Set(id.map { CommandContext.digits(of: $0) ?? $0 }).count }

  @MainActor
  func run() async throws {
    try await goal.withinTimeout { missing in
      try await options.withShell(reconnects: true) { shell in
        try await run(ChangeWaiter(shell: shell, timeout: goal.timeout, missing: missing))
      }
    }
  }

  @MainActor
  private func run(_ wait: ChangeWaiter) async throws {
    let shell = wait.shell
    if let revision = goal.revision { return try await wait.until(revision) }
    var parts = [try await filter.predicate(shell)]
    if !id.isEmpty { parts.append(try await shell.notes(id)) }
    try await wait.until(
      goal.count ?? max(1, namedCount), of: shell.entity("Note"), where: .all(parts), called: "note")
  }
}

extension GraphCommand {
  struct WaitForObjects: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "wait", abstract: "Wait until matching objects exist, or for a revision.",
      discussion: """
        Ends with exit code 0 as soon as the condition holds, at once if it already does, and with 124 after \
        --timeout. Lost connections are restored.
        """)

    @OptionGroup var options: CommonOptions
    @Argument(help: "The entity; those that inherit from it count too.")
    var entity: String?
    @Option(name: .customLong("where"), parsing: .unconditional, help: "Count only those that match this predicate.")
    var condition: String?
    @OptionGroup var goal: WaitOptions

    func validate() throws {
      if entity == nil, condition != nil { throw ValidationError("--where goes with an entity") }
      try goal.check(asksForObjects: entity != nil, "an entity")
    }

    @MainActor
    func run() async throws {
      try await goal.withinTimeout { missing in
        try await options.withGraph(reconnects: true) { shell in
          try await run(ChangeWaiter(shell: shell, timeout: goal.timeout, missing: missing))
        }
      }
    }

    @MainActor
    private func run(_ wait: ChangeWaiter) async throws {
      let shell = wait.shell
      if let revision = goal.revision { return try await wait.until(revision) }
      let entity = try shell.known(entity ?? "")
      try await wait.until(
        goal.count ?? 1, of: entity, where: try shell.predicate(condition, on: entity),
        called: entity.name + " object")
    }
  }
}

/// The condition and the time limit of a wait.
struct WaitOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: "Until the store has this revision.")
  var revision: Revision?
  @Option(parsing: .unconditional, help: "Until this many match; 0 waits until none match.")
  var count: Int?
  @Option(
    name: .customLong("timeout"), parsing: .unconditional,
    help: ArgumentHelp("At most this long: 500ms, 10s, 2m, 1h; a number alone is seconds.", valueName: "time"))
  var limit: TimeSpan?

  var timeout: TimeSpan? { limit }

  /// The time limit for the first answer if the limit is zero, in milliseconds.
  private static let answerMilliseconds: Int64 = 10_000

  /// Runs `body` with the time limit, which includes the connection.
  @MainActor
  func withinTimeout(_ body: @escaping @MainActor (ChangeWaiter.TimeoutReason) async throws -> Void) async throws {
    let missing = ChangeWaiter.TimeoutReason()
    guard let timeout else { return try await body(missing) }
    let limit = timeout.milliseconds == 0 ? Self.answerMilliseconds : timeout.milliseconds
    try await TimeLimit.run(
      milliseconds: limit, late: { TimeoutError(limit: timeout, missing: missing.sentence) },
      { try await body(missing) })
  }

  /// Validates the combination of options.
  /// - Parameter what: how objects can be specified, for the error message.
  func check(asksForObjects: Bool, _ what: String) throws {
    if let revision {
      if revision < 0 { throw ValidationError("--revision must be 0 or more") }
      if asksForObjects || count != nil {
        throw ValidationError("a wait is for a revision or for objects that match, not for both")
      }
    } else if !asksForObjects {
      throw ValidationError("there is nothing to wait for: name \(what), or a --revision")
    }
    if let count, count < 0 { throw ValidationError("--count must be 0 or more") }
  }
}

/// A duration: `500ms`, `10s`, `2m`, `1h`, or seconds.
struct TimeSpan: ExpressibleByArgument, Hashable {
  let text: String
  let milliseconds: Int64

  init?(argument: String) {
    let units: [(String, Double)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
    let (unit, factor) = units.first { argument.hasSuffix($0.0) } ?? ("", 1_000)
    let digits = argument.dropLast(unit.count)
    guard let first = digits.utf8.first, (0x30...0x39).contains(first) || first == 0x2E, let number = Double(digits),
      // At most a year, which cannot overflow.
      number >= 0, number * factor <= 366 * 24 * 3_600_000
    else { return nil }
    text = unit.isEmpty ? argument + "s" : argument
    milliseconds = Int64((number * factor).rounded(.up))
  }
}

extension CommandContext {
  /// A predicate for notes that may not exist yet. A prefix of an id must belong to an existing note.
  fileprivate func notes(_ names: [String]) async throws -> GraphPredicate {
    var numbers = [Value]()
    var ids = [ObjectID]()
    for name in names {
      if let number = Self.digits(of: name).flatMap({ Int64($0) }) {
        numbers.append(.integer(number))
      } else if let key = UniqueID(name) {
        ids.append(ObjectID(key: key, entity: entity("Note").number))
      } else {
        ids.append(try await note(name).id)
      }
    }
    let parts = [
      numbers.isEmpty ? nil : GraphPredicate.in(property("Note", "number"), numbers),
      ids.isEmpty ? nil : GraphPredicate.identifiers(ids),
    ]
    return .or(parts.compactMap(\.self))
  }
}
