import GraphModel
import GraphTesting
import Testing

/// Where two whole texts differ.
@Suite struct TextDifferenceTests {
  private static let pieces = [
    "\n", "\r\n", "\r", "a", "b", "é", "word", "other", " ", "\u{0}", "😀", "e\u{301}", ",", "12",
  ]

  private static func text(_ count: Int, _ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...count, using: &random)).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)]
    }
    .joined()
  }

  private static func edited(_ text: String, _ random: inout SeededGenerator) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let start = Int.random(in: 0...scalars.count, using: &random)
      let end = Int.random(in: start...min(scalars.count, start + 4), using: &random)
      scalars.replaceSubrange(start..<end, with: self.text(3, &random).unicodeScalars)
    }
    return String(String.UnicodeScalarView(scalars))
  }

  @Test func splicesProduceNewText() throws {
    for seed: UInt64 in 1...2_000 {
      var random = SeededGenerator(seed: seed)
      let old = Self.text(60, &random)
      let new = seed % 5 == 0 ? Self.text(60, &random) : Self.edited(old, &random)
      let splices = TextSplice.differences(from: old, to: new)
      let made = try #require(TextSplice.apply(splices, to: old), "seed \(seed)")
      #expect(UTF8Comparison.equal(made, new), "seed \(seed)")
      for (one, next) in zip(splices, splices.dropFirst()) { #expect(one.end < next.offset, "seed \(seed)") }
    }
  }

  @Test func equalTextsHaveNoSplices() { #expect(TextSplice.differences(from: "one\ntwo", to: "one\ntwo").isEmpty) }

  @Test func unrelatedTextsAreOneSplice() {
    let old = (0..<5_000).map { "old \($0)\n" }.joined()
    let new = (0..<5_000).map { "new \($0)\n" }.joined()
    #expect(TextSplice.differences(from: old, to: new).count == 1)
  }

  @Test func tooManyHunksBecomeOneSplice() {
    for (places, count) in [(TextSplice.maximumHunks, 100), (TextSplice.maximumHunks + 1, 1)] {
      let old = (0..<places).map { "line \($0) old\nkept \($0)\n" }.joined()
      let new = (0..<places).map { "line \($0) new\nkept \($0)\n" }.joined()
      #expect(TextSplice.differences(from: old, to: new).count == count)
    }
  }

  /// Letters that two words have in common mean nothing.
  @Test(arguments: [
    ("a wonderful day", "a tremendous day"), ("notwithstanding", "understandable"), ("会议九点开始", "午饭在中午吃吧"),
  ])
  func replacedWordIsOneSplice(old: String, new: String) {
    #expect(TextSplice.differences(from: old, to: new).count == 1)
  }

  @Test(arguments: [
    ("one two three", "one TWO three", "zero one two three four", "zero one TWO three four"),
    (
      "milk\nbread\neggs\nbutter\nsalt", "oat milk\nbread\neggs\nbutter\nsea salt",
      "milk\nbread\nsix eggs\nbutter\nsalt", "oat milk\nbread\nsix eggs\nbutter\nsea salt"
    ),
    ("abcdefghijklmnopqrst", "abXcdefghijklmnopqYrst", "abcdefghilmnopqrst", "abXcdefghilmnopqYrst"),
    ("abcdefghijklmnopqrst", "abXcdefghijklmnopqYrst", "abcdefghijZklmnopqrst", "abXcdefghijZklmnopqYrst"),
    (
      "会议九点开始请带红色文件夹安做笔记午饭在中午", "会议早上九点开始请带红色文件夹安做笔记午饭在十二点",
      "会议九点开始请带文件夹安做笔记午饭在中午", "会议早上九点开始请带文件夹安做笔记午饭在十二点"
    ),
    (
      "w0·w1·w2·w3·w4·w5·w6·w7·w8·w9·", "w0·w1·n6·w2·w3·w4·w5·w8·w9·", "w0·w1·w2·w3·w5·w6·w7·w8·w9·",
      "w0·w1·n6·w2·w3·w5·w8·w9·"
    ),
    ("milk\nbread\neggs", "milk\nbrown bread\neggs", "oat milk\nbread\neggs\nham", "oat milk\nbrown bread\neggs\nham"),
  ])
  func concurrentEditsInSeveralPlacesMerge(base: String, mine: String, theirs: String, both: String) {
    let moved = TextSplice.rebase(
      TextSplice.differences(from: base, to: mine), over: TextSplice.differences(from: base, to: theirs))
    #expect(TextSplice.apply(moved, to: theirs) == both)
    let other = TextSplice.rebase(
      TextSplice.differences(from: base, to: theirs), over: TextSplice.differences(from: base, to: mine))
    #expect(TextSplice.apply(other, to: mine) == both)
  }
}
