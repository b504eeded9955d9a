import GraphModel
import GraphTesting
import Testing

/// Folding and words against Unicode's own tables: CaseFolding.txt, UnicodeData.txt.
@Suite struct FoldingTests {
  private static let both: StringOptions = [.caseInsensitive, .diacriticInsensitive]

  @Test func caseFoldsAsUnicodeDefines() {
    let table = [
      ("ß", "ss"), ("ẞ", "ss"), ("ﬁ", "fi"), ("ﬃ", "ffi"), ("ﬆ", "st"), ("ς", "σ"), ("Σ", "σ"), ("İ", "i\u{307}"),
      ("ı", "ı"), ("I", "i"), ("ſ", "s"), ("\u{212A}", "k"), ("ŉ", "ʼn"), ("ΐ", "ι\u{308}\u{301}"), ("Ａ", "ａ"),
      ("և", "եւ"), ("ᾳ", "αι"), ("Ǆ", "ǆ"), ("ꭰ", "Ꭰ"), ("ᏸ", "Ᏸ"), ("Ꭰ", "Ꭰ"), ("É", "é"), ("日", "日"), ("K", "k"),
    ]
    for (text, folded) in table {
      #expect(UTF8Comparison.equal(text.folded(.caseInsensitive), folded), "\(text)")
    }
  }

  @Test func marksAndWidthFoldAsUnicodeDefines() {
    let table = [
      ("É", "E"), ("Ａ１！", "A1!"), ("ｶﾞｷﾞ", "カキ"), ("ガギ", "カキ"), ("ﾊﾟ", "ハ"), ("\u{3000}", " "), ("ĳ", "ij"), ("ß", "ß"),
      ("ﬁ", "ﬁ"), ("￥", "¥"), ("Ŀ", "L·"),
    ]
    for (text, folded) in table {
      #expect(UTF8Comparison.equal(text.folded(.diacriticInsensitive), folded), "\(text)")
    }
    for (text, folded) in [("İ", "i"), ("ＳＴＲＡẞＥ", "strasse"), ("Ǆ", "dz"), ("ΐ", "ι"), ("ﬃ", "ffi")] {
      #expect(UTF8Comparison.equal(text.folded(Self.both), folded), "\(text)")
    }
  }

  @Test func textWithoutSpacesIsSplitIntoWords() {
    #expect("iPhone手机 2024年".words == ["iphone", "手机", "2024", "年"])
    #expect("牛乳、買う".words == ["牛乳", "買う"])
    #expect("Ｍｉｌｋ、Straße".words == ["milk", "strasse"])
    #expect("牛乳を x".indexTerms == ["牛乳", "乳を", "を", "x"])
    #expect("牛乳を x".wordList == "牛乳 乳を を x")
    #expect("牛乳".searchTerms == ["牛乳"])
    #expect("牛".searchTerms == ["牛"])
    #expect("人人人人".searchTerms == ["人人"])
    #expect(String(repeating: "牛乳", count: 3).searchTerms == ["牛乳", "乳牛"])
    // A hundred thousand letters ask the index for a few terms.
    let long = String(String.UnicodeScalarView((0..<9_000).compactMap { Unicode.Scalar(0x4E00 + $0) }))
    #expect(long.searchTerms.count == 64)
  }

  @Test func substringOfRunIsFound() {
    let found = [
      ("毎日牛乳を買う", "牛乳"), ("毎日牛乳を買う", "う"), ("毎日牛乳を買う", "買う 毎"), ("ซื้อนมสด", "นม"), ("เห็นด้วย", "ด้วย"), ("東京ﾀﾜｰ", "タワー"),
      ("İstanbul", "istan"), ("STRASSE", "straß"), ("ﬁnal", "fin"), ("iPhone手机", "手机 iph"),
    ]
    for (text, query) in found { #expect(text.hasWords(beginningWith: query.words), "\(query) in \(text)") }
    for (text, query) in [("京都と東京", "東京都"), ("牛と乳", "牛乳"), ("milk", "ilk"), ("手机iPhone", "phone")] {
      #expect(!text.hasWords(beginningWith: query.words), "\(query) in \(text)")
    }
  }

  /// A search of many words is prepared once; each word by itself gives the same answer.
  @Test func foldingOfManyWordsEqualsFoldingEach() {
    let pieces = ["a", "b", "ab", "ba", "日", "本", " ", " ", "é", "1"]
    for seed in SeedSweep.seeds(300) {
      var random = SeededGenerator(seed: seed)
      func text(_ most: Int) -> String {
        (0..<Int.random(in: 1...most, using: &random)).map { _ in random.pick(pieces) ?? "a" }.joined()
      }
      let (whole, query) = (text(40), text(12))
      let own = whole.words
      let expected = query.words.allSatisfy { wanted in
        own.contains { wanted.isPhrase ? $0.contains(wanted) : $0.utf8.starts(with: wanted.utf8) }
      }
      #expect(SearchTermMatcher(query.words).matches(whole) == expected, "seed \(seed): \(query) in \(whole)")
    }
  }

  /// Every text that a search finds is filed under all terms that the search asks the index for.
  @Test func textContainsTermsOfMatchingSearches() {
    let pieces = ["日", "本", "語", "a", "B", " ", "、", "ß", "ﾊﾟ", "น", "ม้", "é", "1", "🎉", "か\u{3099}"]
    for seed in SeedSweep.seeds(300) {
      var random = SeededGenerator(seed: seed)
      func text(_ most: Int) -> String {
        (0..<Int.random(in: 1...most, using: &random)).map { _ in random.pick(pieces) ?? "a" }.joined()
      }
      let (whole, query) = (text(14), text(4))
      let terms = whole.indexTerms
      let words = query.words
      let isFiled = words.flatMap(\.searchTerms).allSatisfy { wanted in
        terms.contains { $0.utf8.starts(with: wanted.utf8) }
      }
      let isFound = whole.hasWords(beginningWith: words)
      #expect(isFiled || !isFound, "seed \(seed): \(query) in \(whole)")
      if !words.contains(where: \.needsComparison) {
        #expect(isFiled == isFound, "seed \(seed): \(query) in \(whole)")
      }
    }
  }
}
