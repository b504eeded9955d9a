import GraphTesting
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct CanvasTests {
  private let theme = Theme()

  private func grid(_ canvas: Canvas, _ width: Int = 60, _ height: Int = 16) -> Grid {
    var grid = Grid.screen(width, height)
    canvas.draw(into: &grid, frame: grid.bounds, clip: grid.bounds, theme: theme, cache: LayoutCache())
    return grid
  }

  private func note(_ id: Int, _ x: Int, _ y: Int, z: Double = 0, _ text: String = "Note") -> NoteState {
    NoteState(id: id, frame: Rect(x: x, y: y, width: 16, height: 4), z: z, text: text)
  }

  @Test func higherNotesCoverLowerOnesWithShadows() {
    let notes = [note(1, 6, 2, z: 2, "Upper"), note(2, 1, 1, z: 1, "Lower\ntext of it"), note(3, 14, 4, z: 2, "Newer")]
    let grid = grid(Canvas(notes: notes), 40, 10)
    #expect(
      grid.text == """

         ╭ Lower ───────╮
         │ tex╭ Upper ───────╮
         │    │              │
         ╰────│       ╭ Newer ───────╮
              ╰───────│              │
                      │              │
                      ╰──────────────╯


        """)
    // The upper one's shadow falls on the surface and makes it darker.
    let surface = theme.board(.gray)
    #expect(grid[39, 0].style == surface)
    let shadow = grid[22, 3].style
    #expect(shadow.background != surface.background)
    #expect(grid[30, 5].style.background == shadow.background)
  }

  @Test func coveredFocusedNoteShowsFrameAndTitle() {
    let over = NoteState(id: 1, frame: Rect(x: 1, y: 1, width: 30, height: 7), z: 2, text: "Over\nall of the text")
    var under = NoteState(id: 2, frame: Rect(x: 5, y: 3, width: 16, height: 4), z: 1, text: "Under")
    let without = """

       ╭ Over ──────────────────────╮
       │ all of the text            │
       │                            │
       │                            │
       │                            │
       │                            │
       ╰────────────────────────────╯

      """
    #expect(grid(Canvas(notes: [over, under]), 34, 9).text == without)
    under.isFocused = true
    #expect(
      grid(Canvas(notes: [over, under]), 34, 9).text == """

         ╭ Over ──────────────────────╮
         │ all of the text            │
         │   ┏ Under ━━━━━━×┓         │
         │   ┃              ┃         │
         │   ┃              ┃         │
         │   ┗━━━━━━━━━━━━━━┛         │
         ╰────────────────────────────╯

        """)
    // Where the title is shown, the note lies below the others, as for all users.
    let beside = NoteState(id: 3, frame: Rect(x: 5, y: 0, width: 16, height: 4), z: 1, text: "Beside", isFocused: true)
    #expect(grid(Canvas(notes: [over, beside]), 34, 9).text.contains("│ all of the text            │"))
  }

  @Test func linksAreDrawnBelowNotesAndJoined() {
    let (one, two, three) = (note(1, 1, 1, "One"), note(2, 40, 3, "Two"), note(3, 22, 11, "Three"))
    let links = [
      NoteLinkState(id: 7, from: one.frame, to: two.frame, label: "then"),
      NoteLinkState(id: 8, from: two.frame, to: three.frame, label: ""),
      NoteLinkState(id: 9, from: one.frame, to: three.frame, label: "日本 and much more than fits"),
    ]
    let canvas = Canvas(notes: [one, two, three], links: links)
    #expect(
      grid(canvas).text == """

         ╭ One ─────────╮
         │              │
         │              │──────── then ────────→╭ Two ─────────╮
         ╰──────────────╯             │         │              │
                                      ├─────────│              │
                                      │         ╰──────────────╯
                          日本 and much more than…
                                      │
                                      │
                                      ↓
                              ╭ Three ───────╮
                              │              │
                              │              │
                              ╰──────────────╯

        """)
    let (frame, cache) = (Rect(x: 0, y: 0, width: 60, height: 16), LayoutCache())
    func part(_ x: Int, _ y: Int) -> CanvasPart? {
      canvas.part(at: Point(x: x, y: y), frame: frame, theme: theme, cache: cache)
    }
    #expect(part(38, 3) == .link(7))
    #expect(part(30, 9) == .link(9))
    #expect(part(50, 9) == .board(Point(x: 50, y: 9)))
    #expect(part(2, 1) == .note(1, .title))
    #expect(part(60, 1) == nil)
  }

  @Test func offscreenNotesAreMarkedAtEdges() {
    let notes = [
      note(1, 10, 5), note(2, -40, 6), note(3, -90, 6), note(4, 200, 3), note(5, 20, 90), note(6, 22, 50),
      note(7, 8, -40), note(8, Int.max / 2, Int.max / 2),
    ]
    let canvas = Canvas(notes: notes)
    #expect(
      grid(canvas, 40, 12).text == """
                            ↑




                  ╭ Note ────────╮             →
                  │              │
                  │              │
        ←2        ╰──────────────╯


                                    ↓2      ↓
        """)
    let (frame, cache) = (Rect(x: 0, y: 0, width: 40, height: 12), LayoutCache())
    func part(_ x: Int, _ y: Int) -> CanvasPart? {
      canvas.part(at: Point(x: x, y: y), frame: frame, theme: theme, cache: cache)
    }
    // The nearest of several.
    #expect(part(0, 8) == .mark(2))
    #expect(part(1, 8) == .mark(2))
    #expect(part(39, 5) == .mark(4))
    // Scrolled there, it is seen.
    var there = canvas
    there.origin = Point(x: 190, y: 0)
    #expect(grid(there, 40, 12).text(row: 3).contains("╭ Note"))
    there.origin = Point(x: Int.min, y: Int.max)
    #expect(!grid(there, 40, 12).text.isEmpty)
  }

  @Test func otherUsersAreShownWithNameAndColor() {
    let canvas = Canvas(
      notes: [note(1, 1, 1, "One")],
      pointers: [
        PointerState(DisplayedUser("Anna", color: 1), at: Point(x: 5, y: 2)),
        PointerState(DisplayedUser("日本語の長い名前です、とても", color: 2), at: Point(x: 16, y: 3)),
        PointerState(DisplayedUser("Gone", color: 2), at: Point(x: -5, y: 1)),
      ])
    let grid = grid(canvas, 40, 6)
    #expect(
      grid.text == """

         ╭ One ─────────╮
         │   ▘Anna      │
         │              ▘日本語の長い名…
         ╰──────────────╯

        """)
    #expect(grid[6, 2].style == theme.person(1))
    #expect(grid[5, 2].style.foreground == theme.person(1).background)
    #expect(theme.person(1) != theme.person(2))
  }

  @Test func cursorLabelCoversNoTitle() {
    var canvas = Canvas(notes: [note(1, 10, 1, "One")])
    /// The row of the title, with Anna in a column of the board; the screen begins in another one.
    func row(_ x: Int, from origin: Int = 0) -> String {
      canvas.origin = Point(x: origin, y: 0)
      canvas.pointers = [PointerState(DisplayedUser("Anna", color: 1), at: Point(x: x, y: 1))]
      return String(grid(canvas, 42, 6).text(row: 1).drop { $0 == " " })
    }
    #expect(row(20).hasPrefix("╭ One ────▘Anna╮"))
    // Before the mark, or where that covers it as well, behind the title.
    #expect(row(9).hasPrefix("Anna▘╭ One ─────────╮"))
    #expect(row(12).hasPrefix("╭ One▘Anna─────╮"))
    #expect(row(14).hasPrefix("╭ One▘Anna─────╮"))
    // At the edges of the screen there is not room for all of it.
    #expect(row(9, from: 9).hasPrefix("╭ One▘Anna─────╮"))
    #expect(row(12, from: -24) == "╭ One▘A…")
    #expect(row(12, from: -28) == "╭ ▘n")
    // Under others there is no title.
    canvas.notes.append(note(2, 8, 0, z: 1, "Over"))
    #expect(row(9).hasPrefix("│▘Anna         │─╮"))
  }

  @Test func higherNoteHidesCursor() {
    let frame = Rect(x: 2, y: 1, width: 20, height: 5)
    let editor = TextEditor("One\ntwo", width: NoteView.textWidth(of: frame))
    let edited = NoteState(id: 1, frame: frame, z: 1, text: editor.text, isFocused: true, editing: editor)
    #expect(grid(Canvas(notes: [edited])).cursor == Point(x: 7, y: 3))
    #expect(grid(Canvas(notes: [note(2, 5, 2, z: 2), edited])).cursor == nil)
    #expect(grid(Canvas(notes: [note(2, 5, 2, z: 0), edited])).cursor == Point(x: 7, y: 3))
  }

  /// Leaving out what others cover changes no cell.
  @Test func skippedContentIsInvisible() {
    for seed in UInt64(0)..<60 {
      var random = SeededGenerator(seed: seed)
      let notes = (0..<30).map { random.note($0) }
      let canvas = Canvas(origin: Point(x: random.below(10), y: random.below(5)), notes: notes)
      let frame = Rect(x: 2, y: 1, width: 44, height: 17)
      var grid = Grid.screen(50, 20)
      canvas.draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme, cache: LayoutCache())
      var naive = Grid.screen(50, 20)
      naive.fill(frame, theme.board(.gray))
      let cache = LayoutCache()
      let order = notes.sorted {
        let (one, other) = ($0.z.isNaN ? 0 : $0.z, $1.z.isNaN ? 0 : $1.z)
        return one == other ? $0.id < $1.id : one < other
      }
      let shift = canvas.shift(in: frame)
      for note in order {
        let origin = note.outline.moved(x: shift.x, y: shift.y).origin
        NoteView(note).draw(into: &naive, at: origin, clip: frame, theme: theme, cache: cache)
      }
      for (index, note) in order.enumerated() where note.isFocused {
        let outline = note.outline.moved(x: shift.x, y: shift.y)
        let higher = order[(index + 1)...].map { $0.outline.moved(x: shift.x, y: shift.y) }
        // A note may be millions of columns wide.
        let title = (frame.minX..<frame.maxX).map { Point(x: $0, y: outline.minY) }
          .filter { frame.contains($0) && outline.contains($0) }
        guard !title.isEmpty, title.allSatisfy({ cell in higher.contains { $0.contains(cell) } }) else { continue }
        NoteView(note).drawFrame(into: &naive, at: outline.origin, clip: frame, theme: theme, cache: cache)
        break
      }
      // The marks lie at the edges.
      for y in 2..<17 {
        for x in 12..<36 { #expect(grid[x, y].text == naive[x, y].text, "seed \(seed): \(x), \(y)") }
      }
    }
  }

  @Test func drawingIsClipped() {
    for seed in UInt64(0)..<150 {
      var random = SeededGenerator(seed: seed)
      let notes = (0..<12).map { random.note($0) }
      let links = (0..<6).map { NoteLinkState(id: $0, from: random.rect(), to: random.rect(), label: random.text(4)) }
      let pointers = (0..<4).map { index in
        PointerState(DisplayedUser(random.text(4), color: index), at: random.rect().origin)
      }
      let canvas = Canvas(
        color: PaperColor.allCases[random.below(11)], origin: random.rect(30).origin, notes: notes, links: links,
        pointers: pointers)
      let frame = Rect(
        x: random.below(30) - 5, y: random.below(8) - 2, width: random.below(40), height: random.below(18))
      let cache = LayoutCache()
      let theme = random.theme()
      expectDrawsInside(frame, seed: seed) { grid in
        canvas.draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme, cache: cache)
      }
      for _ in 0..<30 {
        let point = Point(x: random.below(60) - 5, y: random.below(25) - 3)
        let part = canvas.part(at: point, frame: frame, theme: theme, cache: cache)
        #expect((part != nil) == frame.contains(point), "seed \(seed)")
      }
    }
  }

  @Test func coverageMatchesCellList() {
    for seed in UInt64(0)..<100 {
      var random = SeededGenerator(seed: seed)
      let frame = Rect(x: 3, y: 2, width: 1 + random.below(150), height: 1 + random.below(6))
      var coverage = CoverageMask(frame)
      var cells = Set<Point>()
      for _ in 0..<8 {
        let rect = Rect(x: random.below(150), y: random.below(10), width: random.below(90), height: random.below(5))
        var own = Set<Point>()
        for y in frame.minY..<frame.maxY {
          for x in frame.minX..<frame.maxX where rect.contains(Point(x: x, y: y)) { own.insert(Point(x: x, y: y)) }
        }
        let free = coverage.free(of: rect)
        let around = own.subtracting(cells).map { Rect(origin: $0, size: Size(width: 1, height: 1)) }
        #expect(free.isEmpty == around.isEmpty, "seed \(seed)")
        if let first = around.first { #expect(free == around.reduce(first) { $0.union($1) }, "seed \(seed)") }
        coverage.add(rect)
        cells.formUnion(own)
        let point = Point(x: random.below(160), y: random.below(9))
        #expect(coverage.contains(point) == cells.contains(point), "seed \(seed)")
      }
    }
  }
}
