import GraphModel
import Testing

@testable import GraphShell

@MainActor
@Suite struct ObjectTitleTests {
  private let company: Company

  init() throws { company = try Company() }

  private func title(_ entity: String, _ values: [String: Value]) throws -> String? {
    ObjectTitle.text(try company.image(entity, 1, values), in: company.model)
  }

  @Test func nameIsPreferredToOtherTexts() throws {
    #expect(try title("Person", ["bio": .string("born in Rome"), "name": .string("Ann\nSmith")]) == "Ann")
    #expect(try title("Step", ["label": .string("Sign")]) == "Sign")
  }

  @Test func emptyNameIsNotReplacedByOtherTexts() throws {
    #expect(try title("Person", ["bio": .string("born in Rome"), "name": .string("")]) == nil)
  }

  @Test func firstTextIsTheTitleOfAnEntityWithoutName() throws {
    #expect(try title("Desk", ["place": .string("2nd floor")]) == "2nd floor")
    #expect(try title("Desk", [:]) == nil)
  }

  @Test func valuesAreTheTitleOfAnEntityWithoutTexts() throws {
    let source = """
      {"format": 1, "name": "Count", "version": 1, "entities": [{"name": "Count", "attributes": [
        {"name": "seen", "type": "integer"}, {"name": "lost", "type": "integer", "optional": true},
        {"name": "isOver", "type": "bool"}, {"name": "limit", "type": "integer"}]}]}
      """
    let model = try Model(parsing: source.utf8)
    let entity = try #require(model.entity(named: "Count"))
    let id = ObjectID(key: UniqueID(high: 1, low: 1), entity: entity.number)
    var image = ObjectImage(id: id, revision: 1, values: [Value](repeating: .null, count: entity.slotCount))
    for (name, value) in ["seen": .integer(3), "isOver": .bool(true), "limit": .integer(9)] as [String: Value] {
      image[try #require(entity.property(named: name))] = value
    }
    #expect(ObjectTitle.text(image, in: model) == "seen 3, isOver true")
  }

  @Test func linesOfTheShellHaveTheTitle() throws {
    let output = Output(json: false, ansi: .never, model: company.model, program: CompanyProgram())
    let desk = try company.image("Desk", 1, ["place": .string("2nd floor")])
    #expect(output.line(desk) == "Desk \(desk.shortID) 2nd floor")
    let bare = try company.image("Desk", 2, [:])
    #expect(output.line(bare) == "Desk \(bare.shortID)")
  }
}
