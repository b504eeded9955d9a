import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// Rows whose values can't be taken as they are.
@Suite struct SourceRowTests {
  private static let limit = "do not fit into an object, which has at most 15728640 with all its values"

  @Test func rowOfAnotherTableIsNotRead() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute("INSERT INTO ZIDMTAG VALUES (12, 2, 1, 'odd')")
    let store = try fixture.read()
    #expect(
      store.unreadable == ["IDMTag 12": "its Z_ENT is 2, IDMNote, whose rows are not in the table ZIDMTAG"])
  }

  /// More than SQLite returns.
  @Test func valueOfManyMegabytesCostsOnlyItself() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      """
      UPDATE ZIDMMEDIAFILE SET ZDATA = zeroblob(70000000) WHERE Z_PK = 1;
      ALTER TABLE ZIDMNOTE ADD COLUMN ZBIG BLOB; UPDATE ZIDMNOTE SET ZBIG = zeroblob(70000000) WHERE Z_PK = 1
      """)
    let store = try fixture.read()
    #expect(try store.problems("IDMMediaFile 1") == ["data: its 70000000 bytes \(Self.limit)"])
    #expect(try store.value("IDMMediaFile 1", "uniqueIdentifier") != nil)
    #expect(try store.value("IDMMediaFile 2", "data") != nil)
    // The model does not have the other column.
    #expect(try store.problems("IDMNote 1") == [] && store.value("IDMNote 1", "text") != nil)
    #expect(store.remarks.contains { $0.hasPrefix("IDMNote.ZBIG: ") })
  }

  @Test func optionalValueThatDoesNotFitIsLeftOut() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      """
      UPDATE ZIDMNOTE SET ZTEXT = printf('%.*c', 16000000, 'x') WHERE Z_PK = 1;
      UPDATE ZIDMNOTE SET ZTEXT = printf('%.*c', 8000000, 'x'), ZUNIQUEIDENTIFIER = printf('%.*c', 9000000, 'x')
        WHERE Z_PK = 2;
      UPDATE ZIDMMEDIAFILE SET ZDATA = zeroblob(9000000), ZUNIQUEIDENTIFIER = printf('%.*c', 9000000, 'x')
        WHERE Z_PK = 1
      """)
    let store = try fixture.read()
    #expect(try store.problems("IDMNote 1") == ["text: its 16000000 bytes \(Self.limit)"])
    #expect(try store.problems("IDMNote 2") == ["text: its 8000000 bytes \(Self.limit)"])
    #expect(store.unreadable["IDMMediaFile 1"]?.hasSuffix("an object has at most 15728640") == true)
  }

  @Test func dateOutsideOfYearsIsNullOrTheNearest() throws {
    let model = """
      {"format": 1, "name": "Dates", "version": 1, "entities": [
        {"name": "IDMNote", "attributes": [{"name": "creationDate", "type": "date"OPTIONAL}]}
      ]}
      """
    func read(_ optional: String) throws -> ReadStore {
      let fixture = try StoreFixture("Notes.sqlite", model: model.replacing("OPTIONAL", with: optional))
      try fixture.execute("UPDATE ZIDMNOTE SET ZCREATIONDATE = -63114076800 WHERE Z_PK = 1")
      return try fixture.read()
    }
    let reason =
      "creationDate: the date -63114076800 (Date.distantPast), in seconds since 2001, is outside of the years 0001 to "
      + "9999"
    var store = try read("")
    #expect(try store.value("IDMNote 1", "creationDate") == .date(RFC3339.range.lowerBound))
    #expect(try store.problems("IDMNote 1") == [reason + "; it is 0001-01-01T00:00:00.000000Z here"])
    store = try read(", \"optional\": true")
    #expect(try store.value("IDMNote 1", "creationDate") == .null)
    #expect(try store.problems("IDMNote 1") == [reason])
  }
}
