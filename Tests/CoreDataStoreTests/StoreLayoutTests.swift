import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// Finds the names of a model in a store, and reports those that are missing.
@Suite struct StoreLayoutTests {
  @Test func partsMissingInModelAreReportedWithCounts() throws {
    let model = """
      {"format": 1, "name": "Few", "version": 1, "entities": [
        {"name": "IDMNote", "attributes": [{"name": "text", "type": "string", "optional": true}]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(store.counts == ["IDMNote": 4])
    #expect(
      store.remarks == [
        "IDMMediaFile: the model Few has no such entity: its rows are not taken (2)",
        "IDMTag: the model Few has no such entity: its rows are not taken (3)",
        "Z_2TAGS: the model Few has no relationship of this table: its rows are not taken (4)",
        "IDMNote.ZIMAGEFILE: the model Few has no such property: its values are not taken (2)",
        "IDMNote.ZCREATIONDATE: the model Few has no such property: its values are not taken (4)",
        "IDMNote.ZUNIQUEIDENTIFIER: the model Few has no such property: its values are not taken (4)",
      ])
  }

  @Test func missingPropertyHasItsNameInModelOfStore() throws {
    let model = """
      {"format": 1, "name": "Few", "version": 1, "entities": [
        {"name": "Car", "attributes": [{"name": "maker", "type": "string", "optional": true}]},
        {"name": "SportCar", "parent": "Car"}, {"name": "ExpensiveSportCar", "parent": "SportCar"}
      ]}
      """
    var fixture = try StoreFixture("Cars.sqlite", model: model)
    fixture.names = [:]
    let remarks = try fixture.read().remarks
    #expect(
      remarks.contains("Car.numberPlate: the model Few has no such property (String): its values are not taken (125)"))
    #expect(remarks.contains { $0.hasPrefix("Car.owner: the model Few has no such property (a relationship)") })
    #expect(remarks.contains("Person: the model Few has no such entity: its rows are not taken (20)"))
  }

  @Test func orderThatModelLacksIsReported() throws {
    let model = """
      {"format": 1, "name": "Plain", "version": 1, "entities": [
        {"name": "BookmarkEntity", "attributes": [{"name": "title", "type": "string", "optional": true}],
         "relationships": [
           {"name": "children", "destination": "BookmarkEntity", "inverse": "parent", "toMany": true},
           {"name": "parent", "destination": "BookmarkEntity", "inverse": "children"}]}
      ]}
      """
    let store = try StoreFixture("Bookmarks4.sqlite", model: model).read()
    #expect(
      store.remarks.contains(
        "ZBOOKMARKENTITY.Z_FOK_PARENT: no relationship of the model Plain has this order: it is not taken (8)"))
    #expect(try store.reference("BookmarkEntity 2", "parent") == "BookmarkEntity 5")
  }

  @Test func modelWithoutAnyEntityOfStoreIsRefused() throws {
    let fixture = try StoreFixture("Notes.sqlite", model: try Fixtures.company().source)
    let refusal = try #require(throws: Refusal.self) { try fixture.read() }
    #expect(refusal.code == .invalid)
    #expect(refusal.message.contains("has no entity of this store (IDMMediaFile, IDMNote, IDMTag)"))
  }

  @Test func missingTableAndColumnAreReported() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute("ALTER TABLE ZIDMNOTE DROP COLUMN ZTEXT; DROP TABLE ZIDMTAG; DROP TABLE Z_2TAGS")
    let store = try fixture.read()
    #expect(store.counts == ["IDMMediaFile": 2, "IDMNote": 4])
    #expect(store.remarks.contains("IDMNote.text: the store has no column ZTEXT of this property (0)"))
    #expect(store.remarks.contains("IDMTag: the store has no table ZIDMTAG of this entity (0)"))
    #expect(try store.content("IDMNote 1", "text") == nil)
  }

  @Test func missingJoinTableIsReported() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute("DROP TABLE Z_2TAGS")
    let store = try fixture.read()
    #expect(
      store.remarks.contains("IDMNote.tags: the store has neither a table nor a column of this relationship (0)"))
    #expect(store.layout.lists.isEmpty)
  }

  /// Core Data adds a number to a name that is taken, and may name the table after either side.
  @Test func joinTableIsFoundUnderOtherNames() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      """
      CREATE TABLE Z_3NOTES (Z_2NOTES1 INTEGER, Z_3TAGS INTEGER, PRIMARY KEY (Z_2NOTES1, Z_3TAGS));
      INSERT INTO Z_3NOTES SELECT Z_2NOTES, Z_3TAGS FROM Z_2TAGS;
      DROP TABLE Z_2TAGS
      """)
    let store = try fixture.read()
    #expect(try store.members("IDMNote 1", "tags") == [1, 2])
  }

  /// The number belongs to the name of another relationship of the model.
  @Test func tableOfARelationshipWithANumberIsItsOwn() throws {
    let model = """
      {"format": 1, "name": "Numbered", "version": 2, "entities": [
        {"name": "IDMNote", "relationships": [
          {"name": "tags", "destination": "IDMTag", "inverse": "notes", "toMany": true},
          {"name": "tags1", "destination": "IDMTag", "inverse": "notes1", "toMany": true}]},
        {"name": "IDMTag", "relationships": [
          {"name": "notes", "destination": "IDMNote", "inverse": "tags", "toMany": true},
          {"name": "notes1", "destination": "IDMNote", "inverse": "tags1", "toMany": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute(
      """
      CREATE TABLE Z_2TAGS1 (Z_2NOTES1 INTEGER, Z_3TAGS1 INTEGER, PRIMARY KEY (Z_2NOTES1, Z_3TAGS1));
      INSERT INTO Z_2TAGS1 SELECT Z_2NOTES, Z_3TAGS FROM Z_2TAGS;
      DROP TABLE Z_2TAGS
      """)
    let store = try fixture.read()
    #expect(store.layout.lists.map(\.property.name) == ["tags1"])
    #expect(try store.members("IDMNote 1", "tags1") == [1, 2])
    #expect(
      store.remarks.contains("IDMNote.tags: the store has neither a table nor a column of this relationship (0)"))
  }

  @Test func entityNumbersAreReadFromStore() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      """
      UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 40; UPDATE ZIDMNOTE SET Z_ENT = 42; UPDATE ZIDMTAG SET Z_ENT = 43;
      UPDATE ZIDMMEDIAFILE SET Z_ENT = 41; ALTER TABLE Z_2TAGS RENAME TO Z_42TAGS;
      ALTER TABLE Z_42TAGS RENAME COLUMN Z_2NOTES TO Z_42NOTES; ALTER TABLE Z_42TAGS RENAME COLUMN Z_3TAGS TO Z_43TAGS
      """)
    let store = try fixture.read()
    #expect(store.counts == ["IDMMediaFile": 2, "IDMNote": 4, "IDMTag": 3])
    #expect(try store.members("IDMNote 1", "tags") == [1, 2])
  }

  @Test func siblingsWithPropertyOfSameNameHaveNumberedColumns() throws {
    let model = """
      {"format": 1, "name": "Siblings", "version": 1, "entities": [
        {"name": "GeographicRegion", "abstract": true},
        {"name": "Continent", "parent": "GeographicRegion", "attributes": [
          {"name": "size", "type": "integer", "optional": true}]},
        {"name": "Country", "parent": "GeographicRegion", "attributes": [
          {"name": "size", "type": "string", "optional": true}]}
      ]}
      """
    let fixture = try StoreFixture("Moody.moody", model: model)
    try fixture.execute(
      """
      ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER; ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE1 VARCHAR;
      UPDATE ZGEOGRAPHICREGION SET ZSIZE = 5 WHERE Z_ENT = 2; UPDATE ZGEOGRAPHICREGION SET ZSIZE1 = 'big' WHERE Z_ENT = 3
      """)
    var store = try fixture.read()
    #expect(try store.value("GeographicRegion 1", "size") == .integer(5))
    #expect(try store.value("GeographicRegion 21", "size") == .string("big"))
    // After a value of the wrong entity, the columns can't be assigned to the entities.
    try fixture.execute("UPDATE ZGEOGRAPHICREGION SET ZSIZE = 5 WHERE Z_PK = 21")
    store = try fixture.read()
    #expect(try store.content("GeographicRegion 1", "size") == nil)
    #expect(store.remarks.contains { $0.contains("which of the columns ZSIZE… belongs to it is not clear") })
  }

  /// The model of an app that has moved a property from a parent to its children, or added it to a sibling.
  private static let moved = """
    {"format": 1, "name": "Moved", "version": 2, "entities": [
      {"name": "GeographicRegion", "abstract": true},
      {"name": "Continent", "parent": "GeographicRegion", "attributes": [
        {"name": "size", "type": "integer", "optional": true}]},
      {"name": "Country", "parent": "GeographicRegion", "attributes": [
        {"name": "size", "type": "integer", "optional": true}]}
    ]}
    """

  /// Each of the objects must have a value, which it can have by default.
  private static let required = moved.replacing(
    "\"type\": \"integer\", \"optional\": true", with: "\"type\": \"integer\", \"default\": 3")

  @Test func siblingsReadTheColumnOfTheirFormerParent() throws {
    let fixture = try StoreFixture("Moody.moody", model: Self.moved)
    try fixture.execute(
      "ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER; UPDATE ZGEOGRAPHICREGION SET ZSIZE = Z_PK")
    let store = try fixture.read()
    #expect(try store.value("GeographicRegion 1", "size") == .integer(1))
    #expect(try store.value("GeographicRegion 21", "size") == .integer(21))
    #expect(!store.remarks.contains { $0.contains("size") || $0.contains("ZSIZE") })
  }

  /// The store is of a version in which the second entity alone had the property.
  @Test func onlyColumnOfSiblingsBelongsToTheEntityOfItsRows() throws {
    let fixture = try StoreFixture("Moody.moody", model: Self.required)
    try fixture.execute(
      "ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER; UPDATE ZGEOGRAPHICREGION SET ZSIZE = 7 WHERE Z_ENT = 3")
    let store = try fixture.read()
    #expect(try store.value("GeographicRegion 21", "size") == .integer(7))
    #expect(
      store.remarks.contains(
        "Continent.size: the store has no column of this property: the values of ZSIZE are of another entity (0)"))
    #expect(try store.content("GeographicRegion 1", "size") == nil)
  }

  /// The parent may have had the property in the version of the store.
  @Test(arguments: ["", ", \"default\": 3"])
  func siblingWithoutValuesInTheOnlyColumnHasNull(standard: String) throws {
    let size = "{\"name\": \"size\", \"type\": \"integer\", \"optional\": true"
    let model = Self.moved.replacing(size, with: size + standard)
    let fixture = try StoreFixture("Moody.moody", model: model)
    try fixture.execute(
      "ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER; UPDATE ZGEOGRAPHICREGION SET ZSIZE = 7 WHERE Z_ENT = 3")
    let store = try fixture.read()
    #expect(try store.value("GeographicRegion 21", "size") == .integer(7))
    #expect(try store.value("GeographicRegion 1", "size") == .null)
    let remarks = store.remarks.filter { $0.hasPrefix("Continent.size: its objects have null, and not the default") }
    #expect(remarks.count == (standard.isEmpty ? 0 : 1), "\(store.remarks)")
  }

  /// The app has deleted the values from which the first import has decided.
  @Test func columnOfAnEarlierImportStays() throws {
    let fixture = try StoreFixture("Moody.moody", model: Self.required)
    try fixture.execute(
      "ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER; UPDATE ZGEOGRAPHICREGION SET ZSIZE = Z_PK")
    let decisions = try fixture.read().layout.decisions
    #expect(decisions.columns == ["Continent.size": "ZSIZE", "Country.size": "ZSIZE"])
    try fixture.execute("UPDATE ZGEOGRAPHICREGION SET ZSIZE = NULL WHERE Z_ENT = 2")
    #expect(try fixture.read().content("GeographicRegion 1", "size") == nil)
    let store = try fixture.read(earlier: decisions)
    #expect(try store.value("GeographicRegion 1", "size") == .null)
    #expect(store.layout.decisions == decisions)
    // Another version of the app's model can have other columns.
    try fixture.execute("ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZOTHER INTEGER")
    #expect(try fixture.read(earlier: decisions).content("GeographicRegion 1", "size") == nil)
  }

  /// The next import finds the values in the other column.
  @Test func columnWithoutProofIsNotKept() throws {
    let fixture = try StoreFixture("Moody.moody", model: Self.regions("Country"))
    try fixture.execute(Self.sizes)
    let first = try fixture.read()
    #expect(first.layout.decisions.columns == [:])
    try fixture.execute("UPDATE ZGEOGRAPHICREGION SET ZSIZE1 = 6 WHERE Z_ENT = 3")
    let second = try fixture.read(earlier: first.layout.decisions)
    #expect(try second.value("GeographicRegion 21", "size") == .integer(6))
    #expect(second.layout.decisions.columns == ["Country.size": "ZSIZE1"])
    try fixture.execute("UPDATE ZGEOGRAPHICREGION SET ZSIZE1 = NULL")
    let third = try fixture.read(earlier: second.layout.decisions)
    #expect(try third.value("GeographicRegion 21", "size") == .null)
    #expect(third.layout.decisions == second.layout.decisions)
  }

  /// The former property of the parent is one of the countries only.
  @Test func valuesOfOtherSubentitiesAreReported() throws {
    let model = """
      {"format": 1, "name": "Moved", "version": 2, "entities": [
        {"name": "GeographicRegion", "abstract": true}, {"name": "Continent", "parent": "GeographicRegion"},
        {"name": "Country", "parent": "GeographicRegion", "attributes": [
          {"name": "size", "type": "integer", "optional": true}]}
      ]}
      """
    let fixture = try StoreFixture("Moody.moody", model: model)
    try fixture.execute(
      "ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER; UPDATE ZGEOGRAPHICREGION SET ZSIZE = Z_PK")
    let store = try fixture.read()
    #expect(try store.value("GeographicRegion 21", "size") == .integer(21))
    let remark = try #require(store.remarks.first { $0.contains("in other entities only than the store") })
    #expect(remark.hasPrefix("GeographicRegion.ZSIZE: "))
  }

  /// A model of regions in which these entities have a size.
  private static func regions(_ owners: String...) -> String {
    let entities = ["GeographicRegion", "Continent", "Country", "Zone"].map { name in
      let size = owners.contains(name) ? #"{"name": "size", "type": "integer", "optional": true}"# : ""
      let more = name == "GeographicRegion" ? #""abstract": true"# : #""parent": "GeographicRegion""#
      return "{\"name\": \"\(name)\", \(more), \"attributes\": [\(size)]}"
    }
    return "{\"format\": 1, \"name\": \"Moved\", \"version\": 2, \"entities\": [\(entities.joined(separator: ", "))]}"
  }

  private static let sizes = """
    ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER; ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE1 INTEGER;
    UPDATE ZGEOGRAPHICREGION SET ZSIZE = 5 WHERE Z_ENT = 2;
    """

  /// The app has moved the property of both siblings to their parent, or one of them has lost it.
  @Test(arguments: ["GeographicRegion", "Country"]) func rowsShowTheColumnOfAFormerSibling(owner: String) throws {
    let fixture = try StoreFixture("Moody.moody", model: Self.regions(owner))
    try fixture.execute(Self.sizes + "UPDATE ZGEOGRAPHICREGION SET ZSIZE1 = 6 WHERE Z_ENT = 3")
    let store = try fixture.read()
    #expect(try store.value("GeographicRegion 21", "size") == .integer(6))
    #expect(try store.value("GeographicRegion 1", "size") == (owner == "Country" ? nil : .integer(5)))
    #expect(
      store.remarks.contains(
        "\(owner).size: rows of Country have values in ZSIZE1 only, and the import reads this column for them; name "
          + "another one with --rename \(owner).size=NAME (0)"))
    #expect(store.remarks.contains { $0.hasPrefix("GeographicRegion.ZSIZE: ") } == (owner == "Country"))
  }

  /// The middle one of three siblings has the property since a later version than that of the store.
  @Test func columnsOfOtherSiblingsStayTheirs() throws {
    let fixture = try StoreFixture("Moody.moody", model: Self.regions("Continent", "Country", "Zone"))
    try fixture.execute(
      Self.sizes
        + """
        INSERT INTO Z_PRIMARYKEY VALUES (9, 'Zone', 1, 0);
        INSERT INTO ZGEOGRAPHICREGION (Z_PK, Z_ENT, Z_OPT, ZSIZE1) VALUES (90, 9, 1, 7)
        """)
    let store = try fixture.read()
    #expect(try store.value("GeographicRegion 1", "size") == .integer(5))
    #expect(try store.value("GeographicRegion 90", "size") == .integer(7))
    #expect(try store.content("GeographicRegion 21", "size") == nil)
    #expect(
      store.remarks.contains(
        "Country.size: the store has no column of this property: the values of ZSIZE are of another entity (0)"))
  }

  /// Siblings may have a property with a number in its name, whose column a sibling's further column resembles.
  @Test func numberedNamesOfSiblingsHaveTheirColumns() throws {
    let attributes = #"[{"name": "size", "type": "integer"}, {"name": "size1", "type": "integer"}]"#
    let model = """
      {"format": 1, "name": "Numbered", "version": 1, "entities": [
        {"name": "GeographicRegion", "abstract": true},
        {"name": "Continent", "parent": "GeographicRegion", "attributes": \(attributes)},
        {"name": "Country", "parent": "GeographicRegion", "attributes": \(attributes)}
      ]}
      """
    let fixture = try StoreFixture("Moody.moody", model: model)
    try fixture.execute(
      Self.sizes
        + """
        ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE2 INTEGER; ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE11 INTEGER;
        UPDATE ZGEOGRAPHICREGION SET ZSIZE1 = 6 WHERE Z_ENT = 2;
        UPDATE ZGEOGRAPHICREGION SET ZSIZE2 = 7, ZSIZE11 = 8 WHERE Z_ENT = 3
        """)
    let store = try fixture.read()
    for (row, size, size1) in [("GeographicRegion 1", 5, 6), ("GeographicRegion 21", 7, 8)] as [(String, Int64, Int64)]
    {
      #expect(try store.value(row, "size") == .integer(size))
      #expect(try store.value(row, "size1") == .integer(size1))
    }
  }

  /// In the store the entities are no siblings, and have tables of their own.
  @Test func columnsOfALaterParentAreThoseOfEachTable() throws {
    let text = #"{"name": "text", "type": "string", "optional": true}"#
    let model = """
      {"format": 1, "name": "Parent", "version": 2, "entities": [
        {"name": "Item", "abstract": true, "attributes": [
          {"name": "uniqueIdentifier", "type": "string", "optional": true}]},
        {"name": "IDMNote", "parent": "Item", "attributes": [\(text)]},
        {"name": "IDMTag", "parent": "Item", "attributes": [\(text)]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(try store.value("IDMNote 1", "text") == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(try store.value("IDMTag 1", "text") == .string("red"))
    #expect(try store.value("IDMNote 1", "uniqueIdentifier") == .string("n1"))
    #expect(
      store.remarks.filter { $0.contains("uniqueIdentifier") || $0.contains("text") } == [
        "Item.uniqueIdentifier: the store has no column ZUNIQUEIDENTIFIER of this property (0)"
      ])
  }

  @Test func renamedEntityAndPropertyAreFound() throws {
    let model = """
      {"format": 1, "name": "Renamed", "version": 1, "entities": [
        {"name": "Note", "attributes": [
          {"name": "body", "type": "string", "optional": true},
          {"name": "creationDate_", "type": "date", "documentation": "Called \\"creationDate\\" in Core Data."}]}
      ]}
      """
    var fixture = try StoreFixture("Notes.sqlite", model: model)
    fixture.names = ["Note": "IDMNote", "Note.body": "text"]
    let store = try fixture.read()
    #expect(try store.value("IDMNote 1", "body") == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(try store.value("IDMNote 1", "creationDate_") == .date(978_307_200_000_000))
    fixture.names = ["Note.text": "body"]
    let refusal = try #require(throws: Refusal.self) { try fixture.read() }
    #expect(refusal.code == .malformed && refusal.message.contains("no entity or property Note.text"))
  }

  /// The parts are then found as without the given names, which the mapping of an import may have.
  @Test func givenNamesThatTheStoreLacksAreEarlierOnes() throws {
    let model = """
      {"format": 1, "name": "Renamed", "version": 1, "entities": [
        {"name": "IDMNote", "renamed": "Memo", "attributes": [{"name": "text", "type": "string", "optional": true}]}
      ]}
      """
    var fixture = try StoreFixture("Notes.sqlite", model: model)
    fixture.names = ["IDMNote": "Sheet", "IDMNote.text": "words"]
    let store = try fixture.read()
    #expect(try store.value("IDMNote 1", "text") == .string("Epoch: 2001-01-01T00:00:00Z"))
    let row = try #require(store.rows["IDMNote 1"])
    let text = try #require(row.entity.property(named: "text"))
    #expect(store.reader.earlierNames(of: row.entity) == ["Sheet", "Memo"])
    #expect(store.reader.earlierNames(of: text) == ["words"])
    #expect(store.reader.hasProperty("creationDate", in: row.key) && store.reader.hasProperty("tags", in: row.key))
    #expect(!store.reader.hasProperty("words", in: row.key))
    fixture.names = ["IDMNote.text": "creationDate"]
    #expect(try fixture.read().reader.earlierNames(of: text).isEmpty)
  }

  /// The mapping of an import may have any of them, except one that another property has or had.
  @Test func namesOfTheDocumentationAreEarlierOnes() throws {
    let model = """
      {"format": 1, "name": "Renamed", "version": 3, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "text", "type": "string", "renamed": "heading", "optional": true,
           "documentation": "Called \\"text\\" in Core Data, earlier \\"heading\\", \\"title\\", \\"label\\" and \\"name\\"."},
          {"name": "uniqueIdentifier", "type": "string", "optional": true,
           "documentation": "Called \\"uniqueIdentifier\\" in Core Data, earlier \\"name\\"."},
          {"name": "label", "type": "string", "optional": true}]}
      ]}
      """
    var fixture = try StoreFixture("Notes.sqlite", model: model)
    func names() throws -> [String] {
      let store = try fixture.read()
      let row = try #require(store.rows["IDMNote 1"])
      return store.reader.earlierNames(of: try #require(row.entity.property(named: "text")))
    }
    #expect(try names() == ["heading", "title"])
    fixture.names = ["IDMNote.text": "words"]
    #expect(try names() == ["words", "heading", "title"])
  }

  /// A to-many without an inverse has a table, whose other column Core Data names.
  @Test func oneWayToManyIsRead() throws {
    let model = """
      {"format": 1, "name": "OneWay", "version": 1, "entities": [
        {"name": "IDMNote", "relationships": [
          {"name": "labels", "destination": "IDMTag", "inverse": "notesOfLabels", "toMany": true}]},
        {"name": "IDMTag", "relationships": [
          {"name": "notesOfLabels", "destination": "IDMNote", "inverse": "labels", "toMany": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute(
      """
      CREATE TABLE Z_2LABELS (Z_2UNNAMED INTEGER, Z_3LABELS INTEGER, PRIMARY KEY (Z_2UNNAMED, Z_3LABELS));
      INSERT INTO Z_2LABELS VALUES (1, 7), (5, 2)
      """)
    let store = try fixture.read()
    #expect(try store.members("IDMNote 1", "labels") == [7])
    #expect(try store.members("IDMNote 5", "labels") == [2])
    #expect(store.remarks.contains { $0.hasPrefix("Z_2TAGS: the model OneWay has no relationship of this table") })
  }

  /// The column of the owners may have the name of a to-one, which has no table of its own.
  @Test func joinTableWithNameOfToOneIsFound() throws {
    let model = """
      {"format": 1, "name": "OneWay", "version": 1, "entities": [
        {"name": "IDMNote", "relationships": [
          {"name": "labels", "destination": "IDMTag", "inverse": "notesOfLabels", "toMany": true},
          {"name": "first", "destination": "IDMTag", "inverse": "idmNote"}]},
        {"name": "IDMTag", "relationships": [
          {"name": "notesOfLabels", "destination": "IDMNote", "inverse": "labels", "toMany": true},
          {"name": "idmNote", "destination": "IDMNote", "inverse": "first"}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute(
      """
      CREATE TABLE Z_2LABELS (Z_2IDMNOTE INTEGER, Z_3LABELS INTEGER, PRIMARY KEY (Z_2IDMNOTE, Z_3LABELS));
      INSERT INTO Z_2LABELS VALUES (1, 7), (5, 2)
      """)
    let store = try fixture.read()
    #expect(try store.members("IDMNote 1", "labels") == [7])
    #expect(try store.members("IDMNote 5", "labels") == [2])
  }

  /// A relationship that is its own inverse has one row for each pair, which counts in both directions.
  @Test(arguments: ["REFLEXIVE", "Z_3FRIENDS1"])
  func reflexiveRelationshipIsRead(column: String) throws {
    let model = """
      {"format": 1, "name": "Friends", "version": 1, "entities": [
        {"name": "IDMTag", "relationships": [
          {"name": "friends", "destination": "IDMTag", "inverse": "tagsOfFriends", "toMany": true},
          {"name": "tagsOfFriends", "destination": "IDMTag", "inverse": "friends", "toMany": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute(
      """
      CREATE TABLE Z_3FRIENDS (Z_3FRIENDS INTEGER, \(column) INTEGER, PRIMARY KEY (Z_3FRIENDS, \(column)));
      INSERT INTO Z_3FRIENDS VALUES (1, 2), (2, 7), (7, 2)
      """)
    let store = try fixture.read()
    #expect(store.layout.lists.map(\.property.name) == ["friends"])
    #expect(try store.members("IDMTag 1", "friends") == [2])
    #expect(try store.members("IDMTag 2", "friends") == [1, 7])
    #expect(try store.members("IDMTag 7", "friends") == [2])
  }

  /// The conversion writes the names of the app into the documentation of the parts.
  @Test func statedNamesAreFound() throws {
    let model = """
      {"format": 1, "name": "Stated", "version": 1, "entities": [
        {"name": "x__", "documentation": "Called \\"IDMNote\\" in Core Data.", "attributes": [
          {"name": "x__2", "type": "integer", "optional": true, "documentation": "Called \\"住所\\" in Core Data."},
          {"name": "gro_e", "type": "integer", "optional": true, "documentation": "Called \\"größe\\" in Core Data."},
          {"name": "text_", "type": "string", "optional": true, "documentation": "Called \\"text\\" in Core Data."}],
         "relationships": [{"name": "x___3", "destination": "IDMTag", "inverse": "notes", "toMany": true,
           "documentation": "Called \\"タグ\\" in Core Data."}]},
        {"name": "IDMTag", "relationships": [
          {"name": "notes", "destination": "x__", "inverse": "x___3", "toMany": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute(
      """
      ALTER TABLE ZIDMNOTE ADD COLUMN "Z住所" INTEGER; ALTER TABLE ZIDMNOTE ADD COLUMN "ZGRÖSSE" INTEGER;
      UPDATE ZIDMNOTE SET "Z住所" = Z_PK, "ZGRÖSSE" = 7;
      ALTER TABLE Z_2TAGS RENAME COLUMN Z_3TAGS TO "Z_3タグ"
      """)
    let store = try fixture.read()
    #expect(store.counts == ["x__": 4, "IDMTag": 3])
    #expect(try store.value("IDMNote 5", "x__2") == .integer(5))
    #expect(try store.value("IDMNote 5", "gro_e") == .integer(7))
    #expect(try store.value("IDMNote 5", "text_") == .string("it's \"quoted\"; comma, tab\t"))
    #expect(try store.members("IDMNote 1", "x___3") == [1, 2])
  }

  /// A name that looks as if the conversion had changed it may be one of the app's, for a new part.
  @Test(arguments: ["xText", "text_", "text_2", "text__2"]) func similarNameIsNotTaken(name: String) throws {
    let model = """
      {"format": 1, "name": "New", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [{"name": "\(name)", "type": "string", "optional": true}]},
        {"name": "xIDMTag"}, {"name": "IDMTag_2"}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(store.counts == ["IDMNote": 4])
    #expect(try store.content("IDMNote 1", name) == nil)
    #expect(
      store.remarks.contains("IDMNote.\(name): the store has no column Z\(name.uppercased()) of this property (0)"))
  }

  /// The caller can say that the store does not have a part.
  @Test func partIsLeftOutByTheNameNone() throws {
    let model = """
      {"format": 1, "name": "New", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "body", "type": "string", "renamed": "text", "optional": true}]},
        {"name": "Label", "renamed": "IDMTag"}
      ]}
      """
    var fixture = try StoreFixture("Notes.sqlite", model: model)
    fixture.names = ["IDMNote.body": "none", "Label": "none"]
    let store = try fixture.read()
    #expect(store.counts == ["IDMNote": 4])
    #expect(try store.content("IDMNote 1", "body") == nil)
  }

  /// As a migration converts them.
  @Test func valuesOfAnotherTypeAreConverted() throws {
    let model = """
      {"format": 1, "name": "Types", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "creationDate", "type": "string"}, {"name": "amount", "type": "string", "optional": true},
          {"name": "rate", "type": "integer", "optional": true}, {"name": "size", "type": "integer", "optional": true},
          {"name": "weight", "type": "double", "optional": true}, {"name": "price", "type": "text", "optional": true},
          {"name": "moment", "type": "integer", "optional": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute(
      """
      ALTER TABLE ZIDMNOTE ADD COLUMN ZAMOUNT INTEGER; ALTER TABLE ZIDMNOTE ADD COLUMN ZRATE FLOAT;
      ALTER TABLE ZIDMNOTE ADD COLUMN ZSIZE VARCHAR; ALTER TABLE ZIDMNOTE ADD COLUMN ZWEIGHT VARCHAR;
      ALTER TABLE ZIDMNOTE ADD COLUMN ZPRICE DECIMAL; ALTER TABLE ZIDMNOTE ADD COLUMN ZMOMENT TIMESTAMP;
      UPDATE ZIDMNOTE SET ZAMOUNT = 5, ZRATE = 1.75, ZSIZE = '12', ZWEIGHT = '2.5', ZPRICE = 0.1, ZMOMENT = 1.5 WHERE Z_PK = 1;
      UPDATE ZIDMNOTE SET ZSIZE = 'large', ZAMOUNT = 'many' WHERE Z_PK = 2
      """)
    let store = try fixture.read()
    #expect(try store.value("IDMNote 1", "creationDate") == .string("2001-01-01T00:00:00.000000Z"))
    #expect(try store.value("IDMNote 1", "amount") == .string("5"))
    #expect(try store.value("IDMNote 1", "rate") == .integer(1))
    #expect(try store.value("IDMNote 1", "size") == .integer(12))
    #expect(try store.value("IDMNote 1", "weight") == .double(2.5))
    #expect(try store.value("IDMNote 1", "price") == .string("0.1"))
    #expect(try store.value("IDMNote 4", "size") == .null)
    #expect(
      store.remarks.contains(
        "IDMNote.rate: the store has a double, and the model an integer: its values are converted as a migration converts "
          + "them; fractions are dropped (0)"), "\(store.remarks)")
    // A column can have a value of any type.
    #expect(try store.value("IDMNote 2", "amount") == .string("many"))
    #expect(try store.problems("IDMNote 2") == ["size: \"large\" can't be converted to an integer"])
    #expect(try store.problems("IDMNote 1") == [])
  }

  /// The declared type of a column shows the type of the attribute. A number has no meaning as a date, nor a date as a
  /// number.
  @Test func valuesThatNoMigrationConvertsAreLeftOut() throws {
    let model = """
      {"format": 1, "name": "Types", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "creationDate", "type": "integer", "optional": true},
          {"name": "seconds", "type": "date", "optional": true}, {"name": "rate", "type": "date", "optional": true},
          {"name": "moment", "type": "double", "optional": true}, {"name": "text", "type": "data", "optional": true},
          {"name": "size", "type": "double", "optional": true}, {"name": "flag", "type": "bool", "optional": true},
          {"name": "unset", "type": "date", "optional": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute(
      """
      ALTER TABLE ZIDMNOTE ADD COLUMN ZSECONDS INTEGER; ALTER TABLE ZIDMNOTE ADD COLUMN ZRATE FLOAT;
      ALTER TABLE ZIDMNOTE ADD COLUMN ZMOMENT TIMESTAMP; ALTER TABLE ZIDMNOTE ADD COLUMN ZSIZE INTEGER;
      ALTER TABLE ZIDMNOTE ADD COLUMN ZFLAG INTEGER; ALTER TABLE ZIDMNOTE ADD COLUMN ZUNSET INTEGER;
      UPDATE ZIDMNOTE SET ZSECONDS = 1700000000, ZRATE = 1.7e9, ZMOMENT = 5.5, ZSIZE = 3, ZFLAG = 1 WHERE Z_PK < 3
      """)
    let store = try fixture.read()
    for name in ["creationDate", "seconds", "rate", "moment", "text"] {
      #expect(try store.content("IDMNote 1", name) == nil, "\(name)")
      #expect(store.remarks.contains { $0.hasPrefix("IDMNote.\(name): the store has a") }, "\(name)")
    }
    #expect(
      store.remarks.contains(
        "IDMNote.seconds: the store has an integer, and the model a date: a migration does not convert such values, so "
          + "they are not taken (2)"), "\(store.remarks)")
    #expect(try store.value("IDMNote 1", "size") == .double(3))
    #expect(
      store.remarks.contains(
        "IDMNote.size: the store has an integer, and the model a double: its values are converted as a migration converts "
          + "them (0)"))
    // Only the model in a store distinguishes booleans from integers.
    #expect(try store.value("IDMNote 1", "flag") == .bool(true))
    #expect(!store.remarks.contains { $0.hasPrefix("IDMNote.flag") || $0.hasPrefix("IDMNote.unset") })
    #expect(try store.problems("IDMNote 1") == [])
  }

  @Test func frameworkEntitiesAreNotRead() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      """
      INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 7), (16002, 'TRANSACTION', 0, 7);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITY INTEGER);
      INSERT INTO ACHANGE VALUES (1, 16001, 1, 2)
      """)
    let store = try fixture.read()
    #expect(store.file.entities.count == 3)
    #expect(store.counts == ["IDMMediaFile": 2, "IDMNote": 4, "IDMTag": 3])
    #expect(store.layout.remarks.map(\.subject) == ["IDMMediaFile.data"])
  }

  /// The graph computes derived values, but takes the times of an import.
  @Test func assignedTimesAreTakenAndOthersReported() throws {
    let model = """
      {"format": 1, "name": "Times", "version": 1, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "creationDate", "type": "date", "assigned": "updated"},
          {"name": "text", "type": "string", "optional": true, "assigned": "creator"},
          {"name": "source", "type": "string", "optional": true},
          {"name": "uniqueIdentifier", "type": "string", "optional": true, "derived": "lowercase(source)"}]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(try store.value("IDMNote 1", "creationDate") == .date(978_307_200_000_000))
    #expect(try store.content("IDMNote 1", "text") == nil)
    #expect(
      store.remarks.filter { $0.hasPrefix("IDMNote.") && !$0.contains("ZIMAGEFILE") } == [
        "IDMNote.text: the graph assigns it: the app's values are not taken (3)",
        "IDMNote.source: the store has no column ZSOURCE of this property (0)",
      ])
  }

  /// Core Data numbers the columns of names that differ in case only, because SQLite ignores the case.
  @Test func columnOfTwoPropertiesIsReported() throws {
    let model = """
      {"format": 1, "name": "Case", "version": 1, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "text", "type": "string", "optional": true},
          {"name": "text_", "type": "string", "optional": true, "documentation": "Called \\"Text\\" in Core Data."}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    var store = try fixture.read()
    #expect(try store.value("IDMNote 1", "text") == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(try store.content("IDMNote 1", "text_") == nil)
    #expect(store.remarks.contains { $0.hasPrefix("IDMNote.text_: which of the columns ZTEXT… belongs to it") })
    try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN ZTEXT1 VARCHAR")
    store = try fixture.read()
    #expect(try store.content("IDMNote 1", "text") == nil)
  }

  /// A rename in case only changes no column.
  @Test func nameThatDiffersInCaseOnlyIsClear() throws {
    let model = """
      {"format": 1, "name": "Case", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "Text", "type": "string", "optional": true,
           "documentation": "Called \\"Text\\" in Core Data, earlier \\"text\\"."},
          {"name": "strasse", "type": "string", "optional": true,
           "documentation": "Called \\"strasse\\" in Core Data, earlier \\"straße\\"."}],
         "relationships": [
          {"name": "Tags", "destination": "IDMTag", "inverse": "notes", "toMany": true,
           "documentation": "Called \\"Tags\\" in Core Data, earlier \\"tags\\"."}]},
        {"name": "IDMTag", "relationships": [
          {"name": "notes", "destination": "IDMNote", "inverse": "Tags", "toMany": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN ZSTRASSE VARCHAR; UPDATE ZIDMNOTE SET ZSTRASSE = 's'")
    let store = try fixture.read()
    #expect(try store.value("IDMNote 1", "Text") == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(try store.value("IDMNote 1", "strasse") == .string("s"))
    #expect(try store.members("IDMNote 1", "Tags") == [1, 2])
    #expect(!store.remarks.contains { $0.contains("is not clear") }, "\(store.remarks)")
  }

  private static let exchanged = """
    {"format": 1, "name": "Exchanged", "version": 2, "entities": [
      {"name": "IDMNote", "attributes": [
        {"name": "text", "type": "string", "optional": true,
         "documentation": "Called \\"text\\" in Core Data, earlier \\"uniqueIdentifier\\"."},
        {"name": "uniqueIdentifier", "type": "string", "optional": true,
         "documentation": "Called \\"uniqueIdentifier\\" in Core Data, earlier \\"text\\"."}]}
    ]}
    """

  /// A store of the version before has the same columns, and no column distinguishes the versions.
  @Test func exchangedNamesAreAskedFor() throws {
    var fixture = try StoreFixture("Notes.sqlite", model: Self.exchanged)
    let store = try fixture.read()
    for (name, other) in [("text", "uniqueIdentifier"), ("uniqueIdentifier", "text")] {
      #expect(try store.content("IDMNote 1", name) == nil)
      #expect(
        store.remarks.contains {
          $0.hasPrefix(
            "IDMNote.\(name): whether Z\(name.uppercased()) is its column is not clear: the app has exchanged its name "
              + "with \(other)")
        }, "\(store.remarks)")
      #expect(!store.remarks.contains { $0.hasPrefix("IDMNote.Z\(name.uppercased())") })
    }
    let text = Value.string("Epoch: 2001-01-01T00:00:00Z")
    fixture.names = ["IDMNote.text": "text"]
    #expect(try fixture.read().value("IDMNote 1", "text") == text)
    #expect(try fixture.read().value("IDMNote 1", "uniqueIdentifier") == .string("n1"))
    fixture.names = ["IDMNote.text": "uniqueIdentifier"]
    #expect(try fixture.read().value("IDMNote 1", "uniqueIdentifier") == text)
    #expect(try fixture.read().value("IDMNote 1", "text") == .string("n1"))
  }

  /// A part of the store's version can have only one of the names, so the other part has the other one.
  @Test func shiftedNamesAreFollowed() throws {
    let model = """
      {"format": 1, "name": "Shifted", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "text", "type": "string", "optional": true,
           "documentation": "Called \\"text\\" in Core Data, earlier \\"uniqueIdentifier\\"."},
          {"name": "body", "type": "string", "optional": true,
           "documentation": "Called \\"body\\" in Core Data, earlier \\"text\\"."}]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(try store.value("IDMNote 1", "body") == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(try store.value("IDMNote 1", "text") == .string("n1"))
  }

  /// The name of one sibling is the earlier version's, and the other one has its column.
  @Test func formerNameIsFollowedBesideASibling() throws {
    let model = """
      {"format": 1, "name": "Siblings", "version": 2, "entities": [
        {"name": "GeographicRegion", "abstract": true},
        {"name": "Continent", "parent": "GeographicRegion", "attributes": [
          {"name": "size", "type": "integer", "optional": true}]},
        {"name": "Country", "parent": "GeographicRegion", "attributes": [
          {"name": "size", "type": "integer", "renamed": "area", "optional": true}]}
      ]}
      """
    let fixture = try StoreFixture("Moody.moody", model: model)
    try fixture.execute(
      """
      ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER; ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZAREA INTEGER;
      UPDATE ZGEOGRAPHICREGION SET ZSIZE = 5 WHERE Z_ENT = 2; UPDATE ZGEOGRAPHICREGION SET ZAREA = 6 WHERE Z_ENT = 3
      """)
    let store = try fixture.read()
    #expect(try store.value("GeographicRegion 1", "size") == .integer(5))
    #expect(try store.value("GeographicRegion 21", "size") == .integer(6))
  }

  /// Another entity has a many-to-many with the attribute's present name.
  @Test func formerNameIsFollowedBesideATableOfAnotherEntity() throws {
    let model = """
      {"format": 1, "name": "Tables", "version": 2, "entities": [
        {"name": "IDMMediaFile", "attributes": [
          {"name": "tags", "type": "string", "renamed": "uniqueIdentifier", "optional": true}]},
        {"name": "IDMNote", "relationships": [
          {"name": "tags", "destination": "IDMTag", "inverse": "notes", "toMany": true}]},
        {"name": "IDMTag", "relationships": [
          {"name": "notes", "destination": "IDMNote", "inverse": "tags", "toMany": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute("UPDATE ZIDMMEDIAFILE SET ZUNIQUEIDENTIFIER = 'm'")
    let store = try fixture.read()
    #expect(try store.value("IDMMediaFile 1", "tags") == .string("m"))
    #expect(try store.members("IDMNote 1", "tags") == [1, 2])
  }

  /// Each part of a member's name may have changed.
  @Test func namesOfMembersAreFound() throws {
    let model = """
      {"format": 1, "name": "Members", "version": 2, "composites": [
        {"name": "Geo", "attributes": [
          {"name": "x", "type": "integer", "optional": true},
          {"name": "north", "type": "integer", "optional": true,
           "documentation": "Called \\"north\\" in Core Data, earlier \\"y\\"."}]}], "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "home_1", "type": "composite", "composite": "Geo", "optional": true,
           "documentation": "Called \\"home\\" in Core Data."}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute(
      """
      ALTER TABLE ZIDMNOTE ADD COLUMN ZHOME_X INTEGER; ALTER TABLE ZIDMNOTE ADD COLUMN ZHOME_Y INTEGER;
      UPDATE ZIDMNOTE SET ZHOME_X = 1, ZHOME_Y = 2
      """)
    let store = try fixture.read()
    #expect(try store.value("IDMNote 1", "home_1.x") == .integer(1))
    #expect(try store.value("IDMNote 1", "home_1.north") == .integer(2))
  }

  /// A store that was copied without its log opens, and may have no rows.
  @Test func missingLogOfAnEmptyStoreIsReported() throws {
    let fixture = try StoreFixture("Bookmarks4.sqlite")
    let remark =
      "the store: it has no rows, and its -wal, which may have them, is not beside it; copy that file with the store "
      + "(0)"
    #expect(try !fixture.read().remarks.contains(remark))
    try FileManager.default.removeItem(atPath: fixture.path + "-wal")
    let store = try fixture.read()
    #expect(store.rows.isEmpty && store.remarks.contains(remark))
  }

  @Test func columnThatLooksLikeBookkeepingIsReported() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      """
      ALTER TABLE ZIDMTAG ADD COLUMN Z_REV VARCHAR; ALTER TABLE ZIDMTAG ADD COLUMN Z6_PARENT INTEGER;
      ALTER TABLE ZIDMTAG ADD COLUMN Z6CHILDREN INTEGER; UPDATE ZIDMTAG SET Z_REV = 'a', Z6_PARENT = 1, Z6CHILDREN = 2
      """)
    let remarks = try fixture.read().remarks
    #expect(remarks.contains("IDMTag.Z_REV: the model Notes has no such property: its values are not taken (3)"))
    #expect(remarks.contains { $0.hasPrefix("IDMTag.Z6CHILDREN: ") })
    #expect(!remarks.contains { $0.contains("Z6_PARENT") })
  }
}
