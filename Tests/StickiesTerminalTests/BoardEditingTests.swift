import Glibc
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Typing: in notes and what becomes of it.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardEditingTests {
  @Test func aNewNoteThatIsLeftEmptyIsNotStored() async throws {
    let stage = try await Stage()
    let ann = try await stage.open()
    ann.terminal.types("n")
    await ann.terminal.shows("┏")
    ann.terminal.press(.escape)
    await ann.terminal.hides("┏")
    // One that was typed into and emptied again is gone as well.
    ann.terminal.types("nab")
    await ann.terminal.shows { $0.text.contains("ab") && !$0.text.contains("not yet") }
    ann.terminal.press(.backspace)
    ann.terminal.press(.backspace)
    ann.terminal.press(.escape)
    await ann.terminal.shows { !$0.text.contains("┏") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().isEmpty)
    ann.terminal.types("n")
    ann.terminal.types("kept")
    ann.terminal.press(.escape)
    await ann.terminal.shows { $0.text.contains("kept") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.number) == [2])
    await stage.close()
  }

  @Test func anEmptyNoteIsNothingToAskAboutOnLeaving() async throws {
    let stage = try await Stage()
    let ann = try await stage.open()
    stage.kill()
    await ann.terminal.shows("reconnecting")
    ann.terminal.types("n")
    ann.terminal.press(.character("q"), .control)
    #expect(await ann.end.value == 0)
    try stage.restart()
    await stage.close()
  }

  @Test func aSignalEndsTheProgramAndLosesNothing() async throws {
    let stage = try await Stage()
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    ann.terminal.types("n")
    ann.terminal.types("last words")
    ann.terminal.asksToEnd(SIGTERM)
    #expect(await ann.end.value == 0)
    await ben.terminal.shows("last words")
    await stage.close()
  }
}
