import Foundation
import GraphModel

/// A store that a released version has made (`scripts/record-stores`), in a folder of `Schema/Stores`.
public struct RecordedStore: Sendable, CustomStringConvertible {
  /// The version and the name: `0.1.0/club`.
  public let name: String

  /// All recorded stores, oldest version first.
  public static let all: [RecordedStore] = {
    let folder = Fixtures.root + "/Schema/Stores/"
    func names(in folder: String) -> [String] {
      do {
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      } catch {
        return []
      }
    }
    return names(in: folder).flatMap { version in
      names(in: folder + version).filter { $0.hasSuffix(".sqlite.gz") }
        .map { RecordedStore(name: "\(version)/\($0.dropLast(".sqlite.gz".count))") }
    }
  }()

  /// The folder of the model's files.
  public var schema: String { "\(Fixtures.root)/Schema/Stores/\(name).schema" }

  /// The path of the exported graph, relative to the package.
  public var export: String { "Schema/Stores/\(name).jsonl" }

  public var description: String { name }

  /// Loads the versions of the model, oldest first.
  public func models() throws -> [Model] {
    try FileManager.default.contentsOfDirectory(atPath: schema).filter { $0.hasSuffix(".json") }
      .map { try Model(parsing: Data(contentsOf: URL(fileURLWithPath: "\(schema)/\($0)"))) }
      .sorted { $0.version < $1.version }
  }

  /// Writes the store's file into a directory.
  public func unpack(into directory: String) throws {
    let path = directory + "/graph.sqlite"
    guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
      let file = FileHandle(forWritingAtPath: path)
    else { throw CocoaError(.fileWriteUnknown) }
    defer { try? file.close() }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", "\(Fixtures.root)/Schema/Stores/\(name).sqlite.gz"]
    process.standardOutput = file
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
  }
}
