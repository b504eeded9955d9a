import ArgumentParser
import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphWire
import StickiesKit

struct Add: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Write a note.")

  @OptionGroup var options: Options
  @Argument(help: "What the note says; - reads standard input.")
  var text: String
  @Option(help: "The board, by name or id; else the oldest one.")
  var board: String?
  @Option(help: "The paper's color: \(Color.allCases.map(\.rawValue).joined(separator: ", ")).")
  var color: Color?
  @Option(help: ArgumentHelp("Where the note sticks, in points.", valueName: "X,Y"))
  var position: Point?
  @Option(help: "A tag; may be repeated.")
  var tag: [String] = []

  @MainActor
  func run() async throws {
    let text = try TextInput.read(text)
    try await options.withShell { shell in
      var changes = [Change]()
      let boardID = try await board(shell, &changes)
      let note = ObjectID.temporary(1, entity: shell.entity("Note").number)
      let tags = shell.tags(tag, first: 10)
      changes += tags.changes
      var edits = [
        shell.edit(shell.property("Note", "text"), .string(text)),
        shell.edit(shell.property("Note", "board"), .object(boardID)),
      ]
      if let color { edits.append(shell.edit(shell.property("Note", "color"), .string(color.rawValue))) }
      if let position {
        edits.append(shell.edit(shell.property("Note", "x"), .double(position.x)))
        edits.append(shell.edit(shell.property("Note", "y"), .double(position.y)))
      }
      if !tags.ids.isEmpty {
        edits.append(Edit(shell.property("Note", "tags").number, .members(added: tags.ids, removed: [])))
      }
      changes.append(Change(.insert, note, edits: edits))
      let image = try await shell.commit(changes, returning: note)
      shell.output.show(image, else: shell.output.line(image))
    }
  }

  /// On an empty store one board is made; two who do so at once make one together.
  @MainActor
  private func board(_ shell: Shell, _ changes: inout [Change]) async throws -> ObjectID {
    if let board { return try await shell.board(board).id }
    if let oldest = try await shell.images("Board", sort: "created", limit: 1).first { return oldest.id }
    let id = ObjectID.temporary(2, entity: shell.entity("Board").number)
    changes.append(Change(.insert, id, edits: [shell.edit(shell.property("Board", "name"), .string("Notes"))]))
    return id
  }
}

/// The conditions of `list` and `watch`.
struct Filter: ParsableArguments {
  @Option(name: .customLong("where"), help: "A predicate on notes, such as 'color == \"yellow\" AND pinned == TRUE'.")
  var condition: String?
  @Option(help: "Only the notes of this board, by name or id.")
  var board: String?

  @MainActor
  func predicate(_ shell: Shell) async throws -> GraphPredicate {
    var parts = [GraphPredicate]()
    if let condition {
      parts.append(try GraphPredicate(parsing: condition, entity: shell.entity("Note"), model: shell.model))
    }
    if let board { parts.append(.equal(shell.property("Note", "board"), .object(try await shell.board(board).id))) }
    return .all(parts)
  }
}

struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List the notes of all boards.")

  @OptionGroup var options: Options
  @OptionGroup var filter: Filter
  @Option(help: "Only notes with this tag.")
  var tag: String?
  @Option(parsing: .unconditional, help: "Attributes to sort by, a minus for descending: -pinned,number.")
  var sort = "number"
  @Option(help: "At most this many.")
  var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1") }
  }

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      var parts = [try await filter.predicate(shell)]
      if let tag {
        parts.append(
          .comparison(
            .init(
              .any,
              GraphPredicate.Path(
                hops: [shell.property("Note", "tags").number], end: .property(shell.property("Tag", "name").number)),
              .equal, .value(.string(tag)))))
      }
      let condition = GraphPredicate.all(parts)
      let notes = try await shell.images("Note", where: condition, sort: sort, limit: limit)
      try await NoteTable.show(notes, shell, isFiltered: condition != .always)
    }
  }
}

struct Search: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Find notes by words; each word may be the beginning of one.")

  @OptionGroup var options: Options
  @Argument(help: "The words.")
  var words: [String]

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let text = words.map { Coordinates.plain($0) }.joined(separator: " ")
      let predicate = GraphPredicate.comparison(
        .init(.one, .property(shell.property("Note", "text").number), .search, .value(.string(text))))
      try await NoteTable.show(
        try await shell.images("Note", where: predicate, sort: "number"), shell, isFiltered: true)
    }
  }
}

@MainActor
enum NoteTable {
  static func show(_ notes: [ObjectImage], _ shell: Shell, isFiltered: Bool) async throws {
    if shell.output.json { return shell.output.show(notes, else: "") }
    func names(_ entity: String) async throws -> [ObjectID: String] {
      let name = shell.property(entity, "name")
      return Dictionary(
        try await shell.images(entity).map { ($0.id, $0[name].stringValue ?? "") }, uniquingKeysWith: { $1 })
    }
    let boards = try await names("Board")
    let tags = try await names("Tag")
    func property(_ name: String) -> Property { shell.property("Note", name) }
    var table = TextTable(["#", "BOARD", "COLOR", "TAGS", "TEXT"])
    for note in notes {
      let color = note[property("color")].stringValue ?? ""
      let text = TextTable.firstLine(note[property("text")].stringValue ?? "")
      table.append([
        note[property("number")].json(kind: .integer).text,
        TextTable.visible(note[property("board")].objectID.flatMap { boards[$0] } ?? ""), color,
        TextTable.visible(note[property("tags")].objectIDs.compactMap { tags[$0] }.joined(separator: ", ")),
        (note[property("pinned")] == .bool(true) ? "* " : "") + text,
      ])
    }
    let text = table.text()
    if text.isEmpty {
      let hint = isFiltered ? "no note matches\n" : "no notes; write one with: stickies add \"Hello\"\n"
      FileHandle.standardError.write(Data(hint.utf8))
    } else {
      shell.output.print(text)
    }
  }
}

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Show one note whole.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let note = try await shell.note(id)
      shell.output.show(note, else: text(note, shell))
    }
  }

  @MainActor
  private func text(_ note: ObjectImage, _ shell: Shell) -> String {
    var lines = [shell.output.dim("\(note.id), revision \(note.revision)")]
    for property in shell.entity("Note").storedProperties where property.name != "text" {
      let value = note[property].json(kind: property.attribute?.kind)
      lines.append("\(property.name): \(value.stringValue.map(TextTable.visible) ?? value.text)")
    }
    let body = note[shell.property("Note", "text")].stringValue ?? ""
    let shown = body.split(separator: "\n", omittingEmptySubsequences: false).map { TextTable.visible(String($0)) }
    return (lines + ["", shown.joined(separator: "\n")]).joined(separator: "\n")
  }
}

struct EditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Change what a note says; without --text in your editor.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String
  @Option(help: "The new text; - reads standard input.")
  var text: String?

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let note = try await shell.note(id)
      let property = shell.property("Note", "text")
      let old = note[property].stringValue ?? ""
      let editor = text == nil ? try await Editor.edit(old) : nil
      let new = try editor?.text ?? TextInput.read(text ?? "")
      // The smallest splice against what was read: whatever others write meanwhile stays.
      let edits = [Edit(property.number, .splice([TextSplice.smallest(from: old, to: new)]))]
      let image: ObjectImage
      do {
        image = old == new ? note : try await shell.update(note, edits)
      } catch {
        if let editor {
          FileHandle.standardError.write(Data("stickies: what you wrote is in \(editor.file)\n".utf8))
        }
        throw error
      }
      editor?.discard()
      shell.output.show(image, else: shell.output.line(image))
    }
  }
}

struct Move: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Move a note.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String
  @Argument(help: ArgumentHelp("Its left top corner, in points; may be negative.", valueName: "X,Y"))
  var position: Point

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let image = try await shell.update(
        try await shell.note(id),
        [
          shell.edit(shell.property("Note", "x"), .double(position.x)),
          shell.edit(shell.property("Note", "y"), .double(position.y)),
        ])
      shell.output.show(image, else: shell.output.line(image))
    }
  }
}

struct Resize: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Resize a note.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String
  @Argument(help: ArgumentHelp("Width and height, in points.", valueName: "WxH"))
  var size: Size

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let image = try await shell.update(
        try await shell.note(id),
        [
          shell.edit(shell.property("Note", "width"), .double(size.width)),
          shell.edit(shell.property("Note", "height"), .double(size.height)),
        ])
      shell.output.show(image, else: shell.output.line(image))
    }
  }
}

struct ColorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "color", abstract: "Give a note another color.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String
  @Argument(help: "One of \(Color.allCases.map(\.rawValue).joined(separator: ", ")).")
  var color: Color

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let image = try await shell.update(
        try await shell.note(id), [shell.edit(shell.property("Note", "color"), .string(color.rawValue))])
      shell.output.show(image, else: shell.output.line(image))
    }
  }
}

struct Raise: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Put a note on top of its board's pile.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String

  @MainActor
  func run() async throws { try await Pile.put(id, onTop: true, options) }
}

struct Lower: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Put a note under its board's pile.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String

  @MainActor
  func run() async throws { try await Pile.put(id, onTop: false, options) }
}

@MainActor
enum Pile {
  static func put(_ id: String, onTop: Bool, _ options: Options) async throws {
    try await options.withShell { shell in
      let note = try await shell.note(id)
      let z = shell.property("Note", "z")
      let onBoard = GraphPredicate.equal(shell.property("Note", "board"), note[shell.property("Note", "board")])
      let others = GraphPredicate.all([onBoard, .not(.identifiers([note.id]))])
      let outermost = try await shell.images("Note", where: others, sort: onTop ? "-z" : "z", limit: 1).first
      var place = 0.0
      if case .double(let other)? = outermost.map({ $0[z] }) { place = other + (onTop ? 1 : -1) }
      let image = try await shell.update(note, [shell.edit(z, .double(place))])
      shell.output.show(image, else: shell.output.line(image))
    }
  }
}

struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Delete a note; undo brings it back.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let note = try await shell.note(id)
      let saved = try await shell.client.commit([Change(.delete, note.id)], policy: .objectTrump)
      let commit = try await shell.record(of: saved)
      shell.output.show(commit, else: "deleted \(shell.output.line(note))")
    }
  }
}

struct Undo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take back your newest commit that is not undone.")

  @OptionGroup var options: Options

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let saved = try await shell.client.undo()
      let commit = try await shell.record(of: saved)
      for conflict in saved.committed.conflicts {
        let who = conflict.author.isEmpty ? "someone else" : conflict.author
        let what = shell.model.property(conflict.property)?.name ?? "the object"
        FileHandle.standardError.write(
          Data("stickies: left alone: \(who) has changed \(what) of \(conflict.id.description.prefix(8)) since\n".utf8))
      }
      shell.output.show(
        commit, else: "undone revision \(commit.undoes ?? 0): \(commit.changes.count) changes taken back")
    }
  }
}
