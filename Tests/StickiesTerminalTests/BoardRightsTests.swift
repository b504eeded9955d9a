import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Users with roles on single boards: the menus show what they may do, a message says why not, and a board without a
/// role closes.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardRightsTests {
  @Test func commandsNeedTheRoleOnTheBoard() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("hello")
    let token = try stage.user("ann", "reader", on: ["Work"])
    let ann = try await stage.open("ann", token: token)
    await ann.terminal.expects("hello")
    let screen = try #require(ann.session.screen)
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects("your role here is reader")
    for command in [Command.newNote, .color, .editNote, .deleteNote, .link, .lock] {
      #expect(!screen.shownState(of: command).isEnabled, "\(command)")
    }
    for command in [Command.closeWindow, .search, .history, .nextNote] {
      #expect(screen.shownState(of: command).isEnabled, "\(command)")
    }
    try stage.stickiesd("grant", "ann", "editor", "--on", "Board:Work")
    await ann.terminal.expects("your role on this board is editor now")
    for command in [Command.newNote, .color, .editNote, .deleteNote, .link, .lock] {
      #expect(screen.shownState(of: command).isEnabled, "\(command)")
    }
    ann.terminal.types("n")
    ann.terminal.types("mine")
    await ann.terminal.expects("mine")
    await stage.close()
  }

  /// A commenter changes its own notes.
  @Test func commenterChangesOwnNotesOnly() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("of ben")
    let token = try stage.user("ann", "commenter", on: ["Work"])
    let ann = try await stage.open("ann", token: token)
    await ann.terminal.expects("of ben")
    let screen = try #require(ann.session.screen)
    ann.terminal.press(.tab)
    ann.terminal.types("p")
    await ann.terminal.expects("your role here is commenter")
    #expect(screen.shownState(of: .newNote).isEnabled && !screen.shownState(of: .pin).isEnabled)
    let board = try #require(try await ann.client.fetch(Board.self).first)
    let own = Note(in: ann.client.context)
    (own.text, own.x, own.y, own.board) = ("of ann", 400, 32, board)
    try await ann.client.save()
    #expect(own.creator?.hasPrefix("user:") == true)
    #expect(screen.rights.refusal(.update, of: own) == nil && screen.rights.refusal(.delete, of: own) == nil)
    await stage.close()
  }

  @Test func boardWithoutARoleCloses() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("hello")
    let token = try stage.user("ann", "editor", on: ["Work", "Home"])
    let ann = try await stage.open("ann", token: token)
    await ann.terminal.expects { $0.text.contains("hello") && $0.text.contains("● ○") }
    // Waits from here on: the message can end before the command does.
    async let message = ann.terminal.expects("the board Work is closed: you have no role on it now")
    try stage.stickiesd("grant", "remove", "ann", "--on", "Board:Work")
    _ = await message
    await ann.terminal.expects { $0.text.contains("│ Home") && !$0.text.contains("hello") }
    // It comes back with the role.
    try stage.stickiesd("grant", "ann", "reader", "--on", "Board:Work")
    await ann.terminal.expects("○ ●")
    await stage.close()
  }
}
