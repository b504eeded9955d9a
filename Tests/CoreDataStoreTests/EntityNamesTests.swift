import CoreDataNames
import GraphModel
import Testing

@testable import CoreDataStore

/// Finds the entities of a model in a store, also after the app has given a name to another entity.
@Suite struct EntityNamesTests {
  /// A new entity has the former name of another one. The conversion writes that name with the number of its version.
  @Test(arguments: [
    #""renamed": "IDMTag""#,
    #""renamed": "IDMTag_1", "documentation": "Called \"Book\" in Core Data, earlier \"IDMTag\".""#,
  ])
  func nameThatTwoEntitiesHaveOrHadIsAskedFor(earlier: String) throws {
    let model = """
      {"format": 1, "name": "Reused", "version": 2, "entities": [
        {"name": "Book", \(earlier), "attributes": [
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

  /// The version before has another entity with the present name, which the app then removed.
  @Test func entityOfTheVersionBeforeIsRecognized() throws {
    let model = """
      {"format": 1, "name": "Reused", "version": 2, "entities": [
        {"name": "IDMNote", "documentation": "Called \\"IDMNote\\" in Core Data, earlier \\"IDMTag\\"."},
        {"name": "IDMMediaFile"}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(store.counts == ["IDMNote": 3, "IDMMediaFile": 2])
    #expect(store.remarks.contains("IDMNote: the model Reused has no such entity: its rows are not taken (4)"))
  }

  /// A store of the version before has the same entities.
  @Test func exchangedNamesOfEntitiesAreAskedFor() throws {
    let model = """
      {"format": 1, "name": "Exchanged", "version": 2, "entities": [
        {"name": "IDMTag", "documentation": "Called \\"IDMTag\\" in Core Data, earlier \\"IDMNote\\"."},
        {"name": "IDMNote", "documentation": "Called \\"IDMNote\\" in Core Data, earlier \\"IDMTag\\"."}
      ]}
      """
    var fixture = try StoreFixture("Notes.sqlite", model: model)
    let refusal = try #require(throws: Refusal.self) { try fixture.read() }
    #expect(
      refusal.message
        == "the rows of IDMTag can be those of IDMTag or IDMNote in the model Exchanged, which have or had this name; say "
        + "which, with --rename IDMTag=IDMTag or --rename IDMNote=IDMTag")
    fixture.names = ["IDMTag": "IDMTag"]
    #expect(try fixture.read().counts == ["IDMTag": 3, "IDMNote": 4])
    fixture.names = ["IDMNote": "IDMTag"]
    #expect(try fixture.read().counts == ["IDMTag": 4, "IDMNote": 3])
  }

  @Test(
    arguments: [
      ([], ""), (["id"], "Called \"id\" in Core Data."),
      (["title", "label"], "Called \"title\" in Core Data, earlier \"label\"."),
      (
        ["a b.c", "x", "y", "z"],
        "It. Called \"a b.c\" in Core Data, earlier \"x\", \"y\" and \"z\". Called \"q\"."
      ),
      ([], "Called \"title\" by people."),
    ] as [([String], String)])
  func namesAreReadFromDocumentation(names: [String], documentation: String) throws {
    #expect(AppNames(documentation: documentation)?.names == (names.isEmpty ? nil : names))
    if !names.isEmpty { #expect(documentation.contains(AppNames(names + names).documentation)) }
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

  /// In a store of the version before, the column can be that of either.
  @Test func earlierNameThatANewPropertyHasIsAskedFor() throws {
    let model = """
      {"format": 1, "name": "Reused", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [
          {"name": "body", "renamed": "text_1", "type": "string", "optional": true,
           "documentation": "Called \\"body\\" in Core Data, earlier \\"text\\"."},
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
