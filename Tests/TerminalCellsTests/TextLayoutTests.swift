import GraphTesting
import Testing

@testable import TerminalCells

@Suite struct TextLayoutTests {
  private func rows(_ text: String, _ width: Int) -> [String] {
    TextLayout(text, width: width).rows.map { String(text.slice($0.visible)) }
  }

  @Test func linesBreakAtWordsAndInsideLongWords() {
    #expect(rows("the quick brown fox", 10) == ["the quick ", "brown fox"])
    #expect(rows("the quick", 9) == ["the quick"])
    #expect(rows("an extraordinarily long one", 8) == ["an ", "extraord", "inarily ", "long one"])
    #expect(rows("abcdefgh", 3) == ["abc", "def", "gh"])
    #expect(rows("a\nb\n\n", 5) == ["a", "b", "", ""])
    #expect(rows("a\r\nb", 5) == ["a", "b"])
    #expect(rows("", 5) == [""])
    #expect(rows("wide     blanks", 5) == ["wide     ", "blank", "s"])
  }

  @Test func wideCharactersAreNeverSplit() {
    #expect(rows("日本語です", 5) == ["日本", "語で", "す"])
    #expect(rows("see 日本語", 7) == ["see 日", "本語"])
    #expect(rows("👨‍👩‍👧👨‍👩‍👧", 3) == ["👨‍👩‍👧", "👨‍👩‍👧"])
    #expect(rows("日a", 1) == ["日", "a"])
  }

  @Test func offsetAndPositionConvertBothWays() {
    let text = "the quick brown\nfox"
    let layout = TextLayout(text, width: 10)
    #expect(layout.position(of: 4, in: text) == Point(x: 4, y: 0))
    #expect(layout.position(of: 10, in: text) == Point(x: 0, y: 1))
    #expect(layout.position(of: 15, in: text) == Point(x: 5, y: 1))
    #expect(layout.position(of: 19, in: text) == Point(x: 3, y: 2))
    #expect(layout.offset(at: Point(x: 2, y: 1), in: text) == 12)
    #expect(layout.offset(at: Point(x: 99, y: 1), in: text) == 15)
    #expect(layout.offset(at: Point(x: 99, y: 0), in: text) == 9)
    #expect(layout.offset(at: Point(x: 0, y: 9), in: text) == 19)
    #expect(layout.offset(at: Point(x: 0, y: -1), in: text) == 0)
    let wide = TextLayout("日本", width: 10)
    #expect((0..<5).map { wide.offset(at: Point(x: $0, y: 0), in: "日本") } == [0, 3, 3, 6, 6])
  }

  @Test func everyByteHasARowAndEveryCharacterACell() {
    for seed in UInt64(0)..<300 {
      var random = SeededGenerator(seed: seed)
      let text = random.text(random.below(40))
      let width = 1 + random.below(12)
      let layout = TextLayout(text, width: width)
      var end = 0
      for (number, row) in layout.rows.enumerated() {
        #expect(row.range.lowerBound == end, "seed \(seed)")
        end = row.range.upperBound
        let shown = text.slice(row.visible)
        let trimmed = shown.reversed().drop { $0 == " " || $0 == "\t" }
        let columns = trimmed.reduce(0) { $0 + CellText.width(of: $1) }
        #expect(
          columns <= width || trimmed.count(where: { CellText.width(of: $0) > 0 }) == 1, "seed \(seed), row \(number)")
      }
      #expect(end == text.utf8.count)
      var index = text.startIndex
      while index < text.endIndex {
        let offset = text.utf8.distance(from: text.startIndex, to: index)
        let place = layout.position(of: offset, in: text)
        #expect(place.x <= width && layout.rows[place.y].range.contains(offset), "seed \(seed)")
        // A character without a column, or one that overhangs the edge, shares its cell with a neighbor.
        let columns = CellText.width(of: text[index])
        if columns > 0, !text[index].isNewline, place.x + columns <= width {
          let back = layout.offset(at: place, in: text)
          let between = text.slice(min(back, offset)..<max(back, offset))
          #expect(between.allSatisfy { CellText.width(of: $0) == 0 }, "seed \(seed): \(offset) came back as \(back)")
        }
        index = text.index(after: index)
      }
    }
  }
}
