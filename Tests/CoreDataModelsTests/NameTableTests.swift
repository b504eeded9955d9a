import CoreDataModels
import GraphModel
import Testing

/// A part has the same converted name in each version, also if its name is not possible in one of them only.
@Suite struct NameTableTests {
  private func entity(_ name: String, _ attributes: [String] = [], _ more: String = "") -> String {
    let properties = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
    return "<entity name=\"\(name)\"\(more)>\(properties.joined())</entity>"
  }

  /// The steps of the migration to a version.
  private func steps(_ conversion: CoreDataConversion, to number: Int = 2) throws -> [String] {
    let models = conversion.versions.map(\.model)
    return try MigrationPlan.infer(from: models[number - 2], to: models[number - 1]).steps.map(\.description)
  }

  /// The names of the properties of each version's first entity.
  private func properties(_ conversion: CoreDataConversion) -> [[String]] {
    conversion.versions.map { $0.entities[0].properties.map(\.name) }
  }

  @Test func entityOfTheNewestVersionKeepsItsName() throws {
    let conversion = try convert(
      entity("Foo", ["x"]), entity("Foo", ["x"]), entity("foo", ["x"], " elementID=\"Foo\""), current: "App 3")
    #expect(conversion.versions.map { $0.entities[0].name } == ["Foo__2", "Foo__2", "foo"])
    #expect(try steps(conversion, to: 3) == ["foo was called Foo__2"])
    let line = "renamed: Foo: is called Foo__2, because another part of the bundle has this name, ignoring case"
    #expect(conversion.lines.filter { $0.hasPrefix("renamed") } == [line, line])
  }

  @Test func propertyHasOneNameBesideALaterConflict() throws {
    let conversion = try convert(entity("A", ["ab"]), entity("A", ["ab"]), entity("A", ["ab", "Ab"]))
    #expect(properties(conversion) == [["ab_"], ["ab_"], ["ab_", "Ab"]])
    #expect(try steps(conversion, to: 3) == ["A.Ab is new, and empty"])
    #expect(conversion.lines.count { $0.hasPrefix("renamed: A.ab: is called ab_, ") } == 3)
  }

  @Test func propertyOfTheNewestVersionKeepsItsName() throws {
    let conversion = try convert(entity("A", ["ab", "Ab"]), entity("A", ["ab"]))
    #expect(properties(conversion) == [["ab", "Ab_"], ["ab"]])
    #expect(try steps(conversion) == ["A.Ab_ is removed, with its values"])
  }

  /// The earlier entity has no conflict, so the link leads to another name.
  @Test func conflictOfARenamedEntityIsLinked() throws {
    let conversion = try convert(entity("D", ["ab"]), entity("E", ["ab", "Ab"], " elementID=\"D\""), current: "App 2")
    #expect(properties(conversion) == [["ab"], ["ab_", "Ab"]])
    #expect(Set(try steps(conversion)) == ["E was called D", "E.ab_ was called ab", "E.Ab is new, and empty"])
    #expect(
      conversion.lines == ["renamed: E.ab: is called ab_, because a model file does not allow the name here"])
  }

  /// Each of the two entities has another name in the earlier version.
  @Test func numberOfAVersionIsFoundBesideThatOfEqualNames() throws {
    let exchanged =
      "<attribute name=\"x\" optional=\"YES\" attributeType=\"String\" elementID=\"y\"/>"
      + "<attribute name=\"y\" optional=\"YES\" attributeType=\"String\" elementID=\"x\"/>"
    func both(_ properties: String) -> String {
      "<entity name=\"A\">\(properties)</entity><entity name=\"B\">\(properties)</entity>"
    }
    let conversion = try convert(
      entity("A", ["x", "y"]) + entity("B", ["x", "y"]), both(exchanged), current: "App 2")
    let first = conversion.versions[0].entities.map { $0.properties.map(\.name) }
    #expect(first == [["x_1", "y_1"], ["x_1__2", "y_1__2"]])
    #expect(
      try steps(conversion) == [
        "A.x was called y_1", "A.y was called x_1", "B.x was called y_1__2", "B.y was called x_1__2",
      ])
  }

  @Test func fetchRequestHasOneNameInEachVersion() throws {
    let requests = ["a b", "a-b"].map { "<fetchRequest name=\"\($0)\" entity=\"A\" predicateString=\"x == 'y'\"/>" }
    let conversion = try convert(
      entity("A", ["x"]) + requests.joined(), entity("A", ["x"]) + requests.reversed().joined())
    #expect(
      conversion.versions.map { $0.model.fetchRequests.map(\.name) } == [["a_b", "a_b__2"], ["a_b__2", "a_b"]])
  }

  @Test func membersOfACompositeDifferIgnoringCase() throws {
    let members = ["ab", "Ab"].map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
    let conversion = try convert(
      "<entity name=\"A\"><attribute name=\"c\" optional=\"YES\" attributeType=\"Composite\" composite=\"C\"/></entity>"
        + "<composite name=\"C\">\(members.joined())</composite>")
    #expect(conversion.versions[0].model.composites[0].members.map(\.name) == ["ab_", "Ab"])
    #expect(
      conversion.lines == ["renamed: C.ab: is called ab_, because a model file does not allow the name here"])
  }
}
