import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies graph import --core-data` decides from the rows of a store how to read it, and keeps the decisions in the
/// mapping.
@Suite struct CoreDataDecisionsTests {
  private func data(_ app: CoreDataApp) throws -> String? {
    try app.object("IDMMediaFile", "uniqueIdentifier == \"media-small\"")["data"]?.stringValue
  }

  /// The value in a file proves that the values have tags, and the app deletes it.
  @Test func tagsAreRemovedAfterTheirProofIsDeleted() throws {
    let app = try CoreDataApp("Notes.sqlite")
    try app.change("UPDATE ZIDMMEDIAFILE SET ZDATA = x'01616263' WHERE Z_PK = 1")
    #expect(try app.counts() == ["imported": 9])
    #expect(try data(app) == "YWJj")
    try app.change(
      "UPDATE ZIDMNOTE SET ZIMAGEFILE = NULL WHERE Z_PK = 2; DELETE FROM ZIDMMEDIAFILE WHERE Z_PK = 2")
    #expect(try app.counts() == ["changed": 1, "unchanged": 7, "kept": 1])
    #expect(try data(app) == "YWJj")
    // An option decides otherwise, also for later imports without it.
    #expect(try app.counts("--untagged", "IDMMediaFile.data") == ["changed": 1, "unchanged": 7, "kept": 1])
    #expect(try data(app) == "AWFiYw==")
    #expect(try app.counts() == ["unchanged": 8, "kept": 1])
    #expect(app.daemon.stop() == 0)
  }

  private static let moved = """
    {"format": 1, "name": "Moved", "version": 1, "entities": [
      {"name": "GeographicRegion", "abstract": true, "attributes": [
        {"name": "numericISO3166Code", "type": "integer", "optional": true}]},
      {"name": "Continent", "parent": "GeographicRegion", "attributes": [
        {"name": "size", "type": "integer", "optional": true, "default": 3}]},
      {"name": "Country", "parent": "GeographicRegion", "attributes": [
        {"name": "size", "type": "integer", "optional": true, "default": 3}]}
    ]}
    """

  /// The app has moved the attribute from the parent since the version of the store. Then it clears the only value of a
  /// child.
  @Test func clearedValueOfAMovedAttributeIsTaken() throws {
    let app = try CoreDataApp("Moody.moody", model: Self.moved)
    func size(_ number: Int) throws -> JSON? {
      try app.object("Continent", "numericISO3166Code == \(number)")["size"]
    }
    try app.change(
      """
      ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER;
      UPDATE ZGEOGRAPHICREGION SET ZSIZE = Z_PK WHERE Z_ENT = 3 OR Z_PK = 1
      """)
    #expect(try app.counts() == ["imported": 5])
    // The app has null, and not the default.
    #expect(try size(10005) == .integer(1) && size(10004) == .null)
    try app.change("UPDATE ZGEOGRAPHICREGION SET ZSIZE = NULL WHERE Z_ENT = 2")
    #expect(try app.counts() == ["changed": 1, "unchanged": 4])
    #expect(try size(10005) == .null)
    #expect(app.daemon.stop() == 0)
  }
}
