import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickiesd migrate` as its guide describes it: the files, the messages and the result.
@Suite struct MigrateTests {
  private func blocks(_ language: String) throws -> [String] {
    let page = String(decoding: try Fixtures.file("docs/guides/migration.md"), as: UTF8.self)
    var found = [String]()
    var lines: [Substring]?
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if let open = lines {
        if line == "```" {
          if open.first == Substring(language) { found.append(open.dropFirst().map { $0 + "\n" }.joined()) }
          lines = nil
        } else {
          lines = open + [line]
        }
      } else if line.hasPrefix("```") {
        lines = [line.dropFirst(3)]
      }
    }
    return found
  }

  /// A club of two members, its daemon stopped, with the second version of the model beside the first.
  private func club(_ second: String? = nil) throws -> (daemon: Daemon, schema: String) {
    let daemon = try Daemon()
    let schema = daemon.home.path + "/Club"
    try FileManager.default.createDirectory(atPath: schema, withIntermediateDirectories: true)
    let versions = try blocks("json")
    #expect(versions.count == 2)
    try versions[0].write(toFile: schema + "/1.json", atomically: true, encoding: .utf8)
    try daemon.start(["--schema", schema])
    for (first, last) in [("Ann", "Lee"), ("Bob", "May")] {
      let result = try daemon.run("graph", "insert", "Member", "first=\(first)", "last=\(last)", "phone=5")
      #expect(result.status == 0, "\(result.errors)")
    }
    #expect(daemon.stop() == 0)
    try (second ?? versions[1]).write(toFile: schema + "/2.json", atomically: true, encoding: .utf8)
    return (daemon, schema)
  }

  private func migrate(_ daemon: Daemon, _ schema: String, _ more: String...) throws -> Daemon.Result {
    try daemon.stickiesd(["migrate", "--schema", schema] + more)
  }

  /// The times and the ids differ from run to run.
  private func untimed(_ text: String) -> String {
    text.replacing(#/[0-9]+ ms/#, with: "N ms").replacing(#/\b[a-z][0-9a-z]{25}\b/#, with: "ID")
  }

  @Test func migrationGuideMatchesPrograms() throws {
    let (daemon, schema) = try club()
    let refused = #expect(throws: Daemon.DaemonExited.self) { try daemon.start(["--schema", schema]) }
    #expect(refused?.status == 1)
    #expect(refused?.log.contains("has Club version 1, but the given model is version 2") == true)
    #expect(refused?.log.contains("Run stickiesd migrate --dry-run") == true)

    let rehearsal = try migrate(daemon, schema, "--dry-run")
    #expect(rehearsal.status == 0, "\(rehearsal.errors)")
    #expect(untimed(rehearsal.output) == untimed(try #require(try blocks("").first)))
    #expect(rehearsal.errors.contains("100% done"))

    let done = try migrate(daemon, schema, "--json").json()
    let lost = try #require(done["lost"]?.arrayValue)
    #expect(lost.compactMap { $0["path"]?.stringValue } == ["Member.first", "Member.last"])
    #expect(lost.allSatisfy { $0["kind"]?.stringValue == "gone" && $0["ids"]?.arrayValue?.count == 2 })
    #expect(done["rehearsal"]?.boolValue == false && done["to"]?.integerValue == 2)
    #expect(done["rewritten"]?.integerValue == 2)
    let backup = try #require(done["backup"]?.stringValue)
    #expect(FileManager.default.fileExists(atPath: backup))

    try daemon.start(["--schema", schema])
    let found = try daemon.run("graph", "fetch", "Member", "--where", "active == TRUE AND telephone == '5'", "--json")
    #expect(found.output.contains("Ann Lee") && found.output.contains("Bob May"))
    // A client with another model is refused in the handshake; a client that adopts the server's model continues.
    let client = try daemon.run("list")
    #expect(client.status != 0 && client.errors.contains("the daemon serves the model Club 2"))
    let log = try daemon.run("graph", "log", "--json")
    #expect(log.status == 0 && log.output.contains("stickiesd migrate"), "\(log.errors)")
    #expect(try daemon.run("graph", "log", "--limit", "1").output.hasSuffix("\n    migrated to version 2\n"))
    #expect(daemon.stop() == 0)
    let again = try migrate(daemon, schema)
    #expect(again.output == "the store has version 2; there is nothing to migrate\n")
  }

  @Test func daemonMigratesAtStartWithOption() throws {
    let (daemon, schema) = try club()
    try daemon.start(["--schema", schema, "--migrate"])
    #expect(try daemon.run("graph", "fetch", "Member", "--where", "name == 'Ann Lee'", "--count").output == "1\n")
    #expect(daemon.stop() == 0)
    try daemon.start(["--schema", schema, "--migrate"])
    #expect(daemon.stop() == 0)
  }

  @Test func objectsThatBlockMigrationAreReportedWithIDs() throws {
    let second = try blocks("json")[1].replacing("    ]}", with: #"    ], "unique": [["telephone"]]}"#)
    let (daemon, schema) = try club(second)
    let refused = try migrate(daemon, schema, "--json")
    #expect(refused.status == 1)
    let breaches = try #require(try refused.json()["error"]?["breaches"]?.arrayValue)
    #expect(breaches.count == 2)
    #expect(breaches.allSatisfy { $0["id"]?.stringValue?.count == 26 && $0["entity"]?.stringValue == "Member" })
    #expect(untimed(refused.errors).hasSuffix(untimed(try #require(try blocks("text").dropFirst().first))))
  }
}
