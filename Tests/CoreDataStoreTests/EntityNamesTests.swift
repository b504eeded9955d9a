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
}
