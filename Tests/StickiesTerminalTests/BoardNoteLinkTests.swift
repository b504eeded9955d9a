import GraphReplica
import StickiesKit
import StickiesModel
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Links between notes.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardNoteLinkTests {
  private func stage() async throws -> BoardFixture {
    let stage = try await BoardFixture()
    _ = try await stage.note("alpha", x: 16, y: 32)
    _ = try await stage.note("omega", x: 400, y: 32)
    return stage
  }

  private func links(_ stage: BoardFixture) async throws -> [String] {
    try await stage.other.fetch(Link.self, prefetch: RelationshipTree(Link.self, [\.from, \.to])).map {
      "\($0.from?.text ?? "") to \($0.to?.text ?? "")"
    }
  }

  @Test func linkIsCreatedByKeysAndUndone() async throws {
    let stage = try await stage()
    let ann = try await stage.open()
    await ann.terminal.expects("omega")
    ann.terminal.press(.tab)
    ann.terminal.types("L")
    await ann.terminal.expects("chooses the other note")
    // A note can't be linked to itself.
    ann.terminal.press(.enter)
    await ann.terminal.expects("choose another note")
    ann.terminal.press(.tab)
    await ann.terminal.expects(" link ")
    ann.terminal.press(.enter)
    await ann.terminal.expects("linked; u undoes it")
    await ann.terminal.expects { $0.text.contains("→") && !$0.text.contains("not yet") }
    #expect(try await links(stage) == ["alpha to omega"])
    ann.terminal.types("u")
    await ann.terminal.expects { $0.text.contains("Undone") && !$0.text.contains("→") }
    #expect(try await links(stage).isEmpty)
    await stage.close()
  }

  @Test func linkIsCreatedByMouseDeletedByKeysAndUndone() async throws {
    let stage = try await stage()
    let ann = try await stage.open()
    let place = try #require(await ann.terminal.expects("omega").place(of: "omega"))
    ann.terminal.press(.tab)
    ann.terminal.types("L")
    ann.terminal.mouse(.press(.left), place.x, place.y)
    ann.terminal.mouse(.release(.left), place.x, place.y)
    await ann.terminal.expects("linked; u undoes it")
    await ann.terminal.expects { $0.text.contains("→") && !$0.text.contains("not yet") }
    // The other way round it is the same link.
    ann.terminal.types("L")
    ann.terminal.press(.tab)
    await ann.terminal.expects(" unlink ")
    ann.terminal.press(.enter)
    await ann.terminal.expects {
      $0.text.contains("unlinked") && !$0.text.contains("→") && !$0.text.contains("not yet")
    }
    #expect(try await links(stage).isEmpty)
    ann.terminal.types("u")
    await ann.terminal.expects("→")
    #expect(try await links(stage) == ["alpha to omega"])
    await stage.close()
  }

  @Test func escapeCancelsLinkAndDoubleClickDeletesIt() async throws {
    let stage = try await stage()
    let ann = try await stage.open()
    await ann.terminal.expects("omega")
    ann.terminal.press(.tab)
    ann.terminal.types("L")
    ann.terminal.press(.tab)
    await ann.terminal.expects("→")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("→")
    ann.terminal.types("L")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    await ann.terminal.expects("linked; u undoes it")
    let grid = await ann.terminal.expects { $0.text.contains("←") && !$0.text.contains("not yet") }
    let head = try #require(grid.place(of: "←"))
    ann.terminal.click(head.x + 2, head.y, times: 2)
    await ann.terminal.expects("Delete the link?")
    ann.terminal.types("lknows\n")
    await ann.terminal.expects { $0.text.contains(" knows ") && !$0.text.contains("not yet") }
    // The existing label is there to be changed, and an empty one is a label too.
    ann.terminal.click(head.x + 3, head.y, times: 2)
    await ann.terminal.expects("Delete the link?")
    ann.terminal.types("l")
    await ann.terminal.expects("5 characters")
    for _ in 0..<5 { ann.terminal.press(.backspace) }
    ann.terminal.press(.enter)
    await ann.terminal.expects { !$0.text.contains("knows") && !$0.text.contains("not yet") }
    ann.terminal.click(head.x + 4, head.y, times: 2)
    await ann.terminal.expects("Delete the link?")
    ann.terminal.types("d")
    await ann.terminal.expects {
      $0.text.contains("unlinked") && !$0.text.contains("←") && !$0.text.contains("not yet")
    }
    #expect(try await links(stage).isEmpty)
    await stage.close()
  }
}
