import Foundation
import GRDB
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// `stickies graph import --core-data`: stores of real apps, a second run, rows that can't be taken, kills.
@Suite struct CoreDataImportTests {
  @Test func storeIsImportedAndUnchanged() throws {
    let app = try CoreDataApp("Cars.sqlite")
    let before = FileManager.default.contents(atPath: app.path)
    let result = try app.run("--rename", "Person.identifier=id")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == "imported 145, changed 0, unchanged 0, skipped 0\nthe mapping is \(app.mapping)\n")
    #expect(FileManager.default.contents(atPath: app.path) == before)
    #expect(try app.count("Car") == "125\n")
    #expect(try app.count("SportCar") == "10\n")
    #expect(try app.count("Person") == "20\n")
    let car = try app.object("Car", "numberPlate == \"170\"")
    #expect(car["maker"] == .string("FIAT") && car["model"] == .string("Panda"))
    let owner = try app.object("Person", "ANY cars.numberPlate == \"170\"")
    #expect(car["owner"] == owner["id"])
    let person = try app.object("Person", "firstName == \"Victoria\" AND lastName == \"Coster\"")
    #expect(person["identifier"] == .string("fefe4176-912d-429f-9c83-662fff641115"))
    #expect(person["updatedAt"] == .string("2021-04-07T15:52:49.638733Z"))
    // A second run imports nothing, and one undo reverts the first.
    let revision = try app.revision()
    #expect(try app.counts("--rename", "Person.identifier=id") == ["unchanged": 145])
    #expect(try app.revision() == revision)
    #expect(try app.daemon.run("graph", "undo").status == 0)
    #expect(try app.count("Car") == "0\n")
    #expect(app.daemon.stop() == 0)
  }

  @Test func orderedListsAreImportedFromWriteAheadLog() throws {
    let app = try CoreDataApp("Bookmarks4.sqlite")
    #expect(try app.counts() == ["imported": 10])
    let root = try app.object("BookmarkEntity", "title == \"bookmarks_root\"")
    #expect(try app.members(root, "children", "title") == ["1", "2", "3", "4", "5"])
    let favorites = try app.object("BookmarkEntity", "title == \"favorites_root\"")
    #expect(try app.members(favorites, "favorites", "title") == ["5", "4", "33", "32", "2"])
    // The app moves the first to the end.
    try app.change("UPDATE Z_1FAVORITES SET Z_FOK_1FAVORITES = 9000 WHERE Z_1FAVORITES = 8")
    #expect(try app.counts() == ["changed": 1, "unchanged": 9])
    let moved = try app.object("BookmarkEntity", "title == \"favorites_root\"")
    #expect(try app.members(moved, "favorites", "title") == ["4", "33", "32", "2", "5"])
    #expect(app.daemon.stop() == 0)
    try app.daemon.expectSound(["--schema", app.daemon.home.path + "/schema"])
  }

  @Test(arguments: [("Bookmarks1.sqlite", 10), ("WorldFacts.sqlite", 252), ("Moody.moody", 9), ("Notes.sqlite", 9)])
  func otherStoresAreImportedTwice(name: String, rows: Int64) throws {
    let app = try CoreDataApp(name)
    #expect(try app.counts() == ["imported": rows])
    #expect(try app.counts() == ["unchanged": rows])
    #expect(app.daemon.stop() == 0)
  }

  @Test func secondRunTakesChangesOnly() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    // Another client changes values that the app does not.
    let tag = try #require(try app.object("IDMTag", "text == \"blue\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "update", tag, "text=azure", author: "ben@test").status == 0)
    try app.change(
      """
      UPDATE ZIDMNOTE SET ZTEXT = 'changed', Z_OPT = 2 WHERE Z_PK = 1;
      UPDATE ZIDMNOTE SET ZIMAGEFILE = NULL WHERE Z_PK = 2;
      DELETE FROM Z_2TAGS WHERE Z_2NOTES = 1 AND Z_3TAGS = 2; DELETE FROM ZIDMTAG WHERE Z_PK = 7;
      INSERT INTO ZIDMTAG VALUES (9, 3, 1, 'new'); INSERT INTO Z_2TAGS VALUES (4, 9)
      """)
    #expect(try app.counts() == ["imported": 1, "changed": 3, "unchanged": 5, "kept": 1])
    let first = try app.object("IDMNote", "uniqueIdentifier == \"n1\"")
    #expect(first["text"] == .string("changed"))
    #expect(try app.members(first, "tags", "text") == ["red"])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n2\"")["imageFile"] == .null)
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"n4\""), "tags", "text") == ["new"])
    // Values of other clients stay, and so does the object of the deleted row without the option.
    #expect(try app.object("IDMTag", "text == \"azure\"")["id"] == .string(tag))
    #expect(try app.count("IDMTag") == "4\n")
    #expect(try app.run().output.contains("1 row no longer in the store: the object stays; --delete deletes it\n"))
    #expect(try app.counts("--delete") == ["unchanged": 9, "deleted": 1])
    #expect(try app.count("IDMTag") == "3\n")
    #expect(try app.counts("--delete") == ["unchanged": 9])
    #expect(app.daemon.stop() == 0)
  }

  @Test func rowsThatCanNotBeTakenAreReported() throws {
    let app = try CoreDataApp("Notes.sqlite")
    try app.change(
      """
      INSERT INTO ZIDMTAG VALUES (10, 3, 1, ''), (11, 3, 1, NULL), (12, 9, 1, 'odd');
      INSERT INTO ZIDMNOTE VALUES (20, 2, 1, 99, 5, 'dangling', 'n20'), (21, 2, 1, 1, 'today', 'no date', 'n21');
      INSERT INTO ZIDMNOTE VALUES (22, 2, 1, NULL, 5, x'FF00', 'n22'); INSERT INTO Z_2TAGS VALUES (4, 11), (4, 1);
      INSERT INTO ZIDMMEDIAFILE VALUES (30, 1, 1, 'gone', CAST('\u{2}00000000-0000-0000-0000-000000000000' AS BLOB))
      """)
    let result = try app.run()
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.lines.filter { !$0.hasPrefix("IDMMediaFile.data: ") && !$0.hasPrefix("the mapping") } == [
        "imported IDMNote 22 without text: the column has bytes, and the attribute is a string",
        "skipped IDMTag 12: Z_PRIMARYKEY does not list the entity of the row",
        "skipped IDMMediaFile 30: IDMMediaFile.data needs a value; data: its external file "
          + "00000000-0000-0000-0000-000000000000 can't be read (No such file or directory)",
        "skipped IDMNote 21: IDMNote.creationDate needs a value; creationDate: the column has a text, and the attribute "
          + "is a date",
        "skipped IDMTag 10: IDMTag.text has 0 bytes; the minimum is 1",
        "skipped IDMTag 11: IDMTag.text needs a value",
        "imported IDMNote 4 without tags: IDMTag 11 was not imported",
        "imported IDMNote 20 without imageFile: there is no row IDMMediaFile 99",
        "imported 11, changed 0, unchanged 0, skipped 5, incomplete 3",
      ])
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"n4\""), "tags", "text") == ["red"])
    let json = try app.run("--json").json()
    #expect(json["unchanged"] == .integer(11) && json["skipped"] == .integer(5))
    #expect(json["problems"]?.arrayValue?.count == 8)
    #expect(json["remarks"]?[0]?["subject"] == .string("IDMMediaFile.data"))
    // The rows are imported after the app has corrected them.
    try app.change(
      "UPDATE ZIDMTAG SET ZTEXT = 'corrected' WHERE Z_PK IN (10, 11); UPDATE ZIDMNOTE SET ZTEXT = 'text' WHERE Z_PK = 22"
    )
    #expect(try app.counts() == ["imported": 2, "changed": 2, "unchanged": 9, "skipped": 3, "incomplete": 1])
    #expect(
      try app.members(app.object("IDMNote", "uniqueIdentifier == \"n4\""), "tags", "text").compactMap(\.self).sorted()
        == ["corrected", "red"])
    #expect(app.daemon.stop() == 0)
  }

  /// The default of the model is for values that the store does not have.
  @Test func optionalValueThatCanNotBeTakenIsNull() throws {
    var model = try String(contentsOfFile: Fixtures.root + "/Schema/CoreDataStores/Notes.json", encoding: .utf8)
    let attributes = """
      {"name": "stars", "type": "integer", "maximum": 9, "optional": true, "default": 3},
      {"name": "level", "type": "integer", "default": 4},
      {"name": "added", "type": "integer", "optional": true, "default": 5},
      {"name": "due", "type": "date", "optional": true, "default": "2020-01-01T00:00:00Z"},

      """
    let place = "{\"name\": \"text\", \"type\": \"string\", \"minimumLength\": 1}"
    #expect(model.contains(place))
    model = model.replacingOccurrences(of: place, with: attributes + place)
    let app = try CoreDataApp("Notes.sqlite", model: model)
    try app.change(
      """
      ALTER TABLE ZIDMTAG ADD COLUMN ZSTARS INTEGER; ALTER TABLE ZIDMTAG ADD COLUMN ZLEVEL INTEGER;
      ALTER TABLE ZIDMTAG ADD COLUMN ZDUE TIMESTAMP;
      UPDATE ZIDMTAG SET ZSTARS = 'many', ZLEVEL = 'high', ZDUE = 'soon' WHERE ZTEXT = 'red';
      UPDATE ZIDMTAG SET ZSTARS = 10, ZLEVEL = 1, ZDUE = -63114076800 WHERE ZTEXT = 'blue';
      UPDATE ZIDMTAG SET ZSTARS = NULL, ZLEVEL = 1, ZDUE = 0 WHERE ZTEXT = 'unused'
      """)
    let result = try app.run()
    #expect(result.status == 0, "\(result.errors)")
    for name in ["IDMTag 1 without stars", "IDMTag 1 without level", "IDMTag 1 without due", "IDMTag 2 without stars"] {
      #expect(result.lines.contains { $0.hasPrefix("imported \(name): ") }, "\(result.output)")
    }
    let red = try app.object("IDMTag", "text == \"red\"")
    #expect(red["stars"] == .null && red["level"] == .integer(4) && red["due"] == .null)
    let blue = try app.object("IDMTag", "text == \"blue\"")
    #expect(blue["stars"] == .null && blue["level"] == .integer(1) && blue["due"] == .null)
    let unused = try app.object("IDMTag", "text == \"unused\"")
    #expect(unused["stars"] == .null && unused["due"]?.stringValue?.hasPrefix("2001-01-01T00:00:00") == true)
    // The store has no column of this attribute.
    #expect(red["added"] == .integer(5))
    // The app has corrected the value since.
    try app.change("UPDATE ZIDMTAG SET ZSTARS = 7 WHERE ZTEXT IN ('red', 'blue')")
    _ = try app.counts()
    for text in ["red", "blue"] {
      #expect(try app.object("IDMTag", "text == \"\(text)\"")["stars"] == .integer(7))
    }
    #expect(app.daemon.stop() == 0)
  }

  /// The value can't be read, or the model does not allow it.
  @Test func valueThatCanNotBeTakenLeavesTheEarlierOne() throws {
    let text = "{\"name\": \"text\", \"type\": \"string\", \"optional\": true"
    var model = try String(contentsOfFile: Fixtures.root + "/Schema/CoreDataStores/Notes.json", encoding: .utf8)
    #expect(model.contains(text))
    model = model.replacingOccurrences(of: text, with: text + ", \"maximumLength\": 40")
    let app = try CoreDataApp("Notes.sqlite", model: model)
    #expect(try app.counts() == ["imported": 9])
    try app.change(
      """
      UPDATE ZIDMNOTE SET ZTEXT = x'FF00' WHERE Z_PK = 1;
      UPDATE ZIDMNOTE SET ZTEXT = printf('%.*c', 41, 'x') WHERE Z_PK IN (2, 4)
      """)
    for _ in 0..<2 {
      let result = try app.run()
      for line in ["1 with the earlier text", "2 with the earlier text", "4 without text"] {
        #expect(result.lines.contains { $0.hasPrefix("imported IDMNote \(line): ") }, "\(result.output)")
      }
    }
    #expect(
      try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["text"] == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(app.daemon.stop() == 0)
  }

  @Test func appWinsOverAnotherClientExceptWithADelete() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    let note = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["id"]?.stringValue)
    let tag = try #require(try app.object("IDMTag", "text == \"unused\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "update", note, "text=theirs", author: "ben@test").status == 0)
    #expect(try app.daemon.run("graph", "update", tag, "text=used", author: "ben@test").status == 0)
    try app.change("UPDATE ZIDMNOTE SET ZTEXT = 'mine' WHERE Z_PK = 1; DELETE FROM ZIDMTAG WHERE Z_PK = 7")
    let counts = try app.counts("--delete")
    #expect(counts == ["changed": 1, "unchanged": 7, "overwritten": 1, "skipped": 1])
    #expect(try app.object("IDMNote", "uniqueIdentifier == \"n1\"")["text"] == .string("mine"))
    #expect(try app.object("IDMTag", "text == \"used\"")["id"] == .string(tag))
    #expect(app.daemon.stop() == 0)
  }

  @Test func namesOfFilesAreCompleted() throws {
    let daemon = try Daemon()
    for words in [["--core-data", ""], ["--core-data", "App.sqlite", "--mapping", ""]] {
      let result = try Daemon.run(
        ["complete", "--", "graph", "import"] + words, server: daemon.socket.description, author: "a", input: nil)
      #expect(result.lines == [":files"], "\(words): \(result.output)")
    }
    let options = try Daemon.run(
      ["complete", "--", "graph", "import", "--co"], server: daemon.socket.description, author: "a", input: nil)
    #expect(options.output.hasPrefix("--core-data"), "\(options.output)")
  }

  @Test func objectThatWasDeletedInTheGraphIsReported() throws {
    let app = try CoreDataApp("Notes.sqlite")
    #expect(try app.counts() == ["imported": 9])
    let id = try #require(try app.object("IDMNote", "uniqueIdentifier == \"n5\"")["id"]?.stringValue)
    #expect(try app.daemon.run("graph", "delete", id).status == 0)
    #expect(try app.counts() == ["unchanged": 8, "absent": 1])
    try app.change("UPDATE ZIDMNOTE SET ZTEXT = 'late' WHERE Z_PK = 5")
    let result = try app.run()
    #expect(
      result.output.contains("skipped IDMNote 5: its object was deleted in the graph since the last import\n"),
      "\(result.output)")
    #expect(try app.count("IDMNote") == "3\n")
    #expect(app.daemon.stop() == 0)
  }

  @Test func takenUniqueKeyIsReported() throws {
    let app = try CoreDataApp("Cars.sqlite")
    #expect(try app.daemon.run("graph", "insert", "Car", "numberPlate=170").status == 0)
    let result = try app.run("--rename", "Person.identifier=id", "--json")
    let json = try result.json()
    #expect(json["imported"] == .integer(144) && json["skipped"] == .integer(1), "\(result.output)")
    #expect(json["problems"]?[0]?["entity"] == .string("Car") && json["problems"]?[0]?["row"] == .integer(1))
    #expect(try app.count("Car") == "125\n")
    #expect(app.daemon.stop() == 0)
  }

  /// After any number of kills, each row is exactly one object.
  @Test func killedImportNeitherDoublesNorLosesRows() async throws {
    let app = try CoreDataApp("Notes.sqlite")
    try app.change(
      """
      WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 4099)
      INSERT INTO ZIDMNOTE SELECT i, 2, 1, 1 + i % 2, i * 1.25, 'text ' || i, 'm' || i FROM n;
      INSERT INTO Z_2TAGS SELECT Z_PK, 1 + Z_PK % 2 FROM ZIDMNOTE WHERE Z_PK >= 100
      """)
    // The folder, because the first import makes the file of its records.
    let writes = try FileWatch(URL(fileURLWithPath: app.mapping).deletingLastPathComponent().path)
    var kills = 0
    for round in 0..<12 {
      let recorded = app.mappingSize
      let process = Process()
      process.executableURL = Daemon.binary("stickies")
      process.arguments = [
        "graph", "import", "--core-data", app.path, "--batch", "1", "--server", app.daemon.socket.description,
      ]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      process.standardInput = FileHandle.nullDevice
      try process.run()
      // Before it has done anything, while it commits its first rows, or after it has committed some. An import that
      // has nothing to record writes nothing, and ends.
      let growth = [0, 1, 300 * round][round % 3]
      while process.isRunning, app.mappingSize < recorded + growth { _ = await writes.waitForWrite(seconds: 1) }
      if process.isRunning { kills += 1 }
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    // An import that has imported all rows ends by itself.
    #expect(kills >= 6)
    #expect(try #require(try app.revision()) > 3)
    let result = try app.run()
    #expect(result.status == 0, "\(result.errors)")
    #expect(try app.count("IDMNote") == "4004\n")
    #expect(try app.count("IDMTag") == "3\n")
    #expect(try app.counts() == ["unchanged": 4009])
    let rows = try app.daemon.run("graph", "fetch", "IDMNote", "--json").json()
    let names = try #require(rows.arrayValue).compactMap { $0["uniqueIdentifier"]?.stringValue }
    #expect(Set(names).count == 4004)
    #expect(try app.members(app.object("IDMNote", "uniqueIdentifier == \"m101\""), "tags", "text") == ["blue"])
    #expect(app.daemon.stop() == 0)
    try app.daemon.expectSound(["--schema", app.daemon.home.path + "/schema"])
  }

  private static let tags = """
    {"format": 1, "name": "Tags", "version": 1, "entities": [
      {"name": "IDMTag", "attributes": [{"name": "text", "type": "string", "optional": true}]}
    ]}
    """

  /// The rows of a killed import wait behind another client's batch. The next import waits for them, too.
  @Test func rowsThatWaitForTheWriterAreNotInsertedTwice() async throws {
    let app = try CoreDataApp("Notes.sqlite", model: Self.tags)
    #expect(try app.counts() == ["imported": 3])
    #expect(try app.daemon.run("graph", "undo").status == 0)
    let killed = try RawClient(app.daemon.socket)
    try await killed.hello(author: "ann@test")
    // The mapping of an import that was killed before it received the answer.
    let lines = try String(contentsOfFile: app.mapping, encoding: .utf8).split(separator: "\n").map(String.init)
    let replica = try #require(try JSON(parsing: lines[1])["sending"]?["replica"]?.stringValue)
    let sending = lines[1].replacingOccurrences(of: replica, with: killed.replica.description)
    try "\(lines[0])\n\(sending)\n".write(toFile: app.mapping, atomically: true, encoding: .utf8)
    let tag = try #require(try Model(parsing: Array(Self.tags.utf8)).entity(named: "IDMTag"))
    let other = try RawClient(app.daemon.socket)
    try await other.hello()
    let batch = try await insert(40_000, of: tag, by: other)
    // Its progress shows that the writer is busy with it.
    guard case .progress = try await other.reply(to: batch) else { throw RawClient.ReadTimeout() }
    let text = try #require(tag.property(named: "text")).number
    let changes = (1...3).map { number in
      Change(
        .insert, .temporary(UInt64(number), entity: tag.number),
        edits: [Edit(text, .set(.string("sent \(number)")))])
    }
    let request = try await killed.send(.commit(killed.transaction(changes)))
    #expect(try app.counts() == ["unchanged": 3])
    guard case .committed = try await killed.reply(to: request) else { throw RawClient.ReadTimeout() }
    #expect(try app.count("IDMTag") == "40003\n")
    #expect(app.daemon.stop() == 0)
  }

  /// The daemon orders the requests of one user only, so another user can't wait for the rows.
  @Test func killedImportOfAnotherUserIsRefused() throws {
    let app = try CoreDataApp("Notes.sqlite", model: Self.tags)
    #expect(try app.counts() == ["imported": 3])
    let text = try String(contentsOfFile: app.mapping, encoding: .utf8)
    let row = #"{"row":["IDMTag",99],"entity":"IDMTag","version":1,"revision":0,"sent":{}}"#
    let sending =
      #"{"sending":{"replica":"\#(UniqueID(high: 1, low: 2))","user":"user:ben","after":0,"rows":[\#(row)]}}"#
    try (text + sending + "\n").write(toFile: app.mapping, atomically: true, encoding: .utf8)
    let result = try app.run()
    #expect(result.status != 0)
    #expect(result.errors.contains("user:ben has run an import that was interrupted"), "\(result.errors)")
    #expect(try app.count("IDMTag") == "3\n")
    #expect(app.daemon.stop() == 0)
  }

  /// Requests a batch of new tags, which takes seconds.
  /// - Returns: the number of the request.
  private func insert(_ count: Int, of tag: Entity, by client: RawClient) async throws -> UInt64 {
    let id = TransactionID(replica: client.replica, sequence: 1)
    for _ in 0..<count / 1_000 {
      let rows = [[Value]](repeating: [.string("other")], count: 1_000)
      _ = try await client.reply(to: client.send(.batchRows(BatchRows(id: id, rows: rows))))
    }
    let properties = [try #require(tag.property(named: "text")).number]
    let request = BatchRequest(
      id: id, entity: tag.number, operation: .insert(properties: properties, rows: UInt64(count)))
    return try await client.send(.batch(request))
  }

  @Test func modelOfStoreIsPrinted() throws {
    let stores = Fixtures.root + "/Schema/CoreDataStores/"
    func run(_ name: String) throws -> Daemon.Result {
      // There is no daemon.
      try Daemon.run(
        ["graph", "import", "--core-data", stores + name, "--print-model"], server: "unix:///nowhere", author: "a",
        input: nil)
    }
    let cars = try run("Cars.sqlite")
    #expect(cars.status == 0, "\(cars.errors)")
    #expect(cars.lines.first == "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>")
    #expect(cars.lines.contains("    <entity name=\"SportCar\" parentEntity=\"Car\">"))
    #expect(cars.lines.last == "</model>")
    let facts = try run("WorldFacts.sqlite")
    #expect(facts.status == 4 && facts.errors.contains("does not contain its model"), "\(facts.errors)")
  }

  @Test func mistakesAboutFilesAreExplained() throws {
    let app = try CoreDataApp("Notes.sqlite")
    let home = app.daemon.home.path
    func run(_ words: String...) throws -> Daemon.Result {
      try Daemon.run(
        ["graph", "import"] + words, server: app.daemon.socket.description, author: "ann@test", input: nil)
    }
    #expect(try run("--core-data", home + "/none").status == 4)
    try "text".write(toFile: home + "/text", atomically: true, encoding: .utf8)
    let text = try run("--core-data", home + "/text")
    #expect(text.status == 2 && text.errors.contains("is not a SQLite database, or it is encrypted"), "\(text.errors)")
    let foreign = try run("--core-data", app.daemon.data + "/graph.sqlite")
    #expect(foreign.status == 2 && foreign.errors.contains("not a Core Data store"), "\(foreign.errors)")
    #expect(try run("--core-data", "-").status == 64)
    #expect(try run(app.path, "--delete").status == 64)
    #expect(try run("--core-data", app.path, "--rename", "x").status == 64)
    #expect(try run("--core-data", app.path, "--rename", "Nothing=x").status == 64)
    let unwritable = try run("--core-data", app.path, "--mapping", home + "/no/such/file")
    #expect(unwritable.status == 1 && unwritable.errors.contains("--mapping"), "\(unwritable.errors)")
    // The mapping of another store, and of another graph.
    #expect(try run("--core-data", app.path, "--mapping", home + "/mapping").status == 0)
    let cars = Fixtures.root + "/Schema/CoreDataStores/Cars.sqlite"
    let others = try run("--core-data", cars, "--mapping", home + "/mapping")
    #expect(others.status == 2 && others.errors.contains("belongs to another Core Data store"), "\(others.errors)")
    let foreignModel = try run("--core-data", cars, "--mapping", home + "/new-mapping")
    #expect(foreignModel.status == 2 && foreignModel.errors.contains("has no entity of this store"))
    #expect(!FileManager.default.fileExists(atPath: home + "/new-mapping"))
    let other = try CoreDataApp("Notes.sqlite")
    let elsewhere = try other.run("--mapping", home + "/mapping")
    #expect(elsewhere.status == 2 && elsewhere.errors.contains("belongs to another graph"), "\(elsewhere.errors)")
    #expect(app.daemon.stop() == 0 && other.daemon.stop() == 0)
  }
}
