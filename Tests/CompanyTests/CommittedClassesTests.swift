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
}
