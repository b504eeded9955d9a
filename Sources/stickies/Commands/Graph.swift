import ArgumentParser
import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphWire
import StickiesKit

struct TagCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "tag", abstract: "Tag a note.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String
  @Argument(help: "The tags.")
  var names: [String]

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let note = try await shell.note(id)
      let tags = shell.tags(names, first: 1)
      let edit = Edit(shell.property("Note", "tags").number, .members(added: tags.ids, removed: []))
      let image = try await shell.commit(
        tags.changes + [Change(.update, note.id, base: note.revision, edits: [edit])], returning: note.id)
      shell.output.show(image, else: shell.output.line(image))
    }
  }
}

struct Untag: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Take tags off a note.")

  @OptionGroup var options: Options
  @Argument(help: "The note's number or id.")
  var id: String
  @Argument(help: "The tags.")
  var names: [String]

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let note = try await shell.note(id)
      let name = shell.property("Tag", "name")
      let tags = try await shell.images("Tag", where: .in(name, names.map(Value.string)))
      let worn = Set(note[shell.property("Note", "tags")].objectIDs)
      for wanted in names where !tags.contains(where: { $0[name].stringValue == wanted && worn.contains($0.id) }) {
        throw Refusal(.notFound, "the note has no tag \"\(wanted)\"")
      }
      let edit = Edit(shell.property("Note", "tags").number, .members(added: [], removed: tags.map(\.id)))
      let image = try await shell.update(note, [edit])
      shell.output.show(image, else: shell.output.line(image))
    }
  }
}

struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Draw an arrow from one note to another.")

  @OptionGroup var options: Options
  @Argument(help: "The note where it begins, by number or id.")
  var from: String
  @Argument(help: "The note where it ends, by number or id.")
  var to: String
  @Option(help: "What the arrow says.")
  var label = ""

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let (from, to) = (try await shell.note(from), try await shell.note(to))
      let link = ObjectID.temporary(1, entity: shell.entity("Link").number)
      let edits = [
        shell.edit(shell.property("Link", "label"), .string(label)),
        shell.edit(shell.property("Link", "from"), .object(from.id)),
        shell.edit(shell.property("Link", "to"), .object(to.id)),
      ]
      let image = try await shell.commit([Change(.insert, link, edits: edits)], policy: .error, returning: link)
      shell.output.show(image, else: shell.output.line(image))
    }
  }
}

struct Unlink: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Remove the arrows from one note to another.")

  @OptionGroup var options: Options
  @Argument(help: "The note where they begin, by number or id.")
  var from: String
  @Argument(help: "The note where they end, by number or id.")
  var to: String

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let (from, to) = (try await shell.note(from), try await shell.note(to))
      let links = try await shell.images(
        "Link",
        where: .all([
          .equal(shell.property("Link", "from"), .object(from.id)),
          .equal(shell.property("Link", "to"), .object(to.id)),
        ]))
      guard !links.isEmpty else { throw Refusal(.notFound, "no link leads from the one note to the other") }
      let saved = try await shell.client.commit(links.map { Change(.delete, $0.id) }, policy: .objectTrump)
      let commit = try await shell.record(of: saved)
      shell.output.show(commit, else: "removed \(links.count) link\(links.count == 1 ? "" : "s")")
    }
  }
}

struct BoardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board", abstract: "List, add, rename and delete boards.",
    subcommands: [ListBoards.self, AddBoard.self, RenameBoard.self, DeleteBoard.self],
    defaultSubcommand: ListBoards.self)

  struct ListBoards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the boards.")

    @OptionGroup var options: Options

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let boards = try await shell.images("Board", sort: "created")
        if shell.output.json { return shell.output.show(boards, else: "") }
        var table = TextTable(["NAME", "COLOR", "CREATED"])
        for board in boards {
          var created = ""
          if case .date(let time) = board[shell.property("Board", "created")] { created = Output.localTime(time) }
          table.append([
            TextTable.visible(board[shell.property("Board", "name")].stringValue ?? ""),
            board[shell.property("Board", "color")].stringValue ?? "", created,
          ])
        }
        let text = table.text()
        if text.isEmpty {
          FileHandle.standardError.write(Data("no boards; make one with: stickies board add NAME\n".utf8))
        } else {
          shell.output.print(text)
        }
      }
    }
  }

  struct AddBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Make a board.")

    @OptionGroup var options: Options
    @Argument(help: "Its name; no two boards share one.")
    var name: String
    @Option(help: "Its color.")
    var color: Color?

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let id = ObjectID.temporary(1, entity: shell.entity("Board").number)
        var edits = [shell.edit(shell.property("Board", "name"), .string(name))]
        if let color { edits.append(shell.edit(shell.property("Board", "color"), .string(color.rawValue))) }
        let image = try await shell.commit([Change(.insert, id, edits: edits)], policy: .error, returning: id)
        shell.output.show(image, else: shell.output.line(image))
      }
    }
  }

  struct RenameBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a board.")

    @OptionGroup var options: Options
    @Argument(help: "The board, by name or id.")
    var board: String
    @Argument(help: "Its new name.")
    var name: String

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let image = try await shell.update(
          try await shell.board(board), [shell.edit(shell.property("Board", "name"), .string(name))])
        shell.output.show(image, else: shell.output.line(image))
      }
    }
  }

  struct DeleteBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Delete a board with its notes; undo brings them back.")

    @OptionGroup var options: Options
    @Argument(help: "The board, by name or id.")
    var board: String
    @Flag(help: "Delete its notes, too.")
    var yes = false

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let board = try await shell.board(board)
        let notes = try await shell.images("Note", where: .equal(shell.property("Note", "board"), .object(board.id)))
        guard notes.isEmpty || yes else {
          throw Refusal(
            .denied,
            "the board has \(notes.count) note\(notes.count == 1 ? "" : "s"), which would go with it; "
              + "say --yes to delete them, undo brings them back")
        }
        let saved = try await shell.client.commit([Change(.delete, board.id)], policy: .objectTrump)
        let commit = try await shell.record(of: saved)
        shell.output.show(commit, else: "deleted \(shell.output.line(board)) with \(notes.count) notes")
      }
    }
  }
}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Tell about the daemon and its store.")

  @OptionGroup var options: Options

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let status = try await shell.client.status()
      let number = shell.property("Note", "number").number
      let next = status.counters.first { $0.property == number }?.next ?? 1
      if shell.output.json {
        shell.output.print(
          JSON.object([
            .init("server", .string(status.server)), .init("address", .string(shell.client.address.description)),
            .init("process", .integer(Int64(status.process))), .init("data", .string(status.location)),
            .init("size", .integer(Int64(status.size))), .init("store", .string(status.head.store.hyphenated)),
            .init("revision", .integer(status.head.revision)), .init("nextNumber", .integer(next)),
            .init("sessions", .integer(Int64(status.sessions))),
            .init("registrations", .integer(Int64(status.registrations))),
          ]))
      } else {
        shell.output.print(
          """
          server         \(status.server) (process \(status.process)) at \(shell.client.address)
          data           \(status.location)
          size           \(status.size) bytes
          revision       \(status.head.revision)
          next note      #\(next)
          sessions       \(status.sessions) others, \(status.registrations) live queries
          """)
      }
    }
  }
}
