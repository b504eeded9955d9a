import Foundation

/// `wire-generate SCHEMA.proto MAPPING --output SOURCES --table FILE` writes the codec of a schema's messages, and the
/// table of them for the browser's codec.
/// `scripts/generate-wire` runs it; the files are committed.
@main
enum WireGenerate {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 6, arguments[3] == "--output", arguments[5] == "--table" else {
      fail("usage: wire-generate SCHEMA.proto MAPPING --output SOURCES --table FILE")
    }
    do {
      let codec = try codec(
        schema: try text(of: arguments[1]), at: arguments[1], mapping: try text(of: arguments[2]), at: arguments[2])
      for file in try CodecGenerator(codec: codec).files() {
        try write(file.text, to: "\(arguments[4])/\(file.path)")
      }
      try write(try TableGenerator(codec: codec).text(), to: arguments[6])
    } catch {
      fail("\(error)")
    }
  }

  /// A schema with its mapping, checked; the generators read both from it.
  static func codec(
    schema: String, at schemaPath: String, mapping: String, at mappingPath: String
  ) throws(SourceError) -> Codec {
    let proto = try ProtoParser.parse(schema, path: schemaPath)
    return try Codec(proto: proto, mapping: try MappingParser.parse(mapping, path: mappingPath))
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
