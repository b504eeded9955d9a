import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies graph import --core-data` with unique keys: rows that have the same one, and rows that pass one on.
@Suite struct CoreDataKeysTests {
  /// The app with the notes, in which the text of a tag is unique.
  /// - Parameter next: whether a tag can refer to another one.
  private func app(next: Bool = false) throws -> CoreDataApp {
    var model = try String(contentsOfFile: Fixtures.root + "/Schema/CoreDataStores/Notes.json", encoding: .utf8)
    func append(_ text: String, to place: String) {
      #expect(model.contains(place))
      model = model.replacingOccurrences(of: place, with: place + text)
    }
    append(" \"unique\": [[\"text\"]],", to: "{\"name\": \"IDMTag\",")
    if next {
      append(
        """
        , {"name": "next", "destination": "IDMTag", "inverse": "previous"},
        {"name": "previous", "destination": "IDMTag", "inverse": "next", "toMany": true}
        """, to: "{\"name\": \"notes\", \"destination\": \"IDMNote\", \"inverse\": \"tags\", \"toMany\": true}")
    }
    return try CoreDataApp("Notes.sqlite", model: model)
  }

  private func skipped(_ result: Daemon.Result) -> [String] { result.lines.filter { $0.hasPrefix("skipped") } }

  private static let remedy =
    "IDMTag.text: rows are skipped because other rows or objects have their unique key; give them other values in the app, "
    + "or delete them there, and import again"

  /// The store is of a version without the constraint.
  @Test(arguments: ["1000", "1"])
  func firstOfTheRowsWithOneKeyIsImported(batch: String) throws {
    let app = try app()
    try app.change(
      "INSERT INTO ZIDMTAG VALUES (9, 3, 1, 'red'), (10, 3, 1, 'new'), (11, 3, 1, 'red'); INSERT INTO Z_2TAGS VALUES (4, 9)"
    )
    let result = try app.run("--batch", batch)
    #expect(result.status == 0, "\(result.errors)")
    let lines = skipped(result)
    #expect(lines.count == 2)
    for (line, row) in zip(lines, [9, 11]) {
      #expect(
        line.hasPrefix("skipped IDMTag \(row): its unique key, text \"red\", is that of IDMTag 1"), "\(line)")
    }
    #expect(result.lines.contains("\(Self.remedy) (2)"), "\(result.output)")
    #expect(result.lines.contains("imported 10, changed 0, unchanged 0, skipped 2, incomplete 1"), "\(result.output)")
    #expect(result.lines.contains("imported IDMNote 4 without tags: IDMTag 9 was not imported"))
    let note = try app.object("IDMNote", "uniqueIdentifier == \"n1\"")
    #expect(Set(try app.members(note, "tags", "text")) == ["red", "blue"])
    // The next run meets the object of the first row.
    let again = skipped(try app.run("--batch", batch))
    #expect(again.count == 2)
    #expect(
      again.contains {
        $0.hasPrefix("skipped IDMTag 9: its unique key, text \"red\", is that of IDMTag 1, the object ")
      }, "\(again)")
    #expect(try app.count("IDMTag") == "4\n")
    #expect(app.daemon.stop() == 0)
  }

  /// A key of several properties may contain a reference, whose object is named by its row.
  @Test(arguments: ["another commit", "the same commit"])
  func eachPropertyOfAKeyIsNamed(holder: String) throws {
    var model = try String(contentsOfFile: Fixtures.root + "/Schema/CoreDataStores/Notes.json", encoding: .utf8)
    let place = "{\"name\": \"IDMNote\","
    #expect(model.contains(place))
    model = model.replacingOccurrences(of: place, with: place + " \"unique\": [[\"text\", \"imageFile\"]],")
    let app = try CoreDataApp("Notes.sqlite", model: model)
    let isOther = holder == "another commit"
    if isOther { #expect(try app.counts() == ["imported": 9]) }
    try app.change("INSERT INTO ZIDMNOTE SELECT 20, 2, 1, 1, 5, ZTEXT, 'n20' FROM ZIDMNOTE WHERE Z_PK = 1")
    let line = try #require(skipped(try app.run()).first)
    #expect(
      line.hasPrefix(
        "skipped IDMNote 20: its unique key, text \"Epoch: 2001-01-01T00:00:00Z\" and imageFile IDMMediaFile 1, is that of "
          + "IDMNote 1" + (isOther ? ", the object " : "")), "\(line)")
    #expect(try app.counts() == ["unchanged": 9, "skipped": 1])
    #expect(app.daemon.stop() == 0)
  }

  @Test func holderOfAKeyIsNamed() throws {
    let app = try app()
    #expect(try app.daemon.run("graph", "insert", "IDMTag", "text=blue").status == 0)
    let id = try #require(try app.object("IDMTag", "text == \"blue\"")["id"]?.stringValue)
    let first = try app.run()
    #expect(skipped(first).count == 1)
    let foreign = "text \"blue\", is that of the object \(id), which is not from this store"
    #expect(skipped(first).first?.hasSuffix(foreign) == true, "\(first.output)")
    try app.change("DELETE FROM ZIDMTAG WHERE Z_PK = 7; INSERT INTO ZIDMTAG VALUES (9, 3, 1, 'unused')")
    let second = try app.run()
    #expect(
      skipped(second).contains {
        $0.hasPrefix("skipped IDMTag 9: its unique key, text \"unused\", is that of IDMTag 7, the object ")
          && $0.hasSuffix(", which the app has deleted; --delete deletes the object")
      }, "\(second.output)")
    let counts = try app.counts("--delete")
    #expect(counts["imported"] == 1 && counts["deleted"] == 1 && counts["skipped"] == 1)
    #expect(app.daemon.stop() == 0)
  }

  @Test func newRowTakesTheKeyOfAChangedRow() throws {
    let app = try app()
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      """
      UPDATE ZIDMTAG SET ZTEXT = 'crimson' WHERE Z_PK = 1;
      INSERT INTO ZIDMTAG VALUES (9, 3, 1, 'red'), (10, 3, 1, 'blue'); INSERT INTO Z_2TAGS VALUES (4, 9)
      """)
    let result = try app.run()
    #expect(
      result.lines.contains("imported 1, changed 2, unchanged 7, skipped 1"), "\(result.output)")
    #expect(
      skipped(result).first?.contains("its unique key, text \"blue\", is that of IDMTag 2") == true, "\(result.output)")
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"n4\""), "tags", "text") == ["red"])
    #expect(try app.counts() == ["unchanged": 10, "skipped": 1])
    #expect(app.daemon.stop() == 0)
  }

  /// Neither row can be sent completely before the other one.
  @Test func changedRowRefersToTheNewOwnerOfItsKey() throws {
    let app = try app(next: true)
    try app.change("ALTER TABLE ZIDMTAG ADD COLUMN ZNEXT INTEGER")
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      "UPDATE ZIDMTAG SET ZTEXT = 'crimson', ZNEXT = 9 WHERE Z_PK = 1; INSERT INTO ZIDMTAG VALUES (9, 3, 1, 'red', NULL)"
    )
    #expect(try app.counts() == ["imported": 1, "changed": 1, "unchanged": 8])
    let red = try app.object("IDMTag", "text == \"red\"")
    #expect(try app.object("IDMTag", "text == \"crimson\"")["next"] == red["id"])
    #expect(try app.counts() == ["unchanged": 10])
    #expect(app.daemon.stop() == 0)
  }

  @Test func rowsOfTwoCommitsSwapTheirKeys() throws {
    let app = try app()
    #expect(try app.counts() == ["imported": 9])
    let red = try app.object("IDMTag", "text == \"red\"")["id"]
    try app.change(
      "UPDATE ZIDMTAG SET ZTEXT = CASE Z_PK WHEN 1 THEN 'unused' WHEN 2 THEN 'azure' ELSE 'red' END")
    #expect(try app.counts("--batch", "2") == ["changed": 3, "unchanged": 6])
    #expect(try app.object("IDMTag", "text == \"unused\"")["id"] == red)
    #expect(app.daemon.stop() == 0)
  }

  /// The references of other rows to a row wait for it over several runs.
  @Test func referencesToARowThatIsImportedAgainOutlastItsRefusal() throws {
    let app = try app(next: true)
    try app.change("ALTER TABLE ZIDMTAG ADD COLUMN ZNEXT INTEGER; UPDATE ZIDMTAG SET ZNEXT = 1 WHERE Z_PK = 2")
    #expect(try app.counts() == ["imported": 9])
    let red = try #require(try app.object("IDMTag", "text == \"red\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "delete", red).status == 0)
    #expect(try app.daemon.run("graph", "insert", "IDMTag", "text=red").status == 0)
    let theirs = try #require(try app.object("IDMTag", "text == \"red\"")["id"]?.stringValue)
    let refused = try app.run("--again")
    #expect(skipped(refused).count == 1, "\(refused.output)")
    #expect(refused.lines.contains("imported IDMTag 2 without next: IDMTag 1 was not imported"), "\(refused.output)")
    #expect(try app.daemon.run("graph", "update", theirs, "text=theirs").status == 0)
    let counts = try app.counts()
    #expect(counts["imported"] == 1 && counts["changed"] == 3 && counts["skipped"] == nil, "\(counts)")
    let again = try app.object("IDMTag", "text == \"red\"")
    #expect(try app.object("IDMTag", "text == \"blue\"")["next"] == again["id"])
    let first = try app.object("IDMNote", "uniqueIdentifier == \"n1\"")
    #expect(Set(try app.members(first, "tags", "text")) == ["red", "blue"])
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"n5\""), "tags", "text") == ["red"])
    #expect(try app.counts() == ["unchanged": 9])
    #expect(app.daemon.stop() == 0)
  }
}
