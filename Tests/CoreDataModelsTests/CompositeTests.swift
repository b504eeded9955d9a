import CoreDataModels
import GraphModel
import Testing

/// Attributes of composites whose names change between the versions of a bundle.
@Suite struct CompositeTests {
  private func attribute(_ name: String, _ more: String = "", type: String = "String") -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\"\(more)/>"
  }

  /// An attribute of a composite.
  private func use(_ name: String, of composite: String = "C", more: String = "") -> String {
    attribute(name, " composite=\"\(composite)\"\(more)", type: "Composite")
  }

  /// A version with an entity and a composite.
  private func version(_ uses: String, _ members: String, _ composite: String = "name=\"C\"") -> String {
    "<entity name=\"A\">\(uses)</entity><composite \(composite)>\(members)</composite>"
  }

  /// The steps of the migration between two versions of a conversion.
  private func steps(_ conversion: CoreDataConversion, to number: Int = 2) throws -> [String] {
    let models = conversion.versions.map(\.model)
    return try MigrationPlan.infer(from: models[number - 2], to: models[number - 1]).steps.map(\.description)
  }

  /// Core Data keeps the identifier of the first name in all versions.
  @Test func memberIsFollowedThroughVersions() throws {
    let conversion = try convert(
      version(use("c"), attribute("x")), version(use("c"), attribute("y", " elementID=\"x\"")),
      version(use("c"), attribute("z", " elementID=\"x\"")), current: "App 3")
    #expect(try steps(conversion) == ["A.c.y was called c.x"])
    #expect(try steps(conversion, to: 3) == ["A.c.z was called c.y"])
    #expect(conversion.lines == [])
  }

  @Test func laterVersionsStateTheEarlierNameOfAMember() throws {
    let renamed = attribute("y", " elementID=\"x\"")
    let conversion = try convert(
      version(use("c"), attribute("x")), version(use("c"), renamed),
      version(use("c") + attribute("last"), renamed), current: "App 3")
    let names = conversion.versions.map { version in
      version.model.entity(named: "A")?.properties.compactMap(\.renamed)
    }
    #expect(names == [[], ["c.x"], ["c.x"]])
    #expect(try steps(conversion, to: 3) == ["A.last is new, and empty"])
    #expect(conversion.lines == [])
  }

  @Test func exchangedNamesOfMembersAreFollowed() throws {
    let conversion = try convert(
      version(use("c"), attribute("x") + attribute("y")),
      version(use("c"), attribute("x", " elementID=\"y\"") + attribute("y", " elementID=\"x\"")), current: "App 2")
    #expect(try steps(conversion) == ["A.c.x was called c.y_1", "A.c.y was called c.x_1"])
    #expect(
      conversion.lines == [
        "renamed: C.x: is another property than that of version 1, which is called x_1 there",
        "renamed: C.y: is another property than that of version 1, which is called y_1 there",
      ])
  }

  /// The other members keep their values, and the loss is reported once for all attributes of the composite.
  @Test func memberWithAnotherTypeIsNew() throws {
    let conversion = try convert(
      version(use("c") + use("d"), attribute("x") + attribute("y")),
      version(use("c") + use("d"), attribute("x", type: "Date") + attribute("y")), current: "App 2")
    #expect(
      try steps(conversion) == [
        "A.c.x is new, and empty", "A.d.x is new, and empty", "A.c.x_1 is removed, with its values",
        "A.d.x_1 is removed, with its values",
      ])
    #expect(
      conversion.lines == [
        "left out: C.x: a migration does not keep the values of version 1: its type changes from string to date: this needs "
          + "a mapping",
        "renamed: C.x: is another property than that of version 1, which is called x_1 there",
      ])
  }

  /// `renamed` of the member would be about the new attribute, too.
  @Test func renamedMemberIsMappedBesideANewAttribute() throws {
    let conversion = try convert(
      version(use("c"), attribute("x")), version(use("c") + use("e"), attribute("y", " elementID=\"x\"")),
      current: "App 2")
    #expect(try steps(conversion).contains("A.c.y becomes c.x"))
    #expect(try steps(conversion).contains("A.e.y is new, and empty"))
    #expect(conversion.lines == [])
  }

  /// `renamed` of the attribute would be about the new member, too.
  @Test func renamedAttributeIsMappedIfItHasANewMember() throws {
    let conversion = try convert(
      version(use("c"), attribute("x")),
      version(use("d", more: " elementID=\"c\""), attribute("x") + attribute("w")), current: "App 2")
    #expect(try steps(conversion).contains("A.d.x becomes c.x"))
    #expect(try steps(conversion).contains("A.d.w is new, and empty"))
    #expect(conversion.lines == [])
  }

  @Test func renamedCompositeIsFollowed() throws {
    let conversion = try convert(
      version(use("c"), attribute("x")),
      version(use("c", of: "D"), attribute("y", " elementID=\"x\""), "name=\"D\" elementID=\"C\""), current: "App 2")
    #expect(try steps(conversion) == ["A.c.y was called c.x"])
    #expect(conversion.lines == [])
  }

  @Test func otherCompositeOfAnAttributeIsReported() throws {
    let conversion = try convert(
      version(use("c"), attribute("x")),
      version(use("c", of: "D"), attribute("x") + attribute("y", " elementID=\"x\""), "name=\"D\" elementID=\"gone\""),
      current: "App 2")
    let reason = "version 1 has no such part, or another part comes from it"
    #expect(
      conversion.lines == [
        "changed: A.c: the composite was C in version 1, and is D now: a migration keeps the values of attributes that have "
          + "the same name in both",
        "left out: D: the renaming identifier gone: \(reason)",
        "left out: D.y: the renaming identifier x: \(reason)",
      ])
    #expect(try steps(conversion) == ["A.c.y is new, and empty"])
  }

  /// A composite of a model file has attributes, and this one has none that are stored.
  @Test func attributeOfAnEmptyCompositeIsLeftOut() throws {
    let conversion = try convert(version(use("c") + attribute("x"), attribute("t", " transient=\"YES\"")))
    #expect(conversion.versions[0].entities[0].properties.map(\.name) == ["x"])
    #expect(
      Set(conversion.lines) == [
        "left out: A.c: an attribute of a composite without attributes", "left out: C: a composite without attributes",
        "left out: C.t: a composite has no transient attributes",
      ])
  }

  /// The conversion makes the attributes of an inner composite members of the outer one.
  @Test func memberOfAnInnerCompositeIsFollowed() throws {
    func text(_ member: String) -> String {
      version(use("c"), use("in", of: "I")) + "<composite name=\"I\">\(member)</composite>"
    }
    let conversion = try convert(text(attribute("x")), text(attribute("y", " elementID=\"x\"")), current: "App 2")
    #expect(try steps(conversion) == ["A.c.in_y was called c.in_x"])
  }

  @Test func predicateHasTheNameOfTheMemberInItsComposite() throws {
    let first = version(use("c"), attribute("x") + attribute("y"))
    let exchanged = version(use("c"), attribute("x", " elementID=\"y\"") + attribute("y", " elementID=\"x\""))
    let request = "<fetchRequest name=\"f\" entity=\"A\" predicateString=\"c.x == 'x'\"/>"
    let conversion = try convert(first + request, exchanged + request)
    #expect(conversion.versions.map { $0.model.fetchRequests.map(\.predicate) } == [["c.x_1 == 'x'"], ["c.x == 'x'"]])
  }
}
