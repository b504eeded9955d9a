import Foundation
import GraphModel
import GraphTesting
import Testing

/// Stores that released versions have made (scripts/record-stores), under the programs of now: what is in them is sound, is
/// what it was, and takes commits.
@Suite struct RecordedStoresTests {
  /// `0.1.0/club`, for each of `Schema/Stores/0.1.0/club.sqlite.gz`.
  static let names: [String] = {
    let folder = Fixtures.root + "/Schema/Stores/"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return versions.sorted().flatMap { version in
      ((try? FileManager.default.contentsOfDirectory(atPath: folder + version)) ?? []).sorted()
        .filter { $0.hasSuffix(".sqlite.gz") }.map { "\(version)/\($0.dropLast(".sqlite.gz".count))" }
    }
  }()

  private func unpack(_ archive: String, into file: FileHandle) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", archive]
    process.standardOutput = file
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  @Test func recordingsOfFirstVersionExist() {
    #expect(Self.names.contains("0.1.0/stickies") && Self.names.contains("0.1.0/club"))
  }

  @Test(arguments: names)
  func recordedStoreIsUnchangedAndAcceptsCommits(name: String) throws {
    let recorded = Fixtures.root + "/Schema/Stores/" + name
    let schema = recorded + ".schema"
    let daemon = try Daemon()
    try FileManager.default.createDirectory(
      atPath: daemon.data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let path = daemon.data + "/graph.sqlite"
    try #require(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
    let store = try #require(FileHandle(forWritingAtPath: path))
    #expect(try unpack(recorded + ".sqlite.gz", into: store) == 0)
    try store.close()
    try daemon.expectSound(["--schema", schema])

    try daemon.start(["--schema", schema])
    let exported = try daemon.run("graph", "export")
    #expect(try exported.output == String(decoding: Fixtures.file("Schema/Stores/\(name).jsonl"), as: UTF8.self))
    // All of history can be read, from its first commit on.
    let log = try daemon.run("graph", "log", "--limit", "1000", "--oldest-first", "--json").json().arrayValue ?? []
    #expect(log.first?["revision"] == .integer(1) && log.count > 20)
    // A commit for each entity that needs nothing, and back.
    let model = try Model(parsing: Array(Data(contentsOf: URL(fileURLWithPath: try newest(of: schema)))))
    let free = model.entities.filter { entity in
      !entity.isAbstract && entity.storedProperties.allSatisfy { $0.isOptional || $0.attribute != nil }
    }
    try #require(!free.isEmpty)
    for entity in free {
      let values = entity.storedProperties.filter { property in
        !property.isOptional && property.attribute?.defaultValue == .null && property.attribute?.assignment == nil
          && property.attribute?.isDerived == false && property.attribute?.kind == .string
      }
      let line = "{" + values.map { "\"\($0.name)\":\"new \(entity.name)\"" }.joined(separator: ",") + "}\n"
      let result = try daemon.run("graph", "insert", entity.name, "-", input: line)
      #expect(result.status == 0, "\(entity.name): \(result.errors)")
    }
    #expect(try daemon.run("graph", "undo").status == 0)
    #expect(daemon.stop() == 0)
    try daemon.expectSound(["--schema", schema])
  }

  private func newest(of schema: String) throws -> String {
    let files = try FileManager.default.contentsOfDirectory(atPath: schema).filter { $0.hasSuffix(".json") }
    return schema + "/" + (try #require(files.max { Int($0.dropLast(5)) ?? 0 < Int($1.dropLast(5)) ?? 0 }))
  }
}
