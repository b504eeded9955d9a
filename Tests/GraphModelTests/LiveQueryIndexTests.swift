import GraphTesting
import Testing

@testable import GraphModel

@Suite struct LiveQueryIndexTests {
  /// The index may return too many queries, but never too few.
  @Test func indexFindsEveryMatchingQuery() throws {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    let texts = [
      "color == \"red\"", "color IN {\"red\", \"blue\"}", "x > 5", "x <= 3 AND pinned == TRUE", "x BETWEEN {2, 4}",
      "number == 3", "NOT (color == \"red\")", "pinned == TRUE OR x > 7", "text CONTAINS \"a\"", "x >= 2 AND x < 6",
      "origin == NULL", "origin == \"k\"", "TRUEPREDICATE", "number > 2.5", "number == 3.0",
      "color == \"red\" OR number == 3", "(x > 7 OR color == \"blue\" OR x > 7) AND pinned == TRUE",
      "number == 1 OR x < 1",
      "text SEARCH \"AB\"", "text SEARCH \"xyz of\"", "number == 2 OR text SEARCH \"ä zw\"",
      "text BEGINSWITH \"ab\"", "text BEGINSWITH \"\"", "text BEGINSWITH \"x\" OR FALSEPREDICATE", "FALSEPREDICATE",
      "color == \"green\" OR text CONTAINS \"z\"",
      "text CONTAINS[cd] \"ARG\"", "text CONTAINS[c] \"ärg\"", "text CONTAINS[d] \"Ärger\"", "text CONTAINS \"er, z\"",
      "text ENDSWITH \"i\"", "text ENDSWITH[cd] \"YZ!\"", "text BEGINSWITH[c] \"oF\"", "text ==[cd] \"ABC\"",
      "text IN[c] {\"ABC\", \"xYz\"}", "text LIKE \"*X?Z*\"", "text LIKE[cd] \"a?g*zwei\"", "text LIKE \"a\\\\bc\"",
      "text LIKE \"*\"", "text CONTAINS \"\"", "text ==[c] \"\"", "NOT (text CONTAINS \"a\")",
      "origin CONTAINS \"k\" OR text CONTAINS[c] \"OFFER, \"",
      "NOT (color != \"red\")", "NOT (number != 3.0)", "NOT (origin != NULL)", "NOT (x > 4 OR color != \"blue\")",
      "NOT (color != \"red\" AND number != 2)", "NOT (NOT (number == 4))", "NOT (text !=[cd] \"ABC\")",
      "NOT (pinned == TRUE OR NOT (x < 3))", "NOT TRUEPREDICATE", "NOT FALSEPREDICATE", "NOT (x < 5)",
      "text MATCHES \"ab.*\"", "text MATCHES \"abd?c\"", "text MATCHES \"a|xyz\"", "text MATCHES[c] \"AB.\"",
      "x == 1 + 2", "x IN {1 + 1, 7}", "x == abs(-4)", "NOT (x != 2 * 3)", "text MATCHES \"abc|\u{301}x\"",
      "text MATCHES \"Off(er|al), X.*\"", "text MATCHES \".*\"", "text MATCHES \"Ä{0,1}rger.*|abc\"",
    ]
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      var index = LiveQueryIndex(model: model)
      var queries = [UInt64: LiveQuery]()
      for number in UInt64(1)...40 {
        let text = random.pick(texts) ?? "TRUEPREDICATE"
        let query = LiveQuery(
          entity: note.number, predicate: try GraphPredicate(parsing: text, entity: note, model: model))
        queries[number] = query
        index.insert(query, number: number)
      }
      for number in UInt64(1)...40 where random.chance(40) {
        if let query = queries.removeValue(forKey: number) { index.remove(query, number: number) }
      }
      func image() -> ObjectImage {
        var image = ObjectImage(
          id: ObjectID(key: UniqueID(high: 1, low: 1), entity: note.number), revision: 1,
          values: Array(repeating: .null, count: note.slotCount))
        func set(_ name: String, _ value: Value) {
          if let property = note.property(named: name) { image[property] = value }
        }
        set("color", .string(random.pick(["red", "blue", "green"]) ?? "red"))
        set("x", .double(Double(Int.random(in: 0...9, using: &random))))
        set("number", .integer(Int64.random(in: 1...5, using: &random)))
        set("pinned", .bool(random.chance(50)))
        set("text", .string(random.pick(["abc", "xyz", "Offer, XYZ!", "Ärger, zwei"]) ?? ""))
        set("origin", random.chance(50) ? .null : .string("k"))
        return image
      }
      let (before, after) = (image(), image())
      let change = ObjectChange(kind: .updated, id: before.id, before: before, after: after)
      let candidates = Set(index.candidates(for: change))
      for (number, query) in queries {
        let evaluator = PredicateEvaluator(query.predicate, model: model)
        if evaluator.matches(before) || evaluator.matches(after) {
          #expect(candidates.contains(number), "seed \(seed): \(query.predicate.text(in: model))")
        }
      }
    }
  }

  /// A NOT is indexed by the opposite of its operand, and a pattern by its beginning: neither is evaluated for every
  /// change.
  @Test func negationsAndPrefixesAreIndexed() throws {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    func places(_ text: String) throws -> [IndexKey]? {
      IndexKey.all(of: try GraphPredicate(parsing: text, entity: note, model: model), model: model)
    }
    for (denied, meant) in [
      ("NOT (color != \"red\")", "color == \"red\""), ("NOT (x > 4 OR color != \"blue\")", "color == \"blue\""),
      ("NOT (color != \"red\" AND number != 2)", "color == \"red\" OR number == 2"),
      ("NOT (NONE tags.name == \"a\")", "ANY tags.name == \"a\""),
      ("NOT (ALL tags.name != \"a\")", "ANY tags.name == \"a\""),
      ("text MATCHES \"ab[0-9]+\"", "text BEGINSWITH \"ab\""),
    ] {
      let filed = try places(denied)
      #expect(try filed != nil && filed == places(meant), "\(denied)")
    }
    for text in ["NOT (color == \"red\")", "NOT (x < 5)", "NOT (ANY tags.name != \"a\")", "text MATCHES \"[ab]c\""] {
      #expect(try places(text) == nil, "\(text)")
    }
  }

  @Test func patternPrefixHoldsForEveryMatch() throws {
    let patterns = [
      ("abc", "abc"), ("ab*c", "a"), ("ab?", "a"), ("ab+", "ab"), ("ab{0,2}c", "a"), ("ab|cd", ""), ("a(b|c)", ""),
      ("a(bc)", "a"), ("a\\.b", "a"), ("a.b", "a"), ("^ab", ""), ("", ""), ("äé漢", "äé漢"), ("(?:ab)", ""),
      ("abc|\u{301}x", ""), ("👍|🏽.*", ""),
    ]
    for (pattern, beginning) in patterns {
      #expect(RegularExpression.literalBeginning(of: pattern) == beginning, "\(pattern)")
      let expression = try RegularExpression(parsing: pattern)
      for text in ["abc", "ab", "a", "ac", "abb", "cd", "a.b", "axb", "äé漢", "AB", ""]
      where expression.matchesWhole(text) {
        #expect(text.hasPrefix(beginning), "\(pattern) \(text)")
      }
    }
  }

  @Test func substringIndexFindsAllAndForgetsRemoved() {
    let pieces = ["a", "b", "Ab", "é", "E\u{301}", "ß", "漢", " ", "👩\u{200D}👧", "aaaa", "İ"]
    let ways: [StringOptions] = [
      [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ]
    for seed in UInt64(0)..<100 {
      var random = SeededGenerator(seed: seed)
      func text(_ most: Int) -> String {
        (0..<Int.random(in: 1...most, using: &random)).map { _ in random.pick(pieces) ?? "a" }.joined()
      }
      var table = SubstringIndex()
      var entries = [(number: UInt64, substring: String, options: StringOptions)]()
      for number in UInt64(1)...60 {
        let options = random.pick(ways) ?? []
        let part = text(3).folded(options)
        // A mark alone is nothing where marks do not count.
        guard !part.isEmpty else { continue }
        table.insert(number, substring: part, options)
        entries.append((number, part, options))
      }
      for _ in 0..<30 {
        let text = text(12)
        var found = [UInt64]()
        table.appendMatches(of: .string(text), to: &found)
        let missing = entries.filter {
          TextSearch.contains(text.folded($0.options), $0.substring) && !found.contains($0.number)
        }
        #expect(missing.isEmpty, "seed \(seed): \(missing) in \(text)")
        #expect(Set(found).count == found.count && table.hasMatch(for: .string(text)) == !found.isEmpty)
      }
      for entry in entries.shuffled(using: &random) {
        #expect(!table.isEmpty)
        table.remove(entry.number, substring: entry.substring, entry.options)
      }
      #expect(table.isEmpty)
    }
  }

  /// Substrings with a common prefix are stored in different places, and a value that is not a text has none.
  @Test func commonPrefixesLimitCandidates() {
    var table = SubstringIndex()
    for number in UInt64(1)...1_000 { table.insert(number, substring: "nowhere \(number)", []) }
    var found = [UInt64]()
    table.appendMatches(of: .string("somewhere nowhere else"), to: &found)
    #expect(found.count < 20, "\(found.count) of 1,000 are under what all have")
    found = []
    for value in [Value.null, .integer(1), .string("")] { table.appendMatches(of: value, to: &found) }
    #expect(found.isEmpty)
  }

  @Test func longestLiteralOfPatternIsInEveryMatch() {
    let parts = [
      "*": "", "?": "", "": "", "abc": "abc", "a*bc?d": "bc", "*\\**": "*", "a\\?b*c": "a?b", "ab*\\": "ab",
      "x\\\\y?": "x\\y",
    ]
    for (pattern, part) in parts { #expect(TextSearch.longestPart(ofPattern: pattern) == part, "\(pattern)") }
  }

  @Test func intervalTreeMatchesLinearSearch() {
    for seed in UInt64(0)..<100 {
      var random = SeededGenerator(seed: seed)
      var tree = IntervalTree()
      var list = [IntervalTree.Interval]()
      for number in UInt64(1)...100 {
        let low = Int64.random(in: 0...50, using: &random)
        let interval = IntervalTree.Interval(
          low: random.chance(20) ? nil : .integer(low),
          high: random.chance(20) ? nil : .integer(low + Int64.random(in: 0...20, using: &random)), number: number)
        tree.insert(interval)
        list.append(interval)
        if random.chance(30), let index = list.indices.randomElement(using: &random) {
          tree.remove(list.remove(at: index))
        }
      }
      for value in Int64(-1)...75 {
        var found = [UInt64]()
        tree.appendMatches(of: .integer(value), to: &found)
        let expected = list.filter { interval in
          (interval.low.map { Value.order($0, .integer(value)) != .descending } ?? true)
            && (interval.high.map { Value.order($0, .integer(value)) != .ascending } ?? true)
        }
        #expect(found.sorted() == expected.map(\.number).sorted(), "seed \(seed), value \(value)")
      }
      for interval in list { tree.remove(interval) }
      #expect(tree.isEmpty)
    }
  }
}
