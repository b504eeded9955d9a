import ArgumentParser
import GraphJSON
import GraphModel
import GraphReplica
import GraphWire

struct GraphDelete: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "delete",
      abstract: "Delete objects, and those that the model's rules delete with them; undo restores them.",
      usage: """
        \(RunningProgram.current.name) graph delete [<options>] <id> ... [--base <revision>] [--policy <policy>]
        \(RunningProgram.current.name) graph delete [<options>] <id> ... --if-revision <revision>
        \(RunningProgram.current.name) graph delete [<options>] <entity> --where <predicate> [--policy <policy>]
        \(RunningProgram.current.name) graph delete [<options>] <entity> --where <predicate> --one-commit
        """,
      discussion: "All objects are deleted in one commit, or none; --where deletes more than "
        + "\(Self.objectsInOneCommit) objects in several commits.")
  }

  /// Maximum number of objects per commit. It is large because the deny rule is evaluated per transaction, so that
  /// related objects should be deleted together.
  static let objectsInOneCommit = 100_000

  @OptionGroup var options: CommonOptions
  @Argument(help: ArgumentHelp("The beginnings of the objects' ids; with --where one entity.", valueName: "id"))
  var words: [String]
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp("Delete all objects of the entity that match this predicate.", valueName: "predicate"))
  var condition: String?
  @OptionGroup var conflicts: ConflictOptions
  @OptionGroup var precondition: PreconditionOptions
  @Flag(help: "With --where: delete all of them in one commit, or none, regardless of their number.")
  var oneCommit = false

  func validate() throws {
    try conflicts.check(hasCondition: condition != nil, oneCommit: oneCommit)
    try precondition.check(hasCondition: condition != nil)
    if condition != nil, words.count != 1 { throw ValidationError("--where requires one ENTITY before it") }
  }

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in
      if let condition, oneCommit {
        let entity = try shell.known(words[0])
        try await ServerBatch(shell).delete(entity, where: shell.predicate(condition, on: entity))
      } else if let condition {
        try await deleteAll(try shell.known(words[0]), condition, shell)
      } else {
        try await deleteNamed(shell)
      }
    }
  }

  @MainActor
  private func deleteNamed(_ shell: CommandContext) async throws {
    try await InputResolver(shell).checkBase(conflicts.base)
    try await InputResolver(shell).checkBase(precondition.ifRevision)
    var images = [ObjectImage]()
    for word in words {
      let image = try await ObjectFinder(shell).object(word)
      if !images.contains(where: { $0.id == image.id }) { images.append(image) }
    }
    let changes = try images.map { image in
      Change(
        .delete, image.id, base: conflicts.base ?? image.revision,
        onlyIf: try precondition.condition(on: shell.model.entity(of: image.id)))
    }
    let saved = try await shell.client.commit(changes, policy: conflicts.mergePolicy)
    ConflictReport(saved, shell).reportKept()
    let commit = try await shell.record(of: saved)
    if shell.output.json { return shell.output.print(ObjectJSON.commit(commit, shell.model)) }
    let kept = ConflictReport(saved, shell).kept
    for image in images where !kept.contains(image.id) { shell.output.print("deleted \(shell.reference(image))") }
    let others = Self.cascade(commit, besides: images.map(\.id))
    for change in others.prefix(10) {
      shell.output.print("  with \(change.object.map(shell.reference) ?? change.id.description)")
    }
    if others.count > 10 { shell.output.print("  … and \(others.count - 10) more") }
  }

  /// The objects that a commit deleted by cascade.
  private static func cascade(_ commit: CommitEntry, besides ids: [ObjectID]) -> [Delta.Change] {
    let named = Set(ids)
    return commit.changes.filter { $0.kind == .removed && !named.contains($0.id) }
  }

  @MainActor
  private func deleteAll(_ entity: Entity, _ condition: String, _ shell: CommandContext) async throws {
    let predicate = try shell.predicate(condition, on: entity)
    let interruption = Interruption(Interruption.inCommits)
    defer { withExtendedLifetime(interruption) {} }
    var read = [(id: ObjectID, revision: Revision)]()
    for try await chunk in shell.client.images(of: entity, where: predicate) {
      read += chunk.map { ($0.id, $0.revision) }
    }
    let ids = read.map(\.id)
    var (deleted, revisions) = (0, [Revision]())
    var others = [EntityNumber: Int]()
    var isCounted = true
    for start in stride(from: 0, to: read.count, by: Self.objectsInOneCommit) {
      let part = read[start..<min(start + Self.objectsInOneCommit, read.count)]
      let saved: SaveResult
      do {
        saved = try await shell.client.commit(
          part.map { Change(.delete, $0.id, base: $0.revision) }, policy: conflicts.mergePolicy)
      } catch let refusal as Refusal where start > 0 {
        var explained = await RefusalExplainer(shell).explained(refusal)
        explained.done = "\(Output.count(deleted, "object")) before them \(deleted == 1 ? "was" : "were") deleted"
        throw explained
      }
      ConflictReport(saved, shell).reportKept()
      deleted += part.count - ConflictReport(saved, shell).kept.count
      revisions.append(saved.committed.revision)
      do {
        for change in Self.cascade(try await shell.record(of: saved), besides: ids) {
          others[change.id.entity, default: 0] += 1
        }
      } catch {
        // The commit succeeded, but it is too large for the log.
        isCounted = false
      }
    }
    let along = others.values.reduce(0, +)
    if shell.output.json {
      return shell.output.print(
        JSON.object([
          .init("deleted", .integer(Int64(deleted))),
          .init("cascaded", isCounted ? .integer(Int64(along)) : .null),
          .init("revisions", .array(revisions.map(JSON.integer))),
        ]))
    }
    shell.output.print("deleted \(Output.count(deleted, entity.name + " object"))")
    for (number, count) in others.sorted(by: { $0.key < $1.key }) {
      shell.output.print("  with \(Output.count(count, shell.model.entityName(number) + " object"))")
    }
  }
}
