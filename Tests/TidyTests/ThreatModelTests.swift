import Foundation
import Testing

/// The page about threats names its tests, and each of them exists.
@Suite struct ThreatModelTests {
  /// A test as the page names it.
  private struct Name: Hashable {
    let suite: String
    let function: String
  }

  private static let page = "docs/threat-model.md"

  /// The suites of the tests, and the functions in them with `@Test`.
  private static func tests() throws -> Set<Name> {
    let type = try Regex(#"(?m)^(?:@\w+(?:\(.*\))? +)*(?:private |final )*(?:struct|class|extension) (\w+)"#)
    let function = #/\bfunc (\w+)\(/#
    var names = Set<Name>()
    for (_, _, text) in try LayeringTests.sources("Tests") {
      var suite: String?
      var isTest = false
      for line in text.split(separator: "\n") {
        if !line.hasPrefix(" "), let match = try type.firstMatch(in: line) {
          suite = match[1].substring.map(String.init)
        }
        if line.contains("@Test") { isTest = true }
        guard isTest, let suite, let match = line.firstMatch(of: function) else { continue }
        names.insert(Name(suite: suite, function: String(match.output.1)))
        isTest = false
      }
    }
    return names
  }

  @Test func eachNamedTestExists() throws {
    let tests = try Self.tests()
    #expect(tests.count > 1_000, "only \(tests.count) tests were found")
    let named = try LayeringTests.file(Self.page).matches(of: #/`(\w+Tests)\.(\w+)`/#).map {
      Name(suite: String($0.output.1), function: String($0.output.2))
    }
    #expect(named.count > 60)
    for name in Set(named) where !tests.contains(name) {
      Issue.record("\(Self.page) names \(name.suite).\(name.function), which is no test")
    }
  }

  @Test func eachClassOfAttackHasTests() throws {
    let rows = try LayeringTests.file(Self.page).split(separator: "\n").compactMap { line -> (Int, Substring)? in
      let cells = line.split(separator: "|").map { $0.trimmingPrefix(" ") }
      guard cells.count == 4, let number = Int(cells[0].trimmingCharacters(in: .whitespaces)) else { return nil }
      return (number, cells[3])
    }
    #expect(rows.map(\.0) == Array(1...28))
    for (number, tests) in rows {
      #expect(tests.contains("Tests.") || tests.contains("not yet"), "class \(number) has no test")
    }
  }
}
