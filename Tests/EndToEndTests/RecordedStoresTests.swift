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
    // Inserts an object of each entity without required relationships, then undoes the last insert.
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

  /// The user of a first version starts the programs of today: notes, history and earlier programs go on.
  @Test func storeOfFirstNotesIsMigratedWhenTheDaemonStarts() async throws {
    let recorded = try #require(RecordedStore.all.first { $0.name == "0.1.0/stickies" })
    let daemon = try Daemon()
    try FileManager.default.createDirectory(
      atPath: daemon.data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try recorded.unpack(into: daemon.data)
    // The tools take the version that the store has.
    try daemon.expectSound()

    try daemon.start()
    let lines = try daemon.run("graph", "export").lines
    let before = String(decoding: try Fixtures.file(recorded.export), as: UTF8.self).split(separator: "\n")
    // The head has the version, and the end a checksum.
    #expect(Array(lines.dropFirst().dropLast()) == before.dropFirst().dropLast().map(String.init))
    #expect(try daemon.run("log", "--limit", "1").output.contains("migrated to version 2"))
    #expect(try daemon.run("show", "1").output.contains("\ncreator: null\n"))
    #expect(try daemon.run("add", "new", author: "ann@test").status == 0)
    let newest = try daemon.run("list", "--where", "text == 'new'", "--json").json()[0]
    #expect(newest?["creator"] == .string("ann@test"))

    // A program of the first version.
    let first = try Fixtures.stickies()
    let old = try RawClient(daemon.socket)
    #expect(try await old.hello(model: first.hash).model == first.hash)
    let tag = try #require(first.entity(named: "Tag"))
    let name = try #require(tag.property(named: "name"))
    let insert = Change(.insert, .temporary(1, entity: tag.number), edits: [Edit(name.number, .set(.string("old")))])
    #expect(try await old.commit([insert]).revision != nil)
    old.close()
    let tags = try daemon.run("graph", "fetch", "Tag", "--where", "name == 'old'", "--json").json()[0]
    #expect(tags?["creator"] == .string("raw@test"))
    #expect(daemon.stop() == 0)
    try daemon.expectSound()

    // The copy leads back, and the next start migrates it again.
    let files = try FileManager.default.contentsOfDirectory(atPath: daemon.data)
    let copy = try #require(files.first { $0.hasPrefix("graph.sqlite.version-1.") && $0.hasSuffix(".backup") })
    let restored = try daemon.stickiesd("restore", daemon.data + "/" + copy)
    #expect(restored.status == 0, "\(restored.errors)")
    try daemon.start()
    #expect(try daemon.run("graph", "fetch", "Tag", "--where", "name == 'old'", "--count").output == "0\n")
    #expect(daemon.stop() == 0)
  }

  /// A model of `--schema` is its author's: its stores are migrated on request only.
  @Test func storeWithASchemaIsNotMigratedByItself() throws {
    let recorded = try #require(RecordedStore.all.first { $0.name == "0.1.0/stickies" })
    let daemon = try Daemon()
    try FileManager.default.createDirectory(
      atPath: daemon.data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try recorded.unpack(into: daemon.data)
    let failure = #expect(throws: Daemon.DaemonExited.self) {
      try daemon.start(["--schema", Fixtures.root + "/Schema/Stickies"])
    }
    #expect(failure?.log.contains("Run stickiesd migrate --dry-run") == true)
  }
}
