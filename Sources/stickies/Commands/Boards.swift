import ArgumentParser
import GraphModel
import StickiesKit

struct BoardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board", abstract: "List, add, rename and delete boards.",
    subcommands: [ListBoards.self, AddBoard.self, RenameBoard.self, DeleteBoard.self],
    defaultSubcommand: ListBoards.self)

  struct ListBoards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the boards.")

    @OptionGroup var options: CommonOptions

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
          StandardError.write("no boards; make one with: stickies board add NAME")
        } else {
          shell.output.print(text)
        }
      }
    }
  }

  struct AddBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Make a board.")

    @OptionGroup var options: CommonOptions
    @Argument(help: "Its name; board names are unique.")
    var name: String
    @Option(parsing: .unconditional, help: "Its color.")
    var color: Color?

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let id = ObjectID.temporary(1, entity: shell.entity("Board").number)
        var values = [("name", Value.string(name))]
        if let color { values.append(("color", .string(color.rawValue))) }
        let insert = Change(.insert, id, edits: shell.edits("Board", values))
        shell.output.show(try await shell.commit([insert], policy: .error, returning: id))
      }
    }
  }

  struct RenameBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a board.")

    @OptionGroup var options: CommonOptions
    @Argument(help: "The board, by name or id.")
    var board: String
    @Argument(help: "Its new name.")
    var name: String

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let board = try await shell.board(board)
        let rename = shell.update(board, shell.edits("Board", [("name", .string(name))]))
        shell.output.show(try await shell.commit([rename], returning: board.id))
      }
    }
  }

  struct DeleteBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Delete a board with its notes; undo brings them back.")

    @OptionGroup var options: CommonOptions
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
            "the board has \(Output.count(notes.count, "note")); "
              + "use --yes to delete it with its notes, undo brings them back")
        }
        let commit = try await shell.delete([board.id])
        let went = notes.isEmpty ? "" : " with \(Output.count(notes.count, "note"))"
        shell.output.show(commit, else: "deleted \(shell.output.line(board))\(went)")
      }
    }
  }
}
