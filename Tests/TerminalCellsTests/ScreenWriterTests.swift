import GraphTesting
import Testing

@testable import TerminalCells

@Suite struct ScreenWriterTests {
  private func said(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).replacing("\u{1B}", with: "ESC ").replacing("\r\n", with: "CRLF ")
  }

  /// A writer whose terminal shows the grid.
  private func writer(_ grid: Grid, _ depth: ColorDepth = .direct) -> ScreenWriter {
    var writer = ScreenWriter(depth: depth)
    _ = writer.bytes(for: grid)
    return writer
  }

  @Test func unchangedGridWritesNothing() {
    var grid = Grid(Size(width: 20, height: 4))
    grid.draw("hello 日本", x: 1, y: 1)
    var writer = writer(grid)
    #expect(writer.bytes(for: grid).isEmpty)
  }

  @Test func oneChangedCellWritesMoveAndLetter() {
    var grid = Grid(Size(width: 200, height: 60))
    for row in 0..<60 { grid.draw(String(repeating: "lorem ipsum ", count: 16), x: 0, y: row) }
    var writer = writer(grid)
    grid.draw("X", x: 120, y: 40)
    #expect(said(writer.bytes(for: grid)) == "ESC [41;121HX")
    grid.draw("Y", x: 121, y: 40)
    #expect(said(writer.bytes(for: grid)) == "Y")
    grid.draw("Z", x: 121, y: 40, Style(.palette(1)))
    #expect(said(writer.bytes(for: grid)) == "\u{8}ESC [31mZ")
  }

  @Test func shortMovesAndEndsOfRows() {
    var grid = Grid(Size(width: 40, height: 4))
    grid.draw("a23456789 and some more of it", x: 0, y: 0)
    var writer = writer(grid)
    grid.draw("A23Z567Q9", x: 0, y: 0)
    grid.draw("n", x: 0, y: 1)
    #expect(said(writer.bytes(for: grid)) == "\rA23Z567QCRLF n")
    grid.fill(Rect(x: 5, y: 0, width: 35, height: 1))
    #expect(said(writer.bytes(for: grid)) == "ESC [1;6HESC [K")
  }

  @Test func styleIsWrittenOncePerRun() {
    let empty = Grid(Size(width: 40, height: 4))
    var writer = writer(empty)
    var grid = empty
    let yellow = Style(.rgb(0, 0, 0), on: .rgb(255, 238, 153), .bold)
    grid.draw("one", x: 0, y: 0, yellow)
    grid.draw("two", x: 0, y: 1, yellow)
    grid.draw("three", x: 0, y: 2, Style(.rgb(0, 0, 0), on: .rgb(255, 238, 153), [.bold, .italic]))
    grid.draw("four", x: 0, y: 3)
    #expect(
      said(writer.bytes(for: grid))
        == "ESC [1HESC [1;38;2;0;0;0;48;2;255;238;153moneCRLF twoCRLF ESC [3mthreeCRLF ESC [mfour")
  }

  @Test func frameIsSynchronizedWhereSupported() {
    var writer = ScreenWriter(depth: .none, isSynchronizing: true)
    var grid = Grid(Size(width: 4, height: 1))
    _ = writer.bytes(for: grid)
    grid.draw("x", x: 0, y: 0)
    #expect(said(writer.bytes(for: grid)) == "ESC [?2026hESC [1HxESC [?2026l")
    #expect(writer.bytes(for: grid).isEmpty)
  }

  @Test func screenIsRedrawnAfterForeignOutput() {
    var grid = Grid(Size(width: 10, height: 2))
    grid.draw("here", x: 0, y: 0)
    var writer = writer(grid)
    writer.forget()
    #expect(said(writer.bytes(for: grid)) == "ESC [0mESC [2JESC [?25lESC [1Hhere")
    writer.depth = .sixteen
    #expect(!writer.bytes(for: grid).isEmpty)
  }

  @Test(arguments: ColorDepth.allCases)
  func screenMatchesRandomGrids(depth: ColorDepth) {
    for seed in UInt64(0)..<60 {
      var random = SeededGenerator(seed: seed)
      var size = Size(width: 1 + random.below(40), height: 1 + random.below(12))
      var grid = Grid(size)
      var screen = NaiveScreen(size)
      var writer = ScreenWriter(depth: depth, isSynchronizing: random.below(2) == 0)
      for turn in 0..<20 {
        if random.below(10) == 0 {
          size = Size(width: 1 + random.below(40), height: 1 + random.below(12))
          grid = Grid(size)
          screen = NaiveScreen(size)
        }
        for _ in 0..<random.below(5) { random.scribble(on: &grid) }
        #expect(grid.isWellFormed, "seed \(seed), turn \(turn)")
        screen.show(writer.bytes(for: grid))
        let difference = screen.difference(from: grid, depth)
        #expect(difference == nil, "seed \(seed), turn \(turn): \(difference ?? "")")
        if difference != nil { return }
      }
    }
  }

  @Test func emojiWidthMismatchAffectsOnlyItsCells() {
    for seed in UInt64(0)..<40 {
      var random = SeededGenerator(seed: seed)
      let size = Size(width: 30, height: 6)
      var grid = Grid(size)
      var screen = NaiveScreen(size)
      screen.drawsEmojiNarrow = true
      var writer = ScreenWriter(depth: .direct)
      for row in 0..<6 { grid.draw(random.text(12), x: random.below(5), y: row) }
      grid.cursor = Point(x: 3, y: 3)
      screen.show(writer.bytes(for: grid))
      let difference = screen.difference(from: grid, .direct) { $0.isWide || $0.isContinuation }
      #expect(difference == nil, "seed \(seed): \(difference ?? "")")
    }
  }

  @Test func largeScreenIsComparedQuickly() {
    var grid = Grid(Size(width: 200, height: 60))
    for row in 0..<60 { grid.draw(String(repeating: "lorem ipsum ", count: 16), x: 0, y: row, Style(.palette(3))) }
    var writer = writer(grid)
    var sent = 0
    let time = ContinuousClock().measure {
      for turn in 0..<100 {
        grid.draw(turn % 2 == 0 ? "X" : "Y", x: 120, y: 40)
        sent += writer.bytes(for: grid).count
      }
    }
    // Unoptimized, on a machine that does something else: a bound for mistakes, not the figure.
    #expect(time < .seconds(10))
    #expect(sent <= 100 * 24)
  }
}
