import GraphControllers
import GraphTesting
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct PromptViewTests {
  private let theme = Theme()

  @Test func suggestionsFollowTheField() {
    let view = PromptView(
      "Move to", text: "Ho", cursor: 2, remark: "2 characters", names: ["Home", "Holidays"], chosen: 1)
    #expect(
      Grid.picture(50, 8) { view.draw(into: &$0, frame: $1, clip: $1, theme: theme) } == """
           ╭─ Move to ────────────────────────────────╮
           │ Ho                          2 characters │
           │ Home                                     │
           │ Holidays                                 │
           ╰──────────────────────────────────────────╯



        """)
    let frame = Rect(x: 0, y: 0, width: 50, height: 8)
    var grid = Grid.screen(50, 8)
    view.draw(into: &grid, frame: frame, clip: frame, theme: theme)
    #expect(grid.cursor == Point(x: 7, y: 1))
    #expect(grid[10, 3].style == theme.chosen)
    #expect(view.part(at: Point(x: 6, y: 1), frame: frame) == .text(1))
    #expect(view.part(at: Point(x: 9, y: 2), frame: frame) == .name(0))
    #expect(view.part(at: Point(x: 9, y: 4), frame: frame) == .panel)
    #expect(view.part(at: Point(x: 1, y: 1), frame: frame) == nil)
  }

  @Test func firstOfManySuggestionsAreShown() {
    let view = PromptView("Tag", text: "", cursor: 0, names: (1...100).map { "tag \($0)" })
    #expect(view.names.count == PromptView.maximumNames)
    let picture = Grid.picture(60, 20) { view.draw(into: &$0, frame: $1, clip: $1, theme: theme) }
    #expect(picture.contains("tag \(PromptView.maximumNames) ") && !picture.contains("tag 9 "))
  }

  @Test func drawingIsClipped() {
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let frame = random.frame()
      let text = random.text(30)
      let names = (0..<random.below(12)).map { _ in random.text(9) }
      let view = PromptView(
        random.text(3), text: text, cursor: text.utf8.count, selection: 0..<random.below(40), remark: random.text(2),
        isWrong: random.chance(), names: names, chosen: random.below(9))
      let theme = Theme(isDark: random.chance(), depth: ColorDepth.allCases[random.below(4)])
      expectDrawsInside(frame, seed: seed) { grid in
        view.draw(into: &grid, frame: frame, clip: grid.bounds, theme: theme)
      }
    }
  }

  @Test func searchMatchesAreHighlightedInTitleAndText() throws {
    let text = "Red äpples\nan apple\nand a second Äpfel"
    let query = try #require(SearchQuery("apple red"))
    let matches = query.offsets(in: text)
    #expect(matches.map { String(decoding: Array(text.utf8)[$0], as: UTF8.self) } == ["Red", "äpple", "apple"])
    let note = NoteState(id: 1, frame: Rect(x: 0, y: 0, width: 20, height: 5), text: text, matches: matches)
    var grid = Grid.screen(20, 5)
    NoteView(note).draw(
      into: &grid, at: Point(x: 0, y: 0), clip: grid.bounds, theme: theme, cache: LayoutCache())
    let marked = (0..<5).map { y in
      (0..<20).filter { grid[$0, y].style == theme.match }.map { grid[$0, y].text }.joined()
    }
    #expect(marked == ["Redäpple", "apple", "", "", ""])
  }
}
