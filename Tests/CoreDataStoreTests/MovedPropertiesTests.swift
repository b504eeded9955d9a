import GraphModel
import Testing

@testable import CoreDataStore

/// Properties that an app has moved to other entities, or dropped, since the version of the store. A remark names each
/// loss, and no value is read as that of another property.
@Suite struct MovedPropertiesTests {
  /// A subentity of notes, whose only row is the first note.
  private func fixture(
    _ note: String, _ special: String, tag: String = "", file: String = ""
  ) throws -> StoreFixture {
    let model = """
      {"format": 1, "name": "Moved", "version": 2, "entities": [
        {"name": "IDMNote"\(note)}, {"name": "Special", "parent": "IDMNote"\(special)},
        {"name": "IDMTag", "attributes": [{"name": "text", "type": "string", "optional": true}]\(tag)},
        {"name": "IDMMediaFile"\(file)}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute("INSERT INTO Z_PRIMARYKEY VALUES (4, 'Special', 2, 0)")
    try fixture.execute("UPDATE ZIDMNOTE SET Z_ENT = 4 WHERE Z_PK = 1")
    return fixture
  }

  private func toMany(_ name: String, _ destination: String, inverse: String) -> String {
    #", "relationships": [{"name": "\#(name)", "destination": "\#(destination)", "inverse": "\#(inverse)", "toMany": true}]"#
  }

  /// The app had an abstract parent, which the entity does not have now.
  @Test func columnsOfAnAbstractEntityAreReported() throws {
    let fixture = try StoreFixture(
      "Notes.sqlite",
      model: """
        {"format": 1, "name": "Moved", "version": 2, "entities": [
          {"name": "IDMNote", "abstract": true, "attributes": [{"name": "text", "type": "string", "optional": true}]},
          {"name": "Special", "attributes": [{"name": "uniqueIdentifier", "type": "string"}]}, {"name": "IDMTag"},
          {"name": "IDMMediaFile"}
        ]}
        """)
    try fixture.execute("INSERT INTO Z_PRIMARYKEY VALUES (4, 'Special', 2, 0)")
    try fixture.execute("UPDATE ZIDMNOTE SET Z_ENT = 4")
    let texts = try fixture.count("SELECT count(*) FROM ZIDMNOTE WHERE ZTEXT IS NOT NULL")
    let store = try fixture.read()
    #expect(texts > 0)
    #expect(
      store.remarks.contains(
        "IDMNote.ZTEXT: the model Moved has this property in other entities only than the store: its values are not "
          + "taken (\(texts))"), "\(store.remarks)")
  }

  /// The relationship of a parent is one of a subentity only.
  @Test func pairsOfEntityWithoutRelationshipAreReported() throws {
    let tags = toMany("tags", "IDMTag", inverse: "notes")
    let notes = toMany("notes", "Special", inverse: "tags")
    let fixture = try fixture("", tags, tag: notes)
    let others = try fixture.count("SELECT count(*) FROM Z_2TAGS WHERE Z_2NOTES <> 1")
    let store = try fixture.read()
    #expect(others > 0)
    let own = try fixture.count("SELECT count(*) FROM Z_2TAGS WHERE Z_2NOTES = 1")
    #expect(try store.members("IDMNote 1", "tags").count == own)
    #expect(
      store.remarks.contains(
        "IDMNote.tags: the model Moved has this relationship in other entities only than the store: its members are not "
          + "taken (\(others))"), "\(store.remarks)")
  }

  /// The to-one of a parent is a to-many of a subentity only.
  @Test func keysOfEntityWithoutListAreReported() throws {
    let files = toMany("imageFile", "IDMMediaFile", inverse: "notes")
    let notes = toMany("notes", "Special", inverse: "imageFile")
    let fixture = try fixture("", files, file: notes)
    let others = try fixture.count("SELECT count(*) FROM ZIDMNOTE WHERE ZIMAGEFILE IS NOT NULL AND Z_ENT = 2")
    let store = try fixture.read()
    #expect(try store.members("IDMNote 1", "imageFile") == [1])
    #expect(others > 0)
    #expect(
      store.remarks.contains(
        "IDMNote.imageFile: the model Moved has this relationship in other entities only than the store: its members are "
          + "not taken (\(others))"), "\(store.remarks)")
  }

  /// A to-many has the name that a to-one had before, whose column that to-one has.
  @Test func columnOfToOneIsNotReadAsAnotherList() throws {
    let model = """
      {"format": 1, "name": "Moved", "version": 2, "entities": [
        {"name": "IDMNote", "relationships": [
          {"name": "picture", "destination": "IDMMediaFile", "inverse": "pictured",
           "documentation": "Called \\"picture\\" in Core Data, earlier \\"imageFile\\"."},
          {"name": "imageFile", "destination": "IDMMediaFile", "inverse": "notes", "toMany": true,
           "documentation": "Called \\"imageFile\\" in Core Data, earlier \\"cover\\"."}]},
        {"name": "IDMMediaFile", "relationships": [
          {"name": "pictured", "destination": "IDMNote", "inverse": "picture", "toMany": true},
          {"name": "notes", "destination": "IDMNote", "inverse": "imageFile", "toMany": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN ZCOVER INTEGER")
    try fixture.execute("UPDATE ZIDMNOTE SET ZCOVER = 2 WHERE Z_PK = 1")
    let store = try fixture.read()
    #expect(try store.reference("IDMNote 1", "picture") == "IDMMediaFile 1")
    #expect(try store.members("IDMNote 1", "imageFile") == [2])
  }

  /// Core Data numbers the columns of siblings, but an attribute may have a number in its name.
  @Test func columnOfDroppedAttributeIsNotANumberedOne() throws {
    let line = #", "attributes": [{"name": "line", "type": "string", "optional": true}]"#
    let tags = toMany("tags", "IDMTag", inverse: "notes")
    let notes = toMany("notes", "IDMNote", inverse: "tags")
    let fixture = try fixture(line + tags, "", tag: notes)
    for column in ["ZLINE", "ZLINE1"] { try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN \(column) VARCHAR") }
    try fixture.execute("UPDATE ZIDMNOTE SET ZLINE1 = 'second line'")
    try fixture.writeModel(["text": nil, "line": nil, "line1": nil])
    let store = try fixture.read()
    #expect(try store.value("IDMNote 2", "line") == .null)
    #expect(
      store.remarks.contains {
        $0.hasPrefix("IDMNote.line1: the model Moved has no such property")
          && $0.hasSuffix("its values are not taken (4)")
      }, "\(store.remarks)")
  }

  private static let sizes = """
    {"format": 1, "name": "Sizes", "version": 1, "entities": [
      {"name": "GeographicRegion", "abstract": true},
      {"name": "Continent", "parent": "GeographicRegion", "attributes": [
        {"name": "size", "type": "integer", "optional": true}]},
      {"name": "Country", "parent": "GeographicRegion", "attributes": [
        {"name": "size", "type": "integer", "optional": true}]}
    ]}
    """

  /// Later imports read the columns that the caller named once.
  @Test func givenColumnOfSiblingsIsKept() throws {
    var fixture = try StoreFixture("Moody.moody", model: Self.sizes)
    for column in ["ZSIZE", "ZSIZE1"] {
      try fixture.execute("ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN \(column) INTEGER")
    }
    try fixture.execute("UPDATE ZGEOGRAPHICREGION SET ZSIZE = Z_PK WHERE Z_ENT = 2")
    try fixture.execute("UPDATE ZGEOGRAPHICREGION SET ZSIZE1 = Z_PK WHERE Z_ENT = 3")
    func values(_ store: ReadStore) throws -> Set<Value?> {
      Set(try store.rows.keys.map { try store.value($0, "size") })
    }
    #expect(try values(fixture.read()) != [.null])
    fixture.names = ["Continent.size": "size1", "Country.size": "size"]
    let given = try fixture.read()
    #expect(try values(given) == [.null])
    fixture.names = [:]
    #expect(try values(fixture.read(earlier: given.layout.decisions)) == [.null])
    // Any other name, too, unless the caller gives another one.
    fixture.names = ["Country.size": "numericISO3166Code"]
    let other = try fixture.read(earlier: given.layout.decisions)
    let codes = try values(other)
    #expect(codes.count > 2)
    fixture.names = [:]
    #expect(try values(fixture.read(earlier: other.layout.decisions)) == codes)
    // The app has migrated its store.
    try fixture.execute("UPDATE Z_METADATA SET Z_PLIST = NULL")
    #expect(try values(fixture.read(earlier: other.layout.decisions)) == values(fixture.read()))
  }

  @Test func propertyThatTheCallerLeavesOutIsNotSearchedFor() throws {
    var fixture = try StoreFixture("Moody.moody", model: Self.sizes)
    try fixture.execute("ALTER TABLE ZGEOGRAPHICREGION ADD COLUMN ZSIZE INTEGER")
    fixture.names = ["Continent.size": "none", "Country.size": "none"]
    let store = try fixture.read()
    #expect(store.remarks.contains("Continent.size: --rename leaves it out (0)"), "\(store.remarks)")
    for row in store.rows.values { #expect(!row.fields.contains { $0.property.name == "size" }) }
  }

  /// The app has a later version than the graph, in which another property has the earlier name of one.
  @Test func nameThatAnotherPropertyHadIsAskedFor() throws {
    let model = """
      {"format": 1, "name": "Older", "version": 1, "entities": [
        {"name": "IDMNote", "attributes": [{"name": "text", "type": "string", "optional": true}]}]}
      """
    var fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN ZHEADING VARCHAR")
    try fixture.execute("UPDATE ZIDMNOTE SET ZHEADING = 'heading'")
    try fixture.writeModel(["heading": "text", "text": nil])
    let store = try fixture.read()
    #expect(store.rows["IDMNote 1"]?.fields.isEmpty == true)
    #expect(
      store.remarks.contains { $0.hasPrefix("IDMNote.text: whether ZTEXT is its column is not clear") },
      "\(store.remarks)")
    fixture.names = ["IDMNote.text": "heading"]
    #expect(try fixture.read().value("IDMNote 1", "text") == .string("heading"))
    // A model of the same version has both properties, also without their earlier names.
    let both = """
      {"format": 1, "name": "Same", "version": 1, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "text", "type": "string", "optional": true}, {"name": "heading", "type": "string", "optional": true}]}]}
      """
    let same = try StoreFixture("Notes.sqlite", model: both)
    try same.execute("ALTER TABLE ZIDMNOTE ADD COLUMN ZHEADING VARCHAR")
    try same.execute("UPDATE ZIDMNOTE SET ZHEADING = 'heading'")
    try same.writeModel(["heading": "text", "text": nil])
    #expect(try same.read().value("IDMNote 1", "heading") == .string("heading"))
    #expect(try same.read().value("IDMNote 2", "text") != nil)
    // If the names were exchanged, the graph can be of either version.
    try same.writeModel(["heading": "text", "text": "heading"])
    #expect(try same.read().rows["IDMNote 1"]?.fields.isEmpty == true)
    // A plain renaming has no other column.
    fixture.names = [:]
    try fixture.writeModel(["text": "heading"])
    #expect(try fixture.read().value("IDMNote 2", "text") != nil)
  }

  /// Siblings have to-ones of the same name in numbered columns, and the graph has to-manys.
  @Test func formerToOnesOfSiblingsHaveTheirOwnColumns() throws {
    let model = """
      {"format": 1, "name": "Siblings", "version": 1, "entities": [
        {"name": "IDMNote", "abstract": true},
        {"name": "First", "parent": "IDMNote"\(toMany("files", "IDMMediaFile", inverse: "first"))},
        {"name": "Second", "parent": "IDMNote"\(toMany("files", "IDMMediaFile", inverse: "second"))},
        {"name": "IDMMediaFile", "relationships": [
          {"name": "first", "destination": "First", "inverse": "files", "toMany": true},
          {"name": "second", "destination": "Second", "inverse": "files", "toMany": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute("INSERT INTO Z_PRIMARYKEY VALUES (4, 'First', 2, 0), (5, 'Second', 2, 0)")
    try fixture.execute("UPDATE ZIDMNOTE SET Z_ENT = 4 + Z_PK % 2")
    for column in ["ZFILES", "ZFILES1"] { try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN \(column) INTEGER") }
    try fixture.execute("UPDATE ZIDMNOTE SET ZFILES = 1 WHERE Z_ENT = 4")
    try fixture.execute("UPDATE ZIDMNOTE SET ZFILES1 = 2 WHERE Z_ENT = 5")
    let store = try fixture.read()
    #expect(try store.members("IDMNote 1", "files") == [2])
    #expect(try store.members("IDMNote 2", "files") == [1])
    #expect(!store.remarks.contains { $0.contains("files") || $0.contains("FILES") }, "\(store.remarks)")
  }
}
