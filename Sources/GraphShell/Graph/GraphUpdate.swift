import ArgumentParser
import GraphJSON
import GraphModel
import GraphReplica

struct GraphUpdate: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "update", abstract: "Change an object, or all matching objects of an entity.",
      usage: """
        \(RunningProgram.current.name) graph update [<options>] <id> <name=value> ...
        \(RunningProgram.current.name) graph update [<options>] <id> --place <name=ids:place> ...
        \(RunningProgram.current.name) graph update [<options>] <entity> --where <predicate> <name=value> ...
        \(RunningProgram.current.name) graph update [<options>] <entity> --where <predicate> --one-commit [--set <name=expression>] ...
        """,
      discussion: """
        --where changes objects in batches; a refused batch ends the run, and earlier ones stay. With --one-commit the \
        daemon changes all objects or none; other commits wait meanwhile.
        """)
  }

  @OptionGroup var options: CommonOptions
  @Argument(help: ArgumentHelp("The beginning of the object's id; with --where an entity.", valueName: "id"))
  var target: String
  @Argument(help: ArgumentHelp("New values of properties.", valueName: "name=value"))
  var words: [String] = []
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp("Change all objects of the entity that match this predicate.", valueName: "predicate"))
  var condition: String?
  @Option(parsing: .unconditional, help: ArgumentHelp("New values of properties as a JSON object.", valueName: "json"))
  var values: String?
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Add objects to a to-many: ids, separated by commas.", valueName: "name=ids"))
  var add: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Remove objects from a to-many: ids, separated by commas.", valueName: "name=ids"))
  var remove: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Move objects in an ordered to-many: to first, to last, or directly after the member with an id.",
      valueName: "name=ids:place"))
  var place: [String] = []
  @OptionGroup var conflicts: ConflictOptions
  @OptionGroup var precondition: PreconditionOptions
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("With --where: commit at most this many objects at once.", valueName: "count"))
  var batch = 1_000
  @Flag(help: "With --where: change all of them in one commit, or none.")
  var oneCommit = false
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "With --one-commit: calculate a value from each object's own: \"salary=salary * 1.1\".",
      valueName: "name=expression"))
  var set: [String] = []

  func validate() throws {
    if words.isEmpty, values == nil, add.isEmpty, remove.isEmpty, place.isEmpty, set.isEmpty {
      throw ValidationError("there is nothing to change: give a value or an option")
    }
    try conflicts.check(hasCondition: condition != nil, oneCommit: oneCommit)
    if !set.isEmpty, !oneCommit { throw ValidationError("--set requires --one-commit") }
    if oneCommit, !(add.isEmpty && remove.isEmpty) {
      throw ValidationError("--add and --remove can't be used with --one-commit")
    }
    if !place.isEmpty, condition != nil { throw ValidationError("--place can't be used with --where") }
    try precondition.check(hasCondition: condition != nil)
    if !(1...100_000).contains(batch) { throw ValidationError("--batch must be from 1 to 100000") }
  }

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in
      if let condition, oneCommit {
        let entity = try shell.known(target)
        try await ServerBatch(shell).update(
          entity, where: shell.predicate(condition, on: entity),
          InputResolver(shell).inputs(words, values: values, entity: entity), calculations: set)
      } else if let condition {
        try await updateAll(try shell.known(target), condition, shell)
      } else {
        try await updateOne(shell)
      }
    }
  }

  @MainActor
  private func updateOne(_ shell: CommandContext) async throws {
    try await InputResolver(shell).checkBase(conflicts.base)
    try await InputResolver(shell).checkBase(precondition.ifRevision)
    let image = try await ObjectFinder(shell).object(target)
    let entity = try shell.model.entity(of: image.id)
    let requirement = try precondition.condition(on: entity)
    let update = try await ResolvedUpdate(self, entity, shell)
    let read = try await readImage(image, entity, shell, forText: update.setText)
    let edits = try update.edits(of: read, now: image)
    let change = Change(
      .update, image.id, base: conflicts.base ?? InputResolver(shell).base(of: image), edits: edits,
      onlyIf: requirement)
    // A change of another client since `--base` is a conflict, whose policy and report are the daemon's.
    if conflicts.base == nil, change.keeps(image, of: entity) {
      return shell.output.show(image, else: shell.reference(image))
    }
    let saved = try await shell.client.commit([change], policy: conflicts.mergePolicy)
    let stored = try await shell.stored(saved, image.id)
    ConflictReport(saved, shell).reportOverwritten(of: [change])
    shell.output.show(stored, else: shell.reference(stored))
  }

  /// The object as the user read it. Only the difference of a text is sent, so that later edits of others are kept.
  /// Nil if that state can't be read.
  /// - Throws: a refusal `pruned` if a text is set and its state was pruned: edits of others would be overwritten.
  @MainActor
  private func readImage(
    _ image: ObjectImage, _ entity: Entity, _ shell: CommandContext, forText text: Property?
  ) async throws -> ObjectImage? {
    guard let base = conflicts.base, base < image.revision else { return image }
    var past = shell
    past.revision = base
    do {
      return try await past.images([image.id], of: entity).first
    } catch let refusal as Refusal where [.pruned, .limit, .notFound].contains(refusal.code) {
      guard refusal.code == .pruned, let text else { return nil }
      throw Refusal(
        .pruned,
        "the text \(entity.name).\(text.name) at revision \(base) was pruned, so your changes of it are unknown: "
          + "read it again and repeat the edit")
    }
  }

  @MainActor
  private func updateAll(_ entity: Entity, _ condition: String, _ shell: CommandContext) async throws {
    let predicate = try shell.predicate(condition, on: entity)
    let update = try await ResolvedUpdate(self, entity, shell)
    let interruption = Interruption(Interruption.inCommits)
    defer { withExtendedLifetime(interruption) {} }
    var (matched, updated) = (0, 0)
    var revisions = [Revision]()
    var changes = [Change]()
    @MainActor func commit() async throws {
      guard !changes.isEmpty else { return }
      let saved = try await shell.client.commit(changes, policy: conflicts.mergePolicy)
      ConflictReport(saved, shell).reportOverwritten(of: changes)
      updated += Self.changed(changes, saved)
      revisions.append(saved.committed.revision)
      changes = []
    }
    do {
      for try await chunk in shell.client.images(of: entity, where: predicate) {
        for image in chunk {
          matched += 1
          let change = Change(
            .update, image.id, base: InputResolver(shell).base(of: image), edits: try update.edits(of: image))
          if change.keeps(image, of: try shell.model.entity(of: image.id)) { continue }
          changes.append(change)
          if changes.count == batch { try await commit() }
        }
      }
      try await commit()
    } catch let refusal as Refusal where !revisions.isEmpty {
      // Reading or writing failed afterwards; earlier commits remain.
      var explained = await RefusalExplainer(shell).explained(refusal)
      explained.done =
        "\(Output.count(updated, "object")) before \(updated == 1 ? "was" : "were") updated, in separate commits"
      throw explained
    }
    if shell.output.json {
      return shell.output.print(
        JSON.object([
          .init("matched", .integer(Int64(matched))), .init("updated", .integer(Int64(updated))),
          .init("revisions", .array(revisions.map(JSON.integer))),
        ]))
    }
    let commits = "in \(Output.count(revisions.count, "commit"))"
    shell.output.print(
      updated == matched
        ? "updated \(Output.count(updated, entity.name + " object")) \(commits)"
        : "updated \(updated) of \(Output.count(matched, entity.name + " object")) \(commits); the rest are unchanged"
    )
  }

  /// The number of objects that a commit changed. Others had the values already, were deleted since they were read,
  /// or were not changed because of the policy.
  private static func changed(_ changes: [Change], _ saved: SaveResult) -> Int {
    guard !saved.isComplete else {
      let stored = Set(saved.objects.map(\.id))
      return changes.count { stored.contains($0.id) }
    }
    // A conflict may also name the object at the other end of a relationship.
    let lost = Set(saved.committed.conflicts.filter { !$0.mineWon }.map(\.id))
    return changes.count { !lost.contains($0.id) }
  }
}

/// The changes of an update with all ids resolved, the same for each of many objects.
@MainActor
private struct ResolvedUpdate {
  private let inputs: [PropertyInput]
  private var ids = [InputResolver.NamedObject: ObjectID]()
  /// Added and removed members of to-many relationships.
  private var members = [Edit]()

  init(_ command: GraphUpdate, _ entity: Entity, _ shell: CommandContext) async throws {
    let resolver = InputResolver(shell)
    inputs = try resolver.inputs(command.words, values: command.values, entity: entity)
    ids = try await resolver.ids(of: inputs)
    var sets = [(number: PropertyNumber, added: [ObjectID], removed: [ObjectID])]()
    for (word, isAdded) in command.add.map({ ($0, true) }) + command.remove.map({ ($0, false) }) {
      let (property, list) = try Self.toMany(word, entity)
      guard !inputs.contains(where: { $0.property.number == property.number }) else {
        throw Refusal(.malformed, "\(property.name) is both set and changed")
      }
      if !sets.contains(where: { $0.number == property.number }) { sets.append((property.number, [], [])) }
      for name in PropertyInput.names(String(list)) {
        let id = try await resolver.id(name, for: property)
        for place in sets.indices where sets[place].number == property.number {
          if isAdded { sets[place].added.append(id) } else { sets[place].removed.append(id) }
        }
      }
    }
    members = sets.map { Edit($0.number, .members(added: $0.added, removed: $0.removed)) }
    for word in command.place { members.append(try await placing(word, entity, shell)) }
  }

  /// Parses `tasks=ID,ID:first`, `…:last`, or `…:ID` for the place after that object.
  private func placing(_ word: String, _ entity: Entity, _ shell: CommandContext) async throws -> Edit {
    let (property, text) = try Self.toMany(word, entity)
    guard property.relationship?.isOrdered == true else {
      throw Refusal(.malformed, "\(entity.name).\(property.name) has no order")
    }
    guard !(inputs.map(\.property.number) + members.map(\.property)).contains(property.number) else {
      throw Refusal(.malformed, "\(property.name) is changed twice: --place also adds the objects as members")
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw Refusal(.malformed, "\"\(word)\" is not of the form name=id,id:first, :last or :id")
    }
    var objects = [ObjectID]()
    for name in PropertyInput.names(String(parts[0])) {
      let id = try await InputResolver(shell).id(name, for: property)
      if !objects.contains(id) { objects.append(id) }
    }
    switch parts[1] {
    case "first": return Edit(property.number, .place(objects, after: nil))
    // Placing the objects after one of themselves moves them to the end.
    case "last": return Edit(property.number, .place(objects, after: objects.first))
    default:
      let anchor = try await InputResolver(shell).id(.text(String(parts[1])), for: property)
      guard !objects.contains(anchor) else {
        throw Refusal(.malformed, "\"\(word)\" places an object after itself")
      }
      return Edit(property.number, .place(objects, after: anchor))
    }
  }

  /// The text attribute that is set; nil if there is none.
  var setText: Property? { inputs.first { $0.property.attribute?.kind == .text }?.property }

  /// Splits `tasks=ID,ID` into the to-many relationship and the text after the sign.
  private static func toMany(_ word: String, _ entity: Entity) throws -> (property: Property, text: Substring) {
    guard let equals = word.firstIndex(of: "=") else {
      throw Refusal(.malformed, "\"\(word)\" is not of the form name=id,id")
    }
    do {
      let property = try PropertyInput.property(String(word[..<equals]), of: entity)
      guard property.relationship?.isToMany == true else {
        throw InvalidInputError("\(entity.name).\(property.name) is not a to-many: set it with \(property.name)=…")
      }
      return (property, word[word.index(after: equals)...])
    } catch {
      throw Refusal(.malformed, "\(error)")
    }
  }

  /// The edits for an object.
  /// - Parameter now: the present object; a text that it already has is omitted, because merging would insert it
  ///   twice.
  func edits(of image: ObjectImage?, now: ObjectImage? = nil) throws -> [Edit] {
    let wanted = inputs.filter { input in
      guard let now, case .value(let value) = input.content, input.property.attribute?.kind == .text else {
        return true
      }
      return now[input.property] != value
    }
    return try InputResolver.edits(wanted, ids, of: image) + members
  }
}
