import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies graph import --core-data` with to-manys that must have members, and with times that the graph assigns.
@Suite struct CoreDataMembersTests {
  private static let tags = #""inverse": "notes", "toMany": true"#
  private static let notes = #""inverse": "tags", "toMany": true"#
  private static let notesOfImageFile = #""inverse": "imageFile", "toMany": true"#

  /// The store has the tags of each note, and each tag must have a note.
  @Test(arguments: ["", #", "ordered": true"#, #", "minimumCount": 1"#], ["1000", "1"])
  func requiredMembersAreStoredAtTheOtherEnd(list: String, batch: String) throws {
    let app = try CoreDataApp.notes((Self.tags, Self.tags + list), (Self.notes, Self.notes + #", "minimumCount": 1"#))
    // Each note has a tag, and a tag without a note is left.
    try app.change("INSERT INTO Z_2TAGS VALUES (4, 2)")
    #expect(try app.counts("--batch", batch) == ["imported": 8, "skipped": 1])
    let first = try app.object("IDMNote", "uniqueIdentifier == \"n1\"")
    #expect(Set(try app.members(first, "tags", "text")) == ["red", "blue"])
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"n4\""), "tags", "text") == ["blue"])
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"n5\""), "tags", "text") == ["red"])
    #expect(try app.counts("--batch", batch) == ["unchanged": 8, "skipped": 1])
    // A new tag of an object.
    try app.change("INSERT INTO ZIDMTAG VALUES (9, 3, 1, 'new'); INSERT INTO Z_2TAGS VALUES (4, 9)")
    #expect(try app.counts("--batch", batch) == ["imported": 1, "changed": 1, "unchanged": 7, "skipped": 1])
    let fourth = try app.object("IDMNote", "uniqueIdentifier == \"n4\"")
    #expect(Set(try app.members(fourth, "tags", "text")) == ["blue", "new"])
    #expect(app.daemon.stop() == 0)
  }

  /// The tags have their notes in an order, and record them.
  @Test func keptTagIsNoLongerThatOfOtherRows() throws {
    let app = try CoreDataApp.notes((Self.notes, Self.notes + #", "ordered": true"#))
    try app.change("ALTER TABLE Z_2TAGS ADD COLUMN Z_FOK_2NOTES INTEGER; UPDATE Z_2TAGS SET Z_FOK_2NOTES = Z_2NOTES")
    #expect(try app.counts() == ["imported": 9])
    try app.change("DELETE FROM Z_2TAGS WHERE Z_3TAGS = 2; DELETE FROM ZIDMTAG WHERE Z_PK = 2")
    #expect(try app.counts() == ["unchanged": 8, "kept": 1])
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"n1\""), "tags", "text") == ["red"])
    #expect(try app.members(app.object("IDMTag", "text == \"blue\""), "notes", "uniqueIdentifier") == [])
    let revision = try app.revision()
    #expect(try app.counts() == ["unchanged": 8, "kept": 1])
    #expect(try app.revision() == revision)
    #expect(app.daemon.stop() == 0)
  }

  /// The store has the notes of each tag, and a note must have its only tag when it is inserted.
  @Test(arguments: ["1000", "1"]) func requiredOwnerIsStoredAtTheOtherEnd(batch: String) throws {
    let app = try CoreDataApp.notes((Self.tags, #""inverse": "notes", "optional": false"#))
    try app.change("DELETE FROM Z_2TAGS; INSERT INTO Z_2TAGS VALUES (1, 1), (2, 1), (4, 2), (5, 1)")
    #expect(try app.counts("--batch", batch) == ["imported": 9])
    try app.change("INSERT INTO ZIDMNOTE VALUES (9, 2, 1, NULL, 5, 'late', 'n9'); INSERT INTO Z_2TAGS VALUES (9, 2)")
    let counts = try app.counts("--batch", batch)
    #expect(counts["imported"] == 1 && counts["skipped"] == nil, "\(counts)")
    let tag = try app.object("IDMTag", "text == \"blue\"")
    #expect(Set(try app.members(tag, "notes", "uniqueIdentifier")) == ["n4", "n9"])
    #expect(try app.counts("--batch", batch) == ["unchanged": 10])
    #expect(app.daemon.stop() == 0)
  }

  /// The other members of the list are enough.
  @Test func ownerOfARefusedMemberIsImported() throws {
    let app = try CoreDataApp.notes((Self.tags, Self.tags + #", "minimumCount": 1"#))
    try app.change(
      "INSERT INTO ZIDMTAG VALUES (9, 3, 1, NULL); INSERT INTO Z_2TAGS VALUES (4, 2), (4, 9)")
    #expect(try app.counts() == ["imported": 9, "skipped": 1, "incomplete": 1])
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"n4\""), "tags", "text") == ["blue"])
    #expect(app.daemon.stop() == 0)
  }

  /// The members refer to their owner, and no commit has it without one of them.
  @Test(arguments: ["1000", "2", "1"])
  func ownerAndItsRequiredMembersAreOneCommit(batch: String) throws {
    let app = try CoreDataApp.notes((Self.notesOfImageFile, Self.notesOfImageFile + #", "minimumCount": 1"#))
    #expect(try app.counts("--batch", batch) == ["imported": 9])
    let note = try app.object("IDMNote", "uniqueIdentifier == \"n1\"")
    #expect(note["imageFile"]?.stringValue != nil)
    #expect(try app.counts("--batch", batch) == ["unchanged": 9])
    #expect(app.daemon.stop() == 0)
  }

  /// An update with the members would set the time.
  @Test(arguments: ["1000", "1"])
  func membersOfANewObjectDoNotChangeItsTime(batch: String) throws {
    let date = #"{"name": "creationDate", "type": "date""#
    let app = try CoreDataApp.notes((date, date + #", "assigned": "updated""#))
    #expect(try app.counts("--batch", batch) == ["imported": 9])
    let note = try app.object("IDMNote", "uniqueIdentifier == \"n1\"")
    #expect(note["creationDate"]?.stringValue?.hasPrefix("2001-01-01T00:00:00") == true, "\(note)")
    #expect(Set(try app.members(note, "tags", "text")) == ["red", "blue"])
    #expect(try app.counts() == ["unchanged": 9])
    #expect(app.daemon.stop() == 0)
  }

  /// The update has the members that the graph still has.
  @Test func listOfANewObjectLacksOnlyDeletedMembers() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    let tag = try #require(try app.object("IDMTag", "text == \"unused\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "delete", tag).status == 0)
    try app.change(
      "INSERT INTO ZIDMNOTE VALUES (9, 2, 1, NULL, 5, 'late', 'n9'); INSERT INTO Z_2TAGS VALUES (9, 1), (9, 7)")
    let counts = try app.counts()
    #expect(counts["imported"] == 1 && counts["skipped"] == nil, "\(counts)")
    let note = try app.object("IDMNote", "uniqueIdentifier == \"n9\"")
    #expect(try app.members(note, "tags", "text") == ["red"])
    #expect(app.daemon.stop() == 0)
  }
}
