import GraphTesting
import Testing

@testable import GraphModel

/// The naive twin tries one alternative after the other, and would never end on longer texts.
private struct Backtracker {
  let text: [Unicode.Scalar]

  func matches(_ tree: RegularExpressionTree, at start: Int, then rest: (Int) -> Bool) -> Bool {
    switch tree {
    case .scalar(let scalar): start < text.count && text[start] == scalar && rest(start + 1)
    case .set(let set): start < text.count && set.contains(text[start].value) && rest(start + 1)
    case .assertion(let assertion): holds(assertion, at: start) && rest(start)
    case .sequence(let parts): matches(parts[...], at: start, then: rest)
    case .alternation(let parts): parts.contains { matches($0, at: start, then: rest) }
    case .repetition(let part, let minimum, let maximum):
      repeats(part, minimum, maximum, at: start, then: rest)
    }
  }

  private func matches(_ parts: ArraySlice<RegularExpressionTree>, at start: Int, then rest: (Int) -> Bool) -> Bool {
    guard let first = parts.first else { return rest(start) }
    return matches(first, at: start) { matches(parts.dropFirst(), at: $0, then: rest) }
  }

  /// An optional round must consume something; otherwise it would repeat endlessly.
  private func repeats(
    _ part: RegularExpressionTree, _ minimum: Int, _ maximum: Int?, at start: Int, then rest: (Int) -> Bool
  ) -> Bool {
    if minimum > 0 {
      return matches(part, at: start) { repeats(part, minimum - 1, maximum.map { $0 - 1 }, at: $0, then: rest) }
    }
    if rest(start) { return true }
    if maximum == 0 { return false }
    return matches(part, at: start) { $0 > start && repeats(part, 0, maximum.map { $0 - 1 }, at: $0, then: rest) }
  }

  private func holds(_ assertion: RegularExpressionTree.Assertion, at place: Int) -> Bool {
    func isWord(_ index: Int) -> Bool { text.indices.contains(index) && "ab".unicodeScalars.contains(text[index]) }
    return switch assertion {
    case .beginning: place == 0
    case .end: place == text.count
    case .wordBoundary: isWord(place - 1) != isWord(place)
    case .noWordBoundary: isWord(place - 1) == isWord(place)
    }
  }
}

@Suite struct RegularExpressionTwinTests {
  private static func pattern(_ depth: Int, _ random: inout SeededGenerator, _ assertions: [String]) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 12 : 5), using: &random) {
    case 0...2: random.pick(["a", "b", "·"]) ?? "a"
    case 3: random.pick([".", "[ab]", "[^a]", "[b·]", "[^·]", #"\w"#, #"\W"#, #"\p{Ll}"#, "[^b-z]"]) ?? "."
    case 4: random.chance(40) ? random.pick(assertions) ?? "" : "(?:)"
    case 5...7: pattern(depth - 1, &random, assertions) + pattern(depth - 1, &random, assertions)
    case 8, 9:
      "(" + pattern(depth - 1, &random, assertions) + "|" + pattern(depth - 1, &random, assertions) + ")"
    default:
      "(" + pattern(depth - 1, &random, assertions) + ")"
        + (random.pick(["*", "+", "?", "*?", "{2}", "{0,2}", "{1,}", "{1,3}", "{0}"]) ?? "*")
    }
  }

  /// `·` is a sign beyond ASCII and no part of a word.
  @Test func engineAgreesWithBacktrackingMatcher() throws {
    var (matched, failed, found) = (0, 0, 0)
    for seed in UInt64(0)..<2_000 {
      var random = SeededGenerator(seed: seed)
      // Most patterns do without words, for then signs beyond ASCII are on the map too.
      let assertions = random.chance(70) ? ["^", "$"] : ["^", "$", #"\b"#, #"\B"#]
      let pattern = Self.pattern(4, &random, assertions)
      var parser = RegularExpressionParser(pattern, options: [])
      let tree = try parser.parse()
      let mapped = try RegularExpression(parsing: pattern)
      let others = [
        try RegularExpression(parsing: pattern, options: [], mapBudget: 0),
        try RegularExpression(parsing: pattern, options: [], mapBudget: Int.random(in: 1...60, using: &random)),
      ]
      for _ in 0..<8 {
        let text = String((0..<Int.random(in: 0...7, using: &random)).map { _ in random.pick(["a", "b", "·"]) ?? "a" })
        let twin = Backtracker(text: Array(text.unicodeScalars))
        let whole = twin.matches(tree, at: 0) { $0 == twin.text.count }
        let anywhere = (0...twin.text.count).contains { twin.matches(tree, at: $0) { _ in true } }
        for expression in [mapped] + others {
          #expect(expression.matchesWhole(text) == whole, "seed \(seed): \(pattern) and \(text)")
          #expect(expression.matchesAnywhere(text) == anywhere, "seed \(seed): \(pattern) in \(text)")
        }
        if whole { matched += 1 } else { failed += 1 }
        if anywhere, !whole { found += 1 }
      }
    }
    #expect(matched > 500 && failed > 500 && found > 500, "\(matched) matched, \(failed) failed, \(found) found")
  }

  /// A scalar beyond ASCII has a symbol on the map, or is simulated; its place in Unicode must not show.
  @Test func automatonAndSimulationAgree() throws {
    let patterns = [
      #".*\b\w+\b\W"#, #"(\w|\s)*"#, #"[^\w]*\d?.*\p{Lu}.*"#, #"(\p{L}\P{L})*"#, "[^\u{300}-\u{36F}]*",
      "(.ä|[中-鿿]+|.)*x?",
      #"(\p{M}|\p{C}|\p{S}|\p{P}|\D)*"#, #"(..)*\B."#,
    ]
    for pattern in patterns {
      let mapped = try RegularExpression(parsing: pattern)
      let simulated = try RegularExpression(parsing: pattern, options: [], mapBudget: 0)
      #expect(mapped.machines.whole.stateCount > 0)
      for seed in UInt64(0)..<150 {
        var random = SeededGenerator(seed: seed)
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...6, using: &random) {
          let limit = random.pick([0x80, 0x400, 0x3000, 0x10000, 0x110000] as [UInt32]) ?? 0x80
          text.append(Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) ?? "中")
        }
        let string = String(text)
        #expect(
          mapped.matchesWhole(string) == simulated.matchesWhole(string), "seed \(seed): \(string.debugDescription)")
        #expect(
          mapped.matchesAnywhere(string) == simulated.matchesAnywhere(string),
          "seed \(seed): \(string.debugDescription)")
      }
    }
  }

  /// Any pattern is parsed or refused; a parsed one can be matched.
  @Test func randomPatternsAreParsedOrRefused() {
    let signs = Array("ab·é(((?:)))[^-]]{}{1,2}*+?|\\\\dwpsu.^$")
    var (read, refused) = (0, 0)
    for seed in UInt64(0)..<2_500 {
      var random = SeededGenerator(seed: seed)
      let pattern = String((0..<Int.random(in: 0...12, using: &random)).compactMap { _ in random.pick(signs) })
      let options = StringOptions(rawValue: UInt8.random(in: 0...3, using: &random))
      do {
        _ = try RegularExpression(parsing: pattern, options: options).matchesWhole("ab·é")
        read += 1
      } catch {
        #expect((1...pattern.count + 1).contains(error.column), "seed \(seed): \(pattern): \(error)")
        refused += 1
      }
    }
    #expect(read > 250 && refused > 250, "\(read) read, \(refused) refused")
  }
}
