import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The contents and the colors of each cell.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardScreenCellsTests {
  @Test func lightBackgroundSelectsLightTheme() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("paper", x: 16, y: 32)
    let ann = try await stage.open()
    /// A bar, the board, and the paper below the title, as a theme has them.
    func looks(_ theme: Theme) -> @Sendable (Grid) -> Bool {
      let (bar, board, paper) = (theme.bar.background, theme.board(.gray), theme.note(.yellow).text.background)
      return { grid in
        grid[79, 0].style.background == bar && grid[70, 20].style == board && grid[4, 6].style.background == paper
          && grid.text.contains("paper")
      }
    }
    await ann.terminal.expects("dark colors before the terminal answers", looks(Theme(depth: .direct)))
    ann.terminal.says("\u{1B}]11;rgb:ffff/ffff/eeee\u{1B}\\")
    await ann.terminal.expects("light colors", looks(Theme(isDark: false, depth: .direct)))
    // The terminal may be asked again and give another answer.
    ann.terminal.says("\u{1B}]11;rgb:10/18/20\u{7}")
    await ann.terminal.expects("dark colors", looks(Theme(depth: .direct)))
    await stage.close()
  }

  @Test func wideCharactersTakeTwoCellsAtEdges() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("plain 世界 🙂\n世界 plain", x: 16, y: 32)
    let ann = try await stage.open()
    var grid = await ann.terminal.expects("plain 世界 🙂")
    #expect(grid.cells(4...16, 3) == ["p", "l", "a", "i", "n", " ", "世", "", "界", "", " ", "🙂", ""])
    #expect(grid.cells(4...9, 4) == ["世", "", "界", "", " ", "p"])
    for x in [10, 12, 15] { #expect(grid[x, 3].isWide && grid[x + 1, 3].isContinuation) }

    // Typed, they push the cursor by two.
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    grid = await ann.terminal.expects { $0.cursor != nil }
    #expect(grid.cursor == Point(x: 14, y: 5))
    ann.terminal.types("界")
    await ann.terminal.expects { $0.cells(14...15, 5) == ["界", ""] && $0.cursor == Point(x: 16, y: 5) }
    ann.terminal.press(.backspace)
    await ann.terminal.expects { $0.cells(14...15, 5) == [" ", " "] && $0.cursor == Point(x: 14, y: 5) }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.cursor == nil }

    // A half of one is none: at the edge of the screen it is a blank.
    for _ in 0..<7 { ann.terminal.press(.left) }
    await ann.terminal.expects {
      $0.cells(0...4, 3) == ["i", "n", " ", "世", ""] && $0.cells(0...2, 4) == [" ", " ", "p"]
    }
    for _ in 0..<4 { ann.terminal.press(.left) }
    await ann.terminal.expects {
      $0.cells(0...5, 3) == [" ", "界", "", " ", "🙂", ""] && $0.cells(0...2, 4) == ["a", "i", "n"]
    }
    await ann.terminal.expectsNo("not yet")
    #expect(try await stage.stored().map(\.text) == ["plain 世界 🙂\n世界 plain"])
    await stage.close()
  }
}

extension Grid {
  /// The text of some cells of a row.
  fileprivate func cells(_ columns: ClosedRange<Int>, _ row: Int) -> [String] { columns.map { self[$0, row].text } }
}
