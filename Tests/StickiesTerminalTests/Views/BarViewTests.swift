import GraphTesting
import TerminalApplication
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct BarViewTests {
  private let theme = Theme()

  private static let menuBar = Menu(
    "",
    [
      .submenu(
        Menu(
          "File",
          [
            .command(MenuCommand("New Note", Command("new"), KeyEquivalent(.character("n")))), .separator,
            .command(MenuCommand("Quit", Command("quit"), KeyEquivalent(.character("q"), .control))),
          ])),
      .submenu(
        Menu(
          "Note",
          [
            .command(MenuCommand("Pin", Command("pin"), KeyEquivalent(.character("p")))),
            .submenu(
              Menu(
                "Color",
                [.command(MenuCommand("Gelb 黄色", Command("yellow"))), .command(MenuCommand("Red", Command("red")))]
              )),
            .command(MenuCommand("Undo", Command("undo"), KeyEquivalent(.character("z"), .control))),
          ])),
    ])

  private func state(_ command: Command) -> CommandState {
    switch command.name {
    case "pin": CommandState(isChecked: true)
    case "undo": CommandState(isEnabled: false, title: "Undo Move of a Note")
    default: CommandState()
    }
  }

  private func tracking(_ keys: [Key]) -> MenuTracking {
    var tracking = MenuTracking(Self.menuBar, open: 0)
    for key in keys { _ = tracking.key(KeyEvent(key), state: state) }
    return tracking
  }

  private func picture(_ tracking: MenuTracking?, _ width: Int = 60, _ height: Int = 8) -> String {
    Grid.picture(width, height) { grid, bounds in
      MenuBarView(Self.menuBar, tracking: tracking, title: "Stickies", state: state)
        .draw(into: &grid, frame: bounds, clip: bounds, theme: theme)
    }
  }

  @Test func menusOpenSideBySide() {
    #expect(picture(nil, 40, 1) == "  File  Note                   Stickies")
    #expect(picture(nil, 20, 1) == "  File  Note   Sti…")
    #expect(
      picture(tracking([])) == """
          File  Note                                       Stickies
        ╭─────────────────────╮
        │   New Note        n │
        ├─────────────────────┤
        │   Quit       Ctrl-Q │
        ╰─────────────────────╯


        """)
    #expect(
      picture(tracking([.right, .down, .right, .down])) == """
          File  Note                                       Stickies
              ╭────────────────────────────────╮
              │ √ Pin                        p ╭────────────────╮
              │   Color                      ► │   Gelb 黄色    │
              │   Undo Move of a Note   Ctrl-Z │   Red          │
              ╰────────────────────────────────╰────────────────╯


        """)
    // On a small screen they move to where there is room, and scroll.
    #expect(
      picture(tracking([.right, .down, .right, .down]), 30, 5) == """
          File  Note         Stickies
        ╭───────────╭────────────────╮
        │ √ Pin     │   Gelb 黄色    │
        │   Color   │   Red          │
        ╰───────────╰────────────────╯
        """)
  }

  @Test func clickHitsTitlesAndItemsOnly() {
    let view = MenuBarView(Self.menuBar, tracking: tracking([.right, .down, .right]))
    let frame = Rect(x: 0, y: 0, width: 60, height: 20)
    func part(_ x: Int, _ y: Int) -> MenuBarView.Part? { view.part(at: Point(x: x, y: y), frame: frame) }
    #expect(part(3, 0) == .title(0))
    #expect(part(9, 0) == .title(1))
    #expect(part(40, 0) == nil)
    #expect(part(10, 2) == .item([1, 0]))
    #expect(part(10, 3) == .item([1, 1]))
    #expect(part(10, 1) == .menu)
    #expect(part(30, 3) == .item([1, 1, 0]))
    #expect(part(10, 9) == nil)
    let file = MenuBarView(Self.menuBar, tracking: tracking([]))
    #expect(file.part(at: Point(x: 4, y: 3), frame: frame) == .menu)
    #expect(file.part(at: Point(x: 4, y: 4), frame: frame) == .item([0, 2]))
    #expect(MenuBarView(Self.menuBar).part(at: Point(x: 4, y: 4), frame: frame) == nil)
  }

  private let items = [
    ToolBarView.Item("Cancel", key: "Esc"), ToolBarView.Item("Color", key: "c", actsOnSelection: true),
    ToolBarView.Item("Delete", key: "Del", actsOnSelection: true),
  ]

  private func bar(_ count: Int, _ width: Int, slide: Double = 1) -> String {
    Grid.picture(width, 1) { grid, bounds in
      ToolBarView(items, count: count, slide: slide).draw(into: &grid, frame: bounds, clip: bounds, theme: theme)
    }
  }

  @Test func toolBarShowsCountAndIsDisabledAtZero() {
    #expect(bar(3, 60) == "  Cancel Esc   Color (3) c   Delete (3) Del")
    #expect(bar(12, 36) == "  Cancel   Color (12)   Delete (12)")
    // Too narrow for the count at each: it stands once.
    #expect(bar(12, 33) == "  Cancel   Color (12)   Delete")
    #expect(bar(1, 20) == "  Cancel")
    #expect(bar(3, 40, slide: 0) == "")
    #expect(bar(3, 60, slide: 0.5) == "                                Cancel Esc   Color (3) c   D")
    for count in [0, 2] {
      let view = ToolBarView(items, count: count)
      var grid = Grid.screen(60, 1)
      view.draw(into: &grid, frame: grid.bounds, clip: grid.bounds, theme: theme)
      #expect(grid[16, 0].style == (count > 0 ? theme.otherButton : theme.disabled))
    }
  }

  @Test func clickInToolBarHitsItem() {
    let frame = Rect(x: 2, y: 5, width: 60, height: 1)
    let view = ToolBarView(items, count: 3)
    var grid = Grid.screen(70, 6)
    view.draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme)
    let parts = (0..<70).map { view.part(at: Point(x: $0, y: 5), frame: frame) }
    let row = grid.text(row: 5)
    for (place, word) in [(0, "Cancel"), (1, "Color"), (2, "Delete")] {
      let start = row.distance(from: row.startIndex, to: row.firstRange(of: word)?.lowerBound ?? row.endIndex)
      #expect(parts[start] == place)
      #expect(parts[start + word.count] == place)
    }
    #expect(parts[0] == nil)
    #expect(parts[60] == nil)
    #expect(ToolBarView(items, count: 3, slide: 0.5).part(at: Point(x: 6, y: 5), frame: frame) == nil)
    #expect(ToolBarView(items, count: 3, slide: 0.5).part(at: Point(x: 36, y: 5), frame: frame) == 0)
  }

  private func dots(_ count: Int, _ current: Int, _ width: Int) -> String {
    Grid.picture(width, 1) { grid, bounds in
      DotsView(count: count, current: current).draw(into: &grid, frame: bounds, clip: bounds, theme: theme)
    }
  }

  @Test func dotsShowPageAndAreClickable() {
    #expect(dots(5, 1, 13) == "  ○ ● ○ ○ ○")
    #expect(dots(1, 0, 13) == "")
    #expect(dots(0, 0, 13) == "")
    #expect(dots(10_000, 41, 17) == " ← 42 of 10000 →")
    #expect(dots(10_000, 41, 24) == " ← · ● · → 42 of 10000")
    #expect(dots(3, 99, 9) == "  ○ ○ ●")
    #expect(dots(10_000, 41, 40) == "   ← · ○ ○ ○ ● ○ ○ ○ · → 42 of 10000")
    #expect(dots(31, 5, 24) == " ← · ○ ● ○ · → 6 of 31")
    #expect(dots(31, 0, 24) == " ← ● ○ ○ ○ · → 1 of 31")
    #expect(dots(31, 30, 24) == " ← · ○ ○ ○ ● → 31 of 31")
    let frame = Rect(x: 0, y: 0, width: 13, height: 1)
    let few = DotsView(count: 5, current: 1)
    #expect(
      (0..<13).map { few.part(at: Point(x: $0, y: 0), frame: frame) }
        == [
          nil, nil, .page(0), .page(0), .page(1), .page(1), .page(2), .page(2), .page(3), .page(3), .page(4), .page(4),
          nil,
        ])
    let around = DotsView(count: 31, current: 5)
    let room = Rect(x: 0, y: 0, width: 24, height: 1)
    #expect(
      (0..<24).map { around.part(at: Point(x: $0, y: 0), frame: room) }
        == [
          nil, .previous, .previous, .page(3), .page(3), .page(4), .page(4), .page(5), .page(5), .page(6), .page(6),
          .page(7), .page(7), .next, .next, nil, nil, nil, nil, nil, nil, nil, nil, nil,
        ])
    let many = DotsView(count: 10_000, current: 41)
    let narrow = Rect(x: 0, y: 0, width: 17, height: 1)
    #expect(many.part(at: Point(x: 1, y: 0), frame: narrow) == .previous)
    #expect(many.part(at: Point(x: 14, y: 0), frame: narrow) == nil)
    #expect(many.part(at: Point(x: 15, y: 0), frame: narrow) == .next)
    #expect(many.part(at: Point(x: 8, y: 0), frame: narrow) == nil)
  }

  @Test func drawingIsClipped() {
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let frame = random.frame()
      let row = Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: min(1, frame.size.height))
      let theme = random.theme()
      let keys: [Key] = (0..<random.below(6)).map { _ in [.right, .down, .enter, .left][random.below(4)] }
      let tracking = random.chance() ? tracking(keys) : nil
      expectDrawsInside(frame, seed: seed) { grid in
        MenuBarView(Self.menuBar, tracking: tracking, title: random.text(5), state: state)
          .draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme)
      }
      let items = (0..<4).map { _ in ToolBarView.Item(random.text(3), key: random.text(1), actsOnSelection: true) }
      expectDrawsInside(row, seed: seed) { grid in
        ToolBarView(items, count: 3, slide: Double(random.below(10)) / 9)
          .draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme)
      }
      expectDrawsInside(row, seed: seed) { grid in
        DotsView(count: random.below(40), current: random.below(40))
          .draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme)
      }
    }
  }
}
