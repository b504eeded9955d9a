import Foundation
import GraphReplica
import StickiesKit
import StickiesModel
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The board at an earlier time.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardHistoryTests {
  @Test func pastBoardShowsLinksTagsMarksNameAndColor() async throws {
    let stage = try await BoardFixture()
    let alpha = try await stage.note("alpha", x: 16)
    let omega = try await stage.note("omega\nand its body", x: 400)
    let context = stage.other.context
    let tag = Tag(in: context)
    tag.name = "urgent"
    alpha.tags.insert(tag)
    let line = Link(in: context)
    (line.from, line.to, line.label) = (alpha, omega, "knows")
    (alpha.pinned, alpha.locked, omega.collapsed) = (true, true, true)
    try await stage.other.save()
    (alpha.pinned, alpha.locked, omega.collapsed) = (false, false, false)
    tag.name = "calm"
    context.delete(line)
    let board = try #require(try await stage.other.fetch(Board.self).first)
    (board.name, board.color) = ("Office", .teal)
    try await stage.other.save()

    let ann = try await stage.open()
    let theme = Theme(depth: .direct)
    let (before, now) = (theme.board(.gray), theme.board(.teal))
    let isNow: @Sendable (Grid) -> Bool = { grid in
      let text = grid.text
      return ["#calm", "and its body", "│ Office"].allSatisfy { text.contains($0) }
        && ["#urgent", "knows", "▲", "■", "►"].allSatisfy { !text.contains($0) } && grid[40, 18].style == now
    }
    await ann.terminal.expects("the board as it is", isNow)
    ann.terminal.types("h")
    await ann.terminal.expects { isNow($0) && $0.text.contains("history: revision") }
    ann.terminal.press(.left)
    await ann.terminal.expects("the board as it was") { grid in
      let text = grid.text
      return ["#urgent", " knows ", "▲", "■", "►", "│ Work"].allSatisfy { text.contains($0) }
        && ["#calm", "and its body", "Office"].allSatisfy { !text.contains($0) } && grid[40, 18].style == before
    }
    // Before these commits there was no link.
    ann.terminal.press(.left)
    await ann.terminal.expects { $0.text.contains("and its body") && !$0.text.contains("knows") }
    ann.terminal.press(.end)
    await ann.terminal.expects { isNow($0) && $0.text.contains("history: revision") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { isNow($0) && !$0.text.contains("history: revision") }
    await stage.close()
  }

  @Test func pastBeforeBoardCreationIsEmpty() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    let ann = try await stage.open()
    await ann.terminal.expects("● ○")
    ann.terminal.types("2")
    await ann.terminal.expects("│ Home")
    ann.terminal.types("h")
    await ann.terminal.expects("history: revision")
    ann.terminal.press(.home)
    await ann.terminal.expects { $0.text.contains("│ did not exist") && !$0.text.contains("│ Home") }
    ann.terminal.press(.right)
    await ann.terminal.expects("│ Home")
    await stage.close()
  }

  @Test func presentFilterDoesNotApplyToPast() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("yellow one", x: 16, color: .yellow)
    _ = try await stage.note("blue one", x: 400, color: .blue)
    let ann = try await stage.open()
    await ann.terminal.expects("blue one")
    ann.terminal.types("f")
    await ann.terminal.expects("Show Only")
    ann.terminal.types(" ")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("1 hidden") && !$0.text.contains("blue one") }
    ann.terminal.types("h")
    await ann.terminal.expects {
      $0.text.contains("history: revision") && $0.text.contains("blue one") && !$0.text.contains("hidden")
    }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("1 hidden") && !$0.text.contains("blue one") }
    await stage.close()
  }

  @Test func scrubberGrowsAndFollowsNewestRevision() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home", "Garden"])
    let note = try await stage.note("first words")
    let ann = try await stage.open()
    await ann.terminal.expects("first words")
    ann.terminal.types("h")
    await ann.terminal.expects { $0.text.contains("revision 4 of 4, ") && $0.text.contains("first words") }
    note.text = "second words"
    try await stage.other.save()
    await ann.terminal.expects {
      $0.text.contains("revision 5 of 5, ") && $0.text.contains("history: revision 5")
        && $0.text.contains("second words")
    }
    // A user who has gone back stays there.
    ann.terminal.press(.left)
    await ann.terminal.expects { $0.text.contains("revision 4 of 5, ") && $0.text.contains("first words") }
    note.text = "third words"
    try await stage.other.save()
    await ann.terminal.expects {
      $0.text.contains("revision 4 of 6, ") && $0.text.contains("history: revision 4")
        && $0.text.contains("first words")
    }
    // Changes on boards that are not shown here are not received: they are loaded when the user returns.
    let garden = try await stage.other.fetch(Board.self, where: "name == 'Garden'").first
    let elsewhere = Note(in: stage.other.context)
    (elsewhere.text, elsewhere.board) = ("elsewhere", garden)
    try await stage.other.save()
    ann.terminal.press(.end)
    await ann.terminal.expects { $0.text.contains("revision 7 of 7, ") && $0.text.contains("third words") }
    await stage.close()
  }

  @Test func editKeysInHistoryAreRefused() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("plan", color: .yellow)
    let ann = try await stage.open()
    await ann.terminal.expects("plan")
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    // There is something to undo, and a note in focus.
    await ann.terminal.expects { $0.text.contains("┏ plan") && !$0.text.contains("not yet") }
    ann.terminal.types("h")
    await ann.terminal.expects("history: revision 3")
    let said = "this is the past: Esc goes back to now"
    let keys: [(Key, Modifiers)] = [
      (.character("n"), []), (.character("c"), []), (.character("u"), []), (.character("1"), []), (.enter, []),
      (.delete, []), (.tab, []), (.right, .shift), (.right, .alt), (.character("r"), .control),
    ]
    for (key, modifiers) in keys {
      ann.terminal.press(key, modifiers)
      await ann.terminal.expects(said)
      ann.terminal.press(.end)
      await ann.terminal.expectsNo(said)
    }
    ann.terminal.paste("pasted")
    await ann.terminal.expects(said)
    ann.terminal.press(.end)
    await ann.terminal.expectsNo(said)
    ann.terminal.click(50, 10, times: 2)
    await ann.terminal.expects(said)
    #expect(ann.session.screen?.shownState(of: .deleteNote).isEnabled == false)
    // The help is over it, and leads back to it.
    ann.terminal.types("?")
    await ann.terminal.expects { $0.text.contains("Oldest Revision") && !$0.text.contains("New Note") }
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("history: revision 3") && !$0.text.contains("Oldest Revision") }
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("┏ plan") && !$0.text.contains("history: revision") }
    let stored = try await stage.stored()
    #expect(stored.map(\.text) == ["plan"] && stored.map(\.color) == [.blue] && stored.map(\.width) == [200])
    await stage.close()
  }

  @Test func listShowsPastNotes() async throws {
    let stage = try await BoardFixture()
    let milk = try await stage.note("milk", x: 16, y: 32, color: .yellow)
    let bread = try await stage.note("bread", x: 16, y: 160, color: .blue)
    stage.other.context.delete(milk)
    bread.text = "rye bread"
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects("rye bread")
    func expect(_ rows: String...) async {
      await ann.terminal.expects("the rows \(rows)") { grid in
        rows.enumerated().allSatisfy { index, row in
          (1..<29).map { grid[$0, 2 + index].text }.joined().trimmingCharacters(in: .whitespaces) == row
        }
      }
    }
    ann.terminal.types("v")
    await expect("rye bread", "")
    ann.terminal.types("h")
    await ann.terminal.expects("history: revision 4")
    ann.terminal.press(.left)
    await expect("milk", "bread", "")
    // A click selects the note of that time.
    await ann.terminal.expects("╭ milk")
    for _ in 0..<20 { ann.terminal.mouse(.wheel(.right), 50, 10) }
    await ann.terminal.expectsNo("╭ milk")
    ann.terminal.click(5, 2)
    await ann.terminal.expects("╭ milk")
    ann.terminal.types("g")
    await expect("Blue (1)", "bread", "Yellow (1)", "milk", "")
    ann.terminal.press(.left)
    await expect("Yellow (1)", "milk", "")
    ann.terminal.press(.escape)
    await expect("Blue (1)", "rye bread", "")
    await stage.close()
  }

  @Test func escapeDuringLoadKeepsShownPast() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("at first")
    note.text = "in the end"
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects("in the end")
    ann.terminal.types("h")
    await ann.terminal.expects("revision 3 of 3, ")
    stage.freeze()
    ann.terminal.press(.left)
    await ann.terminal.expects {
      $0.text.contains("Loading the history…") && $0.text.contains("Esc cancels")
        && $0.text.contains("revision 2 of 3")
    }
    ann.terminal.press(.escape)
    await ann.terminal.expects {
      !$0.text.contains("Loading") && $0.text.contains("revision 3 of 3, ") && $0.text.contains("history: revision 3")
    }
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("history: revision")
    stage.thaw()
    await stage.close()
  }
}
