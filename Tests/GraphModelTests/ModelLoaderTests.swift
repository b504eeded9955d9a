import GraphModel
import GraphTesting
import Testing

@Suite struct ModelLoaderTests {
  @Test func notesModelLoads() throws {
    let model = try Fixtures.stickies()
    #expect(model.entities.map(\.name) == ["Board", "Note", "Tag", "Link"])
    let note = try #require(model.entity(named: "Note"))
    #expect(note.property(named: "tags")?.relationship?.storage == .members)
    #expect(note.property(named: "outgoing")?.slot == nil)
    #expect(model.entity(named: "Tag")?.property(named: "notes")?.relationship?.storage == .inverse)
  }

  @Test func inheritedPropertiesComeFirstAndKeepTheirNumbers() throws {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    let party = try #require(model.entity(named: "Party"))
    #expect(person.properties.first?.name == "name")
    #expect(person.property(named: "name")?.number == party.property(named: "name")?.number)
    #expect(party.family.count == 3)
    #expect(person.root == party.number)
  }

  @Test func everyMistakeIsReportedWithItsPath() {
    let source = """
      {"format": 1, "name": "Bad", "version": 0, "surprise": 1,
       "entities": [
         {"name": "A", "attributes": [{"name": "x", "type": "integr"}, {"name": "9"}], "unique": ["x"]},
         {"nam": "B"}]}
      """
    let error = #expect(throws: ModelError.self) { try Model(parsing: source.utf8) }
    let paths = Set(error?.mistakes.map(\.path) ?? [])
    #expect(
      paths.isSuperset(of: [
        "version", "surprise", "entities[0].attributes[0].type", "entities[0].attributes[1].name",
        "entities[0].attributes[1].type", "entities[0].unique[0]", "entities[1].name", "entities[1].nam",
      ]), "\(paths)")
  }

  @Test func crossReferencesAreValidated() {
    let source = """
      {"format": 1, "name": "Bad", "version": 1,
       "entities": [
         {"name": "A", "parent": "Z"},
         {"name": "a"},
         {"name": "C", "parent": "D"}, {"name": "D", "parent": "C"}]}
      """
    let error = #expect(throws: ModelError.self) { try Model(parsing: source.utf8) }
    #expect(error?.mistakes.map(\.path).contains("entities[0].parent") == true)
    #expect(error?.mistakes.map(\.path).contains("entities[1].name") == true)
    #expect(error?.mistakes.map(\.path).contains("entities[2].parent") == true)
  }

  @Test func inversesMustAgree() {
    let source = """
      {"format": 1, "name": "Bad", "version": 1,
       "entities": [
         {"name": "A", "relationships": [{"name": "b", "destination": "B", "inverse": "a"},
                                         {"name": "c", "destination": "B", "inverse": "a"},
                                         {"name": "d", "destination": "B", "inverse": "nothing"}]},
         {"name": "B", "relationships": [{"name": "a", "destination": "A", "inverse": "b"}]}]}
      """
    let error = #expect(throws: ModelError.self) { try Model(parsing: source.utf8) }
    #expect(
      error?.mistakes.map(\.path) == [
        "entities[0].relationships[1].inverse", "entities[0].relationships[2].inverse",
      ])
  }

  @Test func brokenFileSaysLineAndColumn() {
    let error = #expect(throws: ModelError.self) { try Model(parsing: "{\n  \"format\": 1,\n}".utf8) }
    #expect(error?.mistakes.first?.path == "line 3, column 1")
  }

  @Test func hashIgnoresOrderAndDocumentationButNotTypes() throws {
    func model(_ attributes: String) throws -> Model {
      try Model(
        parsing: #"{"format":1,"name":"M","version":1,"entities":[{"name":"A","attributes":[\#(attributes)]}]}"#.utf8)
    }
    let one = try model(#"{"name":"x","type":"integer"},{"name":"y","type":"string"}"#)
    let other = try model(
      #"{"name":"y","type":"string","documentation":"!"},{"name":"x","type":"integer","minimum":3}"#)
    #expect(one.hash == other.hash)
    #expect(try one.hash != model(#"{"name":"x","type":"double"},{"name":"y","type":"string"}"#).hash)
  }
}
