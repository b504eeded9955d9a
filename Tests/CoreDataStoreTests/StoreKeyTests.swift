import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// The columns of attributes and of to-ones, whose values can both be integers.
@Suite struct StoreKeyTests {
  /// The model that the store contains shows the kind of a property.
  @Test func keyIsNotReadAsAnAttribute() throws {
    let model = """
      {"format": 1, "name": "Owners", "version": 2, "entities": [
        {"name": "Car", "attributes": [
          {"name": "numberPlate", "type": "string"}, {"name": "owner", "type": "integer", "optional": true}]}
      ]}
      """
    var fixture = try StoreFixture("Cars.sqlite", model: model)
    fixture.names = [:]
    let store = try fixture.read()
    #expect(try store.content("Car 1", "owner") == nil)
    #expect(try store.value("Car 1", "numberPlate") == .string("170"))
    #expect(
      store.remarks.contains {
        $0.hasPrefix("Car.owner: the store has a relationship, and the model an attribute: its keys are not taken (")
      }, "\(store.remarks)")
  }

  private static let cities = """
    {"format": 1, "name": "Cities", "version": 2, "entities": [
      {"name": "GeographicRegion", "abstract": true, "attributes": [
        {"name": "updatedAt", "type": "date", "optional": true}]},
      {"name": "Country", "parent": "GeographicRegion", "relationships": [
        {"name": "NAME", "destination": "Mood", "inverse": "countries"}]},
      {"name": "Mood", "relationships": [
        {"name": "countries", "destination": "Country", "inverse": "NAME", "toMany": true, "ordered": ORDERED}]}
    ]}
    """

  private func cities(_ name: String, ordered: Bool = false) throws -> StoreFixture {
    try StoreFixture(
      "Moody.moody",
      model: Self.cities.replacing("NAME", with: name).replacing("ORDERED", with: ordered ? "true" : "false"))
  }

  @Test func attributeIsNotReadAsAKey() throws {
    for ordered in [false, true] {
      let store = try cities("numericISO3166Code", ordered: ordered).read()
      for row in store.rows.values { #expect(!row.fields.contains { $0.property.name == "numericISO3166Code" }) }
      #expect(store.layout.lists.isEmpty)
      #expect(
        store.remarks.contains {
          $0.hasPrefix(
            "Country.numericISO3166Code: the store has an attribute, and the model a relationship: its values are not taken "
          )
        }, "\(store.remarks)")
    }
  }

  /// The key 1 of one table is another row than the key 1 of the other table.
  @Test func keyOfAnotherDestinationIsNotTaken() throws {
    let store = try cities("continent").read()
    for row in store.rows.values { #expect(!row.fields.contains { $0.property.name == "continent" }) }
    #expect(
      store.remarks.contains {
        $0.hasPrefix(
          "Country.continent: the store has a relationship to Continent, and the model one to Mood: its references are not "
            + "taken (")
      }, "\(store.remarks)")
  }

  private static let ranks = """
    {"format": 1, "name": "Ranks", "version": 2, "entities": [
      {"name": "IDMNote", "attributes": [
        {"name": "imageFile", "type": "integer", "optional": true}, {"name": "text", "type": "string", "optional": true}],
       "relationships": [
        {"name": "rank", "destination": "IDMTag", "inverse": "ranked"},
        {"name": "uniqueIdentifier", "destination": "IDMTag", "inverse": "identified"}]},
      {"name": "IDMTag", "relationships": [
        {"name": "ranked", "destination": "IDMNote", "inverse": "rank", "toMany": true},
        {"name": "identified", "destination": "IDMNote", "inverse": "uniqueIdentifier", "toMany": true}]}
    ]}
    """

  /// Without a model in the store, the values of the column show that they are no keys.
  @Test func valuesThatAreNoKeysAreNotTaken() throws {
    let fixture = try StoreFixture("Notes.sqlite", model: Self.ranks)
    try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN ZRANK INTEGER")
    for values in ["0 WHERE Z_PK = 2", "100 + Z_PK"] {
      try fixture.execute("UPDATE ZIDMNOTE SET ZRANK = 1; UPDATE ZIDMNOTE SET ZRANK = \(values)")
      let store = try fixture.read()
      #expect(try store.content("IDMNote 1", "rank") == nil)
      #expect(
        store.remarks.contains {
          $0.hasPrefix("IDMNote.rank: its values are no keys of rows of IDMTag, so that it was another property")
        }, "\(store.remarks)")
      // A key is an integer.
      #expect(try store.content("IDMNote 1", "uniqueIdentifier") == nil)
      #expect(try store.problems("IDMNote 1") == [])
      #expect(store.remarks.contains { $0.hasPrefix("IDMNote.uniqueIdentifier: the store has an attribute") })
    }
    // One row is missing, and the others are there.
    try fixture.execute("UPDATE ZIDMNOTE SET ZRANK = 1; UPDATE ZIDMNOTE SET ZRANK = 99 WHERE Z_PK = 2")
    let store = try fixture.read()
    #expect(try store.reference("IDMNote 1", "rank") == "IDMTag 1")
    #expect(!store.remarks.contains { $0.hasPrefix("IDMNote.rank") })
  }

  /// A migration keeps the only member of each list.
  @Test func renamedToOneIsReadAsAList() throws {
    func model(_ more: String) -> String {
      """
      {"format": 1, "name": "Images", "version": 2, "entities": [
        {"name": "IDMNote", "attributes": [{"name": "text", "type": "string", "optional": true}\(more)], "relationships": [
          {"name": "images", "destination": "IDMMediaFile", "inverse": "notes", "toMany": true,
           "documentation": "Called \\"images\\" in Core Data, earlier \\"imageFile\\"."}]},
        {"name": "IDMMediaFile", "relationships": [
          {"name": "notes", "destination": "IDMNote", "inverse": "images", "toMany": true}]}
      ]}
      """
    }
    let store = try StoreFixture("Notes.sqlite", model: model("")).read()
    #expect(try store.members("IDMNote 1", "images") == [1])
    #expect(try store.members("IDMNote 2", "images") == [2])
    #expect(try store.members("IDMNote 4", "images") == [])
    #expect(
      !store.remarks.contains { $0.contains("images") || $0.contains("ZIMAGEFILE") || $0.contains(".notes") },
      "\(store.remarks)")
    // A new property has the former name.
    let reused = #", {"name": "imageFile", "type": "integer", "optional": true}"#
    let other = try StoreFixture("Notes.sqlite", model: model(reused)).read()
    #expect(other.layout.lists.isEmpty)
  }

  /// Only a to-one has the entity of the other row or an order beside it.
  @Test(arguments: ["Z1_IMAGEFILE", "Z_FOK_IMAGEFILE"])
  func columnBesideAKeyShowsIt(name: String) throws {
    let fixture = try StoreFixture("Notes.sqlite", model: Self.ranks)
    try fixture.execute("ALTER TABLE ZIDMNOTE ADD COLUMN \(name) INTEGER")
    let store = try fixture.read()
    #expect(try store.content("IDMNote 1", "imageFile") == nil)
    #expect(store.remarks.contains { $0.hasPrefix("IDMNote.imageFile: the store has a relationship") })
  }
}
