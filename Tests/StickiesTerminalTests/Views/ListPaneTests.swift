import GraphTesting
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct ListPaneTests {
  private let theme = Theme()

  private let rows = [
    ListRow(.section, "Today"), ListRow(.note(.yellow), "Shopping", detail: "2 min", marks: .pinned, isChecked: true),
    ListRow(.note(.blue), "A long title 日本語 of a note", marks: [.unsent]), ListRow(.loading, ""),
    ListRow(.note(.red), ""),
  ]

  private func picture(_ pane: ListPane, _ width: Int = 28, _ height: Int = 6) -> String {
    Grid.picture(width, height) { grid, bounds in
      pane.draw(into: &grid, frame: bounds, clip: bounds, theme: theme)
    }
  }

  @Test func rowsFollowTheirHeadings() {
    let pane = ListPane(heading: "Plans", count: 5, focus: 1) { rows[$0] }
    #expect(
      picture(pane) == """
         Plans                   5 │
         Today                     │
           Shopping        ▲ 2 min │
           A long title 日本語 … * │
         …                         │
           (empty)                 │
        """)
    let editing = ListPane(count: 5, top: 1, circles: 2) { rows[$0] }
    #expect(
      picture(editing) == """
         ●   Shopping      ▲ 2 min │
         ○   A long title 日本…  * │
         …                         │
         ○   (empty)               │
                                   │
                                   │
        """)
    // On their way in.
    #expect(
      picture(ListPane(count: 5, top: 1, circles: 1) { rows[$0] }, 28, 1) == """
            Shopping       ▲ 2 min │
        """)
  }

  @Test func onlyVisibleRowsAreRequested() {
    var asked = [Int]()
    let pane = ListPane(heading: "All", count: 100_000, top: 50_000) { index in
      asked.append(index)
      return ListRow(.note(.gray), "Note \(index)")
    }
    #expect(
      picture(pane, 24, 5) == """
         All            100000 │
           Note 50000          │
           Note 50001          █
           Note 50002          │
           Note 50003          │
        """)
    #expect(asked == [50_000, 50_001, 50_002, 50_003])
  }

  @Test func scrollFollowsFocus() {
    #expect(ListPane.top(0, showing: 3, count: 100, rows: 5) == 0)
    #expect(ListPane.top(0, showing: 5, count: 100, rows: 5) == 1)
    #expect(ListPane.top(50, showing: 5, count: 100, rows: 5) == 5)
    #expect(ListPane.top(99, showing: 99, count: 100, rows: 5) == 95)
    #expect(ListPane.top(3, showing: 0, count: 2, rows: 5) == 0)
    for seed in UInt64(0)..<300 {
      var random = SeededGenerator(seed: seed)
      let (count, rows) = (1 + random.below(50), 1 + random.below(10))
      let row = random.below(count)
      let top = ListPane.top(random.below(60) - 5, showing: row, count: count, rows: rows)
      #expect(top >= 0 && top <= row && row < top + rows, "seed \(seed)")
    }
  }

  @Test func searchMatchesAreHighlighted() {
    let pane = ListPane(count: 1) { _ in ListRow(.note(.yellow), "日本 boats", matches: [0..<3, 7..<10, 90..<99]) }
    var grid = Grid.screen(28, 1)
    pane.draw(into: &grid, frame: grid.bounds, clip: grid.bounds, theme: theme)
    let marked = (0..<28).filter { grid[$0, 0].style == theme.match }
    #expect(marked == [3, 4, 8, 9, 10])
    #expect(marked.map { grid[$0, 0].text }.joined() == "日boa")
  }

  @Test func clickHitsRowCircleAndEdge() {
    let frame = Rect(x: 1, y: 2, width: 20, height: 6)
    let pane = ListPane(heading: "All", count: 10, top: 4, circles: 2) { _ in ListRow(.note(.gray), "x") }
    func part(_ x: Int, _ y: Int) -> ListPane.Part? { pane.part(at: Point(x: x, y: y), frame: frame) }
    #expect(part(5, 2) == .empty)
    #expect(part(5, 3) == .row(4))
    #expect(part(2, 7) == .circle(8))
    #expect(part(20, 4) == .edge)
    #expect(part(21, 4) == nil)
    let short = ListPane(count: 2) { _ in ListRow(.note(.gray), "x") }
    #expect(short.part(at: Point(x: 5, y: 4), frame: frame) == .empty)
    #expect(short.part(at: Point(x: 2, y: 3), frame: frame) == .row(1))
  }

  private func field(_ field: SearchField, _ width: Int = 36) -> (text: String, cursor: Point?) {
    var grid = Grid.screen(width, 1)
    field.draw(into: &grid, frame: grid.bounds, clip: grid.bounds, theme: theme)
    return (grid.text, grid.cursor)
  }

  @Test func searchFieldShowsMatchCount() {
    #expect(field(SearchField("")).text == " / Search")
    #expect(field(SearchField("", cursor: 0)) == (" /", Point(x: 3, y: 0)))
    #expect(field(SearchField("boats 日本", cursor: 6, answer: .found(12))).text == " / boats 日本           ×  12 notes")
    #expect(field(SearchField("boats 日本", cursor: 12, answer: .searching)).cursor == Point(x: 13, y: 0))
    #expect(field(SearchField("b", answer: .failed("no connection"))).text == " / b               ×  no connection")
    #expect(field(SearchField("b", answer: .found(0))).text.hasSuffix("nothing"))
    // A long text scrolls with the cursor.
    let long = field(SearchField("0123456789abcdefghij", cursor: 20), 16)
    #expect(long == (" / bcdefghij ×", Point(x: 12, y: 0)))
  }

  @Test func clickInFieldHitsOffset() {
    let frame = Rect(x: 10, y: 1, width: 30, height: 1)
    let view = SearchField("日本 boats", answer: .found(3))
    #expect(view.part(at: Point(x: 13, y: 1), frame: frame) == .text(0))
    #expect(view.part(at: Point(x: 15, y: 1), frame: frame) == .text(3))
    #expect(view.part(at: Point(x: 18, y: 1), frame: frame) == .text(7))
    #expect(view.part(at: Point(x: 25, y: 1), frame: frame) == .text(12))
    #expect((0..<40).filter { view.part(at: Point(x: $0, y: 1), frame: frame) == .clear }.count == 1)
    #expect(view.part(at: Point(x: 39, y: 1), frame: frame) == nil)
  }

  @Test func drawingIsClipped() {
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let frame = random.frame()
      let row = Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: min(1, frame.size.height))
      let theme = random.theme()
      let rows = (0..<20).map { index in
        let kinds: [ListRow.Kind] = [.section, .loading, .note(.pink), .note(.white)]
        return ListRow(
          kinds[random.below(4)], random.text(12), matches: [random.below(4)..<4 + random.below(9)],
          detail: random.text(5), marks: NoteBadges(rawValue: UInt8(index % 16)), isChecked: random.chance())
      }
      let pane = ListPane(
        heading: random.text(2), count: 20, top: random.below(25), focus: random.below(20), isFocused: random.chance(),
        circles: random.below(4)
      ) { rows[$0] }
      expectDrawsInside(frame, seed: seed) { grid in
        pane.draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme)
      }
      let text = random.text(20)
      let field = SearchField(
        text, cursor: random.chance() ? text.utf8.count : nil, selection: 0..<random.below(30),
        answer: .failed(random.text(4)))
      expectDrawsInside(row, seed: seed) { grid in
        field.draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme)
      }
      for _ in 0..<20 {
        let point = Point(x: random.below(70) - 8, y: random.below(20) - 4)
        #expect((pane.part(at: point, frame: frame) != nil) == frame.contains(point), "seed \(seed)")
        if let part = field.part(at: point, frame: frame), case .text(let offset) = part {
          #expect(offset <= text.utf8.count)
        }
      }
    }
  }
}
