import Foundation
import Testing

/// Runs the compiler and the generator as a build does, on files in a temporary folder, with the modules that the tests
/// were built with.
struct Compiler {
  /// The output of a program, and its exit code.
  struct Result {
    let status: Int32
    let text: String
  }

  static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The folder of the tests, the programs and the modules.
  private static let build: URL = {
    let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let isThere = FileManager.default.isExecutableFile(atPath: beside.appendingPathComponent("graph-generate").path)
    return isThere ? beside : package.appendingPathComponent(".build/debug")
  }()

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("company-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func clean() throws { try FileManager.default.removeItem(at: folder) }

  /// Runs the generator on the file of a model, `model.json`.
  func generate(_ model: String) throws -> Result {
    let file = folder.appendingPathComponent("model.json")
    try Data(model.utf8).write(to: file)
    let output = folder.appendingPathComponent("Generated.swift")
    return try run(Self.build.appendingPathComponent("graph-generate"), [file.path, "--output", output.path])
  }

  /// The Swift of a model.
  func classes(of model: String) throws -> String {
    let result = try generate(model)
    try #require(result.status == 0, "\(result.text)")
    return try String(contentsOf: folder.appendingPathComponent("Generated.swift"), encoding: .utf8)
  }

  /// The Swift of the newest version of a model of this package.
  func classes(ofSchema name: String) throws -> String {
    let schema = Self.package.appendingPathComponent("Schema/\(name)")
    let versions = try FileManager.default.contentsOfDirectory(atPath: schema.path)
      .compactMap { Int($0.dropLast(".json".count)) }
    let newest = try #require(versions.max(), "the folder has a model file")
    return try classes(of: String(contentsOf: schema.appendingPathComponent("\(newest).json"), encoding: .utf8))
  }

  /// Parses and type checks a program, without generating code.
  func check(_ sources: [String: String]) throws -> Result {
    var files = [String]()
    for (name, text) in sources.sorted(by: { $0.key < $1.key }) {
      let file = folder.appendingPathComponent(name)
      try Data(text.utf8).write(to: file)
      files.append(file.path)
    }
    let modules = Self.build.appendingPathComponent("Modules").path
    return try run(
      URL(fileURLWithPath: "/usr/bin/env"),
      ["swiftc", "-typecheck", "-swift-version", "6", "-diagnostic-style", "llvm", "-I", modules] + files)
  }

  private func run(_ program: URL, _ arguments: [String]) throws -> Result {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let said = Pipe()
    (process.standardOutput, process.standardError) = (said, said)
    try process.run()
    let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Result(status: process.terminationStatus, text: text)
  }
}
