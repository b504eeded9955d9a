import Foundation
import Testing

@Suite struct CommittedClassesTests {
  /// scripts/generate-models writes the file.
  @Test func committedClassesAreThoseOfTheModel() throws {
    let compiler = try Compiler()
    let file = Compiler.package.appendingPathComponent("Sources/StickiesModel/Generated/StickiesModel.swift")
    #expect(try compiler.classes(ofSchema: "Stickies") == String(contentsOf: file, encoding: .utf8))
    try compiler.clean()
  }

  /// scripts/generate-versions writes the file.
  @Test func committedEarlierVersionsAreThoseOfTheFiles() throws {
    let file = Compiler.package.appendingPathComponent("Sources/StickiesModel/Generated/StickiesModel+Versions.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    let first = Compiler.package.appendingPathComponent("Schema/Stickies/1.json")
    let lines = try String(contentsOf: first, encoding: .utf8).split(separator: "\n").map { "    \($0)\n" }.joined()
    #expect(text.contains("    #\"\"\"\n" + lines + "\n    \"\"\"#,\n"))
  }
}
