import ArgumentParser
import GraphClient
import GraphModel
import GraphReplica

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

struct GraphInsert: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "insert", abstract: "Insert an object, or one object for each line of standard input.",
      usage: """
        \(RunningProgram.current.name) graph insert [<options>] <entity> <name=value> ... [--values <json>]
        \(RunningProgram.current.name) graph insert [<options>] <entity> - [--one-commit]
        """,
      discussion: """
        A line is a JSON object of values. "$id" gives the object a label; other lines refer to it with {"$ref": \
        label}, or the label alone. "$entity" makes it an object of another entity. Lines are committed in batches; a \
        refused batch ends the run, and earlier ones stay. --one-commit commits all lines together: they need the same \
        members and no labels, and other commits wait meanwhile.\(RunningProgram.current.remarkOnInserts)
        """)
  }

  @OptionGroup var options: CommonOptions
  @Argument(help: "The entity.")
  var entity: String
  @Argument(help: ArgumentHelp("Values of properties, or - for JSON Lines on standard input.", valueName: "name=value"))
  var words: [String] = []
  @Option(parsing: .unconditional, help: ArgumentHelp("Values of properties as a JSON object.", valueName: "json"))
  var values: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("With -: commit at most this many lines at once, and about 4 MiB of them.", valueName: "count"))
  var batch = 1_000
  @Option(
    parsing: .unconditional,
    help: """
      If the unique key exists: error refuses the insert, storeTrump uses the existing object unchanged, objectTrump \
      sets these values on it.
      """)
  var policy = PolicyName.error
  @Flag(help: "With -: commit all lines at once, or none.")
  var oneCommit = false

  func validate() throws {
    if oneCommit, words != ["-"] { throw ValidationError("--one-commit requires -") }
    if !(1...100_000).contains(batch) { throw ValidationError("--batch must be from 1 to 100000") }
    if words.contains("-"), words.count > 1 || values != nil {
      throw ValidationError("- can't be used with other values: the lines contain the values")
    }
  }

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in
      let entity = try shell.known(entity)
      if oneCommit { return try await ServerBatch(shell).insert(entity, policy: policy.policy) }
      if words == ["-"] {
        var insertion = LineInserter(shell: shell, entity: entity, batch: batch, policy: policy.policy)
        return try await insertion.run()
      }
      let resolver = InputResolver(shell)
      let inputs = try resolver.inputs(words, values: values, entity: entity)
      if entity.isAbstract { throw Refusal(.malformed, shell.model.abstractSentence(entity)) }
      let id = ObjectID.temporary(1, entity: entity.number)
      var changes = [Change(.insert, id, edits: try await resolver.edits(inputs))]
      if let known = await KnownInserts(shell).identities(of: changes, policy: policy.policy)?.first,
        let image = try await shell.images([known.permanent], of: entity).first
      {
        return shell.output.show(image, else: shell.reference(image))
      }
      try await shell.output.program.placement(in: shell.client, policy: policy.policy)?.place(&changes)
      let saved = try await shell.client.commit(changes, policy: policy.policy)
      let image = try await shell.stored(saved, id)
      let report = ConflictReport(saved, shell)
      report.reportExistingObjects()
      report.reportOverwritten(of: changes)
      shell.output.show(image, else: shell.reference(image))
    }
  }
}

/// Lines with mistakes; nothing of their batch is committed.
struct InvalidLinesError: ReportedError {
  let mistakes: [LinePlanner.InvalidLine]
  /// A clause about the lines that are already committed.
  let done: String

  var report: CommandFailure.Report {
    let lines = mistakes.map { "\n  line \($0.line): \($0.reason)" }.joined()
    let json = mistakes.map { mistake in
      JSON.object([.init("line", .integer(Int64(mistake.line))), .init("message", .string(mistake.reason))])
    }
    return CommandFailure.Report(
      code: "invalid",
      message: "\(Output.count(mistakes.count, "mistake")) in the lines; \(done)\(lines)", exit: CommandFailure.refused,
      members: [.init("lines", .array(json))])
  }
}

/// Inserts lines from standard input. One batch is in memory; the next one is read when the daemon has committed it.
@MainActor
private struct LineInserter {
  private let shell: CommandContext
  private let policy: MergePolicy
  private let batch: Int
  private let reader = LineReader(descriptor: 0)
  private let progress: ProgressLine
  private var planner: LinePlanner
  private let placement: (any InsertPlacement)?
  private var inserted = 0
  private var commits = 0
  private var lastLine = 0

  init(shell: CommandContext, entity: Entity, batch: Int, policy: MergePolicy) {
    self.shell = shell
    self.policy = policy
    self.batch = batch
    planner = LinePlanner(model: shell.model, entity: entity)
    placement = shell.output.program.placement(in: shell.client, policy: policy)
    progress = ProgressLine(
      isShown: isatty(2) == 1 && !shell.output.json, interrupted: Interruption.inCommits)
  }

  private var done: String {
    inserted == 0
      ? "nothing is committed" : "the lines up to \(lastLine) are committed (\(Output.count(inserted, "object")))"
  }

  mutating func run() async throws {
    while true {
      let lines = try await reader.lines(atMost: batch)
      guard !lines.isEmpty else { break }
      var plan = planner.plan(lines)
      guard plan.mistakes.isEmpty else {
        progress.end()
        throw InvalidLinesError(mistakes: plan.mistakes, done: done)
      }
      if let known = await KnownInserts(shell).identities(of: plan.changes, policy: policy) {
        planner.resolveLabels(known, of: plan)
        finish(plan, known, lastLine: lines.last?.number)
        continue
      }
      try await placement?.place(&plan.changes)
      let saved = try await commit(plan)
      planner.resolveLabels(saved.committed.identities, of: plan)
      if saved.committed.conflicts.contains(where: { $0.kind == .unique }) {
        progress.end()
        ConflictReport(saved, shell).reportExistingObjects()
      }
      if saved.committed.conflicts.contains(where: { $0.kind != .unique }) {
        progress.end()
        let lines = Dictionary(
          zip(plan.changes, plan.lines).map { ($0.id, $1.number) }, uniquingKeysWith: { first, _ in first })
        ConflictReport(saved, shell).reportOverwritten(of: plan.changes, lines: lines)
      }
      commits += 1
      finish(plan, saved.committed.identities, lastLine: lines.last?.number)
    }
    progress.end()
    let commits = Output.count(commits, "commit")
    // Which of the objects existed already is unknown: ids do not show it.
    shell.output.printText(
      policy == .error
        ? "inserted \(Output.count(inserted, "object")) in \(commits)"
        : "inserted or met \(Output.count(inserted, "object")) in \(commits)")
  }

  /// Counts and prints the objects of a batch that is committed, or whose objects all existed.
  private mutating func finish(
    _ plan: LinePlanner.Batch, _ identities: [CommitResult.IDAssignment], lastLine last: Int?
  ) {
    inserted += plan.changes.count
    lastLine = last ?? lastLine
    if shell.output.json { printIDs(identities, plan) } else { progress.show("\(inserted) objects") }
  }

  private func commit(_ plan: LinePlanner.Batch) async throws -> SaveResult {
    do {
      return try await shell.client.commit(plan.changes, policy: policy)
    } catch let refusal as Refusal {
      progress.end()
      var explained = await RefusalExplainer(shell).explained(refusal)
      for (change, line) in zip(plan.changes, plan.lines) { explained.lines[change.id] = line.number }
      if inserted > 0 || refusal.code != .unavailable { explained.done = done }
      throw explained
    }
  }

  /// Prints one line of JSON for each line that was read.
  private func printIDs(_ identities: [CommitResult.IDAssignment], _ plan: LinePlanner.Batch) {
    let ids = Dictionary(identities.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { $1 })
    let lines = zip(plan.changes, plan.lines).map { change, line in
      var members = [JSON.Member("line", .integer(Int64(line.number)))]
      if let label = line.label { members.append(.init("$id", .string(label))) }
      members.append(.init("id", ids[change.id].map { .string($0.description) } ?? .null))
      return JSON.object(members).text
    }
    shell.output.print(lines.joined(separator: "\n"))
  }
}
