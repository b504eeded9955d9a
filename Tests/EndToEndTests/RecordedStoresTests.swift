import Foundation
import GraphModel
import GraphTesting
import Testing

/// Stores of released versions (scripts/record-stores), read by the present programs: their contents are sound and
/// unchanged, and they accept commits.
@Suite struct RecordedStoresTests {
  @Test func recordingsOfFirstVersionExist() {
    let names = RecordedStore.all.map(\.name)
    #expect(names.contains("0.1.0/stickies") && names.contains("0.1.0/club"))
  }

  @Test(arguments: RecordedStore.all)
  func recordedStoreIsUnchangedAndAcceptsCommits(recorded: RecordedStore) throws {
    let schema = recorded.schema
    let daemon = try Daemon()
    try FileManager.default.createDirectory(
      atPath: daemon.data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try recorded.unpack(into: daemon.data)
    try daemon.expectSound(["--schema", schema])

    try daemon.start(["--schema", schema])
    let exported = try daemon.run("graph", "export")
    #expect(try exported.output == String(decoding: Fixtures.file(recorded.export), as: UTF8.self))
    // All of history can be read, from its first commit on.
    let log = try daemon.run("graph", "log", "--limit", "1000", "--oldest-first", "--json").json().arrayValue ?? []
    #expect(log.first?["revision"] == .integer(1) && log.count > 20)
    // A commit for each entity that needs nothing, and back.
    let model = try #require(try recorded.models().last)
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
}
