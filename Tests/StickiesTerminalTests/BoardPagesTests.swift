import GraphModel
import GraphReplica
import StickiesKit
import StickiesModel
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The cost of boards that are not shown, on a real daemon.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardPagesTests {
  @Test func offscreenBoardIsRefreshedOnceWhenShown() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    let first = try await stage.note("first", x: 16)
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("● ○") }
    let screen = try #require(ann.session.screen)
    let work = screen.pages.page
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("There are no notes on Home yet")
    await ann.terminal.expects("│ Home")
    #expect(screen.pages.pager?.next.isStale == false)
    let before = work.reconciliations
    _ = try await stage.note("second", x: 300)
    stage.other.context.delete(first)
    try await stage.other.save()
    // Later events have arrived.
    _ = try await ann.client.fetch(Board.self)
    #expect(work.notes.count == 1 && work.windows.ids != Array(work.notes.snapshot))
    #expect(work.reconciliations == before)
    #expect(screen.pages.pager?.next.isStale == true)
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects {
      $0.text.contains("│ Work") && $0.text.contains("second") && !$0.text.contains("first")
    }
    #expect(screen.pages.page === work && work.windows.ids == Array(work.notes.snapshot))
    #expect(work.reconciliations == before + 1)
    #expect(screen.pages.pager?.current.isStale == false)
    // A visible board follows each commit.
    _ = try await stage.note("third", x: 16)
    await ann.terminal.expects("third")
    #expect(work.reconciliations == before + 2)
    await stage.close()
  }

  /// The neighbor of the shown board is drawn while the user scrolls from one to the other.
  @Test func linksOfNeighborBoardAreDrawn() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    let (alpha, omega) = (try await stage.note("alpha", x: 16), try await stage.note("omega", x: 400))
    let link = Link(in: stage.other.context)
    (link.from, link.to) = (alpha, omega)
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("omega") && $0.text.contains("→") && $0.text.contains("● ○") }
    let screen = try #require(ann.session.screen)
    let work = screen.pages.page
    let lines = screen.links.lines(on: work, among: nil)
    #expect(lines.count == 1)
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("│ Home")
    #expect(screen.pages.page !== work)
    #expect(screen.links.lines(on: work, among: nil) == lines)
    await stage.close()
  }

  @Test func filterAppliesToOffscreenBoards() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("sun", x: 16, color: .yellow)
    _ = try await stage.note("sky", x: 300, color: .blue)
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("sky") && $0.text.contains("● ○") }
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("│ Home")
    ann.terminal.types("f ")
    ann.terminal.press(.escape)
    await ann.terminal.expects("only yellow: 0 hidden")
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects {
      $0.text.contains("│ Work") && $0.text.contains("1 hidden") && $0.text.contains("sun") && !$0.text.contains("sky")
    }
    await stage.close()
  }

  @Test func pagingThroughHundredsOfBoardsKeepsTwo() async throws {
    let stage = try await BoardFixture()
    let entity = try #require(StickiesModel.model.entity(named: "Board"))
    let name = try #require(entity.property(named: "name"))
    _ = try await stage.other.batchInsert(entity, [name], rows: (1...300).map { [.string("Board \($0)")] })
    let ann = try await stage.open()
    await ann.terminal.expects("1 of 301")
    let screen = try #require(ann.session.screen)
    var (made, most) = (0, 0)
    let make = screen.pages.directory.makePage
    screen.pages.directory.makePage = { [weak directory = screen.pages.directory] board in
      made += 1
      most = max(most, (directory?.pages.count ?? 0) + 1)
      return make(board)
    }
    // A long way at once: many boards are visible during the scroll.
    for _ in 0..<200 { ann.terminal.press(.right, .alt) }
    await ann.terminal.expects("201 of 301")
    #expect(screen.pages.directory.pages.count <= 2)
    // At any moment the board that is left, the two that showed last, and the two that show now.
    #expect(made >= 2 && most <= 5)
    for number in (191...200).reversed() {
      ann.terminal.press(.left, .alt)
      await ann.terminal.expects("\(number) of 301")
      #expect(screen.pages.directory.pages.count == 2)
    }
    // The list of boards, and for each of the two its notes and its links.
    _ = try await ann.client.status()
    #expect(try await stage.other.status().registrations <= 5)
    await stage.close()
  }
}
