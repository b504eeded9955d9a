import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies graph import --core-data` of a store in which a relationship had another number of objects.
@Suite struct CoreDataCountsTests {
  private static let tags = #"{"name": "tags", "destination": "IDMTag", "inverse": "notes", "toMany": true}"#
  private static let notes = #"{"name": "notes", "destination": "IDMNote", "inverse": "tags", "toMany": true}"#
  private static let files = #""destination": "IDMNote", "inverse": "imageFile", "toMany": true}"#

  private func note(_ name: String, _ app: CoreDataApp, place: SourceLocation = #_sourceLocation) throws -> JSON {
    try app.object("IDMNote", "uniqueIdentifier == \"\(name)\"", place: place)
  }

  /// The to-one has the first of the rows, and the others are named.
  @Test func manyToManyThatIsAToOneNowIsReported() throws {
    let app = try CoreDataApp.notes(
      (Self.tags, #"{"name": "tag", "renamed": "tags", "destination": "IDMTag", "inverse": "notes"}"#),
      (Self.notes, #"{"name": "notes", "destination": "IDMNote", "inverse": "tag", "toMany": true}"#))
    try app.change("INSERT INTO Z_2TAGS VALUES (4, 7), (4, 2)")
    let lines = ["1 with a part of tag: the store has 2 rows there (IDMTag 1, IDMTag 2)", "4 with a part of tag: the"]
    for counts in ["imported 9, changed 0, unchanged 0", "imported 0, changed 0, unchanged 9"] {
      let result = try app.run()
      for line in lines {
        #expect(result.lines.contains { $0.hasPrefix("imported IDMNote \(line)") }, "\(result.output)")
      }
      #expect(result.lines.contains("\(counts), skipped 0, incomplete 2"), "\(result.output)")
    }
    for (name, text) in [("n1", "red"), ("n2", "blue"), ("n4", "blue"), ("n5", "red")] {
      let tag = try app.object("IDMTag", "text == \"\(text)\"")["id"]
      #expect(try note(name, app)["tag"] == tag, "\(name)")
    }
    #expect(app.daemon.stop() == 0)
  }

  /// Two notes have one file, and the file has one note now.
  @Test func oneToManyThatIsAOneToOneNowIsReported() throws {
    let app = try CoreDataApp.notes((Self.files, #""destination": "IDMNote", "inverse": "imageFile"}"#))
    try app.change("UPDATE ZIDMNOTE SET ZIMAGEFILE = 1")
    for counts in ["imported 9, changed 0, unchanged 0", "imported 0, changed 0, unchanged 9"] {
      let result = try app.run()
      #expect(
        result.lines.contains(
          "imported IDMNote 2 without imageFile: IDMMediaFile 1 can have one row only, and that is IDMNote 1"),
        "\(result.output)")
      #expect(result.lines.contains("\(counts), skipped 0, incomplete 3"), "\(result.output)")
    }
    #expect(try note("n1", app)["imageFile"]?.stringValue != nil)
    #expect(try note("n2", app)["imageFile"] == .null)
    #expect(app.daemon.stop() == 0)
  }

  /// As in a migration, the object becomes the only member.
  @Test(arguments: [#", "toMany": true"#, #", "toMany": true, "ordered": true"#], ["", #", "toMany": true"#])
  func toOneThatIsAToManyNowHasOneMember(list: String, inverse: String) throws {
    let app = try CoreDataApp.notes(
      (#""inverse": "notesOfImageFile", "deleteRule": "cascade""#, #""inverse": "notesOfImageFile""# + list),
      (Self.files, #""destination": "IDMNote", "inverse": "imageFile"\#(inverse)}"#))
    let result = try app.run()
    #expect(result.lines.contains("imported 9, changed 0, unchanged 0, skipped 0"), "\(result.output)")
    #expect(!result.output.contains("IDMNote.imageFile") && !result.output.contains("notesOfImageFile"))
    func files(_ name: String) throws -> [String?] {
      try app.members(note(name, app), "imageFile", "uniqueIdentifier")
    }
    #expect(try files("n1") == ["media-small"] && files("n2") == ["media-big"] && files("n4") == [])
    #expect(try app.counts() == ["unchanged": 9])
    try app.change("UPDATE ZIDMNOTE SET ZIMAGEFILE = CASE Z_PK WHEN 4 THEN 2 END WHERE Z_PK IN (2, 4)")
    #expect(try app.counts()["skipped"] == nil)
    #expect(try files("n1") == ["media-small"] && files("n2") == [] && files("n4") == ["media-big"])
    #expect(app.daemon.stop() == 0)
  }
}
