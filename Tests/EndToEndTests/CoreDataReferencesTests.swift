import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies graph import --core-data` with references to rows that are refused, and to objects that the graph no
/// longer has.
@Suite struct CoreDataReferencesTests {
  private static let tag = #"{"name": "IDMTag","#

  private func note(_ name: String, _ app: CoreDataApp, place: SourceLocation = #_sourceLocation) throws -> JSON {
    try app.object("IDMNote", "uniqueIdentifier == \"\(name)\"", place: place)
  }

  /// A row whose update is refused keeps its object, and so do the references to it.
  @Test(arguments: ["taken key", "missing value"])
  func referencesToRowsWithARefusedUpdateStay(cause: String) throws {
    let app = try CoreDataApp.notes((Self.tag, Self.tag + #" "unique": [["text"]],"#))
    #expect(try app.counts() == ["imported": 9])
    if cause == "taken key" {
      #expect(try app.daemon.run("graph", "insert", "IDMTag", "text=crimson").status == 0)
      try app.change("UPDATE ZIDMTAG SET ZTEXT = 'crimson' WHERE Z_PK = 1")
    } else {
      try app.change("UPDATE ZIDMTAG SET ZTEXT = NULL WHERE Z_PK = 1")
    }
    // One note has another text, and another one has the tag now.
    try app.change("UPDATE ZIDMNOTE SET ZTEXT = 'edited' WHERE Z_PK = 1; INSERT INTO Z_2TAGS VALUES (4, 1)")
    #expect(try app.counts() == ["changed": 2, "unchanged": 6, "skipped": 1])
    let first = try note("n1", app)
    #expect(first["text"] == .string("edited"))
    #expect(Set(try app.members(first, "tags", "text")) == ["red", "blue"])
    #expect(try app.members(note("n4", app), "tags", "text") == ["red"])
    #expect(try app.counts() == ["unchanged": 8, "skipped": 1])
    #expect(app.daemon.stop() == 0)
  }

  /// The required reference has not changed, so that it does not keep the other values from being taken.
  @Test func requiredReferenceToARowWithARefusedUpdateStays() throws {
    let app = try CoreDataApp.notes(
      (#""destination": "IDMMediaFile","#, #""destination": "IDMMediaFile", "optional": false,"#))
    try app.change("UPDATE ZIDMNOTE SET ZIMAGEFILE = 1 WHERE ZIMAGEFILE IS NULL")
    #expect(try app.counts() == ["imported": 9])
    let before = try note("n1", app)["imageFile"]
    try app.change(
      "UPDATE ZIDMMEDIAFILE SET ZUNIQUEIDENTIFIER = NULL WHERE Z_PK = 1; UPDATE ZIDMNOTE SET ZTEXT = 'edited' WHERE Z_PK = 1"
    )
    #expect(try app.counts() == ["changed": 1, "unchanged": 7, "skipped": 1])
    let after = try note("n1", app)
    #expect(after["text"] == .string("edited") && after["imageFile"] == before)
    #expect(app.daemon.stop() == 0)
  }
  /// The new row is refused, and the object can't be without a reference.
  @Test func requiredReferenceToARefusedRowLeavesTheEarlierOne() throws {
    let app = try CoreDataApp.notes(
      (#""destination": "IDMMediaFile","#, #""destination": "IDMMediaFile", "optional": false,"#))
    try app.change("UPDATE ZIDMNOTE SET ZIMAGEFILE = 1 WHERE ZIMAGEFILE IS NULL")
    #expect(try app.counts() == ["imported": 9])
    let before = try note("n1", app)["imageFile"]
    try app.change(
      """
      INSERT INTO ZIDMMEDIAFILE SELECT 9, 1, 1, NULL, ZDATA FROM ZIDMMEDIAFILE WHERE Z_PK = 1;
      UPDATE ZIDMNOTE SET ZTEXT = 'edited', ZIMAGEFILE = 9 WHERE Z_PK = 1
      """)
    let result = try app.run()
    #expect(
      result.lines.contains(
        "imported IDMNote 1 with the earlier imageFile: IDMMediaFile 9 was not imported"), "\(result.output)")
    #expect(result.lines.contains("imported 0, changed 1, unchanged 8, skipped 1, incomplete 1"), "\(result.output)")
    let after = try note("n1", app)
    #expect(after["text"] == .string("edited") && after["imageFile"] == before)
    #expect(app.daemon.stop() == 0)
  }

  /// Each run names them, and none commits again what has not changed.
  @Test func referencesToDeletedObjectsAreLeftOut() throws {
    let app = try CoreDataApp.notes()
    #expect(try app.counts() == ["imported": 9])
    let deleted = [("IDMTag", "text == \"unused\""), ("IDMMediaFile", "uniqueIdentifier == \"media-big\"")]
    for (entity, predicate) in deleted {
      let id = try #require(try app.object(entity, predicate)["id"]?.stringValue)
      #expect(try app.daemon.run("graph", "delete", id).status == 0)
    }
    try app.change(
      "UPDATE ZIDMNOTE SET ZIMAGEFILE = 2 WHERE Z_PK = 1; INSERT INTO Z_2TAGS VALUES (4, 1), (4, 7), (5, 7)")
    let first = try app.run()
    for line in ["1 without imageFile: the object of IDMMediaFile 2", "4 without tags: the object of IDMTag 7"] {
      #expect(first.lines.contains("imported IDMNote \(line) was deleted in the graph"), "\(first.output)")
    }
    #expect(first.lines.contains("imported 0, changed 2, unchanged 5, skipped 0, incomplete 3"), "\(first.output)")
    #expect(try note("n1", app)["imageFile"] == .null)
    #expect(try app.members(note("n4", app), "tags", "text") == ["red"])
    // Another client changes a list, and the app does not.
    let blue = try #require(try app.object("IDMTag", "text == \"blue\"")["id"]?.stringValue)
    let fourth = try #require(try note("n4", app)["id"]?.stringValue)
    #expect(
      try app.daemon.run("graph", "update", fourth, "tags:=[\"\(blue)\"]", author: "ben@test").status == 0)
    let revision = try app.revision()
    #expect(try app.counts() == ["unchanged": 7, "absent": 2, "incomplete": 3])
    #expect(try app.revision() == revision)
    #expect(try app.members(note("n4", app), "tags", "text") == ["blue"])
    // The app clears a list and a reference.
    try app.change(
      "UPDATE ZIDMNOTE SET ZIMAGEFILE = NULL WHERE Z_PK = 1; DELETE FROM Z_2TAGS WHERE Z_2NOTES = 5")
    #expect(try app.counts() == ["changed": 1, "unchanged": 6, "absent": 2, "incomplete": 1])
    #expect(try app.members(note("n5", app), "tags", "text") == [])
    // The object is there again, and so is the reference.
    let counts = try app.counts("--again")
    #expect(counts["imported"] == 2 && counts["incomplete"] == nil, "\(counts)")
    #expect(try app.members(note("n4", app), "tags", "text").contains("unused"))
    #expect(app.daemon.stop() == 0)
  }

  private static let regions = """
    {"format": 1, "name": "Regions", "version": 1, "entities": [
      {"name": "GeographicRegion", "attributes": [
        {"name": "numericISO3166Code", "type": "integer", "optional": true}],
       "relationships": [
        {"name": "continent", "destination": "Continent", "inverse": "regions"}]},
      {"name": "Continent", "relationships": [
        {"name": "regions", "destination": "GeographicRegion", "inverse": "continent", "toMany": true}]},
      {"name": "Country", "parent": "GeographicRegion"}
    ]}
    """

  /// In the version of the store both entities have one parent, and the relationship leads to this.
  @Test func referenceToARowOfAnotherEntityIsReported() throws {
    let app = try CoreDataApp("Moody.moody", model: Self.regions)
    try app.change("UPDATE ZGEOGRAPHICREGION SET ZCONTINENT = 31 WHERE Z_PK = 21")
    for counts in ["imported 5, changed 0, unchanged 0", "imported 0, changed 0, unchanged 5"] {
      let result = try app.run()
      #expect(
        result.lines.contains(
          "imported Country (GeographicRegion) 21 without continent: GeographicRegion 31 is Country in the model Regions, "
            + "and Continent is expected"), "\(result.output)")
      #expect(result.lines.contains("\(counts), skipped 0, incomplete 1"), "\(result.output)")
    }
    let country = try app.object("Country", "numericISO3166Code == 704")
    #expect(country["continent"]?.stringValue != nil)
    #expect(app.daemon.stop() == 0)
  }
}
