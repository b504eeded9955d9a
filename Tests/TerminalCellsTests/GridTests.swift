import GraphTesting
import Testing

@testable import TerminalCells

@Suite struct GridTests {
  @Test func clippedWideCharactersAreNeverSplit() {
    var grid = Grid(Size(width: 8, height: 3))
    #expect(grid.draw("a日本b", x: 1, y: 0) == 7)
    #expect(grid.text == " a日本b\n\n")
    #expect(grid[2, 0].isWide)
    #expect(grid[3, 0].isContinuation)
    grid.draw("日本語", x: -1, y: 1)
    #expect(grid.text(row: 1) == " 本語   ")
    grid.draw("日本語", x: 2, y: 2, clip: Rect(x: 2, y: 2, width: 3, height: 1))
    #expect(grid.text(row: 2) == "  日    ")
    #expect(grid.isWellFormed)
  }

  @Test func overwritingHalfErasesOtherHalf() {
    var grid = Grid(Size(width: 6, height: 2))
    grid.draw("日本語", x: 0, y: 0)
    grid.draw("x", x: 1, y: 0)
    #expect(grid.text(row: 0) == " x本語")
    grid.draw("y", x: 2, y: 0)
    #expect(grid.text(row: 0) == " xy 語")
    grid.draw("漢", x: 3, y: 0)
    #expect(grid.text(row: 0) == " xy漢 ")
    grid.draw("日本語", x: 0, y: 1)
    grid.fill(Rect(x: 1, y: 1, width: 2, height: 1), with: "-")
    #expect(grid.text(row: 1) == " -- 語")
    #expect(grid.isWellFormed)
  }

  @Test func boxesOverlapWithShadows() {
    var grid = Grid(Size(width: 12, height: 6))
    grid.fill(grid.bounds, with: ".", Style(.rgb(200, 200, 200), on: .rgb(100, 0, 0)))
    let window = Rect(x: 1, y: 1, width: 7, height: 3)
    grid.shadow(of: window)
    grid.fill(window)
    grid.box(window, .rounded)
    grid.draw("hello", x: 2, y: 2, clip: window.inset(1))
    #expect(
      grid.text == """
        ............
        .╭─────╮....
        .│hello│....
        .╰─────╯....
        ............
        ............
        """)
    #expect(grid[8, 1].style == Style(.rgb(200, 200, 200), on: .rgb(100, 0, 0)))
    for (x, y) in [(8, 2), (9, 4), (3, 4)] {
      #expect(grid[x, y].style == Style(.rgb(100, 100, 100), on: .rgb(50, 0, 0), .dim))
    }
    #expect(grid[2, 4].style.attributes.isEmpty)
    #expect(grid[10, 4].style.attributes.isEmpty)
  }

  @Test func restyleCoversWholeWideCharacter() {
    var grid = Grid(Size(width: 6, height: 1))
    grid.draw("a日本", x: 0, y: 0)
    grid.restyle(Rect(x: 2, y: 0, width: 2, height: 1)) { $0.attributes.insert(.reverse) }
    #expect((0..<6).map { grid[$0, 0].style.attributes.contains(.reverse) } == [false, true, true, true, true, false])
    #expect(grid.isWellFormed)
  }

  @Test func styleRoundTrips() {
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let style = random.style()
      var grid = Grid(Size(width: 1, height: 1))
      grid.draw("x", x: 0, y: 0, style)
      #expect(grid[0, 0].style == style)
    }
    #expect(MemoryLayout<Cell>.stride == 16)
  }

  @Test func gridStaysWellFormed() {
    for seed in UInt64(0)..<300 {
      var random = SeededGenerator(seed: seed)
      var grid = Grid(Size(width: random.below(20), height: random.below(6)))
      guard !grid.bounds.isEmpty else { continue }
      for _ in 0..<20 { random.scribble(on: &grid) }
      #expect(grid.isWellFormed, "seed \(seed)")
    }
  }
}
