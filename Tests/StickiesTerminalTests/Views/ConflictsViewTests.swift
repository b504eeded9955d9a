import GraphTesting
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct ConflictsViewTests {
  private static let edits = [
    ConflictsView.Edit(
      number: 3, title: "Note.color", author: "ann@laptop", time: "20:31:07", reason: "bob@desk has changed Note.color",
      values: [.init(name: "Note.color", mine: "blue", theirs: "green", author: "bob@desk, revision 1207")]),
    ConflictsView.Edit(
      number: 4, title: "new Note", author: "ann@laptop", time: "20:33:00", reason: "the board is deleted",
      values: [.init(name: "Note.text", mine: "Milk")]),
  ]

  private func picture(_ view: ConflictsView, _ width: Int = 80, _ height: Int = 24) -> String {
    Grid.picture(width, height) { grid, bounds in
      view.draw(into: &grid, frame: bounds, clip: bounds, theme: Theme())
    }
  }

  @Test func focusedEditShowsBothValuesAndTheirAuthor() {
    let first = picture(ConflictsView(Self.edits, keys: "r retry"))
    for text in [
      "3  Note.color", "ann@laptop 20:31:07", "4  new Note", "bob@desk has changed Note.color", "mine    blue",
      "theirs  green  (bob@desk, revision 1207)", "r retry",
    ] { #expect(first.contains(text), "\(text) in\n\(first)") }
    let second = picture(ConflictsView(Self.edits, focus: 1, keys: "r retry"))
    #expect(second.contains("the board is deleted") && second.contains("mine    Milk") && !second.contains("theirs"))
  }

  @Test func emptyListIsASentence() {
    let empty = picture(ConflictsView([], keys: "r retry"))
    #expect(empty.contains("No edit is in conflict.") && empty.contains("Esc close") && !empty.contains("r retry"))
  }

  @Test func clickFindsTheEdit() {
    let view = ConflictsView(Self.edits)
    let frame = Rect(x: 0, y: 0, width: 80, height: 24)
    let rows = picture(view).split(separator: "\n", omittingEmptySubsequences: false)
    let row = rows.firstIndex { $0.contains("4  new Note") }
    #expect(row.map { view.part(at: Point(x: 20, y: $0), frame: frame) } == .edit(1))
    #expect(view.part(at: Point(x: 0, y: 0), frame: frame) == nil)
    #expect(view.part(at: Point(x: 20, y: 20), frame: frame) == .panel)
  }

  @Test func drawingIsClipped() {
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let edits = (0..<random.below(30)).map { number in
        ConflictsView.Edit(
          number: Int64(number), title: random.text(random.below(12)), author: random.text(3), time: random.text(2),
          reason: random.text(random.below(20)),
          values: (0..<random.below(4)).map { _ in
            .init(name: random.text(2), mine: random.text(random.below(40)), theirs: random.text(random.below(40)))
          })
      }
      let view = ConflictsView(edits, focus: random.below(40) - 5, top: random.below(40) - 5, keys: random.text(5))
      let frame = random.frame()
      expectDrawsInside(frame, seed: seed) { grid in
        view.draw(into: &grid, frame: frame, clip: grid.bounds, theme: random.theme())
      }
    }
  }
}
