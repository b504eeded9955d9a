import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

/// `stickies graph import --core-data` after app, model or graph have changed more than values.
@Suite struct CoreDataVersionsTests {
  /// No row is imported twice, and what others have changed stays.
  @Test func renamedEntityAndAttributeKeepTheirObjects() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    let note = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "update", note, "text=theirs", author: "ben@test").status == 0)
    try app.change(
      """
      ALTER TABLE ZIDMTAG RENAME TO ZLABEL; UPDATE Z_PRIMARYKEY SET Z_NAME = 'Label' WHERE Z_NAME = 'IDMTag';
      ALTER TABLE ZIDMNOTE RENAME COLUMN ZTEXT TO ZBODY
      """)
    try app.migrate([
      ("{\"name\": \"IDMTag\",", "{\"name\": \"Label\", \"renamed\": \"IDMTag\","),
      ("\"IDMTag\", \"inverse\"", "\"Label\", \"inverse\""),
      (
        "{\"name\": \"text\", \"type\": \"string\", \"optional\": true}",
        "{\"name\": \"body\", \"renamed\": \"text\", \"type\": \"string\", \"optional\": true}"
      ),
    ])
    #expect(try app.counts() == ["unchanged": 9])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["body"] == .string("theirs"))
    try app.change("UPDATE ZLABEL SET ZTEXT = 'green' WHERE Z_PK = 1; DELETE FROM ZLABEL WHERE Z_PK = 7")
    #expect(try app.counts("--delete") == ["changed": 1, "unchanged": 7, "deleted": 1])
    #expect(try app.count("Label") == "2\n")
    #expect(app.daemon.stop() == 0)
  }

  /// Only one object had a text, and a user has removed it: the migration has not lost the property.
  @Test func valueThatAUserHasRemovedIsNoLossOfAMigration() throws {
    let app = try CoreDataApp("Notes.sqlite")
    try app.change("UPDATE ZIDMNOTE SET ZTEXT = NULL WHERE Z_PK > 1")
    #expect(try app.counts() == ["imported": 9])
    let note = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "update", note, "text:=null", author: "ben@test").status == 0)
    let date = "{\"name\": \"creationDate\", \"type\": \"date\"},"
    try app.migrate([(date, "{\"name\": \"extra\", \"type\": \"string\", \"optional\": true}, \(date)")])
    try app.change("UPDATE ZIDMNOTE SET ZTEXT = 'of the app' WHERE Z_PK = 1")
    #expect(try app.counts() == ["changed": 1, "unchanged": 8, "overwritten": 1])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["text"] == .string("of the app"))
    #expect(app.daemon.stop() == 0)
  }

  /// Two migrations have dropped a property and added it again, and users have changed all of its objects since.
  @Test func lostValuesOfChangedObjectsAreSentAgain() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    let date = "{\"name\": \"creationDate\", \"type\": \"date\"},"
    let text = "{\"name\": \"text\", \"type\": \"string\", \"optional\": true},"
    try app.migrate([("\(date)\n        \(text)", date)])
    try app.migrate([(date, "\(date) \(text) {\"name\": \"extra\", \"type\": \"string\", \"optional\": true},")])
    for number in [1, 2, 4, 5] {
      let note = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n\(number)\"")["id"]?.stringValue)
      let update = try app.daemon.run("graph", "update", note, "creationDate=2026-01-0\(number)", author: "ben@test")
      #expect(update.status == 0)
    }
    #expect(try app.counts() == ["changed": 3, "unchanged": 6])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n5\"")["text"]?.stringValue?.hasPrefix("it's") == true)
    #expect(app.daemon.stop() == 0)
  }

  /// The last import was two versions ago, so the model has none of the names in the mapping.
  @Test func entityThatWasRenamedTwiceKeepsItsObjects() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      """
      ALTER TABLE ZIDMTAG RENAME TO ZMARK; UPDATE Z_PRIMARYKEY SET Z_NAME = 'Mark' WHERE Z_NAME = 'IDMTag';
      DELETE FROM ZMARK WHERE Z_PK = 7
      """)
    try app.migrate([
      ("{\"name\": \"IDMTag\",", "{\"name\": \"Label\", \"renamed\": \"IDMTag\","),
      ("\"IDMTag\", \"inverse\"", "\"Label\", \"inverse\""),
    ])
    try app.migrate([
      ("{\"name\": \"Label\", \"renamed\": \"IDMTag\",", "{\"name\": \"Mark\", \"renamed\": \"Label\","),
      ("\"Label\", \"inverse\"", "\"Mark\", \"inverse\""),
    ])
    #expect(try app.counts() == ["unchanged": 8, "kept": 1])
    #expect(try app.count("Mark") == "3\n")
    #expect(try app.counts("--delete") == ["unchanged": 8, "deleted": 1])
    try app.change("UPDATE ZMARK SET ZTEXT = 'green' WHERE Z_PK = 1")
    #expect(try app.counts() == ["changed": 1, "unchanged": 7])
    #expect(try app.count("Mark") == "2\n")
    #expect(app.daemon.stop() == 0)
  }

  /// The app has renamed an entity, and the model has not.
  @Test func renamedEntityOfTheAppKeepsItsObjects() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      "ALTER TABLE ZIDMTAG RENAME TO ZLABEL; UPDATE Z_PRIMARYKEY SET Z_NAME = 'Label' WHERE Z_NAME = 'IDMTag'")
    #expect(try app.counts("--rename", "IDMTag=Label") == ["unchanged": 9])
    #expect(app.daemon.stop() == 0)
  }

  private static let body = (
    "{\"name\": \"text\", \"type\": \"string\", \"optional\": true}",
    "{\"name\": \"body\", \"renamed\": \"text\", \"type\": \"string\", \"optional\": true}"
  )
  private static let content = (
    body.1, "{\"name\": \"content\", \"renamed\": \"body\", \"type\": \"string\", \"optional\": true}"
  )

  /// Each import records the names of its version, which the next version can change.
  @Test func attributeThatEachVersionRenamesKeepsItsValues() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change("ALTER TABLE ZIDMNOTE RENAME COLUMN ZTEXT TO ZBODY")
    try app.migrate([Self.body])
    #expect(try app.counts() == ["unchanged": 9])
    try app.migrate([Self.content])
    let note = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "update", note, "content=theirs", author: "ben@test").status == 0)
    try app.change(
      """
      ALTER TABLE ZIDMNOTE RENAME COLUMN ZBODY TO ZCONTENT; UPDATE ZIDMNOTE SET ZCONTENT = NULL WHERE Z_PK = 1;
      UPDATE ZIDMNOTE SET ZCONTENT = 'mine' WHERE Z_PK = 2
      """)
    #expect(try app.counts() == ["changed": 2, "unchanged": 7, "overwritten": 1])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["content"] == .null)
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["content"] == .string("mine"))
    #expect(app.daemon.stop() == 0)
  }

  /// A converted model has all names in the documentation of the attribute.
  @Test func attributeThatWasRenamedTwiceIsKnownByItsDocumentation() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      "ALTER TABLE ZIDMNOTE RENAME COLUMN ZTEXT TO ZCONTENT; UPDATE ZIDMNOTE SET ZCONTENT = NULL WHERE Z_PK = 1")
    try app.migrate([Self.body])
    let names = #""documentation": "Called \"content\" in Core Data, earlier \"body\" and \"text\".", "#
    let content = Self.content.1.replacingOccurrences(of: "\"optional\"", with: names + "\"optional\"")
    try app.migrate([(Self.content.0, content)])
    let result = try app.run()
    #expect(result.lines.contains("imported 0, changed 1, unchanged 8, skipped 0"), "\(result.output)")
    #expect(!result.output.contains("--rename"), "\(result.output)")
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["content"] == .null)
    #expect(app.daemon.stop() == 0)
  }

  /// The last import was two versions ago, so the model does not have the name in the mapping.
  @Test func earlierNameOfAnAttributeIsAskedForAndTaken() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      "ALTER TABLE ZIDMNOTE RENAME COLUMN ZTEXT TO ZCONTENT; UPDATE ZIDMNOTE SET ZCONTENT = NULL WHERE Z_PK = 1")
    try app.migrate([Self.body])
    try app.migrate([Self.content])
    let result = try app.run()
    #expect(
      result.lines.contains {
        $0.hasPrefix("IDMNote.text: an earlier import has sent it")
          && $0.hasSuffix("add --rename IDMNote.content=text (3)")
      }, "\(result.output)")
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["content"] != .null)
    #expect(try app.counts("--rename", "IDMNote.content=text") == ["changed": 1, "unchanged": 8])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["content"] == .null)
    // The mapping has the present name now.
    let last = try app.run()
    #expect(last.lines.contains("imported 0, changed 0, unchanged 9, skipped 0"), "\(last.output)")
    #expect(!last.output.contains("IDMNote.text"), "\(last.output)")
    #expect(app.daemon.stop() == 0)
  }

  @Test func newPropertyIsTakenUnlessOthersHaveSetIt() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      "ALTER TABLE ZIDMNOTE ADD COLUMN ZREMARK VARCHAR; UPDATE ZIDMNOTE SET ZREMARK = 'app' WHERE Z_PK < 3")
    try app.migrate([
      (
        "{\"name\": \"creationDate\",",
        "{\"name\": \"remark\", \"type\": \"string\", \"optional\": true}, {\"name\": \"creationDate\","
      )
    ])
    let note = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "update", note, "remark=ben", author: "ben@test").status == 0)
    #expect(try app.counts() == ["changed": 2, "unchanged": 7, "yielded": 1])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["remark"] == .string("ben"))
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["remark"] == .string("app"))
    // Afterwards it is a property like any other.
    #expect(try app.counts() == ["unchanged": 9])
    try app.change("UPDATE ZIDMNOTE SET ZREMARK = 'again' WHERE Z_PK = 1")
    #expect(try app.counts() == ["changed": 1, "unchanged": 8])
    #expect(app.daemon.stop() == 0)
  }

  /// The app has kept the values, and a migration of the graph has not.
  @Test func valuesThatAMigrationHasDroppedAreImportedAgain() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    let text = "{\"name\": \"text\", \"type\": \"string\", \"optional\": true},"
    let other = "{\"name\": \"size\", \"type\": \"integer\", \"optional\": true},"
    try app.migrate([(text, other)])
    // A store never returns to the same model.
    try app.migrate([(other, text + "{\"name\": \"rank\", \"type\": \"integer\", \"optional\": true},")])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["text"] == .null)
    let note = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "update", note, "text=theirs", author: "ben@test").status == 0)
    #expect(try app.counts() == ["changed": 2, "unchanged": 7])
    #expect(
      try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["text"] == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["text"] == .string("theirs"))
    #expect(try app.counts() == ["unchanged": 9])
    #expect(app.daemon.stop() == 0)
  }

  /// Other objects still have the values of the import, so the migration has kept the property.
  @Test func valueThatAnotherClientHasClearedStaysClearedAfterAMigration() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    let note = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "update", note, "text:=null", author: "ben@test").status == 0)
    try app.change("UPDATE ZIDMNOTE SET ZIMAGEFILE = 1 WHERE Z_PK = 2")
    #expect(try app.counts() == ["changed": 1, "unchanged": 8])
    try app.migrate([Self.body])
    try app.change("ALTER TABLE ZIDMNOTE RENAME COLUMN ZTEXT TO ZBODY")
    #expect(try app.counts() == ["unchanged": 9])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["body"] == .null)
    #expect(app.daemon.stop() == 0)
  }

  @Test func rowsOfADroppedEntityCountAsDeleted() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      "DROP TABLE ZIDMTAG; DROP TABLE Z_2TAGS; DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'IDMTag'")
    let result = try app.run()
    #expect(
      result.output.contains(
        "IDMTag: the store no longer has this entity; its rows count as deleted in the app (3)\n"), "\(result.output)")
    #expect(result.output.contains("3 rows no longer in the store: the objects stay; --delete deletes them\n"))
    #expect(try app.counts("--delete") == ["unchanged": 6, "deleted": 3])
    #expect(try app.count("IDMTag") == "0\n")
    #expect(app.daemon.stop() == 0)
  }

  @Test func rowsOfDeletedObjectsAreImportedAgainOnRequest() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    #expect(try app.daemon.run("graph", "undo").status == 0)
    let result = try app.run()
    #expect(
      result.output.contains("9 rows whose objects were deleted in the graph since; --again imports them again\n"),
      "\(result.output)")
    #expect(try app.counts("--again") == ["imported": 9])
    // The references of other rows to the new object are made again.
    let tag = try #require(try app.object("IDMTag", "text == \"red\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "delete", tag).status == 0)
    #expect(try app.counts("--again")["imported"] == 1)
    let note = try app.object("IDMNote", "uniqueIdentifier == \"n1\"")
    #expect(Set(try app.members(note, "tags", "text")) == ["red", "blue"])
    #expect(try app.counts() == ["unchanged": 9])
    #expect(app.daemon.stop() == 0)
  }

  private static let pairs = """
    {"format": 1, "name": "Pairs", "version": 1, "entities": [
      {"name": "IDMNote", "attributes": [{"name": "uniqueIdentifier", "type": "string"}], "relationships": [
        {"name": "first", "destination": "IDMTag", "inverse": "note"},
        {"name": "main", "destination": "IDMTag", "inverse": "mainNotes", "optional": REQUIRED}]},
      {"name": "IDMTag", "attributes": [{"name": "text", "type": "string"}], "relationships": [
        {"name": "note", "destination": "IDMNote", "inverse": "first"},
        {"name": "mainNotes", "destination": "IDMNote", "inverse": "main", "toMany": true}]}
    ]}
    """

  @Test func contradictingOneToOnesAreReported() throws {
    let app = try CoreDataApp("Notes.sqlite", model: Self.pairs.replacingOccurrences(of: "REQUIRED", with: "true"))
    try app.change(
      """
      ALTER TABLE ZIDMNOTE ADD COLUMN ZFIRST INTEGER; ALTER TABLE ZIDMNOTE ADD COLUMN ZMAIN INTEGER;
      ALTER TABLE ZIDMTAG ADD COLUMN ZNOTE INTEGER; UPDATE ZIDMNOTE SET ZFIRST = 1 WHERE Z_PK < 3;
      UPDATE ZIDMTAG SET ZNOTE = 2 WHERE Z_PK = 1
      """)
    let result = try app.run()
    #expect(
      result.lines.contains("imported IDMNote 1 without first: IDMTag 1 refers to IDMNote 2 instead"),
      "\(result.output)")
    let tag = try app.object("IDMTag", "text == \"red\"")
    #expect(tag["note"] == (try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["id"]))
    #expect(app.daemon.stop() == 0)
  }

  @Test func missingRowIsTheCauseOfAMissingReference() throws {
    let app = try CoreDataApp("Notes.sqlite", model: Self.pairs.replacingOccurrences(of: "REQUIRED", with: "false"))
    try app.change(
      """
      ALTER TABLE ZIDMNOTE ADD COLUMN ZMAIN INTEGER; UPDATE ZIDMNOTE SET ZMAIN = 1;
      UPDATE ZIDMNOTE SET ZMAIN = 99 WHERE Z_PK = 1; UPDATE ZIDMNOTE SET ZMAIN = 7 WHERE Z_PK = 2;
      UPDATE ZIDMTAG SET ZTEXT = NULL WHERE Z_PK = 7
      """)
    let path = app.daemon.home.path + "/report"
    let result = try app.run("--report", path)
    #expect(
      result.lines.contains { $0.hasPrefix("skipped IDMNote 1: ") && $0.hasSuffix("; there is no row IDMTag 99") },
      "\(result.output)")
    #expect(
      result.lines.contains { $0.hasPrefix("skipped IDMNote 2: ") && $0.hasSuffix("; IDMTag 7 was not imported") })
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("{\"entity\":\"IDM") })
    #expect(try app.run("--report", path).status == 1)
    #expect(app.daemon.stop() == 0)
  }

  /// An app that gives two entities a parent, or separates them, gives their rows other keys.
  @Test func rowsInAnotherTableAreRefused() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      """
      CREATE TABLE ZBASE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZUNIQUEIDENTIFIER VARCHAR, ZDATA BLOB,
      ZTEXT VARCHAR);
      INSERT INTO ZBASE (Z_ENT, Z_OPT, ZTEXT) SELECT Z_ENT, Z_OPT, ZTEXT FROM ZIDMTAG;
      INSERT INTO ZBASE (Z_ENT, Z_OPT, ZUNIQUEIDENTIFIER, ZDATA)
      SELECT Z_ENT, Z_OPT, ZUNIQUEIDENTIFIER, ZDATA FROM ZIDMMEDIAFILE;
      DROP TABLE ZIDMTAG; DROP TABLE ZIDMMEDIAFILE; DELETE FROM Z_2TAGS; UPDATE ZIDMNOTE SET ZIMAGEFILE = NULL;
      INSERT INTO Z_PRIMARYKEY VALUES (4, 'Base', 0, 5); UPDATE Z_PRIMARYKEY SET Z_SUPER = 4 WHERE Z_ENT IN (1, 3)
      """)
    let refused = try app.run("--delete")
    #expect(refused.status == 2 && refused.output.isEmpty)
    #expect(
      refused.errors.contains(
        "the app has moved the rows of IDMMediaFile and IDMTag to Base, where they have other keys"),
      "\(refused.errors)")
    #expect(try ["IDMNote", "IDMMediaFile", "IDMTag"].map { try app.count($0) } == ["4\n", "2\n", "3\n"])
    #expect(app.daemon.stop() == 0)
  }

  /// One of the entities had no rows at the first import.
  @Test func rowsWithKeysOfOtherEntitiesAreRefused() throws {
    let app = try CoreDataApp("Notes.sqlite")
    try app.change("DELETE FROM ZIDMMEDIAFILE; UPDATE ZIDMNOTE SET ZIMAGEFILE = NULL")
    #expect(try app.counts() == ["imported": 7])
    try app.change(
      """
      CREATE TABLE ZBASE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZUNIQUEIDENTIFIER VARCHAR, ZDATA BLOB,
      ZTEXT VARCHAR);
      INSERT INTO ZBASE (Z_ENT, Z_OPT, ZUNIQUEIDENTIFIER) VALUES (1, 1, 'media-new');
      INSERT INTO ZBASE (Z_ENT, Z_OPT, ZTEXT) SELECT Z_ENT, Z_OPT, ZTEXT FROM ZIDMTAG;
      DROP TABLE ZIDMTAG; DROP TABLE ZIDMMEDIAFILE; DELETE FROM Z_2TAGS;
      INSERT INTO Z_PRIMARYKEY VALUES (4, 'Base', 0, 5); UPDATE Z_PRIMARYKEY SET Z_SUPER = 4 WHERE Z_ENT IN (1, 3);
      UPDATE ZBASE SET Z_PK = Z_PK + 10; UPDATE ZBASE SET Z_PK = 1 WHERE Z_PK = 11
      """)
    let refused = try app.run("--delete")
    #expect(refused.status == 2 && refused.output.isEmpty)
    #expect(refused.errors.contains("Base 1 has become a row of IDMMediaFile"), "\(refused.errors)")
    #expect(try ["IDMNote", "IDMMediaFile", "IDMTag"].map { try app.count($0) } == ["4\n", "0\n", "3\n"])
    #expect(app.daemon.stop() == 0)
  }

  /// The rows of a table are found by its subentities, if the app has renamed its root before the graph's model.
  @Test func renamedRootWithASubentityIsFound() throws {
    let app = try CoreDataApp("Moody.moody")
    let first = try app.counts()
    try app.change(
      """
      ALTER TABLE ZGEOGRAPHICREGION RENAME TO ZREGION;
      UPDATE Z_PRIMARYKEY SET Z_NAME = 'Region' WHERE Z_NAME = 'GeographicRegion'
      """)
    let second = try app.counts()
    #expect(second["imported"] == nil && second["kept"] == nil, "\(first), then \(second)")
    #expect(app.daemon.stop() == 0)
  }
}
