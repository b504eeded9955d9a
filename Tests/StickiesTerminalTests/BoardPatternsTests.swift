import GraphReplica
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// What a board owes to its controllers: without any of them one of these fails.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardPatternsTests {
  @Test func aBoardWhoseNotesAreSlowSaysThatItWaitsAndNeverShowsTheOneBefore() async throws {
    let stage = try await Stage(boards: ["Work", "Home"])
    _ = try await stage.note("at work")
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("at work") && $0.text.contains("● ○") }
    stage.freeze()
    ann.terminal.types("2")
    await ann.terminal.expects { $0.text.contains("Loading") && !$0.text.contains("at work") }
    // Keys that make sense still do.
    ann.terminal.types("?")
    await ann.terminal.expects("New Note")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("Loading") && !$0.text.contains("New Note") }
    stage.thaw()
    await ann.terminal.expects { $0.text.contains("│ Home") && !$0.text.contains("Loading") }
    await stage.close()
  }

  @Test func aSelectionDropsWhatOthersDeleteAndOutlastsScrolling() async throws {
    let stage = try await Stage()
    let first = try await stage.note("first", x: 16, y: 64)
    _ = try await stage.note("second", x: 300, y: 64)
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("second") }
    ann.terminal.types("ea")
    await ann.terminal.expects("Delete (2)")
    for _ in 1...8 { ann.terminal.press(.down, .control) }
    await ann.terminal.expects { $0.text.contains("Delete (2)") && !$0.text.contains("second") }
    stage.other.context.delete(first)
    try await stage.other.save()
    await ann.terminal.expects("Delete (1)")
    for _ in 1...8 { ann.terminal.press(.up, .control) }
    await ann.terminal.expects { $0.text.contains("● second") && $0.text.contains("Delete (1)") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("● second") && !$0.text.contains("Delete (") }
    await stage.close()
  }

  @Test func aSearchLeavesTheBoardItsNewsAndGivesTheFocusBack() async throws {
    let stage = try await Stage()
    _ = try await stage.note("red apples", x: 0, y: 64)
    _ = try await stage.note("green pears", x: 300, y: 64)
    let ann = try await stage.open()
    await ann.terminal.expects("green pears")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ red apples")
    // While the field is open, board and search both hear of the notes.
    ann.terminal.types("/")
    await ann.terminal.expects("the field") { $0.cursor == Point(x: 3, y: 1) }
    _ = try await stage.note("blue plums", x: 0, y: 280)
    await ann.terminal.expects("blue plums")
    ann.terminal.types("pears")
    await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("red apples") }
    ann.terminal.press(.enter)
    await ann.terminal.expects("┏ green pears")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ red apples") && $0.text.contains("blue plums") }
    await stage.close()
  }

  @Test func aFieldEndsWithReturnAndCountsWhatIsTyped() async throws {
    let stage = try await Stage()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.types("twork")
    await ann.terminal.expects("4 characters")
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.text.contains("#work") && !$0.text.contains("characters") }
    // What is too long is not taken, and the field says so.
    ann.terminal.types("t\(String(repeating: "x", count: 201))")
    await ann.terminal.expects("too long")
    ann.terminal.press(.enter)
    ann.terminal.press(.backspace)
    await ann.terminal.expects("200 characters")
    await stage.close()
  }
}
