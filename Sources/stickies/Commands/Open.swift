import ArgumentParser
import FreedMemory
import GraphModel
import GraphReplica
import GraphShell
import StickiesKit
import StickiesTerminal
import TerminalApplication
import TerminalCells

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

struct Open: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Show and edit a board in this terminal.",
    discussion: """
      Each note is a window. You see the changes of others as they happen, and others see your changes as you type. \
      ? shows all keys, F10 opens the menus, q leaves. If the daemon stops, the board stays open, and your changes are \
      sent when the daemon is back. With a copy on this computer (stickies sync on) a board also opens without the \
      daemon; C shows the edits that the daemon has refused.
      """)

  @OptionGroup var options: CommonOptions
  @Argument(help: "The board, by name or id; default: the oldest board.")
  var board: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      The initial view: board, or list for the board with a list beside it; default: STICKIES_INTERFACE, else board.
      """, valueName: "view"), completion: .list(BoardInterface.allCases.map(\.rawValue)))
  var interface: String?
  @Flag(help: "Show the board and change nothing, for example for a screen on a wall.")
  var readOnly = false

  /// The launcher; a program has one.
  @MainActor private static let launcher = ApplicationLauncher()

  /// Reports an unknown interface before connecting to the daemon.
  func validate() throws {
    guard BoardInterface(rawValue: interfaceName) == nil else { return }
    let known = BoardInterface.allCases.map(\.rawValue).sorted()
    throw ValidationError("\(ApplicationError.unknownInterface(interfaceName, known: known))")
  }

  @MainActor
  func run() async throws {
    configureAllocator()
    try await options.withShell(reconnects: true, moves: true) { shell in
      guard isatty(0) == 1, isatty(1) == 1 else {
        throw ValidationError("open draws a screen: standard input and output must be a terminal")
      }
      guard ProcessInfo.processInfo.environment["TERM"] != "dumb" else {
        throw ValidationError(
          "TERM is dumb, and a terminal that can't place its cursor shows no board: set TERM to your terminal's type, "
            + "such as xterm-256color, or use stickies list and stickies watch")
      }
      let board = try await find(shell)
      let session: BoardSession
      do {
        session = try BoardSession(
          shell.client, board: board, depth: depth, configuration: names, launcher: Self.launcher,
          editor: ExternalEditor(
            edit: { try await Self.edit($0) }, saved: { Editor.savedText }, discard: Editor.discardLast),
          keepTexts: { UnsentTextFile.keep($0) })
      } catch let error as TerminalError {
        throw Refusal(.unavailable, "\(error)")
      } catch let error as ApplicationError {
        throw ValidationError("\(error)")
      }
      let code = await session.run()
      if let loss = session.loss { shell.output.message("\(Self.sentence(loss))") }
      if let file = Editor.openFile {
        shell.output.message("the program ended before it read the editor's text, which is in \(file)")
      }
      for file in Editor.leftFiles {
        shell.output.message("an editor saved nothing before it returned; a text that it saved later is in \(file)")
      }
      if code != 0 || session.loss != nil { throw ExitCode(code == 0 ? 1 : code) }
    }
  }

  /// - Throws: a refusal with the file's name if the editor has not written it. The file's name comes first, because
  ///   the board cuts its status line.
  @MainActor
  private static func edit(_ text: String) async throws -> String {
    let editor = try await Editor.edit(text)
    guard editor.wasWritten else {
      throw Refusal(.unavailable, "text saved later stays in \(editor.file); the editor saved nothing")
    }
    return editor.text
  }

  private static func sentence(_ loss: BoardSession.UnsentLoss) -> String {
    let what = "\(Output.count(loss.count, "change")) did not reach the server"
    if !loss.isKept { return "\(what); the texts among them could not be saved in a file" }
    return loss.file.map { "\(what); the texts among them are in \($0)" } ?? what
  }

  private var names: ApplicationConfiguration {
    .board(application: readOnly ? "viewer" : "editor", interface: interfaceName)
  }

  private var interfaceName: String {
    let chosen = interface ?? ProcessInfo.processInfo.environment["STICKIES_INTERFACE"]
    guard let chosen, !chosen.isEmpty else { return BoardInterface.board.rawValue }
    return chosen
  }

  private var depth: ColorDepth {
    let environment = ProcessInfo.processInfo.environment
    let detected = ColorDepth(environment: environment)
    return switch options.ansi {
    case .auto: detected
    case .always: max(detected, .sixteen)
    case .never: .none
    }
  }

  /// The board to open. In an empty store one is created, as by `add`.
  @MainActor
  private func find(_ shell: CommandContext) async throws -> Board {
    let id: ObjectID
    if let board {
      id = try await NoteFinder(shell).board(board).id
    } else if let oldest = try await shell.images(
      of: BoardProperties.entity, sort: [SortKey](Board.self, [\.created.ascending]), limit: 1
    ).first {
      id = oldest.id
    } else {
      let new = ObjectID.temporary(1, entity: BoardProperties.entity.number)
      let insert = Change(.insert, new, edits: [.set(BoardProperties.name, .string("Notes"))])
      id = try await shell.commit([insert], returning: new).id
    }
    guard let board = try await shell.client.fetch(Board.self, where: .identifiers([id])).first else {
      throw Refusal(.notFound, "the board has been deleted meanwhile")
    }
    return board
  }
}
