import Foundation
import GraphTesting
import TerminalApplication
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct OverlayViewTests {
  private let theme = Theme()

  private func picture(_ width: Int, _ height: Int, _ draw: (inout Grid, Rect) -> Void) -> String {
    Grid.picture(width, height, draw)
  }

  private static let menuBar = Menu(
    "",
    ["File", "Note"].map { title in
      .submenu(
        Menu(
          title,
          (1...8).map {
            .command(MenuCommand("\(title) \($0)", Command("\(title)\($0)"), KeyEquivalent(.function($0))))
          }))
    })

  @Test func helpHasColumnsAndPages() {
    let help = HelpView(Self.menuBar, others: [.init("Besides", [("Drag", "moves a note")])], symbols: theme.symbols)
    #expect(
      picture(80, 24) { help.draw(into: &$0, frame: $1, clip: $1, theme: theme) } == """


         ╭─ Help ───────────────────────────────────────────────────────────────────×─╮
         │                                                                            │
         │ File                                          F5  Note 5                   │
         │          F1  File 1                           F6  Note 6                   │
         │          F2  File 2                           F7  Note 7                   │
         │          F3  File 3                           F8  Note 8                   │
         │          F4  File 4                                                        │
         │          F5  File 5                  Besides                               │
         │          F6  File 6                         Drag  moves a note             │
         │          F7  File 7                                                        │
         │          F8  File 8                  Marks                                 │
         │                                                ▲  pinned                   │
         │ Note                                           ■  locked                   │
         │          F1  Note 1                            ►  collapsed                │
         │          F2  Note 2                            *  not yet on the server    │
         │          F3  Note 3                            !  a conflict: choose       │
         │          F4  Note 4                            ←  more notes this way      │
         │                                                                            │
         ╰────────────────────────────────────────────────────────────────────────────╯



        """)
    let screen = Rect(x: 0, y: 0, width: 44, height: 12)
    let pages = help.pages(in: screen)
    // Every command is on some page.
    var seen = ""
    for page in 0..<pages {
      let help = HelpView(
        Self.menuBar, others: [.init("Besides", [("Drag", "moves a note")])], symbols: theme.symbols, page: page)
      seen += picture(44, 12) { help.draw(into: &$0, frame: $1, clip: $1, theme: theme) }
    }
    #expect(pages > 2)
    // A heading is never separated from its section, at any size.
    let headings = ["File", "Note", "Besides", "Marks"]
    for height in 9..<40 {
      for width in [44, 80, 120, 160] {
        let size = Rect(x: 0, y: 0, width: width, height: height)
        for page in 0..<help.pages(in: size) {
          let help = HelpView(
            Self.menuBar, others: [.init("Besides", [("Drag", "moves a note")])], symbols: theme.symbols, page: page)
          var grid = Grid.screen(width, height)
          help.draw(into: &grid, frame: size, clip: size, theme: theme)
          for y in 1..<height {
            let row = grid.text(row: y)
            for heading in headings {
              guard let range = row.range(of: " \(heading) {2}", options: .regularExpression) else { continue }
              let x = row.distance(from: row.startIndex, to: range.lowerBound)
              #expect((x..<x + 36).contains { grid[$0, y + 1].text.first?.isLetter ?? false }, "\(heading) at \(size)")
            }
          }
        }
      }
    }
    for command in Self.menuBar.commands { #expect(seen.contains(command.title)) }
    #expect(seen.contains("moves a note"))
    let parts = Set((0..<44 * 12).compactMap { help.part(at: Point(x: $0 % 44, y: $0 / 44), frame: screen) })
    #expect(parts.contains(.page(.page(pages - 1))))
    #expect(parts.contains(.close))
  }

  @Test func busyOverlayDimsReadableContent() {
    var grid = Grid.screen(40, 7)
    grid.fill(grid.bounds, with: "x", theme.board(.gray))
    BusyView("Loading Plans", phase: 1, progress: 0.5, cancelKey: "Esc")
      .draw(into: &grid, frame: grid.bounds, clip: grid.bounds, theme: theme)
    #expect(
      grid.text == """
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        xxxx╭──────────────────────────────╮xxxx
        xxxx│ / Loading Plans              │xxxx
        xxxx│ ███████████░░░░░░░░░░░░  50% │xxxx
        xxxx│   Esc cancels                │xxxx
        xxxx╰──────────────────────────────╯xxxx
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        """)
    #expect(grid[0, 0].style.attributes.contains(.dim))
    #expect(grid[0, 0].style.background == theme.board(.gray).background)
    let turns = (0..<4).map { phase in
      picture(40, 5) { BusyView("Saving", phase: phase).draw(into: &$0, frame: $1, clip: $1, theme: theme) }
    }
    #expect(Set(turns).count == 4)
  }

  @Test func thumbFollowsRevisionAndIsDraggable() {
    let scrubber = HistoryScrubber(first: 100, last: 200, current: 150, time: "yesterday 14:02", author: "Anna")
    #expect(
      picture(47, 2) { scrubber.draw(into: &$0, frame: $1, clip: $1, theme: theme) } == """
          ━━━━━━━━━━━━━━━━━━━━●────────────────────  ×
          revision 150 of 200, yesterday 14:02, Anna
        """)
    let frame = Rect(x: 3, y: 4, width: 47, height: 2)
    #expect(scrubber.part(at: Point(x: 5, y: 4), frame: frame) == .revision(100))
    #expect(scrubber.part(at: Point(x: 45, y: 4), frame: frame) == .revision(200))
    #expect(scrubber.part(at: Point(x: 48, y: 4), frame: frame) == .close)
    #expect(scrubber.part(at: Point(x: 10, y: 5), frame: frame) == nil)
    #expect(scrubber.revision(atColumn: -50, frame: frame) == 100)
    #expect(scrubber.revision(atColumn: 500, frame: frame) == 200)
    // A thumb that is drawn is found again where it stands.
    for seed in UInt64(0)..<100 {
      var random = SeededGenerator(seed: seed)
      let last = UInt64(random.below(40))
      let frame = Rect(x: 0, y: 0, width: 60, height: 2)
      let view = HistoryScrubber(first: 0, last: last, current: UInt64(random.below(Int(last) + 1)))
      var grid = Grid.screen(60, 2)
      view.draw(into: &grid, frame: frame, clip: frame, theme: theme)
      let column = (0..<60).first { grid[$0, 0].text == "●" } ?? -1
      let found = view.revision(atColumn: column, frame: frame)
      #expect(max(found, view.current) - min(found, view.current) <= 1, "seed \(seed)")
    }
    let huge = HistoryScrubber(first: 0, last: .max, current: .max)
    #expect(huge.revision(atColumn: 30, frame: frame) < .max)
    #expect(HistoryScrubber(first: 5, last: 5, current: 9).revision(atColumn: 9, frame: frame) == 5)
  }

  @Test func questionShowsAndOffersEndangeredText() {
    let deleted = QuestionView(
      "The note is gone", message: "Anna deleted it while it was edited here. What stood in the editor can be kept.",
      offer: "boats\nand 日本",
      buttons: [.init("New note with it", key: "n"), .init("Copy it", key: "c"), .init("Discard it", key: "d")])
    #expect(
      picture(72, 12) { deleted.draw(into: &$0, frame: $1, clip: $1, theme: theme) } == """

            ╭─ The note is gone ───────────────────────────────────────────╮
            │ Anna deleted it while it was edited here. What stood in the  │
            │ editor can be kept.                                          │
            │                                                              │
            │  boats                                                       │
            │  and 日本                                                    │
            │                                                              │
            │                                                              │
            │  New note with it (n)    Copy it (c)    Discard it (d)       │
            ╰──────────────────────────────────────────────────────────────╯

        """)
    let quitting = QuestionView(
      "Leave?", message: "1 change is not on the server yet.",
      buttons: [
        .init("Wait for the server, then leave", key: "w"), .init("Leave and lose them", key: "d"),
        .init("Cancel", key: "Esc"),
      ])
    #expect(
      picture(60, 9) { quitting.draw(into: &$0, frame: $1, clip: $1, theme: theme) } == """

          ╭─ Leave? ─────────────────────────────────────────────╮
          │ 1 change is not on the server yet.                   │
          │                                                      │
          │  Wait for the server, then leave (w)                 │
          │  Leave and lose them (d)    Cancel (Esc)             │
          ╰──────────────────────────────────────────────────────╯


        """)
    // Every button is found where it is drawn, on the smallest screen, too.
    for size in [Size(width: 40, height: 10), Size(width: 200, height: 60)] {
      for view in [deleted, quitting] {
        var grid = Grid(size)
        view.draw(into: &grid, frame: grid.bounds, clip: grid.bounds, theme: theme)
        var found = Set<Int>()
        for y in 0..<size.height {
          for x in 0..<size.width {
            guard case .button(let place)? = view.part(at: Point(x: x, y: y), frame: grid.bounds) else { continue }
            found.insert(place)
            #expect([theme.button, theme.otherButton].contains(grid[x, y].style))
          }
        }
        #expect(found == Set(view.buttons.indices))
      }
    }
  }

  @Test func emptyBoardAndSmallScreenShowHints() {
    let empty = EmptyBoardHint(board: "Plans", newNoteKey: "n", helpKey: "?")
    #expect(
      picture(44, 7) { empty.draw(into: &$0, frame: $1, clip: $1, theme: theme) } == """

             There are no notes on Plans yet.

             n  creates a note; just type.
             Or click twice where it should go.
             ?  shows all commands.

        """)
    #expect(
      picture(20, 4) { TooSmallMessage(keys: "q leaves.").draw(into: &$0, frame: $1, clip: $1, theme: theme) } == """
        Too small: make it
        40 by 10 or larger.
        q leaves.

        """)
    #expect(TooSmallMessage.isTooSmall(Size(width: 39, height: 50)))
    #expect(!TooSmallMessage.isTooSmall(Size(width: 40, height: 10)))
  }

  @Test func pointsMapToCellsAndLargeNumbersAreTruncated() {
    #expect(BoardScale.cells(x: 16, y: -17, width: 200, height: 200) == Rect(x: 2, y: -2, width: 25, height: 12))
    let far = BoardScale.cells(x: .infinity, y: -.greatestFiniteMagnitude, width: .nan, height: 1)
    #expect(far == Rect(x: 1 << 30, y: -1 << 30, width: 10, height: 3))
    #expect(BoardScale.points(Point(x: 2, y: -2)) == (16, -32))
    #expect(BoardScale.points(Size(width: 25, height: 12)) == (200, 192))
  }

  @Test func drawingIsClipped() {
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let frame = Rect(
        x: random.below(20) - 5, y: random.below(12) - 2, width: random.below(60), height: random.below(20))
      let theme = random.theme()
      let (text, other) = (random.text(20), random.text(5))
      let phase = random.below(20) - 10
      let question = QuestionView(
        other, message: text, offer: random.chance() ? random.text(80) : "",
        buttons: [.init(other, key: other), .init("OK"), .init(text)])
      let help = HelpView(
        Self.menuBar, others: [.init(text, [(text, other), (other, text)])], symbols: theme.symbols,
        page: random.below(9))
      let busy = BusyView(text, phase: phase, progress: Double(phase) / 5, cancelKey: other)
      let scrubber = HistoryScrubber(first: 9, last: 3, current: UInt64(random.below(20)), time: text, author: other)
      let draws: [(inout Grid) -> Void] = [
        { question.draw(into: &$0, frame: frame, clip: $0.bounds, theme: theme) },
        { help.draw(into: &$0, frame: frame, clip: $0.bounds, theme: theme) },
        { busy.draw(into: &$0, frame: frame, clip: $0.bounds, theme: theme) },
        { scrubber.draw(into: &$0, frame: frame, clip: $0.bounds, theme: theme) },
        { EmptyBoardHint(lines: [text, other]).draw(into: &$0, frame: frame, clip: $0.bounds, theme: theme) },
        { TooSmallMessage(keys: text).draw(into: &$0, frame: frame, clip: $0.bounds, theme: theme) },
      ]
      for draw in draws { expectDrawsInside(frame, seed: seed, draw) }
    }
  }
}
