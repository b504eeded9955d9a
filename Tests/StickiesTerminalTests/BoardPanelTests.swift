import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The parts beside, above and below the board: list, search field, dots, scrubber.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardPanelTests {
  /// The first row of a list of so many columns, with two notes.
  private func heading(_ width: Int) -> String { "Work\(String(repeating: " ", count: width - 8))2 │" }

  @Test func clickInListFocusesNoteAndDragResizesList() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("upper", x: 16, y: 160)
    _ = try await stage.note("lower", x: 16, y: 1_600)
    let ann = try await stage.open()
    await ann.terminal.expects("upper")
    ann.terminal.types("v")
    let grid = await ann.terminal.expects(heading(30))
    #expect(grid.place(of: "upper") == Point(x: 3, y: 2))
    #expect(grid.place(of: "lower") == Point(x: 3, y: 3))
    // The note is out of sight until its row is clicked.
    ann.terminal.mouse(.press(.left), 5, 3)
    ann.terminal.mouse(.release(.left), 5, 3)
    await ann.terminal.expects("┏ lower")
    ann.terminal.mouse(.press(.left), 29, 8)
    ann.terminal.mouse(.drag(.left), 39, 8)
    ann.terminal.mouse(.release(.left), 39, 8)
    await ann.terminal.expects(heading(40))
    ann.terminal.types("v")
    await ann.terminal.expectsNo("2 │")
    await stage.close()
  }

  @Test func listIsResizedByKeys() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("one", x: 16, y: 160)
    _ = try await stage.note("two", x: 16, y: 480)
    let ann = try await stage.open()
    await ann.terminal.expects("one")
    ann.terminal.types("v")
    await ann.terminal.expects(heading(30))
    ann.terminal.types(">>")
    await ann.terminal.expects(heading(34))
    ann.terminal.types("<<<")
    await ann.terminal.expects(heading(28))
    // The board keeps its width, and the list its own.
    for _ in 0..<30 { ann.terminal.types(">") }
    await ann.terminal.expects(heading(50))
    for _ in 0..<30 { ann.terminal.types("<") }
    await ann.terminal.expects(heading(16))
    await stage.close()
  }

  @Test func searchMatchesAreHighlightedInNoteAndList() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("red apples\nand an apple pie", x: 16, y: 160)
    _ = try await stage.note("green pears", x: 16, y: 640)
    let ann = try await stage.open()
    await ann.terminal.expects("red apples")
    ann.terminal.types("v/app")
    let grid = await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("green pears") }
    let match = Theme(depth: .direct).match
    func marked(_ text: String, below: Int) -> String {
      var found = ""
      for y in below..<grid.size.height {
        guard
          let x = (0..<grid.size.width).first(where: { x in
            zip(x..., text).allSatisfy { $0 < grid.size.width && grid[$0, y].text == String($1) }
          })
        else { continue }
        for column in x..<x + text.count where grid[column, y].style == match { found += grid[column, y].text }
        break
      }
      return found
    }
    #expect(marked("red apples", below: 2) == "app")
    #expect(marked("red apples", below: 4) == "app")
    #expect(marked("and an apple pie", below: 4) == "app")
    await stage.close()
  }

  @Test func searchFieldHandlesClicksAndClear() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("red apples", x: 16, y: 160)
    let ann = try await stage.open()
    await ann.terminal.expects("red apples")
    ann.terminal.types("/pples")
    await ann.terminal.expects("nothing")
    // The field begins in the fourth column.
    ann.terminal.mouse(.press(.left), 3, 1)
    ann.terminal.mouse(.release(.left), 3, 1)
    ann.terminal.types("a")
    await ann.terminal.expects { $0.text.contains("/ apples") && $0.text.contains("1 note") }
    // Control and z undoes in the line; it does not stop the program.
    ann.terminal.press(.character("z"), .control)
    await ann.terminal.expects { $0.text.contains("/ pples") && $0.text.contains("nothing") }
    let place = try #require(await ann.terminal.expects("×").place(of: "×"))
    ann.terminal.mouse(.press(.left), place.x, place.y)
    await ann.terminal.expects { $0.text.contains("red apples") && !$0.text.contains("/ pples") }
    await stage.close()
  }

  @Test func historyIsNavigatedByKeysAndMouse() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("at first", x: 16, y: 32)
    note.text = "in the end"
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects("in the end")
    ann.terminal.types("h")
    await ann.terminal.expects { $0.text.contains("in the end") && $0.text.contains("history: revision") }
    ann.terminal.press(.left)
    await ann.terminal.expects("at first")
    // The line ends in column 75, four before the edge; its rows are the two above the status line.
    ann.terminal.mouse(.press(.left), 75, 21)
    await ann.terminal.expects("in the end")
    ann.terminal.mouse(.drag(.left), 2, 10)
    ann.terminal.mouse(.release(.left), 2, 10)
    await ann.terminal.expects { !$0.text.contains("in the end") && !$0.text.contains("at first") }
    ann.terminal.mouse(.press(.left), 78, 21)
    await ann.terminal.expects { $0.text.contains("in the end") && !$0.text.contains("revision") }
    await stage.close()
  }

  @Test func historyHasItsOwnMenus() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("at first", x: 16, y: 32)
    note.text = "in the end"
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects("in the end")
    ann.terminal.types("h")
    await ann.terminal.expects("history: revision")
    let title = try #require(await ann.terminal.expects(" History ").place(of: " History "))
    ann.terminal.mouse(.press(.left), title.x + 1, title.y)
    let item = try #require(await ann.terminal.expects("Previous Revision").place(of: "Previous Revision"))
    ann.terminal.mouse(.press(.left), item.x, item.y)
    await ann.terminal.expects { $0.text.contains("at first") && !$0.text.contains("Previous Revision") }
    // A key of the board, and a key of both.
    ann.terminal.types("n")
    await ann.terminal.expects("this is the past")
    ann.terminal.types("?")
    await ann.terminal.expects { $0.text.contains("Oldest Revision") && !$0.text.contains("New Note") }
    ann.terminal.press(.escape)
    ann.terminal.press(.end)
    await ann.terminal.expects { $0.text.contains("in the end") && $0.text.contains("history: revision") }
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("Arrange") && !$0.text.contains("history: revision") }
    await stage.close()
  }

  @Test func clickOnDotChangesPage() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home", "Garden"])
    let ann = try await stage.open()
    let place = try #require(await ann.terminal.expects("● ○ ○").place(of: "● ○ ○"))
    ann.terminal.mouse(.press(.left), place.x + 4, place.y)
    await ann.terminal.expects { $0.text.contains("○ ○ ●") && $0.text.contains("│ Garden") }
    await stage.close()
  }
}
