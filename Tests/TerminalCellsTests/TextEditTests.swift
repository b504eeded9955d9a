import GraphTesting
import Testing

@testable import TerminalCells

@Suite struct TextEditTests {
  private func applied(_ changes: [TextEdit], to text: String) -> String {
    changes.reduce(into: text) { $1.apply(to: &$0) }
  }

  /// A random change on whole characters.
  static func change(of text: String, _ random: inout SeededGenerator) -> TextEdit {
    let places = text.indices.map { text.utf8.distance(from: text.startIndex, to: $0) } + [text.utf8.count]
    let ends = [random.one(of: places), random.one(of: places)].sorted()
    let end = random.below(3) == 0 ? ends[0] : ends[1]
    return TextEdit(ends[0]..<end, random.below(3) == 0 ? "" : random.text(random.below(4)))
  }

  @Test func editsConvergeInEitherOrder() {
    for seed in UInt64(0)..<3000 {
      var random = SeededGenerator(seed: seed)
      let text = random.text(random.below(12))
      func list() -> [TextEdit] {
        var now = text
        return (0..<1 + random.below(3)).map { _ in
          let change = Self.change(of: now, &random)
          change.apply(to: &now)
          return change
        }
      }
      let (mine, theirs) = (list(), list())
      let crossed = TextEdit.cross(mine, theirs)
      let one = applied(crossed.theirs, to: applied(mine, to: text))
      let other = applied(crossed.mine, to: applied(theirs, to: text))
      #expect(Array(one.utf8) == Array(other.utf8), "seed \(seed): \(mine) and \(theirs) of \(text.debugDescription)")
    }
  }

  @Test func differenceOfTwoTextsIsOneEdit() {
    #expect(TextEdit(from: "one two", to: "one 2 two") == TextEdit(4..<4, "2 "))
    #expect(TextEdit(from: "aaa", to: "aa") == TextEdit(2..<3, ""))
    #expect(TextEdit(from: "same", to: "same") == nil)
    #expect(TextEdit(from: "é", to: "è") == TextEdit(0..<2, "è"))
    for seed in UInt64(0)..<1000 {
      var random = SeededGenerator(seed: seed)
      let old = random.text(random.below(10))
      var new = old
      Self.change(of: old, &random).apply(to: &new)
      guard let change = TextEdit(from: old, to: new) else {
        #expect(Array(old.utf8) == Array(new.utf8), "seed \(seed)")
        continue
      }
      #expect(change.fits(old))
      #expect(Array(applied([change], to: old).utf8) == Array(new.utf8), "seed \(seed)")
      #expect(Array(applied([change.inverse(of: old)], to: new).utf8) == Array(old.utf8), "seed \(seed)")
    }
  }
}
