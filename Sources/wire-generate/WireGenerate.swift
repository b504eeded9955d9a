import Foundation

/// `wire-generate SCHEMA.proto MAPPING --output SOURCES` writes the codec of a schema's messages.
/// `scripts/generate-wire` runs it; the files are committed.
@main
enum WireGenerate {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 4, arguments[3] == "--output" else {
      fail("usage: wire-generate SCHEMA.proto MAPPING --output SOURCES")
    }
    do {
      let files = try files(
        schema: try text(of: arguments[1]), at: arguments[1], mapping: try text(of: arguments[2]), at: arguments[2])
      for file in files { try write(file.text, to: "\(arguments[4])/\(file.path)") }
    } catch {
      fail("\(error)")
    }
  }

  /// The generated files, by their paths relative to Sources.
  static func files(
    schema: String, at schemaPath: String, mapping: String, at mappingPath: String
  ) throws(SourceError) -> [(path: String, text: String)] {
    let proto = try ProtoParser.parse(schema, path: schemaPath)
    let codec = try Codec(proto: proto, mapping: try MappingParser.parse(mapping, path: mappingPath))
    return try CodecGenerator(codec: codec).files()
  }

  private static func text(of path: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
  }

  private static func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: url, atomically: true, encoding: .utf8)
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
  }
}
