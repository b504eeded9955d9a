import Foundation
import GraphTesting
import Testing

/// The README's program belongs to this package: it is built with it and does what the page says.
@Suite struct FirstProgramTests {
  @Test func readmeShowsProgramVerbatim() throws {
    let readme = try String(contentsOfFile: Fixtures.root + "/README.md", encoding: .utf8)
    let program = try String(contentsOfFile: Fixtures.root + "/docs/examples/first-program/main.swift", encoding: .utf8)
    let block = try #require(readme.firstMatch(of: #/```swift\n([^`]*)```/#)).output.1
    #expect(String(block) == program)
    #expect(program.split(separator: "\n").count <= 18)
  }

  @Test func programFollowsPinnedNotesAndWritesOne() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "Buy milk", "--tag", "phone")
    try daemon.run("add", "Not this one", "--color", "pink")
    try daemon.run("graph", "update", "Note", "--where", "number == 1", "pinned=yes")
    let process = Process()
    process.executableURL = Daemon.binary("first-program")
    process.environment = ProcessInfo.processInfo.environment.merging([
      "STICKIES_SERVER": daemon.socket.description, "STICKIES_AUTHOR": "first@program",
    ]) { $1 }
    let result = try process.result()
    #expect(result.status == 0, "\(result.errors)")
    // The first result may have arrived after the save.
    let lists = result.output.split(separator: "\n")
    #expect(lists.last == #"["Buy milk", "Written from Swift"]"#)
    #expect(lists.dropLast().allSatisfy { $0 == #"["Buy milk"]"# })
    let note = try daemon.run("show", "3", "--json").json()
    #expect(note["text"]?.stringValue == "Written from Swift")
    #expect(note["color"]?.stringValue == "yellow")
    let tagged = try daemon.run("list", "--tag", "phone", "--json").output
    #expect(tagged.contains("Buy milk") && tagged.contains("Written from Swift"))
  }
}
