import ArgumentParser
import GraphModel
import GraphShell
import StickiesKit
import StickiesModel

/// The note and options of a command that changes one note in one commit and prints the stored note.
struct NoteChangeArguments: ParsableArguments {
  @OptionGroup var options: CommonOptions
  @Argument(help: "The note's number or id.")
  var id: String

  /// Commits edits of the note, and shows it. If the note has all values already, nothing is committed.
  @MainActor
  func commit(_ edits: (CommandContext, ObjectImage) async throws -> [Edit]) async throws {
    try await options.withShell { shell in
      let note = try await NoteFinder(shell).note(id)
      shell.output.show(try await shell.update(note, note.update(try await edits(shell, note))))
    }
  }

  @MainActor
  func set(_ edits: Edit...) async throws {
    try await commit { _, _ in edits }
  }
}

struct Move: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "move", abstract: "Move a note on its board.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: ArgumentHelp("The new top left corner, in points, such as -10,20.", valueName: "X,Y"))
  var position: Point

  @MainActor
  func run() async throws {
    try await note.set(.set(NoteProperties.x, .double(position.x)), .set(NoteProperties.y, .double(position.y)))
  }
}

struct Resize: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resize", abstract: "Change the width and height of a note.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(
    help: ArgumentHelp("The new width and height, in points, such as 300x150; each 1 to 100000.", valueName: "WxH"))
  var size: Size

  @MainActor
  func run() async throws {
    try await note.set(
      .set(NoteProperties.width, .double(size.width)), .set(NoteProperties.height, .double(size.height)))
  }
}

struct ColorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "color", abstract: "Change the color of a note.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: "The new color.")
  var color: Color

  @MainActor
  func run() async throws { try await note.set(.set(NoteProperties.color, .string(color.rawValue))) }
}

struct Raise: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "raise", abstract: "Put a note above all others on its board.")

  @OptionGroup var note: NoteChangeArguments

  @MainActor
  func run() async throws { try await note.pile(onTop: true) }
}

struct Lower: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lower", abstract: "Put a note below all others on its board.")

  @OptionGroup var note: NoteChangeArguments

  @MainActor
  func run() async throws { try await note.pile(onTop: false) }
}

extension NoteChangeArguments {
  /// Moves the note one above the highest of the other notes on the board, or one below the lowest.
  @MainActor
  fileprivate func pile(onTop: Bool) async throws {
    try await commit { shell, note in
      let board = NoteProperties.board
      let others = GraphPredicate.all([.equal(board, note[board]), .not(.identifiers([note.id]))])
      let outermost = try await shell.images(
        of: NoteProperties.entity, where: others, sort: [SortKey](Note.self, [onTop ? \.z.descending : \.z.ascending]),
        limit: 1
      ).first
      var place = 0.0
      if case .double(let other)? = outermost.map({ $0[NoteProperties.z] }) {
        place = other + (onTop ? 1 : -1)
        if case .double(let own) = note[NoteProperties.z], onTop ? own > other : own < other { return [] }
      }
      return [.set(NoteProperties.z, .double(place))]
    }
  }
}

struct TagCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "tag", abstract: "Add tags to a note.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: "The names of the tags; missing tags are created.")
  var names: [String]

  @MainActor
  func run() async throws {
    try await note.options.withShell { shell in
      let note = try await NoteFinder(shell).note(note.id)
      let tags = TagInserts(names, known: try await NoteFinder(shell).tags(names), first: 1)
      let worn = Set(note[NoteProperties.tags].objectIDs)
      if worn.isSuperset(of: tags.ids) { return shell.output.show(note) }
      let edit = Edit(NoteProperties.tags.number, .members(added: tags.ids, removed: []))
      shell.output.show(try await shell.commit(tags.changes + [note.update([edit])], returning: note.id))
    }
  }

}

struct Untag: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "untag", abstract: "Remove tags from a note.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: "The names of the tags.")
  var names: [String]

  @MainActor
  func run() async throws {
    try await note.commit { shell, note in
      let name = TagProperties.name
      let tags = try await NoteFinder(shell).tags(names)
      let worn = Set(note[NoteProperties.tags].objectIDs)
      for wanted in names where !tags.contains(where: { $0[name] == .string(wanted) && worn.contains($0.id) }) {
        throw Refusal(.notFound, "the note has no tag \"\(wanted)\"")
      }
      let edit = Edit(NoteProperties.tags.number, .members(added: [], removed: tags.map(\.id)))
      return [edit]
    }
  }
}
