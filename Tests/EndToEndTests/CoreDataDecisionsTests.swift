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
}
