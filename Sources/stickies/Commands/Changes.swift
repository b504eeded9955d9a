import ArgumentParser
import GraphModel
import StickiesKit

/// The note and options of a command that changes one note in one commit and prints the stored note.
struct NoteChangeArguments: ParsableArguments {
  @OptionGroup var options: CommonOptions
  @Argument(help: "The note's number or id.")
  var id: String

  @MainActor
  func commit(_ changes: (CommandContext, ObjectImage) async throws -> [Change]) async throws {
    try await options.withShell { shell in
      let note = try await shell.note(id)
      shell.output.show(try await shell.commit(try await changes(shell, note), returning: note.id))
    }
  }

  @MainActor
  func set(_ values: [(String, Value)]) async throws {
    try await commit { shell, note in [shell.update(note, shell.edits("Note", values))] }
  }
}

struct Move: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Move a note.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: ArgumentHelp("Its top left corner, in points; may be negative.", valueName: "X,Y"))
  var position: Point

  @MainActor
  func run() async throws { try await note.set([("x", .double(position.x)), ("y", .double(position.y))]) }
}

struct Resize: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Resize a note.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: ArgumentHelp("Width and height, in points, each 1 to 100000.", valueName: "WxH"))
  var size: Size

  @MainActor
  func run() async throws {
    try await note.set([("width", .double(size.width)), ("height", .double(size.height))])
  }
}

struct ColorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "color", abstract: "Give a note another color.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: "The paper's color.")
  var color: Color

  @MainActor
  func run() async throws { try await note.set([("color", .string(color.rawValue))]) }
}

struct Raise: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Put a note above all others on its board.")

  @OptionGroup var note: NoteChangeArguments

  @MainActor
  func run() async throws { try await note.pile(onTop: true) }
}

struct Lower: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Put a note below all others on its board.")

  @OptionGroup var note: NoteChangeArguments

  @MainActor
  func run() async throws { try await note.pile(onTop: false) }
}

extension NoteChangeArguments {
  /// Moves the note one above the highest of the other notes on the board, or one below the lowest.
  @MainActor
  fileprivate func pile(onTop: Bool) async throws {
    try await commit { shell, note in
      let board = shell.property("Note", "board")
      let others = GraphPredicate.all([.equal(board, note[board]), .not(.identifiers([note.id]))])
      let outermost = try await shell.images("Note", where: others, sort: onTop ? "-z" : "z", limit: 1).first
      var place = 0.0
      if case .double(let other)? = outermost.map({ $0[shell.property("Note", "z")] }) {
        place = other + (onTop ? 1 : -1)
      }
      return [shell.update(note, shell.edits("Note", [("z", .double(place))]))]
    }
  }
}

struct TagCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "tag", abstract: "Tag a note.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: "The tags.")
  var names: [String]

  @MainActor
  func run() async throws {
    try await note.commit { shell, note in
      let tags = shell.tags(names, first: 1)
      let edit = Edit(shell.property("Note", "tags").number, .members(added: tags.ids, removed: []))
      return tags.changes + [shell.update(note, [edit])]
    }
  }
}

struct Untag: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Take tags off a note.")

  @OptionGroup var note: NoteChangeArguments
  @Argument(help: "The tags.")
  var names: [String]

  @MainActor
  func run() async throws {
    try await note.commit { shell, note in
      let name = shell.property("Tag", "name")
      let tags = try await shell.images("Tag", where: .in(name, names.map(Value.string)))
      let worn = Set(note[shell.property("Note", "tags")].objectIDs)
      for wanted in names where !tags.contains(where: { $0[name] == .string(wanted) && worn.contains($0.id) }) {
        throw Refusal(.notFound, "the note has no tag \"\(wanted)\"")
      }
      let edit = Edit(shell.property("Note", "tags").number, .members(added: [], removed: tags.map(\.id)))
      return [shell.update(note, [edit])]
    }
  }
}
