import GraphTesting
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct NoteViewTests {
  private func grid(_ note: NoteState, _ width: Int = 26, _ height: Int = 6, theme: Theme = Theme()) -> Grid {
    var grid = Grid.screen(width, height)
    NoteView(note).draw(
      into: &grid, at: note.frame.origin, clip: grid.bounds, theme: theme, cache: LayoutCache())
    return grid
  }

  @Test func firstLineIsTitleAndNotRepeated() {
    let note = NoteState(
      id: 1, frame: Rect(x: 1, y: 0, width: 24, height: 6), text: "Shopping\nmilk\neggs and bread and butter",
      tags: ["home", "soon"], marks: [.pinned, .unsent])
    #expect(
      grid(note).text == """
         ╭ Shopping ──────── ▲*─╮
         │ milk                 │
         │ eggs and bread and   │
         │ butter               │
         │                      │
         ╰─ #home #soon ────────╯
        """)
  }

  @Test func longFirstLineIsShownInBody() {
    let note = NoteState(
      id: 1, frame: Rect(x: 0, y: 0, width: 24, height: 6), text: "What to do when the sea comes\nrun")
    #expect(
      grid(note).text == """
        ╭ What to do when th… ─╮
        │ What to do when the  │
        │ sea comes            │
        │ run                  │
        │                      │
        ╰──────────────────────╯
        """)
  }

  @Test func statesAreVisibleWithoutColors() {
    let frame = Rect(x: 0, y: 0, width: 26, height: 5)
    var note = NoteState(
      id: 1, frame: frame, text: "Plan\nboats", marks: [.locked, .conflict], circle: .checked, circleColumns: 2)
    note.isFocused = true
    note.editors = [DisplayedUser("Ünal", color: 3)]
    let grid = grid(note, theme: Theme(depth: .none))
    #expect(
      grid.text == """
        ┏ ● Plan ━━━━━━━━━━━━ ■!×┓
        ┃ boats                  ┃
        ┃                        ┃
        ┃                        ┃
        ┗━ Ünal edits ━━━━━━━━━━━▟

        """)
    #expect(grid[5, 0].style == Style(.standard, on: .standard, [.bold, .reverse]))
    // On the way in the circle comes from under the frame.
    note.circleColumns = 1
    #expect(self.grid(note, theme: Theme(depth: .none)).text.hasPrefix("┏● Plan ━"))
    note.circleColumns = 0
    #expect(self.grid(note, theme: Theme(depth: .none)).text.hasPrefix("┏ Plan ━"))
    note.circleColumns = 2
    note.isFocused = false
    note.circle = .empty
    #expect(
      self.grid(note, theme: Theme(depth: .none, isASCII: true)).text == """
        + o Plan ------------ L!-+
        | boats                  |
        |                        |
        |                        |
        +- Ünal edits -----------+

        """)
  }

  @Test func collapsedNoteShowsOnlyTitle() {
    let note = NoteState(
      id: 1, frame: Rect(x: 1, y: 1, width: 20, height: 9), text: "Plan 日本\nboats", isCollapsed: true)
    #expect(
      grid(note, 26, 3).text == """

         ├ Plan 日本 ──── ►─┤

        """)
    #expect(note.outline == Rect(x: 1, y: 1, width: 20, height: 1))
    let cache = LayoutCache()
    #expect(NoteView(note).part(at: Point(x: 4, y: 1), theme: Theme(), cache: cache) == .title)
    #expect(NoteView(note).part(at: Point(x: 4, y: 2), theme: Theme(), cache: cache) == nil)
  }

  @Test func editedNoteShowsCursorSelectionAndScrolls() {
    let frame = Rect(x: 0, y: 0, width: 20, height: 5)
    var editor = TextEditor("one\ntwo\nthree\nfour five six seven", width: NoteView.textWidth(of: frame))
    editor.perform(.move(.wordLeft, isSelecting: true))
    var note = NoteState(id: 1, frame: frame, text: editor.text, isFocused: true, editing: editor)
    note.scroll = NoteView.scroll(0, showing: editor, in: frame)
    #expect(note.scroll == 2)
    let grid = grid(note)
    #expect(
      grid.text == """
        ┏ one ━━━━━━━━━━━━×┓
        ┃ three            ↑
        ┃ four five six    ┃
        ┃ seven            ┃
        ┗━━━━━━━━━━━━━━━━━━▟

        """)
    #expect(grid.cursor == Point(x: 2, y: 3))
    let look = Theme().note(.yellow)
    #expect(
      (0..<10).map { grid[$0, 3].style == look.selected } == Array(repeating: false, count: 2) + [
        true, true, true, true, true, false, false, false,
      ])
    // Without the focus, no cursor.
    note.isFocused = false
    #expect(self.grid(note).cursor == nil)
    #expect(NoteView.scroll(9, showing: TextEditor("one", width: 9), in: frame) == 0)
  }

  @Test func everyPointOfANoteIsAPart() {
    let theme = Theme()
    let cache = LayoutCache()
    var note = NoteState(
      id: 1, frame: Rect(x: 2, y: 1, width: 20, height: 5), text: "Plan\nboat 日本 x", isFocused: true,
      circleColumns: 2)
    func part(_ x: Int, _ y: Int) -> NotePart? {
      NoteView(note).part(at: Point(x: x, y: y), theme: theme, cache: cache)
    }
    #expect(part(1, 1) == nil)
    #expect(part(20, 1) == .close)
    #expect(part(4, 1) == .circle)
    #expect(part(9, 1) == .title)
    #expect(part(21, 5) == .resize)
    #expect(part(20, 5) == .resize)
    #expect(part(2, 3) == .border)
    #expect(part(9, 5) == .border)
    // Offsets count the title, too: the body begins at 5.
    #expect(part(4, 2) == .text(5))
    #expect(part(9, 2) == .text(10))
    #expect(part(11, 2) == .text(13))
    #expect(part(18, 2) == .text(18))
    #expect(part(4, 4) == .text(18))
    note.scroll = 7
    #expect(part(4, 2) == .text(18))
    note.scroll = 1
    note.editing = TextEditor(note.text, width: 16)
    #expect(part(7, 3) == .editor(Point(x: 3, y: 2)))
    note.isFocused = false
    note.circleColumns = 0
    #expect(part(20, 1) == .title)
    #expect(part(4, 1) == .title)
  }

  /// A click on a cell finds the character that is drawn in it.
  @Test func clickHitsDrawnPart() {
    let theme = Theme()
    for seed in UInt64(0)..<100 {
      var random = SeededGenerator(seed: seed)
      let letters = Array("abcdefghijklmnop     \n日本語漢字")
      let text = "T\n" + String((0..<80).map { _ in letters[random.below(letters.count)] })
      let note = NoteState(id: 1, frame: Rect(x: 0, y: 0, width: 5 + random.below(30), height: 12), text: text)
      let grid = grid(note, 40, 12)
      let cache = LayoutCache()
      let frame = NoteView.textFrame(in: note.frame)
      var found = 0
      for y in frame.minY..<frame.maxY {
        for x in frame.minX..<frame.maxX where !["", " "].contains(grid[x, y].text) {
          guard case .text(let offset)? = NoteView(note).part(at: Point(x: x, y: y), theme: theme, cache: cache) else {
            Issue.record("seed \(seed): no text at \(x), \(y)")
            continue
          }
          let index = text.utf8.index(text.startIndex, offsetBy: offset)
          #expect(index < text.endIndex && String(text[index]) == grid[x, y].text, "seed \(seed): \(x), \(y)")
          found += 1
        }
      }
      #expect(found > 0)
    }
  }

  @Test func drawingIsClipped() {
    let themes = [Theme(), Theme(isDark: false, depth: .sixteen), Theme(depth: .none, isASCII: true)]
    for seed in UInt64(0)..<400 {
      var random = SeededGenerator(seed: seed)
      let note = random.note(Int(seed))
      let clip = Rect(x: random.below(20), y: random.below(8), width: random.below(40), height: random.below(14))
      let cache = LayoutCache()
      expectDrawsInside(clip, seed: seed) { grid in
        NoteView(note).draw(
          into: &grid, at: note.frame.origin, clip: clip, theme: themes[Int(seed) % 3], cache: cache)
      }
      for _ in 0..<20 {
        let point = Point(x: random.below(80) - 20, y: random.below(40) - 10)
        let part = NoteView(note).part(at: point, theme: themes[0], cache: cache)
        #expect((part != nil) == note.outline.contains(point), "seed \(seed)")
      }
    }
  }

  @Test func layoutIsCachedAndCacheIsBounded() {
    let cache = LayoutCache(capacity: 8)
    let theme = Theme()
    var grid = Grid.screen()
    func draw(_ note: NoteState) {
      NoteView(note).draw(into: &grid, at: note.frame.origin, clip: grid.bounds, theme: theme, cache: cache)
    }
    var note = NoteState(id: 1, frame: Rect(x: 0, y: 0, width: 20, height: 5), text: "Plan\nboats")
    for _ in 0..<5 { draw(note) }
    #expect(cache.misses == 1)
    note.text += "!"
    draw(note)
    #expect(cache.misses == 2)
    #expect(cache.count == 1)
    for id in 2..<50 {
      draw(NoteState(id: id, frame: note.frame, text: "x"))
      // The drawing of each turn stays.
      draw(note)
      #expect(cache.count <= 8)
    }
    #expect(cache.misses == 2 + 48)
  }

  /// The places of an editor are byte offsets, which differ between the two spellings.
  @Test func layoutIsOfTheTextByBytes() {
    let cache = LayoutCache()
    for text in ["\u{E9}\nboats", "e\u{301}\nboats"] {
      let entry = cache.entry(1, text: text, width: 20, titleWidth: 20, cut: "~")
      #expect(entry.source.utf8.elementsEqual(text.utf8))
      #expect(entry.start == text.utf8.count - 5)
    }
    #expect(cache.misses == 2)
  }

  @Test func hugeTextIsShownAtItsBeginning() {
    let text = "Title\n" + String(repeating: "日本 word ", count: 400_000)
    let note = NoteState(id: 1, frame: Rect(x: 0, y: 0, width: 20, height: 4), text: text)
    let grid = grid(note, 20, 4)
    #expect(grid.text(row: 1) == "│ 日本 word 日本   │")
    // There is more below.
    #expect(grid.text(row: 2).hasSuffix("↓"))
    let invisible = NoteState(id: 2, frame: note.frame, text: String(repeating: "\u{200B}", count: 100_000))
    #expect(self.grid(invisible, 20, 4).text(row: 1) == "│                  │")
  }
}
