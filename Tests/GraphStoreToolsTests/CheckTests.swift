import Foundation
import GRDB
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// For each kind of finding, a store is damaged in its file. The check must report that kind, or an equivalent one.
@Suite struct CheckTests {
  /// Boards, notes with tags and a link, one note deleted, one edited.
  private func notes() throws -> TestStore {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("Plans")])
    _ = try store.insert("Board", ["name": .string("Other")])
    let tag = try store.insert("Tag", ["name": .string("home")])
    var notes = [ObjectID]()
    for text in ["Buy milk", "Call Ann", "Água e pão", "Gone"] {
      notes.append(
        try store.insert("Note", ["text": .string(text), "board": .object(board), "tags": .objects([tag])]))
    }
    try store.must([store.insertion("Link", ["from": .object(notes[0]), "to": .object(notes[1])])])
    try store.must([store.update(notes[0], "Note.x", .double(12))])
    try store.must([Change(.delete, notes[3])])
    return store
  }

  @Test func otherModelVersionIsReported() throws {
    let store = try ShopVersions.filled()
    try store.store.close()
    let newer = try StoreCheck.run(
      directory: store.directory.path, model: try ShopVersions.model(ShopVersions.second), heldObjects: 3)
    let sentence = try #require(newer.first { $0.kind == .model }).description
    #expect(
      sentence.contains("the store has version 1 of Shop, and the given model is version 2; stickiesd migrate"),
      "\(sentence)")
  }

  /// People in projects: counts, ranges, inheritance.
  private func company() throws -> TestStore {
    let store = try TestStore(try Fixtures.company())
    let project = try store.insert("Project", ["title": .string("t"), "year": .integer(1)])
    for name in ["a", "b", "c"] {
      _ = try store.insert("Person", ["name": .string(name), "age": .integer(40), "projects": .objects([project])])
    }
    _ = try store.insert("Person", ["name": .string("d"), "age": .integer(50)])
    return store
  }

  /// A department, a person in it, a project.
  private func workplace() throws -> TestStore {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    _ = try store.insert("Person", ["name": .string("Ann"), "unit": .object(department)])
    _ = try store.insert("Project", ["department": .object(department), "starts": .date(5), "due": .date(6)])
    return store
  }

  /// The findings of check after `sql` was run on the closed store. Semicolons separate statements.
  private func findings(
    _ store: TestStore, _ sql: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [StoreFinding] {
    try store.store.close()
    #expect(
      try StoreCheck.run(directory: store.directory.path, model: store.model, heldObjects: 3).isEmpty,
      "the store was not sound before",
      sourceLocation: sourceLocation)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: store.directory.path + "/graph.sqlite", configuration: configuration)
    let changes = try queue.inDatabase { database in
      try database.execute(sql: sql)
      return database.totalChangesCount
    }
    try queue.close()
    #expect(changes > 0 || sql.hasPrefix("DROP"), "the damage touched nothing", sourceLocation: sourceLocation)
    return try StoreCheck.run(directory: store.directory.path, model: store.model, heldObjects: 3)
  }

  private func kinds(_ findings: [StoreFinding]) -> Set<StoreFinding.Kind> { Set(findings.map(\.kind)) }

  /// A switch, so that a new kind without its damage does not compile.
  @Test(arguments: StoreFinding.Kind.allCases) func everyKindOfDamageIsFound(_ kind: StoreFinding.Kind) throws {
    switch kind {
    case .log: break  // In `WriteAheadLogTests`.
    case .commitLog: break  // In `UnappliedLogTests`.
    case .integrity: try indexThatLacksAnEntry()
    case .schema:
      let found = try findings(try notes(), #"DROP INDEX "Note.board""#)
      #expect(kinds(found) == [.schema])
      #expect(found.map(\.place) == [.init(table: "Note.board")])
    case .foreignKey:
      let found = try findings(try notes(), "DELETE FROM Board WHERE name = 'Plans'")
      #expect(kinds(found).isSuperset(of: [.foreignKey, .rule, .history]))
      #expect(found.first { $0.kind == .foreignKey }.map { $0.place.table == "Note" && $0.place.row == 1 } == true)
    case .store:
      #expect(kinds(try findings(try notes(), "UPDATE _store SET created = created + 1")) == [.store])
      #expect(kinds(try findings(try notes(), "UPDATE _store SET id = zeroblob(16)")) == [.store])
      #expect(kinds(try findings(try notes(), "DELETE FROM _store")) == [.store])
      #expect(kinds(try findings(try notes(), "UPDATE _model SET source = source || ' '")) == [.store])
    case .model:
      let store = try company()
      try store.store.close()
      let found = try StoreCheck.run(directory: store.directory.path, model: try Fixtures.stickies(), heldObjects: 3)
      #expect(kinds(found) == [.model])
    case .form:
      let found = try findings(try notes(), "UPDATE Note SET text = CAST(text AS BLOB) WHERE _row = 2")
      #expect(kinds(found) == [.form])
      #expect(found.map(\.place.row) == [2])
      #expect(kinds(try findings(try company(), #"UPDATE Party SET "Person.active" = 7 WHERE _row = 1"#)) == [.form])
    case .checksum:
      let found = try findings(try notes(), "UPDATE Board SET _sum = _sum + 1 WHERE name = 'Other'")
      #expect(kinds(found) == [.checksum])
      #expect(found.first?.place.object != nil)
      #expect(kinds(try findings(try notes(), "UPDATE Note SET x = 99 WHERE _row = 1")) == [.checksum, .history])
    case .rule:
      for (sql, words) in [
        (#"UPDATE Party SET "Person.age" = 200 WHERE name = 'a'"#, "age is more than 150"),
        (#"UPDATE Party SET "Person.level" = 'boss' WHERE name = 'a'"#, "level is no enumeration"),
        ("UPDATE Party SET name = '' WHERE name = 'a'", "name has 0 bytes; the minimum is 1"),
        ("UPDATE Party SET name = NULL WHERE name = 'a'", "has no name, which is required"),
        ("UPDATE Party SET _entity = 99 WHERE name = 'a'", "entity that the model does not have"),
      ] {
        let found = try findings(try company(), sql).filter { $0.kind == .rule }
        #expect(found.contains { $0.text.contains(words) && $0.place.table == "Party" }, "\(sql): \(found)")
      }
      let late = try findings(try workplace(), "UPDATE Project SET due = 4").filter { $0.kind == .rule }
      #expect(late.map(\.text) == ["breaks the rule endsAfterItStarts"])
    case .unique:
      let found = try findings(try notes(), #"DROP INDEX "Board.unique.name"; UPDATE Board SET name = 'Plans'"#)
      #expect(kinds(found) == [.schema, .unique, .checksum, .history])
      #expect(found.first { $0.kind == .unique }?.text == "shares its name with 1 other object")
    case .count:
      let found = try findings(
        try company(),
        """
        UPDATE Party SET "Person.projects" = (SELECT "Person.projects" FROM Party WHERE name = 'a') WHERE name = 'd';
        INSERT INTO "Person.projects" (member, owner)
          SELECT member, (SELECT _row FROM Party WHERE name = 'd') FROM "Person.projects" LIMIT 1
        """)
      #expect(kinds(found) == [.count, .checksum, .history])
      #expect(found.first { $0.kind == .count }?.text == "has 4 objects in members and takes 3")
    case .derived:
      for (sql, name) in [
        ("UPDATE Unit SET headcount = 3", "headcount"), ("UPDATE Project SET size = 1", "size"),
        (#"UPDATE Party SET "Person.pay" = 1"#, "pay"),
      ] {
        let found = try findings(try workplace(), sql)
        #expect(kinds(found) == [.derived, .checksum, .history], "\(sql)")
        #expect(found.first { $0.kind == .derived }?.text == "has a \(name) that differs from its calculated value")
      }
    case .dangling:
      let found = try findings(try notes(), #"DELETE FROM "Note.tags"; DELETE FROM Tag"#)
      #expect(kinds(found) == [.dangling, .edges, .history])
      #expect(found.count { $0.kind == .dangling } == 3)
    case .edges:
      #expect(kinds(try findings(try notes(), #"DELETE FROM "Note.tags" WHERE owner = 1"#)) == [.edges])
      let extra = #"INSERT INTO "Person.projects" SELECT 1, _row FROM Party WHERE name = 'd'"#
      #expect(kinds(try findings(try company(), extra)) == [.edges, .count])
    case .words:
      let index = #""Note.text.words""#
      let lost = try findings(
        try notes(), "INSERT INTO \(index) (\(index), rowid, words) VALUES ('delete', 1, 'milk')")
      #expect(kinds(lost) == [.words])
      #expect(lost.map(\.place.row) == [1])
      #expect(
        kinds(try findings(try notes(), "INSERT INTO \(index) (rowid, words) VALUES (1, 'phantom')")) == [.words])
    case .history:
      let found = try findings(try notes(), "DELETE FROM _commit WHERE revision = 5")
      #expect(kinds(found).isSuperset(of: [.history, .fingerprint]))
      #expect(found.contains { $0.kind == .history && $0.place.row == 6 && $0.text == "does not follow revision 4" })
      let unknown = try findings(try notes(), "UPDATE _commit SET model = 9 WHERE revision = 5")
      #expect(kinds(unknown) == [.history, .fingerprint])
    case .fingerprint:
      #expect(kinds(try findings(try notes(), "UPDATE _author SET name = 'eve'")) == [.fingerprint])
      let found = try findings(try notes(), "UPDATE _commit SET time = time + 1 WHERE revision = 2")
      #expect(kinds(found) == [.fingerprint])
      #expect(found.map(\.place.row) == [2])
    case .tombstone:
      #expect(kinds(try findings(try notes(), "UPDATE _tombstone SET revision = revision - 1")) == [.tombstone])
      #expect(kinds(try findings(try notes(), "DELETE FROM _tombstone")) == [.tombstone])
      let extra = "INSERT INTO _tombstone SELECT _id, _entity, 1 FROM Board LIMIT 1"
      #expect(kinds(try findings(try notes(), extra)) == [.tombstone])
    case .sequence:
      let newest = "WHERE revision = (SELECT max(revision) FROM _commit)"
      let found = try findings(try notes(), "UPDATE _commit SET counters = x'' \(newest)")
      #expect(kinds(found) == [.sequence, .fingerprint])
      #expect(found.first { $0.kind == .sequence }?.text == "would assign 1 as the next number, but 4 was assigned")
    }
  }

  /// One entry less on an index's only page: every row is still there.
  private func indexThatLacksAnEntry() throws {
    let store = try notes()
    try store.store.close()
    let path = store.directory.path + "/graph.sqlite"
    let page = try DatabaseQueue(path: path).inDatabase { database in
      try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_schema WHERE name = '_commit_transaction'")
    }
    var bytes = try #require(FileManager.default.contents(atPath: path).map(Array.init))
    let count = (try #require(page) - 1) * 4_096 + 4
    #expect(bytes[count] > 2)
    bytes[count] -= 1
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let found = try StoreCheck.run(directory: store.directory.path, model: store.model, heldObjects: 3)
    #expect(kinds(found) == [.integrity])
    #expect(found.contains { $0.text.contains("_commit_transaction") })
  }

  /// One kind of damage must not hide another.
  @Test func allDamagesAreReportedTogether() throws {
    let found = try findings(
      try notes(),
      """
      DROP INDEX "Note.board"; UPDATE _store SET created = created + 1; UPDATE _author SET name = 'eve';
      UPDATE Note SET text = CAST(text AS BLOB) WHERE _row = 2; UPDATE Board SET _sum = 0 WHERE name = 'Other';
      DELETE FROM "Note.tags" WHERE owner = 1; DELETE FROM _tombstone
      """)
    #expect(kinds(found) == [.schema, .store, .form, .checksum, .edges, .fingerprint, .tombstone])
    #expect(found.map(\.kind) == StoreFinding.Kind.allCases.flatMap { kind in found.map(\.kind).filter { $0 == kind } })
  }

  @Test func hundredFindingsPerKindAreListed() throws {
    let store = try TestStore(try Fixtures.stickies())
    try store.must((0..<150).map { try store.insertion("Tag", ["name": .string("t\($0)")]) })
    let found = try findings(store, "UPDATE Tag SET _sum = _sum + 1")
    #expect(found.count == StoreFinding.maximumPerKind + 1)
    #expect(found.last == .init(kind: .checksum, text: "and 50 more"))
  }

  @Test func findingReportsKindPlaceAndDetail() throws {
    let found = try findings(try notes(), "UPDATE Board SET _sum = _sum + 1 WHERE name = 'Other'")
    let finding = try #require(found.first)
    let id = try #require(finding.place.object)
    #expect(finding.description == "checksum: Board \(id) (row 2) has changed outside a commit")
  }

  @Test func invalidOverwrittenValueIsFoundAndMissingTableAccepted() throws {
    let sql = "INSERT INTO _lost (id, property, revision) VALUES (zeroblob(16), 1, 3)"
    let found = try findings(try notes(), sql)
    #expect(kinds(found) == [.history])
    #expect(found.map(\.place.table) == ["_lost"])
    let older = try notes()
    #expect(try findings(older, "DROP TABLE _lost").isEmpty)
    // The table is created with the first overwritten value.
    try older.reopen()
    let note = try #require(try older.all("Note").first)
    let x = try older.property("Note.x").number
    #expect(try older.store.origin(of: x, of: note.id).overwrittenValues.isEmpty)
    try older.must([older.update(note.id, "Note.x", .double(50))])
    try older.by("bob") {
      try older.must([older.update(note.id, "Note.x", .double(60), base: note.revision)], policy: .storeTrump)
    }
    #expect(try older.store.origin(of: x, of: note.id).overwrittenValues.map(\.value) == [.double(60)])
    #expect(try StoreCheckRun(older).findings.isEmpty)
  }

  /// The check only reads: if it finds damage, it does not even copy a waiting log.
  @Test func checkDoesNotModifyDamagedStore() throws {
    let store = try notes()
    let copy = try TemporaryDirectory()
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: store.directory.path + "/" + name, toPath: copy.path + "/" + name)
    }
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    // A second connection keeps the log from being copied when the first one closes.
    let (first, second) = (
      try DatabaseQueue(path: copy.path + "/graph.sqlite", configuration: configuration),
      try DatabaseQueue(path: copy.path + "/graph.sqlite", configuration: configuration)
    )
    _ = try second.inDatabase { try Int.fetchOne($0, sql: "SELECT count(*) FROM _store") }
    try first.inDatabase { try $0.execute(sql: "UPDATE Board SET _sum = 0") }
    let damaged = try TemporaryDirectory()
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: copy.path + "/" + name, toPath: damaged.path + "/" + name)
    }
    try first.close()
    try second.close()
    let before = try FileState.of(damaged)
    #expect(before.count == 2)
    #expect(kinds(try StoreCheck.run(directory: damaged.path, model: store.model, heldObjects: 3)) == [.checksum])
    #expect(try FileState.of(damaged) == before)
  }
}
