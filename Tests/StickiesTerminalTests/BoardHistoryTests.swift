import GraphReplica
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The board as it was.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardHistoryTests {
  @Test func aBoardIsSeenAsItWasWithItsLinesTagsMarksNameAndColor() async throws {
    let stage = try await Stage()
    let alpha = try await stage.note("alpha", x: 16)
    let omega = try await stage.note("omega\nand its body", x: 400)
    let context = stage.other.context
    let tag = try #require(context.insert(Tag.self))
    tag.name = "urgent"
    alpha.addToTags(tag)
    let line = try #require(context.insert(Link.self))
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
    // Before all that there was no line.
    ann.terminal.press(.left)
    await ann.terminal.expects { $0.text.contains("and its body") && !$0.text.contains("knows") }
    ann.terminal.press(.end)
    await ann.terminal.expects { isNow($0) && $0.text.contains("history: revision") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { isNow($0) && !$0.text.contains("history: revision") }
    await stage.close()
  }

  @Test func beforeABoardWasMadeItWasNotThere() async throws {
    let stage = try await Stage(boards: ["Work", "Home"])
    let ann = try await stage.open()
    await ann.terminal.expects("● ○")
    ann.terminal.types("2")
    await ann.terminal.expects("│ Home")
    ann.terminal.types("h")
    await ann.terminal.expects("history: revision")
    ann.terminal.press(.home)
    await ann.terminal.expects { $0.text.contains("│ not there then") && !$0.text.contains("│ Home") }
    ann.terminal.press(.right)
    await ann.terminal.expects("│ Home")
    await stage.close()
  }

  @Test func aFilterOfThePresentHidesNothingOfThePast() async throws {
    let stage = try await Stage()
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
}
