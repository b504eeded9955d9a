import Foundation
import Testing

/// A source file of the log, store, hub, replica and client leads to its tests: a test file has its name, or its first
/// line lists test files, as in `// Tests: UndoTests.swift, RandomUndoTests.swift`.
@Suite struct TestLinesTests {
  private static let targets: Set<String> = ["GraphLog", "GraphStore", "GraphHub", "GraphReplica", "GraphClient"]

  /// The names of the files in the list of a source file; nil if it has none.
  private static func listed(_ text: String) -> [String]? {
    guard text.hasPrefix("// Tests: ") else { return nil }
    let line = text.prefix { $0 != "\n" }.dropFirst("// Tests: ".count)
    return line.split(separator: ", ").map(String.init)
  }

  /// The names of the test files that a source file leads to: `Hub+Reads.swift` to `Hub+ReadsTests.swift` or
  /// `HubTests.swift`.
  private static func tests(of name: Substring, _ text: String) -> (names: [String], isListed: Bool) {
    if let listed = listed(text) { return (listed, true) }
    let type = name.prefix { $0 != "+" }
    return (["\(name)Tests.swift", "\(type)Tests.swift"], false)
  }

  @Test func sourceFileLeadsToItsTests() throws {
    let tests = Set(try LayeringTests.sources("Tests").map { URL(fileURLWithPath: $0.path).lastPathComponent })
    let files = try LayeringTests.sources("Sources").filter { Self.targets.contains($0.target) }
    #expect(files.count > 150)
    for (_, path, text) in files {
      let file = URL(fileURLWithPath: path).lastPathComponent
      let (names, isListed) = Self.tests(of: file.dropLast(".swift".count), text)
      if isListed {
        #expect(!names.isEmpty && names.allSatisfy(tests.contains), "\(path) lists tests that do not exist: \(names)")
      } else {
        #expect(names.contains(where: tests.contains), "\(path) lists no tests, and no test file has its name")
      }
    }
  }

  @Test func listIsReadFromFirstLine() {
    let list = Self.tests(of: "Hub+Reads", "// Tests: HubTests.swift, WindowTests.swift\nimport GraphModel\n")
    #expect(list.names == ["HubTests.swift", "WindowTests.swift"] && list.isListed)
    let name = Self.tests(of: "Hub+Reads", "import GraphModel\n// Tests: HubTests.swift\n")
    #expect(name.names == ["Hub+ReadsTests.swift", "HubTests.swift"] && !name.isListed)
  }
}
