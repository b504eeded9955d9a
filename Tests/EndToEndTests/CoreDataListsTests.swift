import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies graph import --core-data` with lists that another client changes, too.
@Suite struct CoreDataListsTests {
  private let app: CoreDataApp

  /// Each note requires a file, which has its notes in an order. All are in the small file.
  init() throws {
    let notes = #""inverse": "imageFile", "toMany": true"#
    let file = #""inverse": "notesOfImageFile","#
    app = try CoreDataApp.notes((notes, notes + #", "ordered": true"#), (file, file + #" "optional": false,"#))
    try app.change(
      """
      ALTER TABLE ZIDMNOTE ADD COLUMN Z_FOK_IMAGEFILE INTEGER;
      UPDATE ZIDMNOTE SET ZIMAGEFILE = 1, Z_FOK_IMAGEFILE = 1024 * Z_PK
      """)
    #expect(try app.counts() == ["imported": 9])
  }

  private func id(_ entity: String, _ name: String, place: SourceLocation = #_sourceLocation) throws -> String {
    let property = entity == "IDMTag" ? "text" : "uniqueIdentifier"
    return try #require(
      try app.object(entity, "\(property) == \"\(name)\"", place: place)["id"]?.stringValue, sourceLocation: place)
  }

  private func file(_ name: String) throws -> String { try id("IDMMediaFile", name) }
  private func note(_ name: String) throws -> String { try id("IDMNote", name) }

  /// A change of another client.
  private func edit(_ arguments: String..., place: SourceLocation = #_sourceLocation) throws {
    let result = try Daemon.run(
      ["graph"] + arguments, server: app.daemon.socket.description, author: "ben@test", input: nil)
    #expect(result.status == 0, "\(result.errors)", sourceLocation: place)
  }

  private func notes(of file: String) throws -> [String?] {
    try app.members(
      app.object("IDMMediaFile", "uniqueIdentifier == \"\(file)\""), "notesOfImageFile", "uniqueIdentifier")
  }

  private func tags(of note: String) throws -> Set<String?> {
    Set(try app.members(app.object("IDMNote", "uniqueIdentifier == \"\(note)\""), "tags", "text"))
  }

  /// Another client puts its own note between those of the app, and its own tag on a note.
  @Test func membersOfOthersStay() throws {
    let small = try file("media-small")
    try edit("insert", "IDMNote", "imageFile=\(small)", "uniqueIdentifier=own", "creationDate=2026-01-01")
    try edit("update", small, "--place", "notesOfImageFile=\(try note("own")):\(note("n2"))")
    try edit("insert", "IDMTag", "text=own")
    try edit("update", note("n1"), "--add", "tags=\(id("IDMTag", "own"))")
    try app.change(
      """
      UPDATE ZIDMNOTE SET Z_FOK_IMAGEFILE = 1 WHERE Z_PK = 4;
      DELETE FROM Z_2TAGS WHERE Z_2NOTES = 1 AND Z_3TAGS = 2
      """)
    #expect(try app.counts() == ["changed": 2, "unchanged": 7])
    #expect(try notes(of: "media-small") == ["n4", "n1", "n2", "own", "n5"])
    #expect(try tags(of: "n1") == ["red", "own"])
    #expect(try app.counts() == ["unchanged": 9])
    // The second note stays without its row, and requires the file.
    try app.change("DELETE FROM ZIDMNOTE WHERE Z_PK = 2; DELETE FROM Z_2TAGS WHERE Z_2NOTES = 2")
    #expect(try app.counts() == ["unchanged": 8, "kept": 1])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["imageFile"] == .string(small))
    #expect(app.daemon.stop() == 0)
  }

  /// Another client moves one note within its file, one to the other file, and deletes a tag that the app removes.
  @Test func changesByOthersStay() throws {
    let small = try file("media-small")
    try edit("update", small, "--place", "notesOfImageFile=\(try note("n1")):\(note("n5"))")
    try edit("update", note("n4"), "imageFile=\(file("media-big"))")
    try edit("delete", id("IDMTag", "blue"))
    try app.change(
      """
      UPDATE ZIDMNOTE SET Z_FOK_IMAGEFILE = 1 WHERE Z_PK = 5;
      INSERT INTO Z_2TAGS VALUES (1, 7), (4, 1); DELETE FROM Z_2TAGS WHERE Z_2NOTES = 1 AND Z_3TAGS = 2
      """)
    let counts = try app.counts()
    #expect(counts == ["changed": 3, "unchanged": 5, "absent": 1])
    #expect(try notes(of: "media-small") == ["n5", "n2", "n1"])
    #expect(try notes(of: "media-big") == ["n4"])
    #expect(try tags(of: "n1") == ["red", "unused"])
    #expect(try tags(of: "n4") == ["red"])
    #expect(try app.counts() == ["unchanged": 8, "absent": 1])
    #expect(app.daemon.stop() == 0)
  }

  /// The first file loses a note that another one gets in a later commit, or in an earlier one.
  @Test(arguments: ["1000", "1"]) func noteChangesItsFile(batch: String) throws {
    for (from, to) in [(1, 2), (2, 1)] {
      try app.change("UPDATE ZIDMNOTE SET ZIMAGEFILE = \(to) WHERE Z_PK = 2")
      let counts = try app.counts("--batch", batch)
      #expect(counts["skipped"] == nil && counts["incomplete"] == nil, "\(counts)")
      #expect(try notes(of: to == 1 ? "media-small" : "media-big").contains("n2"), "moved from \(from)")
      #expect(try app.counts("--batch", batch) == ["unchanged": 9])
    }
    #expect(app.daemon.stop() == 0)
  }

  /// The app moves a note that another client has moved to a further file.
  @Test func moveByTheAppWins() throws {
    try edit("insert", "IDMMediaFile", "uniqueIdentifier=own", "data=AA==")
    try edit("update", note("n2"), "imageFile=\(file("own"))")
    try app.change("UPDATE ZIDMNOTE SET ZIMAGEFILE = 2 WHERE Z_PK = 2")
    let counts = try app.counts()
    #expect(counts["overwritten"] == 1 && counts["skipped"] == nil, "\(counts)")
    #expect(try notes(of: "media-big") == ["n2"])
    #expect(try notes(of: "own") == [])
    #expect(app.daemon.stop() == 0)
  }

  /// The app moves a note from before to behind one that another client has given to the other file, and one behind it.
  @Test func noteThatOthersHaveMovedDoesNotReturn() throws {
    try edit("update", note("n4"), "imageFile=\(file("media-big"))")
    try app.change(
      """
      UPDATE ZIDMNOTE SET Z_FOK_IMAGEFILE = 6000 WHERE Z_PK = 4;
      UPDATE ZIDMNOTE SET Z_FOK_IMAGEFILE = 7000 WHERE Z_PK = 1
      """)
    let counts = try app.counts()
    #expect(counts == ["changed": 1, "unchanged": 8])
    #expect(try notes(of: "media-small") == ["n2", "n5", "n1"])
    #expect(try notes(of: "media-big") == ["n4"])
    // A new note behind it stands behind the note before it.
    try app.change(
      "INSERT INTO ZIDMNOTE VALUES (9, 2, 1, 1, 5, 'late', 'n9', 6500); UPDATE ZIDMNOTE SET Z_OPT = 2 WHERE Z_PK = 1")
    #expect(try app.counts() == ["imported": 1, "changed": 1, "unchanged": 8])
    #expect(try notes(of: "media-small") == ["n2", "n5", "n9", "n1"])
    #expect(app.daemon.stop() == 0)
  }

  @Test func changedRowOfADeletedObjectMakesNoCommit() throws {
    try edit("delete", id("IDMTag", "unused"))
    try app.change("UPDATE ZIDMTAG SET ZTEXT = 'used' WHERE Z_PK = 7")
    let revision = try app.revision()
    for _ in 0..<2 { #expect(try app.counts() == ["unchanged": 8, "skipped": 1]) }
    #expect(try app.revision() == revision)
    #expect(app.daemon.stop() == 0)
  }
}
