import CoreDataModels
import GraphModel
import Testing

/// A version that is added to a bundle later. A store may have been created with the model file of the first one.
@Suite struct ExistingFilesTests {
  private func entity(_ name: String, _ attributes: String..., more: String = "") -> String {
    "<entity name=\"\(name)\"\(more)>\(attributes.joined())</entity>"
  }

  private func attribute(_ name: String, _ type: String = "String", _ more: String = "") -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\"\(more)/>"
  }

  /// Converts the first version alone, then both, and then both again.
  private func add(_ second: String, to first: String) throws -> CoreDataConversion {
    let alone = try convert(first)
    let both = try convert(
      first, second, current: "App 2", existing: [1: Array(alone.versions[0].text.utf8)])
    #expect(both.versions[0].text == alone.versions[0].text)
    let files = both.versions.map { ($0.number, Array($0.text.utf8)) }
    let again = try convert(first, second, current: "App 2", existing: Dictionary(uniqueKeysWithValues: files))
    #expect(again.versions.map(\.text) == both.versions.map(\.text))
    return both
  }

  private func steps(_ conversion: CoreDataConversion) throws -> Set<String> {
    let models = conversion.versions.map(\.model)
    return Set(try MigrationPlan.infer(from: models[0], to: models[1]).steps.map(\.description))
  }

  @Test func newPropertyWithAFormerNameGetsANumber() throws {
    let conversion = try add(
      entity("A", attribute("heading", "String", " elementID=\"title\""), attribute("title")),
      to: entity("A", attribute("title")))
    #expect(try steps(conversion) == ["A.heading was called title", "A.title_2 is new, and empty"])
    #expect(
      conversion.lines == [
        "renamed: A.title: is called title_2, because the model file of version 1 exists, in which title is another property"
      ])
    let title = conversion.versions[1].model.entity(named: "A")?.property(named: "title_2")
    #expect(title?.documentation == "Called \"title\" in Core Data.")
  }

  @Test func changedTypeGetsANumber() throws {
    let conversion = try add(entity("A", attribute("when", "Date")), to: entity("A", attribute("when")))
    #expect(try steps(conversion) == ["A.when_2 is new, and empty", "A.when is removed, with its values"])
  }

  @Test func exchangedNamesOfMembersGetANumber() throws {
    func text(_ members: String...) -> String {
      entity("A", attribute("c", "Composite", " composite=\"C\""))
        + "<composite name=\"C\">\(members.joined())</composite>"
    }
    let conversion = try add(
      text(attribute("x", "String", " elementID=\"y\""), attribute("y", "String", " elementID=\"x\"")),
      to: text(attribute("x"), attribute("y")))
    #expect(try steps(conversion) == ["A.c.x_2 was called c.y", "A.c.y_2 was called c.x"])
  }

  @Test func convertedNameStays() throws {
    let conversion = try add(entity("A", attribute("id"), attribute("id_")), to: entity("A", attribute("id")))
    #expect(conversion.versions.map { $0.entities[0].properties.map(\.name) } == [["id_"], ["id_", "id__2"]])
    #expect(try steps(conversion) == ["A.id__2 is new, and empty"])
  }

  /// Otherwise the newer one of names that differ only in case stays.
  @Test func nameThatDiffersInCaseStays() throws {
    let conversion = try add(entity("A", attribute("ab"), attribute("Ab")), to: entity("A", attribute("ab")))
    #expect(conversion.versions.map { $0.entities[0].properties.map(\.name) } == [["ab"], ["ab", "Ab_"]])
    #expect(try steps(conversion) == ["A.Ab_ is new, and empty"])
  }

  @Test func newEntityWithAFormerNameGetsANumber() throws {
    let conversion = try add(
      entity("A", attribute("x")) + entity("B", attribute("x"), more: " elementID=\"A\""),
      to: entity("A", attribute("x")))
    #expect(try steps(conversion) == ["B was called A", "A_2 is new"])
    #expect(conversion.versions[1].model.entity(named: "A_2")?.documentation == "Called \"A\" in Core Data.")
  }

  /// An added inverse has its name from the conversion, which is not that of a part of the app.
  @Test func nameOfAnAddedInverseStays() throws {
    func author(_ destination: String) -> String {
      "<relationship name=\"author\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"\(destination)\"/>"
    }
    let versions = [
      entity("Folder", author("Session")) + entity("Session", more: " parentEntity=\"Folder\""),
      entity("Project") + entity("Folder", author("Session"), more: " parentEntity=\"Project\"")
        + entity("Session", more: " parentEntity=\"Folder\""),
      entity("Project") + entity("Folder", author("Place"), more: " parentEntity=\"Project\"")
        + entity("Place", more: " parentEntity=\"Folder\" elementID=\"Session\""),
    ]
    let two = try add(versions[1], to: versions[0])
    #expect(two.versions[1].model.entity(named: "Session_2")?.property(named: "authorOfFolder_2") != nil)
    let files = Dictionary(uniqueKeysWithValues: two.versions.map { ($0.number, Array($0.text.utf8)) })
    let all = try convert(versions[0], versions[1], versions[2], current: "App 3", existing: files)
    #expect(all.versions.prefix(2).map(\.text) == two.versions.map(\.text))
    let models = all.versions.map(\.model)
    #expect(
      Set(try MigrationPlan.infer(from: models[1], to: models[2]).steps.map(\.description)) == [
        "Place was called Session_2", "Place.authorOfFolder was called authorOfFolder_2",
      ])
  }

  @Test func fileWithAMistakeCountsAsMissing() throws {
    let conversion = try convert(entity("A", attribute("id")), existing: [1: Array("{}".utf8)])
    #expect(conversion.versions[0].entities[0].properties.map(\.name) == ["id_"])
    #expect(!conversion.versions[0].isStored(as: Array("{}".utf8)))
  }
}
