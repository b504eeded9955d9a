import ArgumentParser
import CommandLineIO
import GraphModel
import GraphShell
import StickiesKit

/// The conditions of `list` and `watch`.
struct NoteFilterArguments: ParsableArguments {
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp(
      "Only notes that match this predicate, such as 'color == \"yellow\" AND pinned == TRUE'.",
      valueName: "predicate"))
  var condition: String?
  @Option(parsing: .unconditional, help: "Only notes of this board, by name or id.")
  var board: String?

  @MainActor
  func predicate(_ shell: CommandContext) async throws -> GraphPredicate {
    var parts = [GraphPredicate]()
    if let condition {
      parts.append(try GraphPredicate(parsing: condition, entity: NoteProperties.entity, model: shell.model))
    }
    if let board { parts.append(.equal(NoteProperties.board, .object(try await NoteFinder(shell).board(board).id))) }
    return .all(parts)
  }
}

struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the notes of all boards.")

  @OptionGroup var options: CommonOptions
  @OptionGroup var filter: NoteFilterArguments
  @Option(parsing: .unconditional, help: "Only notes with this tag.")
  var tag: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Attributes to sort by, separated by commas; a minus means descending: -pinned,number.", valueName: "keys"))
  var sort = "number"
  @OptionGroup var limit: LimitOption
  @OptionGroup var past: PastOption
  @Flag(help: "Print how the daemon finds the notes, instead of the notes.")
  var explain = false

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let shell = try await past.shell(shell)
      var parts = [try await filter.predicate(shell)]
      if let tag {
        parts.append(
          .comparison(
            .init(
              .any,
              GraphPredicate.Path(
                hops: [NoteProperties.tags.number], end: .property(TagProperties.name.number)),
              .equal, .value(.string(tag)))))
      }
      let condition = GraphPredicate.all(parts)
      if explain {
        let note = NoteProperties.entity
        let fetch = shell.client.wireFetch(
          note, condition, try shell.order(sort, of: note), limit.number, at: shell.revision)
        return shell.output.show(try await shell.client.explain(fetch))
      }
      let (notes, damage) = try await shell.readableImages(
        of: NoteProperties.entity, where: condition, sort: shell.order(sort, of: NoteProperties.entity),
        limit: limit.number)
      try await NoteTable.show(notes, damage, shell, isFiltered: condition != .always)
    }
  }
}

struct Search: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "List the notes that contain all of these words.")

  @OptionGroup var options: CommonOptions
  @Argument(help: "Words, or the beginnings of words.")
  var words: [String]

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let text = words.joined(separator: " ")
      let predicate = GraphPredicate.comparison(
        .init(.one, .property(NoteProperties.text.number), .search, .value(.string(text))))
      let (notes, damage) = try await shell.readableImages(
        of: NoteProperties.entity, where: predicate, sort: [SortKey](Note.self, [\.number.ascending]))
      try await NoteTable.show(notes, damage, shell, isFiltered: true)
    }
  }
}

@MainActor
enum NoteTable {
  /// The message if there are no notes to show.
  private static func hint(isFiltered: Bool, isPast: Bool) -> String {
    if isFiltered { return "no note matches" }
    return isPast ? "there were no notes then" : "no notes; add one with: stickies add \"Hello\""
  }

  /// - Parameter damage: the notes that can't be shown.
  /// - Throws: `IncompleteResult` after the notes are printed, if there is damage.
  static func show(
    _ notes: [ObjectImage], _ damage: DamageNotice, _ shell: CommandContext, isFiltered: Bool
  ) async throws {
    var damage = damage
    if shell.output.json {
      shell.output.show(notes, else: "")
      return try IncompleteResult.check(damage, shell.model)
    }
    func names(_ entity: Entity, _ name: Property) async throws -> [ObjectID: String] {
      let found = try await shell.readableImages(of: entity)
      damage.formUnion(found.damage)
      return Dictionary(found.images.map { ($0.id, $0.text(of: name)) }, uniquingKeysWith: { $1 })
    }
    let boards = try await names(BoardProperties.entity, BoardProperties.name)
    let tags = try await names(TagProperties.entity, TagProperties.name)
    var table = TextTable(["#", "BOARD", "COLOR", "TAGS", "TEXT"])
    for note in notes {
      let text = TextTable.firstLine(note.text(of: NoteProperties.text))
      // A board that was inserted after the boards were read has no name here.
      let board = note[NoteProperties.board].objectIDs.compactMap { boards[$0] }.joined()
      table.append([
        NoteLine.digits(of: note[NoteProperties.number]), TextTable.visible(board),
        note.text(of: NoteProperties.color),
        TextTable.visible(note[NoteProperties.tags].objectIDs.compactMap { tags[$0] }.joined(separator: ", ")),
        (note[NoteProperties.pinned] == .bool(true) ? "* " : "") + text,
      ])
    }
    let text = table.text()
    if !text.isEmpty {
      shell.output.print(text)
    } else if damage.isEmpty {
      StandardError.write(hint(isFiltered: isFiltered, isPast: shell.revision != nil))
    }
    try IncompleteResult.check(damage, shell.model)
  }
}
