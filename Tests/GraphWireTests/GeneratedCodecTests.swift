import Foundation
import GraphTesting
import Testing

@testable import wire_generate

/// The committed codec is the one that its generator writes, and the generator names the place of a mistake.
@Suite struct GeneratedCodecTests {
  private static func text(_ path: String) throws -> String { String(decoding: try Fixtures.file(path), as: UTF8.self) }

  private static func codec() throws -> Codec {
    try WireGenerate.codec(
      schema: try text("Schema/Wire/graph.proto"), at: "graph.proto", mapping: try text("Schema/Wire/swift.map"),
      at: "swift.map")
  }

  @Test func committedTableOfBrowserEqualsGeneratedOne() throws {
    let table = try TableGenerator(codec: try Self.codec()).text()
    #expect(table.contains("message ToServer !"))
    #expect(
      try Self.text("Web/wire/schema.js") == table,
      "Web/wire/schema.js differs from graph.proto and swift.map: run scripts/generate-wire")
  }

  @Test func secondOneofOfMessageIsRefusedForTable() throws {
    let codec = try WireGenerate.codec(
      schema: "message A {\n  oneof b { uint64 c = 1; }\n  oneof d { uint64 e = 2; }\n}", at: "a.proto",
      mapping: "file x/A.swift \"A.\"\nmessage A\n  b type B zero `1`\n  d type D zero `1`", at: "a.map")
    let error = try #require(throws: SourceError.self) { try TableGenerator(codec: codec).text() }
    #expect(error.description == "a.proto:1: error: Web/wire/codec.js reads one oneof of a message; use one")
  }

  @Test func committedCodecEqualsGeneratedOne() throws {
    let codec = try Self.codec()
    let files = try CodecGenerator(codec: codec).files()
    #expect(files.count >= 4)
    for file in files {
      #expect(
        try Self.text("Sources/\(file.path)") == file.text,
        "Sources/\(file.path) differs from graph.proto and swift.map: run scripts/generate-wire")
    }
    let folders = Set(files.map { URL(fileURLWithPath: $0.path).deletingLastPathComponent().relativePath })
    for folder in folders {
      let names = try FileManager.default.contentsOfDirectory(atPath: "\(Fixtures.root)/Sources/\(folder)")
      #expect(names.allSatisfy { name in files.contains { $0.path == "\(folder)/\(name)" } }, "\(folder): \(names)")
    }
  }

  @Test(arguments: [
    (
      "message A { uint64 a = 1; uint64 b = 1; }",
      "a.proto:1: error: a and b have the same number; use the next free one"
    ),
    ("message A {\n  float a = 1;\n}", "a.proto:2: error: there is no type float"),
    ("message A {\n  repeated uint64 a = 1;\n}", "a.proto:2: error: a list of uint64 may come packed"),
    ("message A {\n  map<string, string> a = 1;\n}", "a.proto:2: error: \"map\" is not supported inside of a message"),
    ("message A { uint64 a = 0; }", "a.proto:1: error: \"0\" is not a field number"),
    ("message A {\n  uint64 a = 1", "a.proto:2: error: the file ends too early; close the brace"),
    ("enum E {\n  A = 0;\n  B = 2;\n}", "a.proto:3: error: B must have the number 1"),
    ("service S {}", "a.proto:1: error: \"service\" is not supported here; write a message or an enum"),
    ("syntax = \"proto2\";", "a.proto:1: error: the syntax must be \"proto3\""),
    ("message B {}", "a.proto:1: error: a.map has no line for B; add \"message B\" under a file"),
  ])
  func mistakeInSchemaNamesItsLine(schema: String, mistake: String) throws {
    let error = try #require(throws: SourceError.self) {
      try CodecGenerator(codec: try WireGenerate.codec(schema: schema, at: "a.proto", mapping: "", at: "a.map")).files()
    }
    #expect(error.description.hasPrefix(mistake), "\(error)")
  }

  @Test(arguments: [
    ("message A", "a.map:1: error: a \"file\" line must come before this one"),
    ("file x/A.swift \"A.\"\nmessage A\n  b zero `1`", "a.map:3: error: A has no field b; remove this line"),
    ("file x/A.swift \"A.\"\nmessage A\n  a as id", "a.map:3: error: there is no form id of uint64"),
    ("file x/A.swift \"A.\"\nmessage A\n  a zero `1", "a.map:3: error: a closing ` is missing"),
    ("file x/A.swift \"A.\"\nmessage A\n  a like b", "a.map:3: error: \"like\" is not an option of a field"),
    ("file x/A.swift \"A.\"\nmessage A\nmessage B", "a.map:3: error: a.proto has no message B; remove this line"),
    ("messages A", "a.map:1: error: \"messages\" is not known"),
  ])
  func mistakeInMappingNamesItsLine(mapping: String, mistake: String) throws {
    let error = try #require(throws: SourceError.self) {
      let schema = "message A { uint64 a = 1; }"
      let codec = try WireGenerate.codec(schema: schema, at: "a.proto", mapping: mapping, at: "a.map")
      return try CodecGenerator(codec: codec).files()
    }
    #expect(error.description.hasPrefix(mistake), "\(error)")
  }
}
