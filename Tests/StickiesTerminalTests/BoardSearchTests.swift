import Foundation
import StickiesKit
import TerminalCells
import Testing

@testable import GraphReplica
@testable import StickiesTerminal

/// The requests of a search to a real daemon, and the place on the board after it.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardSearchTests {
  /// A note in focus at the left end of the board, and one far to the right.
  private func opened() async throws -> (stage: BoardFixture, ann: TestUser) {
    let stage = try await BoardFixture()
    _ = try await stage.note("red apples", x: 0, y: 64)
    _ = try await stage.note("green pears", x: 4_000, y: 64)
    let ann = try await stage.open()
    await ann.terminal.expects("red apples")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ red apples")
    return (stage, ann)
  }

  /// Shows the far end of the board.
  private func look(_ ann: TestUser) async {
    ann.terminal.types("/pears")
    await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("red apples") }
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ green pears")
  }

  @Test func searchWithoutSelectionRestoresPosition() async throws {
    let (stage, ann) = try await opened()
    let place = ann.terminal.grid.place(of: "red apples")
    await look(ann)
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ red apples") && !$0.text.contains("green pears") }
    #expect(ann.terminal.grid.place(of: "red apples") == place)
    // Emptying the field also restores the list, and the field keeps the keys.
    await look(ann)
    ann.terminal.types("/")
    for _ in 0..<5 { ann.terminal.press(.backspace) }
    await ann.terminal.expects { $0.text.contains("┏ red apples") && !$0.text.contains("green pears") }
    ann.terminal.types("apples")
    await ann.terminal.expects { $0.text.contains("/ apples") && $0.text.contains("1 note") }
    await stage.close()
  }

  @Test func searchWithoutFocusRestoresNoFocus() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.press(.escape)
    await ann.terminal.expects("╭ red apples")
    await look(ann)
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("╭ red apples") && !$0.text.contains("green pears") }
    await stage.close()
  }

  @Test func selectedMatchKeepsItsPosition() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("/pears\n")
    await ann.terminal.expects("┏ green pears")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ green pears") && !$0.text.contains("/ pears") }
    // A click selects the note as well; the earlier position of the search does not matter.
    ann.terminal.types("/apples")
    await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("green pears") }
    ann.terminal.press(.tab)
    let place = try #require(await ann.terminal.expects("┏ red apples").place(of: "red apples"))
    ann.terminal.click(place.x, place.y)
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ red apples") && !$0.text.contains("/ apples") }
    #expect(!ann.terminal.grid.text.contains("green pears"))
    await stage.close()
  }

  @Test func noteCreatedDuringSearchIsVisible() async throws {
    let (stage, ann) = try await opened()
    await look(ann)
    ann.terminal.types("nplums")
    ann.terminal.press(.escape)
    await ann.terminal.expects {
      $0.text.contains("plums") && $0.text.contains("green pears") && !$0.text.contains("not yet")
    }
    #expect(try #require(try await stage.stored().last).x > 2_000)
    await stage.close()
  }

  @Test func listScrollPositionIsRestoredDespiteNewRows() async throws {
    let stage = try await BoardFixture()
    try await stage.row(of: 0..<40)
    let ann = try await stage.open()
    await ann.terminal.expects("n2 ")
    func expect(_ first: String) async {
      await ann.terminal.expects("\(first) as the first row") { grid in
        (1..<29).map { grid[$0, 2].text }.joined().trimmingCharacters(in: .whitespaces) == first
      }
    }
    ann.terminal.types("v")
    await expect("n0")
    for _ in 0..<5 { ann.terminal.mouse(.wheel(.down), 5, 10) }
    await expect("n15")
    ann.terminal.types("/n3")
    await ann.terminal.expects("Found")
    // Results are shown from the first row on.
    await expect("n3")
    _ = try await stage.note("early", x: 0, y: 0)
    // Later events have arrived.
    _ = try await ann.client.fetch(Board.self)
    ann.terminal.press(.escape)
    await expect("n15")
    #expect(ann.session.screen?.list.state.top == 16)
    await stage.close()
  }

  /// The number of live queries that the daemon has from the open board, and the number of all that were requested.
  private func queries(_ stage: BoardFixture, _ ann: TestUser) async throws -> (followed: UInt64, asked: UInt64) {
    // Earlier requests are answered before this one.
    _ = try await ann.client.status()
    return (try await stage.other.status().registrations, UInt64(ann.client.context.lastQuery))
  }

  @Test func burstOfKeysIsOneSearchOverLoadedRows() async throws {
    let (stage, ann) = try await opened()
    let before = try await queries(stage, ann)
    ann.terminal.types("/pears")
    await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("red apples") }
    // The list of all rows is the board's own: nothing loads it again.
    var now = try await queries(stage, ann)
    #expect(now.followed == before.followed + 1 && now.asked == before.asked + 1)
    // Earlier results are no longer followed.
    ann.terminal.types(" and more")
    await ann.terminal.expects { $0.text.contains("/ pears and more") && $0.text.contains("nothing") }
    now = try await queries(stage, ann)
    #expect(now.followed == before.followed + 1 && now.asked == before.asked + 2)
    // A request in progress is not sent again.
    for _ in 0..<5 { ann.terminal.press(.backspace) }
    ann.terminal.types(" more")
    await ann.terminal.expects("/ pears and more")
    ann.terminal.press(.escape)
    await ann.terminal.expects("┏ red apples")
    now = try await queries(stage, ann)
    #expect(now.followed == before.followed && now.asked == before.asked + 2)
    await stage.close()
  }

  @Test func staleAnswerIsDropped() async throws {
    let (stage, ann) = try await opened()
    _ = try await stage.note("pearl", x: 0, y: 240)
    await ann.terminal.expects("pearl")
    let before = try await queries(stage, ann)
    stage.freeze()
    ann.terminal.types("/pear")
    await ann.terminal.expects("a search under way") { grid in
      (0..<grid.size.width).map { grid[$0, 1].text }.joined().contains("…")
    }
    // A search is sent at once, and Return selects the first found note. For the earlier search this would be another
    // note.
    ann.terminal.types("l\n")
    await ann.terminal.expects("/ pearl")
    stage.thaw()
    await ann.terminal.expects { $0.text.contains("┏ pearl") && $0.text.contains("1 note") }
    let now = try await queries(stage, ann)
    #expect(now.followed == before.followed + 1 && now.asked == before.asked + 2)
    await stage.close()
  }
}
