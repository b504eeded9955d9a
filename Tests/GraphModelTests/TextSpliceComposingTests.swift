import GraphModel
import GraphTesting
import Testing

@Suite struct TextSpliceComposingTests {
  @Test func deletedInsertionLeavesNothing() {
    let typed = [TextSplice(offset: 1, length: 0, insertion: "hello")]
    #expect(TextSplice.compose(typed, then: [TextSplice(offset: 1, length: 5, insertion: "")]) == [])
    #expect(
      TextSplice.compose(typed, then: [TextSplice(offset: 0, length: 3, insertion: "")])
        == [TextSplice(offset: 0, length: 1, insertion: "llo")])
    #expect(TextSplice.compose([], then: typed) == typed)
    #expect(TextSplice.compose(typed, then: []) == typed)
  }

  @Test func removedAndReinsertedTextStaysInPlace() {
    let splices = [
      TextSplice(offset: 0, length: 3, insertion: "the"), TextSplice(offset: 4, length: 3, insertion: "cot"),
    ]
    #expect(TextSplice.trim(splices, of: "the cat") == [TextSplice(offset: 5, length: 1, insertion: "o")])
  }

  /// The naive twin applies one after the other.
  @Test(arguments: UInt64(1)...20) func composedSplicesEqualSuccessiveOnes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func splices(of text: String) -> [TextSplice] {
      var places = [0]
      for scalar in text.unicodeScalars { places.append(places[places.count - 1] + String(scalar).utf8.count) }
      let cuts = (0..<2 * Int.random(in: 1...3, using: &random)).map { _ in random.pick(places) ?? 0 }.sorted()
      return stride(from: 0, to: cuts.count, by: 2).map { index in
        TextSplice(
          offset: cuts[index], length: cuts[index + 1] - cuts[index],
          insertion: random.pick(["", "x", "äö", "hello", "🎈"]) ?? "")
      }
    }
    for _ in 0..<300 {
      let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in random.pick(["a", "é", "🎈"]) ?? "" }.joined()
      let first = splices(of: text)
      let between = try #require(TextSplice.apply(first, to: text))
      let second = splices(of: between)
      let after = try #require(TextSplice.apply(second, to: between))
      let both = TextSplice.compose(first, then: second)
      #expect(TextSplice.apply(both, to: text) == after, "seed \(seed): \(text)")
      #expect(TextSplice.apply(TextSplice.trim(both, of: text), to: text) == after, "seed \(seed): \(text)")
    }
  }
}
