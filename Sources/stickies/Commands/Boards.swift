import ArgumentParser
import CommandLineIO
import GraphModel
import GraphShell
import StickiesKit
import StickiesModel

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
        let (boards, damage) = try await shell.readableImages(
          of: BoardProperties.entity, sort: [SortKey](Board.self, [\.created.ascending]))
        if shell.output.json {
          shell.output.show(boards, else: "")
          return try IncompleteResult.check(damage, shell.model)
        }
        var table = TextTable(["NAME", "COLOR", "CREATED"])
        for board in boards {
          var created = ""
          if case .date(let time) = board[BoardProperties.created] { created = Output.localTime(time) }
          table.append([
            TextTable.visible(board.text(of: BoardProperties.name)), board.text(of: BoardProperties.color), created,
          ])
        }
        let text = table.text()
        if !text.isEmpty {
          shell.output.print(text)
        } else if damage.isEmpty {
          StandardError.write("no boards; add one with: stickies board add NAME")
        }
        try IncompleteResult.check(damage, shell.model)
      }
    }
  }

  struct AddBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a board.")

    @OptionGroup var options: CommonOptions
    @Argument(help: "The board's name; no other board may have it.")
    var name: String
    @Option(parsing: .unconditional, help: "The board's color; default: gray.")
    var color: Color?

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let id = ObjectID.temporary(1, entity: BoardProperties.entity.number)
        var edits: [Edit] = [.set(BoardProperties.name, .string(name))]
        if let color { edits.append(.set(BoardProperties.color, .string(color.rawValue))) }
        let insert = Change(.insert, id, edits: edits)
        shell.output.show(try await shell.commit([insert], policy: .error, returning: id))
      }
    }
  }

  struct RenameBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a board.")

    @OptionGroup var options: CommonOptions
    @Argument(help: "The board, by name or id.")
    var board: String
    @Argument(help: "The new name; no other board may have it.")
    var name: String

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let board = try await NoteFinder(shell).board(board)
        let rename = board.update([.set(BoardProperties.name, .string(name))])
        shell.output.show(try await shell.update(board, rename))
      }
    }
  }

  struct DeleteBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Delete a board, with --yes also its notes; undo restores them.")

    @OptionGroup var options: CommonOptions
    @Argument(help: "The board, by name or id.")
    var board: String
    @Flag(help: "Delete the board even if it has notes, and its notes too.")
    var yes = false

    @MainActor
    func run() async throws {
      try await options.withShell { shell in
        let board = try await NoteFinder(shell).board(board)
        let notes = try await shell.images(
          of: NoteProperties.entity, where: .equal(NoteProperties.board, .object(board.id)))
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
