import GraphTesting
import Testing

@testable import GraphModel

/// The cost of a stranger's pattern and text, counted in steps: a clock would measure the machine.
@Suite struct RegularExpressionBoundsTests {
  private static func reason(_ pattern: String) -> String? {
    do {
      _ = try RegularExpression(parsing: pattern)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func patternLengthIsLimited() {
    let limit = RegularExpression.maximumPatternBytes
    #expect(Self.reason(String(repeating: "a", count: limit - 1)) == nil)
    #expect(Self.reason(String(repeating: "a", count: limit)) == nil)
    #expect(
      Self.reason(String(repeating: "a", count: limit + 1))
        == "column 1001: the pattern has 1001 bytes; at most 1000 are allowed")
    #expect(Self.reason(String(repeating: "ä", count: limit / 2)) == nil)
    #expect(Self.reason(String(repeating: "ä", count: limit / 2 + 1))?.hasPrefix("column 501: ") == true)
    #expect(Self.reason(String(repeating: "a", count: 10_000_000))?.hasPrefix("column 1001: ") == true)
  }

  @Test func groupNestingIsLimited() {
    func nested(_ depth: Int) -> String {
      String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
    }
    let limit = RegularExpression.maximumDepth
    #expect(Self.reason(nested(limit - 1)) == nil)
    #expect(Self.reason(nested(limit)) == nil)
    #expect(Self.reason(nested(limit + 1)) == "column 101: groups are nested deeper than 100")
    #expect(Self.reason(String(repeating: "(", count: 900))?.hasPrefix("column 101: ") == true)
    #expect(Self.reason(nested(10_000))?.contains("bytes") == true)
  }

  @Test func programSizeIsLimited() throws {
    // One instruction of the program is its end.
    let limit = RegularExpression.maximumProgramSize
    for (count, expected) in [(limit - 2, nil), (limit - 1, nil), (limit, "column 2: "), (limit + 1, "column 2: ")] {
      let reason = Self.reason("a{\(count)}")
      #expect(expected.map { reason?.hasPrefix($0) == true } ?? (reason == nil), "\(count): \(reason ?? "read")")
    }
    let largest = try RegularExpression(parsing: "a{\(limit - 1)}")
    #expect(largest.matchesWhole(String(repeating: "a", count: limit - 1)))
    #expect(!largest.matchesWhole(String(repeating: "a", count: limit)))
    #expect(!largest.matchesWhole(String(repeating: "a", count: limit - 2)))
    #expect(
      Self.reason("(a{1000}){1000}")
        == "column 10: the pattern is too long with its repetitions expanded: at most 10000 instructions")
    #expect(Self.reason("(a{1000}){9}") == nil)
    #expect(Self.reason("a{6000}b{6000}")?.contains("too long") == true)
    for empty in [
      "(){9223372036854775808}", "((){9000}){9000}", "a{1000000000,}", "((a?){99}){99}{99}", "(a{0}){10000}",
    ] {
      #expect(Self.reason(empty)?.isEmpty == false, "\(empty)")
    }
  }

  @Test(arguments: [
    ("(a+)+$", true), ("(a|aa)*b", false), ("(a*)*b", false), ("(a|a?)+", true), ("(.*)(.*)(.*)(.*)(.*)x", false),
    ("((a{0,9}){0,9}){0,9}", false), ("(a?){50}a{50}(a*)*c", false),
  ])
  func pathologicalPatternsAreLinear(pattern: String, expected: Bool) throws {
    let text = String(repeating: "a", count: 100_000)
    let mapped = try RegularExpression(parsing: pattern)
    let simulated = try RegularExpression(parsing: pattern, options: [], mapBudget: 0)
    let size = simulated.programSize
    for expression in [mapped, simulated] {
      var (tenth, steps) = (0, 0)
      _ = expression.machines.whole.matches(String(text.prefix(10_000)), steps: &tenth)
      #expect(expression.machines.whole.matches(text, steps: &steps) == expected)
      #expect(steps <= (2 * size + 1) * (text.utf8.count + 1), "\(steps) steps, \(size) instructions")
      #expect(steps <= 10 * tenth + 20 * size, "\(tenth) steps for a tenth, \(steps) for the whole")
    }
    // The same with the mismatch at the end of the text.
    #expect(!mapped.matchesWhole(text + "!"))
    #expect(mapped.machines.whole.stateCount <= RegularExpressionAutomaton.maximumStates)
  }

  /// Each scalar may double the states of the map: the sets of places that `n` scalars ago may have been an `a`.
  @Test func exponentialAutomatonIsCappedAtItsBudget() throws {
    let expression = try RegularExpression(parsing: "(a|b)*a(a|b){30}")
    let simulated = try RegularExpression(parsing: "(a|b)*a(a|b){30}", options: [], mapBudget: 0)
    #expect(expression.machines.whole.stateCount <= RegularExpressionAutomaton.maximumStates)
    #expect(expression.machines.whole.stateCount > 10)
    #expect(simulated.machines.whole.stateCount == 0)
    var random = SeededGenerator(seed: 1)
    var found = Set<Bool>()
    for _ in 0..<200 {
      let text = String((0..<Int.random(in: 0...200, using: &random)).map { _ in random.chance(50) ? "a" : "b" })
      let expected = text.utf8.count > 30 && text.utf8.dropLast(30).last == 0x61
      #expect(expression.matchesWhole(text) == expected)
      #expect(simulated.matchesWhole(text) == expected)
      found.insert(expected)
    }
    #expect(found.count == 2)
  }

  @Test func simplePatternStaysInAutomaton() throws {
    let text = String(repeating: "abc 123 äöü ", count: 1_000)
    for pattern in ["[a-z0-9äöü ]*", ".*", "(abc|[^x])*", #"(\w+\s)*"#, #"(\b\w+\b.)*"#] {
      var steps = 0
      #expect(try RegularExpression(parsing: pattern).machines.whole.matches(text, steps: &steps))
      #expect((text.unicodeScalars.count...text.utf8.count).contains(steps), "\(pattern)")
    }
  }
}

extension RegularExpression {
  fileprivate var programSize: Int { machines.whole.program.instructions.count }
}
