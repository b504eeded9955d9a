import GraphTesting
import Testing

@testable import GraphModel

@Suite struct RegularExpressionTests {
  /// Each with the map and without it: both ways to an answer are held to the table.
  private static func expressions(_ pattern: String, _ options: StringOptions = []) throws -> [RegularExpression] {
    [
      try RegularExpression(parsing: pattern, options: options),
      try RegularExpression(parsing: pattern, options: options, mapBudget: 0),
      try RegularExpression(parsing: pattern, options: options, mapBudget: 10),
    ]
  }

  static let whole: [(pattern: String, matching: [String], failing: [String])] = [
    ("", [""], ["a"]),
    ("abc", ["abc"], ["ab", "abcd", "xabc", "ABC", ""]),
    ("a.c", ["abc", "aäc", "a😀c", "a c"], ["ac", "a\nc", "a\r\nc", "a\u{2028}c", "abbc"]),
    ("[a-c]x", ["ax", "cx"], ["dx", "x", "-x"]),
    ("[^a-c]x", ["dx", "äx", "\nx"], ["ax", "x"]),
    ("[-a][b-]", ["-b", "a-", "--"], ["bb", "a"]),
    (#"[\]\\^.*]+"#, ["]^\\.*"], ["a", ""]),
    (#"[\d_]+"#, ["1_2", "٣"], ["a", "1 2"]),
    (#"[^\d\s]+"#, ["abc"], ["a1", "a b"]),
    (#"\d{4}-\d{2}"#, ["2024-01"], ["2024-1", "20245-01", "2024_01"]),
    (#"\w+"#, ["naïve_9", "日本", "e\u{301}"], ["a b", "", "a-b"]),
    (#"\W\D\S"#, ["-a.", "  x"], ["aaa", "-1."]),
    (#"\s*"#, ["", " \t\n\u{A0}\u{3000}"], ["a"]),
    (#"\t\n\r\f\v"#, ["\t\n\r\u{C}\u{B}"], ["tnrfv"]),
    (#"\.\*\+\?\(\)\[\]\{\}\|\^\$\\\ \-\/"#, [".*+?()[]{}|^$\\ -/"], [""]),
    ("]}", ["]}"], ["]"]),
    (#"\u{1F600}\u00E4\u{61}"#, ["😀äa"], ["😀ä"]),
    (#"\p{Lu}\p{Ll}+\P{L}"#, ["Éa1", "Abc "], ["ab1", "Abcd"]),
    (#"[\p{N}\p{Sc}]+"#, ["5€½"], ["5 €"]),
    (#"\p{Z}\p{P}\p{S}\p{M}\p{C}"#, [" !+\u{301}\u{1}"], ["     "]),
    ("a|bc|", ["a", "bc", ""], ["abc", "b"]),
    ("(a|b)c", ["ac", "bc"], ["abc", "c"]),
    ("(?:ab)+", ["ab", "ababab"], ["", "aba"]),
    ("()", [""], ["a"]),
    ("(|a)+b", ["b", "aab"], ["a"]),
    ("a*", ["", "aaa"], ["b"]),
    ("a+?b??", ["a", "aab"], ["b", "abb"]),
    ("a{2}", ["aa"], ["a", "aaa"]),
    ("a{2,}", ["aa", "aaaaa"], ["a"]),
    ("a{1,3}?", ["a", "aaa"], ["", "aaaa"]),
    ("a{0}b", ["b"], ["ab"]),
    ("(a{2}){2,3}", ["aaaa", "aaaaaa"], ["aa", "aaa", "aaaaa", "aaaaaaaa"]),
    ("^a$", ["a"], ["a\n", "ba"]),
    ("a^b|a$b", [], ["ab", "a", "b"]),
    ("(^)*a($)+", ["a"], ["aa", ""]),
    ("(^a|b)*", ["", "ab", "bb"], ["ba", "aa"]),
    (#"\bab\b.*"#, ["ab", "ab cd", "ab-"], ["abc", "ab_", "abä"]),
    (#"a\Bb"#, ["ab"], ["a b"]),
    (#".*\bä\b.*"#, ["ä", "x ä y"], ["xä y"]),
    ("é", ["é"], ["e\u{301}", "e"]),
    ("[α-ω]+x", ["αβγx"], ["Αx", "αβγ"]),
    ("[^α-ω]+", ["abcΑ中"], ["abcα"]),
    ("中文*", ["中", "中文文"], ["文", "中中"]),
  ]

  @Test(arguments: whole.indices) func patternMatchesWholeText(index: Int) throws {
    let (pattern, matching, failing) = Self.whole[index]
    for expression in try Self.expressions(pattern) {
      for text in matching { #expect(expression.matchesWhole(text), "\(pattern) and \(text.debugDescription)") }
      for text in failing { #expect(!expression.matchesWhole(text), "\(pattern) and \(text.debugDescription)") }
    }
  }

  @Test func searchMatchesAnywhere() throws {
    let table: [(pattern: String, matching: [String], failing: [String])] = [
      ("", ["", "a"], []),
      ("bc", ["bc", "abcd", "ääbc"], ["", "b", "bdc"]),
      ("^bc", ["bcd"], ["abc"]),
      ("bc$", ["abc"], ["bcd", "bc\n"]),
      (#"\bcat\b"#, ["cat", "a cat.", "é cat é"], ["concat", "cats"]),
      (#"\d{3}"#, ["ab123", "1234"], ["12a3"]),
      ("a*$", ["", "b", "ba"], []),
      ("[^a]b", ["éb", "aab bb"], ["ab", "b"]),
    ]
    for (pattern, matching, failing) in table {
      for expression in try Self.expressions(pattern) {
        for text in matching { #expect(expression.matchesAnywhere(text), "\(pattern) in \(text.debugDescription)") }
        for text in failing { #expect(!expression.matchesAnywhere(text), "\(pattern) in \(text.debugDescription)") }
      }
    }
  }

  @Test func ignoredDifferencesAreFoldedInPatternAndText() throws {
    let both: StringOptions = [.caseInsensitive, .diacriticInsensitive]
    let table: [(pattern: String, options: StringOptions, matching: [String], failing: [String])] = [
      ("AbC", .caseInsensitive, ["abc", "ABC"], ["äbc"]),
      ("É", .caseInsensitive, ["é", "É"], ["e", "E"]),
      ("É", .diacriticInsensitive, ["E", "E\u{301}", "Ê"], ["e", "é"]),
      ("É", both, ["e", "E", "é", "e\u{301}"], ["f"]),
      ("e\u{301}x", both, ["ex", "ÉX"], ["e"]),
      ("[A-Z]+", .caseInsensitive, ["aZ"], ["a1", "é"]),
      ("[a-z]+", .caseInsensitive, ["aZ", "\u{212A}"], ["a1"]),
      ("[^a]", .caseInsensitive, ["b", "B"], ["a", "A"]),
      ("[é-ë]", .diacriticInsensitive, ["e", "ê", "ẽ"], ["E", "f"]),
      ("[À-Ö]", both, ["a", "Õ", "ç"], ["b", "t"]),
      (#"\p{Lu}"#, .caseInsensitive, ["a", "A", "ä"], ["1"]),
      (#"[\p{Lu}]x"#, both, ["äX"], ["1x"]),
      (#"\P{Lu}"#, .caseInsensitive, ["a", "A", "1"], ["12"]),
      (#"\w\W"#, both, ["é-", "A "], ["ab"]),
      ("İ", .caseInsensitive, ["İ", "i\u{307}"], ["i"]),
      ("[가-힣]{2}", .diacriticInsensitive, ["한국", "\u{1112}\u{1161}\u{11AB}국"], ["한", "ab"]),
      ("\u{1112}\u{1161}\u{11AB}", .diacriticInsensitive, ["한"], ["하"]),
      ("[Å]", both, ["a", "å", "\u{212B}"], ["b"]),
      ("ΣΑΣ", .caseInsensitive, ["σασ", "σας"], ["σα"]),
      ("stra[ß].", .caseInsensitive, ["STRAßE", "straẞe"], ["strasse"]),
      ("ﬁ.", .caseInsensitive, ["ﬁx"], ["fix"]),
      ("[a-z]Ｂ", both, ["Ａb", "aｂ"], ["ab b"]),
      (".{2}", .diacriticInsensitive, ["e\u{301}é"], ["é"]),
    ]
    for (pattern, options, matching, failing) in table {
      for expression in try Self.expressions(pattern, options) {
        for text in matching { #expect(expression.matchesWhole(text), "\(pattern) and \(text.debugDescription)") }
        for text in failing { #expect(!expression.matchesWhole(text), "\(pattern) and \(text.debugDescription)") }
      }
    }
  }

  static let refused: [(pattern: String, column: Int, reason: String)] = [
    (#"(a)\1"#, 4, "back references"), ("a(?=b)", 2, "lookahead"), ("a(?!b)", 2, "lookahead"),
    ("(?<=a)b", 1, "lookahead"), ("(?<!a)b", 1, "lookahead"), ("(?>a)", 1, "atomic"),
    ("(?<n>a)", 1, "named groups"), ("(?P<n>a)", 1, "named groups"), ("(?i)a", 1, "[c]"), ("(?", 1, "allowed after"),
    ("a++", 3, "possessive"), ("a*+", 3, "possessive"), ("a{2}+", 5, "possessive"), ("a**", 3, "repeated already"),
    ("a+?*", 4, "repeated already"), ("a{2}{3}", 5, "repeated already"),
    (#"\q"#, 1, "no meaning"), (#"é\é"#, 2, "no meaning"), (#"ab\"#, 3, "backslash"), (#"\A"#, 1, "no meaning"),
    (#"[\q]"#, 2, "no meaning"), (#"[\b]"#, 2, "is a position"), (#"[\1]"#, 2, "no meaning"),
    ("(a", 1, "not closed"), ("x((a)", 2, "not closed"), ("a)", 2, "no group to close"),
    ("[a", 1, "not closed"), ("x[", 2, "not closed"), ("[]", 1, "empty"), ("[^]", 1, "empty"),
    ("[z-a]", 2, "before it begins"), (#"[a-\d]"#, 2, "not with a class"), (#"[\d-z]"#, 2, "a range must begin"),
    ("[a-c-e]", 5, "dash"), ("[[:alpha:]]", 2, "be nested"), ("[a&&b]", 3, "intersected"),
    ("a{5,2}", 2, "less than the first"), ("a{,2}", 3, "needs a number"), ("a{x", 3, "needs a number"),
    ("a{2", 4, "} is missing"), ("a{2,3", 6, "} is missing"), ("a{-1}", 3, "needs a number"),
    ("*a", 1, "nothing to repeat"), ("a|+", 3, "nothing to repeat"), ("(?:?)", 4, "nothing to repeat"),
    ("{2}", 1, "nothing to repeat"), ("^*", 2, "a position can't"), (#"\b+"#, 3, "a position can't"),
    (#"\p{Xx}"#, 1, "Xx"), (#"\p{}"#, 1, "category"), (#"\pL"#, 1, "\\p{Lu}"), (#"\p{L"#, 1, "missing"),
    (#"\p{"#, 1, "missing"), (#"\u{110000}"#, 1, "scalar"), (#"\u{D800}"#, 1, "scalar"), (#"\u{}"#, 1, "scalar"),
    (#"\u{1234567}"#, 1, "scalar"), (#"\u12"#, 1, "scalar"), (#"\u"#, 1, "scalar"),
    // Columns are characters: a flag is one, and so is a letter with a mark of its own.
    ("🇩🇪e\u{301}*(", 4, "not closed"),
  ]

  @Test(arguments: refused.indices) func syntaxErrorReportsItsPosition(index: Int) {
    let (pattern, column, reason) = Self.refused[index]
    for options in [StringOptions(), .caseInsensitive, .diacriticInsensitive] {
      let error = #expect(throws: RegularExpressionError.self, "\(pattern)") {
        try RegularExpression(parsing: pattern, options: options)
      }
      #expect(error?.column == column, "\(pattern): \(error?.description ?? "")")
      #expect(error?.reason.contains(reason) == true, "\(pattern): \(error?.description ?? "")")
    }
  }

  @Test func equalPatternsAreEqualByBytesAndOptions() throws {
    #expect(try RegularExpression(parsing: "é") == RegularExpression(parsing: "é"))
    #expect(try RegularExpression(parsing: "é") != RegularExpression(parsing: "e\u{301}"))
    #expect(try RegularExpression(parsing: "a") != RegularExpression(parsing: "a", options: .caseInsensitive))
    #expect(Set([try RegularExpression(parsing: "a+"), try RegularExpression(parsing: "a+")]).count == 1)
  }
}
