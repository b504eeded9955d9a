import GraphModel
import GraphTesting
import Testing

@Suite struct TextSpliceTests {
  @Test func smallestSpliceTouchesOnlyChange() {
    #expect(TextSplice.smallest(from: "hello", to: "help") == TextSplice(offset: 3, length: 2, insertion: "p"))
    #expect(TextSplice.smallest(from: "aé", to: "aè").insertion == "è")
    #expect(TextSplice.smallest(from: "same", to: "same") == TextSplice(offset: 4, length: 0, insertion: ""))
  }

  @Test func outOfBoundsSplicesAreRefused() {
    for splice in [
      TextSplice(offset: 9, length: 0, insertion: ""), TextSplice(offset: 0, length: 9, insertion: ""),
      TextSplice(offset: 1, length: 0, insertion: "x"), TextSplice(offset: -1, length: 0, insertion: ""),
      TextSplice(offset: 0, length: .max, insertion: ""),
    ] { #expect(TextSplice.apply([splice], to: "é!") == nil) }
  }

  @Test func concurrentTypingLosesNothing() {
    let base = "the cat sat"
    let mine = [TextSplice(offset: 4, length: 3, insertion: "dog")]
    let theirs = [TextSplice(offset: 11, length: 0, insertion: " down")]
    let after = TextSplice.apply(theirs, to: base) ?? ""
    #expect(TextSplice.apply(TextSplice.rebase(mine, over: theirs), to: after) == "the dog sat down")
  }

  @Test func insertionOfOthersSurvivesDelete() {
    let base = "abcdef"
    let theirs = [TextSplice(offset: 3, length: 0, insertion: "XYZ")]
    let mine = [TextSplice(offset: 1, length: 4, insertion: "")]
    let after = TextSplice.apply(theirs, to: base) ?? ""
    #expect(TextSplice.apply(TextSplice.rebase(mine, over: theirs), to: after) == "aXYZf")
  }

  @Test func earlierInsertionPrecedesAtSameOffset() {
    let theirs = [TextSplice(offset: 1, length: 0, insertion: "1")]
    let mine = [TextSplice(offset: 1, length: 0, insertion: "2")]
    let after = TextSplice.apply(theirs, to: "ab") ?? ""
    #expect(TextSplice.apply(TextSplice.rebase(mine, over: theirs), to: after) == "a12b")
  }

  /// The naive twin is a list of characters with identities. A delete marks characters; an insert adds characters after
  /// one.
  private struct Oracle {
    var cells: [(character: Character, isDeleted: Bool, isBase: Bool)]

    init(_ text: String) { cells = text.map { ($0, false, true) } }

    /// `offset` counts base characters; insertions of earlier edits at the same place stay in front.
    mutating func apply(_ splice: TextSplice) {
      var base = 0
      var index = 0
      while index < cells.count, base < splice.offset {
        if cells[index].isBase { base += 1 }
        index += 1
      }
      while index < cells.count, !cells[index].isBase { index += 1 }
      let place = index
      var left = splice.length
      while left > 0, index < cells.count {
        if cells[index].isBase {
          cells[index].isDeleted = true
          left -= 1
        }
        index += 1
      }
      cells.insert(contentsOf: splice.insertion.map { ($0, false, false) }, at: place)
    }

    var text: String { String(cells.filter { !$0.isDeleted }.map(\.character)) }
  }

  @Test func rebasingAgreesWithOracle() {
    for seed in UInt64(0)..<3_000 {
      var random = SeededGenerator(seed: seed)
      let base = String(
        (0..<Int.random(in: 0...8, using: &random)).map { _ in "abcdefgh".randomElement(using: &random) ?? "a" })
      func splices(_ letter: String) -> [TextSplice] {
        var result = [TextSplice]()
        var position = 0
        for number in 0..<Int.random(in: 1...2, using: &random) {
          guard position <= base.count else { break }
          let offset = Int.random(in: position...base.count, using: &random)
          let length = Int.random(in: 0...(base.count - offset), using: &random)
          result.append(
            TextSplice(offset: offset, length: length, insertion: random.chance(70) ? "\(letter)\(number)" : ""))
          position = offset + length + 1
        }
        return result
      }
      let (theirs, mine) = (splices("T"), splices("M"))
      var oracle = Oracle(base)
      for splice in theirs.reversed() { oracle.apply(splice) }
      for splice in mine.reversed() { oracle.apply(splice) }
      let after = TextSplice.apply(theirs, to: base)
      let merged = after.flatMap { TextSplice.apply(TextSplice.rebase(mine, over: theirs), to: $0) }
      #expect(merged == oracle.text, "seed \(seed): \(base) \(theirs) \(mine)")
    }
  }
}
