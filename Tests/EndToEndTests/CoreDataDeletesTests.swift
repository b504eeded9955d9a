import Foundation
import GraphModel
import GraphTesting
import Testing

/// `--delete`, where the graph deletes further objects with the one whose row is gone.
@Suite struct CoreDataDeletesTests {
  /// The notes of a file are deleted with it, and its identifier is unique.
  private func app() throws -> CoreDataApp {
    let app = try CoreDataApp.notes(
      ("{\"name\": \"IDMMediaFile\",", "{\"name\": \"IDMMediaFile\", \"unique\": [[\"uniqueIdentifier\"]],"),
      ("\"imageFile\", \"toMany\": true}", "\"imageFile\", \"toMany\": true, \"deleteRule\": \"cascade\"}"),
      (", \"deleteRule\": \"cascade\"},\n        {\"name\": \"tags\"", "},\n        {\"name\": \"tags\""))
    #expect(try app.counts() == ["imported": 9])
    return app
  }

  private func id(_ app: CoreDataApp, _ entity: String, _ identifier: String) throws -> String {
    try #require(try app.object(entity, "uniqueIdentifier == \"\(identifier)\"")["id"]?.stringValue)
  }

  /// The app has given the note another file before it deleted the first one, whose identifier the other one has now.
  @Test func movedNoteStaysAndTheKeyIsReleased() throws {
    let app = try app()
    let note = try id(app, "IDMNote", "n1")
    #expect(try app.daemon.run("graph", "update", note, "text=theirs", author: "ben@test").status == 0)
    try app.change(
      """
      UPDATE ZIDMNOTE SET ZIMAGEFILE = 2 WHERE Z_PK = 1; DELETE FROM ZIDMMEDIAFILE WHERE Z_PK = 1;
      UPDATE ZIDMMEDIAFILE SET ZUNIQUEIDENTIFIER = 'media-small' WHERE Z_PK = 2
      """)
    #expect(try app.counts("--delete") == ["changed": 2, "unchanged": 6, "deleted": 1])
    let shown = try app.daemon.run("graph", "show", note, "--json").json()
    #expect(shown["text"] == .string("theirs"))
    #expect(shown["imageFile"]?.stringValue == (try id(app, "IDMMediaFile", "media-small")))
    #expect(try app.counts("--delete") == ["unchanged": 8])
    #expect(app.daemon.stop() == 0)
  }

  /// A note of another client, and one of the app that another client has changed.
  @Test func objectStaysIfOthersWouldGoWithIt() throws {
    let app = try app()
    let (file, note) = (try id(app, "IDMMediaFile", "media-small"), try id(app, "IDMNote", "n1"))
    let inserted = try app.daemon.run(
      "graph", "insert", "IDMNote", "imageFile=\(file)", "uniqueIdentifier=own", "creationDate=2026-01-01",
      author: "ben@test")
    #expect(inserted.status == 0, "\(inserted.errors)")
    let own = try id(app, "IDMNote", "own")
    try app.change("DELETE FROM ZIDMMEDIAFILE WHERE Z_PK = 1; DELETE FROM ZIDMNOTE WHERE Z_PK = 1")
    try app.change("DELETE FROM Z_2TAGS WHERE Z_2NOTES = 1")
    let result = try app.run("--delete")
    #expect(
      result.output.contains(
        "skipped IDMMediaFile 1: it was deleted in the app, and its object stays: IDMNote \(own), which stays, would "
          + "be deleted with it\n"), "\(result.output)")
    #expect(result.output.contains("skipped 1, deleted 1\n"))
    #expect(try app.daemon.run("graph", "show", note).status != 0)
    #expect(try app.daemon.run("graph", "delete", own, author: "ben@test").status == 0)
    #expect(try app.counts("--delete") == ["unchanged": 7, "deleted": 1])
    #expect(app.daemon.stop() == 0)
  }

  @Test func ownerOfAChangedNoteStays() throws {
    let app = try app()
    let note = try id(app, "IDMNote", "n1")
    #expect(try app.daemon.run("graph", "update", note, "text=theirs", author: "ben@test").status == 0)
    try app.change("DELETE FROM ZIDMMEDIAFILE WHERE Z_PK = 1; DELETE FROM ZIDMNOTE WHERE Z_PK = 1")
    try app.change("DELETE FROM Z_2TAGS WHERE Z_2NOTES = 1")
    #expect(try app.counts("--delete")["skipped"] == 2)
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["text"] == .string("theirs"))
    #expect(try id(app, "IDMMediaFile", "media-small").isEmpty == false)
    #expect(app.daemon.stop() == 0)
  }

  /// The import itself changes the note after the other client: the app has moved it in the list of its file.
  @Test func changedNoteStaysAfterAnUpdateOfItsList() throws {
    let notes = "\"inverse\": \"imageFile\", \"toMany\": true"
    let app = try CoreDataApp.notes((notes, "\(notes), \"ordered\": true"))
    try app.change(
      """
      ALTER TABLE ZIDMNOTE ADD COLUMN Z_FOK_IMAGEFILE INTEGER;
      UPDATE ZIDMNOTE SET ZIMAGEFILE = 1, Z_FOK_IMAGEFILE = 1024 * Z_PK WHERE Z_PK < 3
      """)
    #expect(try app.counts() == ["imported": 9])
    let note = try id(app, "IDMNote", "n2")
    #expect(try app.daemon.run("graph", "update", note, "text=theirs", author: "ben@test").status == 0)
    for place in [1, 4096] {
      try app.change("UPDATE ZIDMNOTE SET Z_FOK_IMAGEFILE = \(place) WHERE Z_PK = 2")
      #expect(try app.counts() == ["changed": 1, "unchanged": 8])
    }
    try app.change("DELETE FROM ZIDMNOTE WHERE Z_PK = 2; DELETE FROM Z_2TAGS WHERE Z_2NOTES = 2")
    #expect(try app.counts("--delete") == ["changed": 1, "unchanged": 7, "skipped": 1])
    let revision = try app.revision()
    for _ in 0..<2 { #expect(try app.counts("--delete") == ["unchanged": 8, "skipped": 1]) }
    #expect(try app.revision() == revision)
    let shown = try app.object("IDMNote", "uniqueIdentifier == \"n2\"")
    #expect(shown["text"] == .string("theirs"))
    #expect(shown["imageFile"] == .null)
    #expect(app.daemon.stop() == 0)
  }

  /// The file and its notes are deleted with each other.
  @Test(arguments: [true, false]) func mutualMembersGoTogetherOrStay(isChanged: Bool) throws {
    let app = try CoreDataApp.notes(
      ("\"imageFile\", \"toMany\": true}", "\"imageFile\", \"toMany\": true, \"deleteRule\": \"cascade\"}"))
    #expect(try app.counts() == ["imported": 9])
    if isChanged {
      let note = try id(app, "IDMNote", "n1")
      #expect(try app.daemon.run("graph", "update", note, "text=theirs", author: "ben@test").status == 0)
    }
    try app.change("DELETE FROM ZIDMMEDIAFILE WHERE Z_PK = 1; DELETE FROM ZIDMNOTE WHERE Z_PK = 1")
    try app.change("DELETE FROM Z_2TAGS WHERE Z_2NOTES = 1")
    #expect(try app.counts("--delete") == ["unchanged": 7, isChanged ? "skipped" : "deleted": 2])
    #expect(try app.count("IDMNote") == (isChanged ? "4\n" : "3\n"))
    #expect(try app.count("IDMMediaFile") == (isChanged ? "2\n" : "1\n"))
    #expect(app.daemon.stop() == 0)
  }

  /// A tag would take along the notes that it has in the graph until they are updated.
  @Test func ownerOfAManyToManyIsDeletedAfterItsMembers() throws {
    let notes = "\"inverse\": \"tags\", \"toMany\": true"
    let app = try CoreDataApp.notes((notes, "\(notes), \"deleteRule\": \"cascade\""))
    #expect(try app.counts() == ["imported": 9])
    try app.change("DELETE FROM ZIDMTAG WHERE Z_PK IN (2, 7); DELETE FROM Z_2TAGS WHERE Z_3TAGS = 2")
    #expect(try app.counts("--delete") == ["changed": 2, "unchanged": 5, "deleted": 2])
    #expect(try app.count("IDMNote") == "4\n")
    #expect(app.daemon.stop() == 0)
  }

  /// The lists of the notes, which would deny the delete, are updated in the run before.
  @Test func tagThatWasKeptIsDeletedInTheNextRun() throws {
    let notes = "\"inverse\": \"tags\", \"toMany\": true"
    let app = try CoreDataApp.notes((notes, "\(notes), \"deleteRule\": \"deny\""))
    #expect(try app.counts() == ["imported": 9])
    try app.change("DELETE FROM ZIDMTAG WHERE Z_PK = 2; DELETE FROM Z_2TAGS WHERE Z_3TAGS = 2")
    #expect(try app.counts() == ["changed": 2, "unchanged": 6, "kept": 1])
    #expect(try app.counts("--delete") == ["unchanged": 8, "deleted": 1])
    #expect(app.daemon.stop() == 0)
  }

  /// The app has removed the tags of the note before it deleted the note.
  @Test(arguments: ["deny", "cascade"]) func tagsStayThatTheAppHasRemoved(rule: String) throws {
    let tags = "\"inverse\": \"notes\", \"toMany\": true"
    let app = try CoreDataApp.notes((tags, "\(tags), \"deleteRule\": \"\(rule)\""))
    #expect(try app.counts() == ["imported": 9])
    try app.change("DELETE FROM Z_2TAGS WHERE Z_2NOTES = 2; DELETE FROM ZIDMNOTE WHERE Z_PK = 2")
    let counts = try app.counts("--delete")
    #expect(counts == ["unchanged": 8, "deleted": 1])
    #expect(try app.count("IDMTag") == "3\n")
    #expect(try app.counts("--delete") == ["unchanged": 8])
    #expect(app.daemon.stop() == 0)
  }

  /// The import that changed the note was killed before it could record the answer.
  @Test func changeByAKilledImportIsNotThatOfAnother() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change("UPDATE ZIDMNOTE SET ZTEXT = 'changed' WHERE Z_PK = 2")
    #expect(try app.counts() == ["changed": 1, "unchanged": 8])
    let lines = try String(contentsOfFile: app.mapping, encoding: .utf8).split(separator: "\n")
    let last = try #require(lines.lastIndex { $0.hasPrefix("{\"sending\"") })
    #expect(last < lines.count - 1)
    try (lines[...last].joined(separator: "\n") + "\n").write(toFile: app.mapping, atomically: true, encoding: .utf8)
    try app.change("DELETE FROM Z_2TAGS WHERE Z_2NOTES = 2; DELETE FROM ZIDMNOTE WHERE Z_PK = 2")
    #expect(try app.counts("--delete") == ["unchanged": 8, "deleted": 1])
    #expect(app.daemon.stop() == 0)
  }

  /// The file can't be deleted before the note, which needs it.
  @Test func requiredMemberGoesWithItsOwner() throws {
    let inverse = "\"inverse\": \"notesOfImageFile\","
    let app = try CoreDataApp.notes((inverse, "\(inverse) \"optional\": false,"))
    try app.change("DELETE FROM ZIDMNOTE WHERE Z_PK > 2; DELETE FROM Z_2TAGS WHERE Z_2NOTES > 2")
    #expect(try app.counts() == ["imported": 7])
    try app.change("DELETE FROM ZIDMMEDIAFILE WHERE Z_PK = 1; DELETE FROM ZIDMNOTE WHERE Z_PK = 1")
    try app.change("DELETE FROM Z_2TAGS WHERE Z_2NOTES = 1")
    #expect(try app.counts("--delete") == ["unchanged": 5, "deleted": 2])
    #expect(try app.count("IDMMediaFile") == "1\n" && app.count("IDMNote") == "1\n")
    #expect(try app.counts("--delete") == ["unchanged": 5])
    #expect(app.daemon.stop() == 0)
  }
}
