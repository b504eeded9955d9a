import GraphModel
import Testing

@testable import CoreDataStore

/// Finds the entities of a model in a store, also after the app has given a name to another entity.
@Suite struct EntityNamesTests {
  /// A new entity has the former name of another one. The conversion writes that name with the number of its version.
  @Test(arguments: ["IDMTag", "IDMTag_1"])
  func nameThatTwoEntitiesHaveOrHadIsAskedFor(earlier: String) throws {
    let model = """
      {"format": 1, "name": "Reused", "version": 2, "entities": [
        {"name": "Book", "renamed": "\(earlier)", "attributes": [
          {"name": "text", "type": "string", "optional": true}]},
        {"name": "IDMTag", "attributes": [{"name": "text", "type": "string", "optional": true}]}
      ]}
      """
    var fixture = try StoreFixture("Notes.sqlite", model: model)
    let refusal = try #require(throws: Refusal.self) { try fixture.read() }
    #expect(refusal.code == .invalid)
    #expect(
      refusal.message
        == "the rows of IDMTag can be those of Book or IDMTag in the model Reused, which have or had this name; say which, "
        + "with --rename Book=IDMTag or --rename IDMTag=IDMTag")
    fixture.names = ["Book": "IDMTag"]
    #expect(try fixture.read().counts == ["Book": 3])
    fixture.names = ["IDMTag": "IDMTag"]
    #expect(try fixture.read().counts == ["IDMTag": 3])
    fixture.names = ["Book": "IDMTag", "IDMTag": "IDMTag"]
    let both = try #require(throws: Refusal.self) { try fixture.read() }
    #expect(both.message.hasPrefix("the rows of IDMTag can be those of Book or IDMTag"))
    // A store of the present version has both names.
    try fixture.execute(
      """
      INSERT INTO Z_PRIMARYKEY VALUES (4, 'Book', 0, 1);
      CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR);
      INSERT INTO ZBOOK VALUES (1, 4, 1, 'title')
      """)
    fixture.names = [:]
    #expect(try fixture.read().counts == ["Book": 1, "IDMTag": 3])
  }

  /// A name that the conversion may have changed yields to one that is the same.
  @Test func convertedNameYieldsToAnEqualOne() throws {
    let model = """
      {"format": 1, "name": "Spelled", "version": 1, "entities": [
        {"name": "IDMTag_", "attributes": [{"name": "text", "type": "string", "optional": true}]},
        {"name": "IDMTag", "attributes": [{"name": "text", "type": "string", "optional": true}]}
      ]}
      """
    #expect(try StoreFixture("Notes.sqlite", model: model).read().counts == ["IDMTag": 3])
  }

  /// A daemon may serve the version of the store: there the conversion writes a number after a name that another part
  /// of a later version has.
  @Test func numberedNamesAreFound() throws {
    let model = """
      {"format": 1, "name": "Numbered", "version": 1, "entities": [
        {"name": "IDMNote_3", "attributes": [{"name": "text_2", "type": "string", "optional": true}]},
        {"name": "IDMTag", "attributes": [
          {"name": "text", "type": "string", "optional": true}, {"name": "text_2", "type": "string", "optional": true}]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(store.counts == ["IDMNote_3": 4, "IDMTag": 3])
    #expect(try store.value("IDMNote 1", "text_2") == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(store.remarks.contains("IDMTag.text_2: the store has no column ZTEXT_2 of this property (0)"))
  }

  /// After two underscores the number distinguishes equal names in every version. A name may have both numbers.
  @Test(arguments: ["text__2", "text_7__2"]) func numbersOfEqualNamesAreFoundInEachVersion(text: String) throws {
    let model = """
      {"format": 1, "name": "Numbered", "version": 5, "entities": [
        {"name": "IDMNote__2", "attributes": [{"name": "\(text)", "type": "string", "optional": true}]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(store.counts == ["IDMNote__2": 4])
    #expect(try store.value("IDMNote 1", text) == .string("Epoch: 2001-01-01T00:00:00Z"))
  }

  /// Without accents both names are equal, so the conversion has numbered one of them.
  @Test func numberedNameWithAccentsIsFound() throws {
    let model = """
      {"format": 1, "name": "Numbered", "version": 5, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "text", "type": "string", "optional": true}, {"name": "text__2", "type": "string", "optional": true}]}
      ]}
      """
    let fixture = try StoreFixture("Notes.sqlite", model: model)
    try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN \"ZTÉXT\" VARCHAR; UPDATE ZIDMNOTE SET \"ZTÉXT\" = 'accent'")
    let store = try fixture.read()
    #expect(try store.value("IDMNote 1", "text") == .string("Epoch: 2001-01-01T00:00:00Z"))
    #expect(try store.value("IDMNote 1", "text__2") == .string("accent"))
  }

  /// The number is that of an earlier version, or the name is one of the app's in a later version.
  @Test func numbersOfOtherVersionsAreNotTaken() throws {
    let model = """
      {"format": 1, "name": "Numbered", "version": 4, "entities": [
        {"name": "IDMNote", "attributes": [{"name": "text_3", "type": "string", "optional": true}]},
        {"name": "IDMTag_3", "attributes": [{"name": "text", "type": "string", "optional": true}]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(store.counts == ["IDMNote": 4])
    #expect(try store.content("IDMNote 1", "text_3") == nil)
  }

  /// The names in `renamed` are those of the conversion.
  @Test(arguments: ["text_1", "text_"]) func convertedEarlierNamesAreFound(earlier: String) throws {
    let model = """
      {"format": 1, "name": "Earlier", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "body", "renamed": "\(earlier)", "type": "string", "optional": true}]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(try store.value("IDMNote 1", "body") == .string("Epoch: 2001-01-01T00:00:00Z"))
  }

  /// In a store of the version before, the column can be that of either.
  @Test func earlierNameThatANewPropertyHasIsAskedFor() throws {
    let model = """
      {"format": 1, "name": "Reused", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "body", "renamed": "text_1", "type": "string", "optional": true},
          {"name": "text", "type": "string", "optional": true}]}
      ]}
      """
    var fixture = try StoreFixture("Notes.sqlite", model: model)
    let store = try fixture.read()
    for name in ["body", "text"] {
      #expect(try store.content("IDMNote 1", name) == nil)
      #expect(store.remarks.contains { $0.hasPrefix("IDMNote.\(name): which of the columns ZTEXT… belongs to it") })
    }
    for (name, other) in [("body", "text"), ("text", "body")] {
      fixture.names = ["IDMNote.\(name)": "text"]
      let named = try fixture.read()
      #expect(try named.value("IDMNote 1", name) == .string("Epoch: 2001-01-01T00:00:00Z"))
      #expect(try named.content("IDMNote 1", other) == nil)
    }
  }
}
