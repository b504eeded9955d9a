import CoreDataModels
import Foundation
import Testing

/// The program `graph-generate convert`.
@Suite struct ConvertCommandTests {
  private struct Result {
    let status: Int32
    let output, errors: String
  }

  /// The program, which lies beside the tests.
  private static let program: URL = {
    let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("graph-generate")
    let package = Fixture.folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return FileManager.default.isExecutableFile(atPath: beside.path)
      ? beside : package.appendingPathComponent(".build/debug/graph-generate")
  }()

  private func run(_ arguments: [String], in folder: String) throws -> Result {
    let process = Process()
    let files = try TemporaryFolder(["output": Data(), "errors": Data()])
    defer { files.remove() }
    process.executableURL = Self.program
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardOutput = FileHandle(forWritingAtPath: files.path + "/output")
    process.standardError = FileHandle(forWritingAtPath: files.path + "/errors")
    try process.run()
    process.waitUntilExit()
    func text(_ name: String) throws -> String { try String(contentsOfFile: "\(files.path)/\(name)", encoding: .utf8) }
    return Result(status: process.terminationStatus, output: try text("output"), errors: try text("errors"))
  }

  private static let gaps = Fixture.folder.appendingPathComponent("synthetic/Gaps.xcdatamodeld").path

  @Test func convertWritesAllVersionsAndEveryDifference() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let result = try run(["convert", Self.gaps], in: folder.path)
    #expect(result.status == 0 && result.errors.isEmpty)
    let conversion = try CoreDataConversion(CoreDataBundle.read(Self.gaps))
    for version in conversion.versions {
      let file = try String(contentsOfFile: "\(folder.path)/Schema/Gaps/\(version.number).json", encoding: .utf8)
      #expect(file == version.text)
    }
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(Array(lines.dropLast(3)) == conversion.findings.map(\.description))
    #expect(
      Array(lines.suffix(3)) == [
        "Schema/Gaps/1.json: Gaps, 4 entities, 6 attributes, 4 relationships",
        "Schema/Gaps/2.json: Gaps 2, 4 entities, 8 attributes, 4 relationships, current",
        "34 differences from the Core Data model",
      ])
    // The files are the same, so a second run changes nothing.
    #expect(try run(["convert", Self.gaps], in: folder.path).status == 0)
  }

  @Test func folderAndNameCanBeGiven() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = "\(Self.gaps)/Gaps 2.xcdatamodel/contents"
    let result = try run(["convert", file, "--name", "Zoo", "--output", "models"], in: folder.path)
    #expect(result.status == 0)
    #expect(result.output.contains("models/1.json: Gaps 2, 4 entities, 8 attributes, 4 relationships, current\n"))
    let text = try String(contentsOfFile: "\(folder.path)/models/1.json", encoding: .utf8)
    #expect(text.contains("\"name\": \"Zoo\""))
  }

  @Test func orderOfVersionsCanBeStated() throws {
    let model = { (body: String) in Data("<model><entity name=\"A\">\(body)</entity></model>".utf8) }
    let attribute = "<attribute name=\"x\" optional=\"YES\" attributeType=\"String\"/>"
    let folder = try TemporaryFolder([
      "N.xcdatamodeld/Large.xcdatamodel/contents": model(attribute),
      "N.xcdatamodeld/Small.xcdatamodel/contents": model(""),
    ])
    defer { folder.remove() }
    let guessed = try run(["convert", "N.xcdatamodeld", "--output", "guessed"], in: folder.path)
    #expect(guessed.output.contains("state the order with --versions \"Small,Large\"\n"))
    #expect(guessed.output.contains("guessed/1.json: Small, "))
    let stated = try run(
      ["convert", "N.xcdatamodeld", "--output", "stated", "--versions", "Large, Small"], in: folder.path)
    #expect(stated.output.contains("stated/1.json: Large, ") && !stated.output.contains("--versions"))
    let wrong = try run(["convert", "N.xcdatamodeld", "--versions", "Large,Tiny"], in: folder.path)
    #expect(wrong.status == 1)
    #expect(
      wrong.errors
        == "N.xcdatamodeld: error: the stated order is Large, Tiny, but the versions are Large, Small; name each of them "
        + "once\n")
  }

  @Test func contentsInTheWorkingDirectoryHaveTheNameOfTheirFolder() throws {
    let folder = try TemporaryFolder(["App.xcdatamodel/contents": Data("<model><entity name=\"A\"/></model>".utf8)])
    defer { folder.remove() }
    for model in ["contents", "."] {
      let result = try run(["convert", model, "--output", "../Schema"], in: folder.path + "/App.xcdatamodel")
      #expect(result.output.contains("../Schema/1.json: App, 1 entity"), "\(model): \(result.output)")
    }
  }

  @Test func otherFileIsNotOverwritten() throws {
    let folder = try TemporaryFolder(["Schema/Gaps/2.json": Data("{}".utf8)])
    defer { folder.remove() }
    let result = try run(["convert", Self.gaps], in: folder.path)
    #expect(result.status == 1 && result.output.isEmpty)
    #expect(result.errors.hasPrefix("graph-generate: error: Schema/Gaps/2.json exists and has other contents; "))
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/Schema/Gaps/1.json"))
    #expect(try String(contentsOfFile: "\(folder.path)/Schema/Gaps/2.json", encoding: .utf8) == "{}")
  }

  /// The team serves the first version already.
  @Test func versionIsAddedToExistingFiles() throws {
    func model(_ type: String) -> Data {
      let attribute = "<attribute name=\"when\" optional=\"YES\" attributeType=\"\(type)\"/>"
      return Data("<model><entity name=\"A\">\(attribute)</entity></model>".utf8)
    }
    let folder = try TemporaryFolder(["N.xcdatamodeld/N.xcdatamodel/contents": model("String")])
    defer { folder.remove() }
    #expect(try run(["convert", "N.xcdatamodeld"], in: folder.path).status == 0)
    let first = "\(folder.path)/Schema/N/1.json"
    var text = try String(contentsOfFile: first, encoding: .utf8)
    text = text.replacingOccurrences(of: "\"optional\": true", with: "\"optional\": true, \"default\": \"today\"")
    try text.write(toFile: first, atomically: true, encoding: .utf8)
    let second = folder.path + "/N.xcdatamodeld/N 2.xcdatamodel"
    try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: true)
    try model("Date").write(to: URL(fileURLWithPath: second + "/contents"))
    let result = try run(["convert", "N.xcdatamodeld"], in: folder.path)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("\nSchema/N/1.json stays as it is: "), "\(result.output)")
    #expect(try String(contentsOfFile: first, encoding: .utf8) == text)
    let later = try String(contentsOfFile: "\(folder.path)/Schema/N/2.json", encoding: .utf8)
    #expect(later.contains("\"name\": \"when_2\""))
  }

  @Test func mistakesHaveTheFormOfCompilerMessages() throws {
    let contents = "<model>\n  <entity name=\"A\" parentEntity=\"B\"/>\n  <entity name=\"A\"/>\n</model>"
    let folder = try TemporaryFolder(["M.xcdatamodel/contents": Data(contents.utf8)])
    defer { folder.remove() }
    let result = try run(["convert", "M.xcdatamodel"], in: folder.path)
    #expect(result.status == 1 && result.output.isEmpty)
    #expect(
      result.errors
        == "M.xcdatamodel/contents:3:3: error: the entity A is declared twice, first in line 2; remove one\n"
        + "M.xcdatamodel/contents:2:3: error: the parent of A is B, but there is no such entity\n")
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/Schema"))
  }

  @Test(arguments: [[], ["a", "b"], ["a", "--output"], ["a", "--versions"], ["--frob", "a"]])
  func wrongUseIsExplained(arguments: [String]) throws {
    let result = try run(["convert"] + arguments, in: "/")
    #expect(result.status == 1)
    #expect(
      result.errors.contains("usage: graph-generate convert MODEL [--output DIR] [--name NAME] [--versions A,B,...]"))
  }
}
