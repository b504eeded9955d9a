import ArgumentParser
import Glibc
import GraphClient
import GraphModel
import GraphReplica
import GraphWire
import StickiesKit
import StickiesTerminal

/// The options of every command.
struct CommonOptions: ParsableArguments {
  enum ANSI: String, ExpressibleByArgument, CaseIterable { case auto, always, never }

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The daemon's address, tcp://HOST:PORT or unix:///PATH.", valueName: "address"))
  var server: String?

  @Flag(help: "Print only JSON on standard output.")
  var json = false

  @Option(parsing: .unconditional, help: "Colors and styles; auto requires a terminal and no NO_COLOR.")
  var ansi: ANSI = .auto

  /// The address of `--server`; nil without it.
  var address: ServerAddress? {
    get throws(ServerAddress.ParseError) {
      guard let server else { return nil }
      return try ServerAddress(parsing: server)
    }
  }

  /// Runs `body` with a connection and closes it. Each command is a new replica.
  @MainActor
  func withShell(reconnects: Bool = false, _ body: (CommandContext) async throws -> Void) async throws {
    let address = try address
    let client: GraphClient
    do {
      client = try await connecting { try await Stickies.connect(to: address, reconnects: reconnects) }
    } catch let refusal as Refusal where refusal.code == .notAllowed {
      // The refusal concerns the model; one that concerns the protocol has advice of its own.
      guard let any = try? await Stickies.connectToAnyModel(at: address, reconnects: false) else { throw refusal }
      await any.close()
      throw Refusal(
        .notAllowed,
        refusal.message + "; the commands of stickies graph work with any model: start with "
          + "stickies graph entities and stickies graph fetch")
    }
    try await run(client, body)
  }

  /// Runs `body` with a daemon of any model; refusals use the names of that model.
  @MainActor
  func withGraph(reconnects: Bool = false, _ body: (CommandContext) async throws -> Void) async throws {
    let address = try address
    let client = try await connecting { try await Stickies.connectToAnyModel(at: address, reconnects: reconnects) }
    try await run(client) { shell in
      try await explaining(shell, body)
    }
  }

  /// Runs a history command with this program's model if the daemon supports it, also through a lens. Otherwise, and
  /// for `stickies graph`, it uses the daemon's model.
  @MainActor
  func withHistory(reconnects: Bool = false, _ body: (CommandContext) async throws -> Void) async throws {
    guard CommandLine.arguments.dropFirst().first != GraphCommand.configuration.commandName else {
      return try await withGraph(reconnects: reconnects, body)
    }
    let client: GraphClient
    do {
      let address = try address
      client = try await connecting { try await Stickies.connect(to: address, reconnects: reconnects) }
    } catch let refusal as Refusal where refusal.code == .notAllowed {
      return try await withGraph(reconnects: reconnects, body)
    }
    try await run(client) { shell in try await explaining(shell, body) }
  }

  /// Shows a line on the terminal while a connection takes long.
  @MainActor
  func connecting<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      guard !json, isatty(2) == 1 else { return try await body() }
      let interruption = Interruption()
      defer { withExtendedLifetime(interruption) {} }
      return try await ConnectingLine(to: server ?? "") { StandardError.write($0, terminator: "") }
        .whileConnecting(body)
    } catch let refusal as Refusal where refusal.code == .unavailable {
      throw WelcomeError(reason: refusal.message)
    }
  }

  /// Explains refusals with the names of the connection's model.
  @MainActor
  private func explaining(_ shell: CommandContext, _ body: (CommandContext) async throws -> Void) async throws {
    do {
      try await body(shell)
    } catch let refusal as Refusal {
      throw await shell.explained(refusal)
    }
  }

  @MainActor
  private func run(_ client: GraphClient, _ body: (CommandContext) async throws -> Void) async throws {
    let shell = CommandContext(client: client, output: Output(json: json, ansi: ansi, model: client.context.model))
    do {
      try await body(shell)
    } catch {
      await client.close()
      throw error
    }
    await client.close()
  }
}

/// A limit; negative numbers are parsed, so that the error message is about the number.
struct LimitOption: ParsableArguments {
  @Option(name: .customLong("limit"), parsing: .unconditional, help: "At most this many.")
  var number: Int?

  func validate() throws {
    if let number, number < 1 { throw ValidationError("--limit must be at least 1") }
  }
}

/// A syntax error in the value of `--sort`.
struct UnreadableSort: Error { let cause: PredicateSyntaxError }

/// Helpers of the commands: finding objects that a user names, committing and reading back.
@MainActor
struct CommandContext {
  let client: GraphClient
  let output: Output
  /// The revision to read; nil for the present.
  var revision: Revision?

  var model: Model { client.context.model }

  func entity(_ name: String) -> Entity {
    guard let entity = model.entity(named: name) else { preconditionFailure("the built-in model has no \(name)") }
    return entity
  }

  func property(_ entity: String, _ name: String) -> Property {
    guard let property = self.entity(entity).property(named: name) else {
      preconditionFailure("the built-in model has no \(entity).\(name)")
    }
    return property
  }

  // MARK: Reading

  func images(
    _ entity: String, where predicate: GraphPredicate = .always, sort: String = "", limit: Int? = nil
  ) async throws -> [ObjectImage] {
    let entity = self.entity(entity)
    let order = try order(sort, of: entity)
    var images = [ObjectImage]()
    let stream = client.images(of: entity, where: predicate, sort: order, limit: limit, at: revision)
    for try await chunk in stream { images += chunk }
    return images
  }

  /// The sort keys of `--sort`; empty for the order of ids.
  func order(_ sort: String, of entity: Entity) throws -> [SortKey] {
    do {
      return sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: entity, model: model)
    } catch {
      throw UnreadableSort(cause: error)
    }
  }

  /// The digits of a note's number, plain or as in `#3`; nil for anything else.
  nonisolated static func digits(of name: String) -> String? {
    let digits = name.hasPrefix("#") ? String(name.dropFirst()) : name
    return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? digits : nil
  }

  /// The note with a number, or with a prefix of an id.
  func note(_ name: String) async throws -> ObjectImage {
    if let digits = Self.digits(of: name) {
      // No note has a number beyond 64 bits.
      guard let number = Int64(digits) else { throw Refusal(.notFound, "there is no note number \(digits)") }
      let found = try await images("Note", where: .equal(property("Note", "number"), .integer(number)))
      guard let note = found.first else { throw Refusal(.notFound, "there is no note number \(number)") }
      return note
    }
    return try await object("Note", name)
  }

  func object(_ entity: String, _ prefix: String) async throws -> ObjectImage {
    guard !prefix.isEmpty, UniqueID.range(ofPrefix: prefix) != nil else {
      throw Refusal(.malformed, "\"\(prefix)\" is neither a number nor the beginning of an id")
    }
    return try await object(prefix, of: [entity], called: entity.lowercased())
  }

  /// The one object of these entities whose id has a prefix.
  /// - Parameter noun: the noun in the message if there is none.
  func object(_ prefix: String, of entities: [String], called noun: String) async throws -> ObjectImage {
    let beginning = GraphPredicate.comparison(
      .init(.one, GraphPredicate.Path(end: .identifier), .beginsWith, .value(.string(prefix))))
    var found = [ObjectImage]()
    for entity in entities where found.count <= 10 {
      // A complete id is looked up. A prefix has no index: ids are ordered by time, but their text begins with the
      // random half.
      let number = model.entity(named: entity)?.number ?? 0
      let predicate = UniqueID(prefix).map { .identifiers([ObjectID(key: $0, entity: number)]) } ?? beginning
      found += try await images(entity, where: predicate, limit: 11)
    }
    guard found.count <= 1 else {
      let candidates = found.prefix(10).map { image in
        AmbiguousID.Candidate(id: image.id, entity: model.entity(image.id.entity)?.name ?? "", title: title(image))
      }
      throw AmbiguousID(prefix: prefix, candidates: candidates, hasMore: found.count > 10)
    }
    guard let image = found.first else {
      throw Refusal(.notFound, "there is no \(noun) whose id begins with \"\(prefix)\"")
    }
    return image
  }

  /// A board by its name, otherwise by a prefix of its id.
  func board(_ name: String) async throws -> ObjectImage {
    if let board = try await images("Board", where: .equal(property("Board", "name"), .string(name))).first {
      return board
    }
    guard UniqueID.range(ofPrefix: name) != nil, name.utf8.count >= 4 else {
      throw noBoard(name)
    }
    do {
      return try await object("Board", name)
    } catch let refusal as Refusal where refusal.code == .notFound {
      throw noBoard(name)
    }
  }

  private func noBoard(_ name: String) -> Refusal {
    Refusal(
      .notFound,
      "there is no board called \"\(name)\": stickies board list shows all boards, and stickies board add creates one"
    )
  }

  /// A short description of an object for users. It is the object's text, name or title, otherwise its first
  /// non-empty string, otherwise the first two of its other non-null attributes.
  func title(_ image: ObjectImage) -> String {
    guard let entity = model.entity(image.id.entity) else { return "" }
    let texts = entity.attributes.filter { [.string, .text].contains($0.attribute?.kind) }
    let named = ["text", "name", "title"].compactMap { name in texts.first { $0.name == name } }
    for property in named.isEmpty ? texts : named {
      let line = String(TextTable.firstLine(image[property].stringValue ?? "").prefix(60))
      if !line.isEmpty { return line }
    }
    let others = entity.attributes.filter { attribute in
      ![.string, .text, .data, .json].contains(attribute.attribute?.kind) && attribute.slot != nil
        && !image[attribute].isNull
    }
    let told = others.prefix(2).map { "\($0.name) \(image[$0].json(kind: $0.attribute?.kind).text)" }
    return named.isEmpty && !told.isEmpty ? told.joined(separator: ", ") : "(empty)"
  }

  // MARK: Writing

  func edits(_ entity: String, _ values: [(String, Value)]) -> [Edit] {
    values.map { Edit(property(entity, $0.0).number, .set($0.1)) }
  }

  func update(_ image: ObjectImage, _ edits: [Edit]) -> Change {
    Change(.update, image.id, base: image.revision, edits: edits)
  }

  /// Commits, and returns the object as stored.
  func commit(_ changes: [Change], policy: MergePolicy = .objectTrump, returning id: ObjectID) async throws
    -> ObjectImage
  {
    let saved = try await client.commit(changes, policy: policy)
    try reportDroppedReferences(saved, changes)
    return try await stored(saved, id)
  }

  func stored(_ saved: SaveResult, _ id: ObjectID) async throws -> ObjectImage {
    let permanent = saved.committed.identities.first { $0.temporary == id }?.permanent ?? id
    if let lost = saved.committed.conflicts.first(where: { $0.kind == .deleted && $0.id == permanent }) {
      let who = lost.author.isEmpty ? "someone" : lost.author
      // For a restored object, the conflict names the author of the restore, as the last change.
      let isBack = await deletion(of: permanent)?.0.revival != nil
      throw Refusal(
        .conflict,
        isBack ? "it was deleted since you read it, and brought back by \(who)" : "\(who) has deleted it",
        conflicts: [lost])
    }
    if let image = saved.objects.first(where: { $0.id == permanent }) { return image }
    // Nothing changed, or the object did not fit into the reply.
    let name = model.entity(permanent.entity)?.name ?? ""
    guard let image = try await images(name, where: .identifiers([permanent])).first else {
      throw Refusal(.notFound, "the object has been deleted meanwhile")
    }
    return image
  }

  func delete(_ ids: [ObjectID]) async throws -> CommitEntry {
    try await record(of: client.commit(ids.map { Change(.delete, $0) }, policy: .objectTrump))
  }

  /// The commit of a save, as the log has it.
  func record(of saved: SaveResult) async throws -> CommitEntry {
    let revision = saved.committed.revision
    do {
      let entries = try await client.log(after: revision - 1, through: revision, limit: 1)
      guard let entry = entries.first else { throw Refusal(.unavailable, "the log does not contain it") }
      return entry
    } catch let refusal as Refusal {
      // The message must not suggest a retry, which would commit twice.
      throw Refusal(refusal.code, "revision \(revision) is committed, but cannot be shown: \(refusal.message)")
    }
  }

  /// Inserts of tags with these names and their ids; the trump policies merge them with existing tags.
  func tags(_ names: [String], first: UInt64) -> (changes: [Change], ids: [ObjectID]) {
    var changes = [Change]()
    for (offset, name) in names.enumerated() {
      let id = ObjectID.temporary(first + UInt64(offset), entity: entity("Tag").number)
      changes.append(Change(.insert, id, edits: edits("Tag", [("name", .string(name))])))
    }
    return (changes, changes.map(\.id))
  }
}

/// Reads text from an argument, or from standard input for `-`.
enum TextInput {
  static func read(_ argument: String) throws -> String {
    guard argument == "-" else { return argument }
    guard let bytes = Descriptor.readToEnd(0) else {
      throw Refusal(.unavailable, "standard input can't be read")
    }
    guard var text = String(validating: bytes, as: UTF8.self) else {
      throw Refusal(.invalid, "standard input is not UTF-8")
    }
    if text.hasSuffix("\n") { text.removeLast() }
    // Empty input usually means that the command before the pipe failed.
    guard !text.isEmpty else {
      throw Refusal(
        .invalid, "standard input is empty, so nothing was written; for an empty text use \"\" instead of -")
    }
    return text
  }
}
