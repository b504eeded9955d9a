import CoreDataModels
import GraphModel
import Testing

/// Migrations between the versions of a bundle.
@Suite struct VersionTests {
  private func entity(_ name: String, _ properties: String = "", _ more: String = "") -> String {
    "<entity name=\"\(name)\"\(more)>\(properties)</entity>"
  }

  private func attribute(_ name: String, _ type: String, _ more: String = "") -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\"\(more)/>"
  }

  private func toOne(_ name: String, _ destination: String, _ inverse: String, _ more: String = "") -> String {
    "<relationship name=\"\(name)\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"\(destination)\" "
      + "inverseName=\"\(inverse)\" inverseEntity=\"\(destination)\"\(more)/>"
  }

  private func toMany(_ name: String, _ destination: String, _ inverse: String, _ more: String = "") -> String {
    "<relationship name=\"\(name)\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"\(destination)\" "
      + "inverseName=\"\(inverse)\" inverseEntity=\"\(destination)\"\(more)/>"
  }

  /// The steps of the migration between two versions of a conversion.
  private func steps(_ conversion: CoreDataConversion, to number: Int = 2) throws -> [String] {
    let models = conversion.versions.map(\.model)
    return try MigrationPlan.infer(from: models[number - 2], to: models[number - 1]).steps.map(\.description)
  }

  @Test func renamingIdentifierIsFollowedThroughVersions() throws {
    let conversion = try convert(
      entity("A", attribute("x", "String")),
      entity("B", attribute("y", "String", " elementID=\"x\""), " elementID=\"A\""),
      entity("B", attribute("z", "String", " elementID=\"x\""), " elementID=\"A\""))
    #expect(try steps(conversion) == ["B was called A", "B.y was called x"])
    #expect(try steps(conversion, to: 3) == ["B.z was called y"])
    #expect(
      conversion.lines == [
        "changed: the bundle does not state its current version: a daemon serves the highest, App 3"
      ])
  }

  /// The sentence about a part in each version; nil if the app has the same name.
  private func sentences(_ conversion: CoreDataConversion, _ entity: String, _ property: String? = nil) -> [String?] {
    conversion.versions.map { version in
      let found = version.entity(named: entity).flatMap { version.model.entity(named: $0.name) }
      let part = property.flatMap { found?.property(named: $0) }
      let text = property == nil ? found?.documentation : part?.documentation
      return text == "" ? nil : text
    }
  }

  /// An import finds the parts in a store of any version.
  @Test func namesOfTheAppAreStated() throws {
    let conversion = try convert(
      entity("A", attribute("x", "String") + attribute("id", "String")),
      entity("B", attribute("y", "String", " elementID=\"x\"") + attribute("id", "String"), " elementID=\"A\""),
      entity("B", attribute("z", "String", " elementID=\"x\"") + attribute("id", "String"), " elementID=\"A\""),
      current: "App 3")
    let renamed = "Called \"B\" in Core Data, earlier \"A\"."
    #expect(sentences(conversion, "B") == [nil, renamed, renamed])
    #expect(sentences(conversion, "A", "x") == [nil, nil, nil])
    #expect(sentences(conversion, "B", "y") == [nil, "Called \"y\" in Core Data, earlier \"x\".", nil])
    #expect(sentences(conversion, "B", "z") == [nil, nil, "Called \"z\" in Core Data, earlier \"y\" and \"x\"."])
    #expect(sentences(conversion, "B", "id_").last == "Called \"id\" in Core Data.")
  }

  /// A migration keeps no objects of an entity with a new parent, and no values of a text that becomes a boolean. The
  /// store of the version before has them under the earlier names.
  @Test func namesOfPartsThatAMigrationDoesNotKeepAreStated() throws {
    let names = attribute("x", "String") + attribute("y", "String")
    let swapped = attribute("x", "String", " elementID=\"y\"") + attribute("y", "String", " elementID=\"x\"")
    let conversion = try convert(
      entity("A", names),
      entity("Base", attribute("z", "String")) + entity("A", swapped, " parentEntity=\"Base\""))
    #expect(sentences(conversion, "A", "x").last == "Called \"x\" in Core Data, earlier \"y\".")
    #expect(sentences(conversion, "A", "y").last == "Called \"y\" in Core Data, earlier \"x\".")
    let types = try convert(
      entity("A", attribute("code", "String")), entity("A", attribute("size", "Boolean", " elementID=\"code\"")))
    #expect(sentences(types, "A", "size") == [nil, "Called \"size\" in Core Data, earlier \"code\"."])
  }

  /// The mapping of an import finds the values of a property by its name, which another one has now.
  @Test func earlierNameOfAPropertyThatAnotherOneHasNowIsNotRepeated() throws {
    let conversion = try convert(
      entity("A", attribute("books", "String") + attribute("mags", "String")),
      entity("A", attribute("works", "String", " elementID=\"books\"") + attribute("mags", "String")),
      entity("A", attribute("works", "String") + attribute("books", "String", " elementID=\"mags\"")))
    let newest = conversion.versions[2].model.entity(named: "A")
    #expect(newest?.property(named: "works")?.renamed == nil && newest?.property(named: "books")?.renamed == "mags")
  }

  /// A new part with the earlier name of one that a migration does not keep is not its successor.
  @Test func newPartDoesNotTakeTheValuesOfAnother() throws {
    let properties = try convert(
      entity("A", attribute("code", "String")),
      entity("A", attribute("size", "Boolean", " elementID=\"code\"") + attribute("code", "String")))
    let ofProperties = try steps(properties)
    #expect(!ofProperties.contains { $0.contains("was called") }, "\(ofProperties)")
    #expect(properties.versions[1].model.entity(named: "A")?.property(named: "code")?.renamed == nil)
    let entities = try convert(
      entity("Folder", attribute("title", "String")),
      entity("Base") + entity("Note", attribute("title", "String"), " elementID=\"Folder\" parentEntity=\"Base\"")
        + entity("Folder", attribute("title", "String")))
    let ofEntities = try steps(entities)
    #expect(!ofEntities.contains { $0.contains("was called") }, "\(ofEntities)")
    #expect(entities.versions[1].model.entity(named: "Folder")?.renamed == nil)
  }

  /// The earlier version has other names in its model file, and its store has those of the app.
  @Test func namesOfSeparatedPartsAreStated() throws {
    let conversion = try convert(
      entity("A", attribute("x", "String") + attribute("y", "String")),
      entity("A", attribute("x", "String", " elementID=\"y\"") + attribute("y", "String", " elementID=\"x\"")))
    #expect(sentences(conversion, "A", "x_1") == ["Called \"x\" in Core Data.", nil])
    #expect(sentences(conversion, "A", "x") == [nil, "Called \"x\" in Core Data, earlier \"y\"."])
  }

  /// Core Data keeps the values if a parent or a subentity has the property under another name.
  @Test func namesOfMovedPartsAreStated() throws {
    let (x, y) = (attribute("x", "String"), attribute("y", "String", " elementID=\"x\""))
    func text(_ parent: String, _ child: String) -> String {
      entity("P", parent) + entity("C", child, " parentEntity=\"P\"")
    }
    let renamed = "Called \"y\" in Core Data, earlier \"x\"."
    let down = try convert(text(x, ""), text("", y), text("", attribute("y", "String")), current: "App 3")
    #expect(sentences(down, "C", "y") == [nil, renamed, renamed])
    let up = try convert(text("", x), text(y, ""), current: "App 2")
    #expect(sentences(up, "P", "y") == [nil, renamed])
    let same = try convert(text(x, ""), text("", x), current: "App 2")
    #expect(sentences(same, "C", "x") == [nil, nil])
  }

  /// A migration does not keep the objects of an entity with another parent, and an import takes them.
  @Test func namesOfEntitiesWithAnotherParentAreStated() throws {
    let later =
      entity("Animal", attribute("name", "String"), " isAbstract=\"YES\"")
      + entity("Kitty", "", " parentEntity=\"Animal\" elementID=\"Cat\"")
    let conversion = try convert(entity("Cat", attribute("name", "String")), later, later, current: "App 3")
    let renamed = "Called \"Kitty\" in Core Data, earlier \"Cat\"."
    #expect(sentences(conversion, "Kitty") == [nil, renamed, renamed])
    #expect(conversion.versions[1].model.entity(named: "Kitty")?.renamed == nil)
  }

  /// An import may read a store of the first version, and only has the last model.
  @Test func laterVersionsStateTheEarlierNames() throws {
    let renamed = attribute("y", "String", " elementID=\"x\"")
    let conversion = try convert(
      entity("A", attribute("x", "String")), entity("B", renamed, " elementID=\"A\""),
      entity("B", renamed + attribute("z", "String"), " elementID=\"A\""),
      entity("B", attribute("y", "String") + attribute("z", "String") + attribute("last", "String")), current: "App 4")
    for version in conversion.versions.dropFirst() {
      let entity = try #require(version.model.entity(named: "B"))
      #expect(entity.renamed == "A")
      #expect(entity.property(named: "y")?.renamed == "x")
    }
    #expect(try steps(conversion, to: 3) == ["B.z is new, and empty"])
    #expect(try steps(conversion, to: 4) == ["B.last is new, and empty"])
    #expect(conversion.lines == [])
  }

  /// A migration would take the other part for the predecessor, and so would the mapping of an import.
  @Test func earlierNameThatAnotherPartHasIsNotRepeated() throws {
    let both = entity("A") + entity("B", "", " elementID=\"A\"")
    let conversion = try convert(entity("A"), entity("B", "", " elementID=\"A\""), both, both, current: "App 4")
    #expect(conversion.versions.map { $0.model.entity(named: "B")?.renamed } == [nil, "A", nil, nil])
    #expect(try steps(conversion, to: 3) == ["A is new"])
    #expect(try steps(conversion, to: 4) == [])
    #expect(sentences(conversion, "B").last == "Called \"B\" in Core Data, earlier \"A\".")
  }

  /// The full name of a member contains the names of two parts, which may be renamed in different versions.
  @Test func earlierNamesOfACompositeAreStated() throws {
    func text(_ attribute: String, _ member: String) -> String {
      entity("A", "<attribute \(attribute) optional=\"YES\" attributeType=\"Composite\" composite=\"C\"/>")
        + "<composite name=\"C\">\(member)</composite>"
    }
    let renamed = "name=\"d\" elementID=\"c\""
    let conversion = try convert(
      text("name=\"c\"", attribute("x", "String")), text(renamed, attribute("x", "String")),
      text(renamed, attribute("y", "String", " elementID=\"x\"")), current: "App 3")
    #expect(try steps(conversion, to: 3).contains("A.d.y was called d.x"))
    #expect(conversion.lines == [])
    let owner = try #require(conversion.versions[2].model.entity(named: "A"))
    #expect(owner.composites.map(\.documentation) == ["Called \"d\" in Core Data, earlier \"c\"."])
    #expect(sentences(conversion, "A", "d.y").last == "Called \"y\" in Core Data, earlier \"x\".")
  }

  @Test func typeWithConversionGetsMapping() throws {
    let conversion = try convert(
      entity("A", attribute("x", "Double") + attribute("id", "String") + attribute("n", "Integer 64")),
      entity(
        "A", attribute("x", "Integer 64") + attribute("key", "UUID", " elementID=\"id\"") + attribute("n", "Double")))
    #expect(
      try steps(conversion) == [
        "A.x becomes integer(x)", "A.key was called id_", "A.key becomes uuid(id_)",
        "A.n was integer, and is double now",
      ])
    let converted = "a value that can't be converted becomes null"
    #expect(
      conversion.lines.filter { $0.contains("a migration") } == [
        "changed: A.x: a migration converts the values of version 1 by integer(x); \(converted)",
        "changed: A.key: a migration converts the values of version 1 by uuid(id); \(converted)",
      ])
  }

  @Test func typeWithoutConversionBeginsAnew() throws {
    let conversion = try convert(
      entity("A", attribute("x", "String")), entity("A", attribute("x", "String") + attribute("y", "Date")),
      entity("A", attribute("x", "Date") + attribute("y", "Date")))
    #expect(conversion.versions.map { $0.entities[0].properties.map(\.name) } == [["x_2"], ["x_2", "y"], ["x", "y"]])
    #expect(try steps(conversion) == ["A.y is new, and empty"])
    #expect(try steps(conversion, to: 3) == ["A.x is new, and empty", "A.x_2 is removed, with its values"])
    #expect(
      conversion.lines.dropFirst() == [
        "left out: A.x: a migration does not keep the values of version 2: its type changes from string to date: this needs "
          + "a mapping",
        "renamed: A.x: is another property than that of version 2, which is called x_2 there",
      ])
  }

  @Test func changedParentBeginsAnewWithItsRelationships() throws {
    let mood = { (more: String) in entity("Mood", toOne("land", "Land", "moods") + attribute("text", "String") + more) }
    let conversion = try convert(
      entity("Region", attribute("code", "String"), " isAbstract=\"YES\"")
        + entity("Land", toMany("moods", "Mood", "land"), " parentEntity=\"Region\"") + mood(""),
      entity("Land", attribute("code", "String") + toMany("moods", "Mood", "land")) + mood(""))
    #expect(
      try steps(conversion) == [
        "Land is new", "Mood.land is new, and still empty", "Region is removed, with all its objects",
        "Land_1 is removed, with all its objects", "Mood.land_1 is removed, with its values",
      ])
    #expect(conversion.versions[0].entity(named: "Land")?.name == "Land_1")
    #expect(conversion.versions[1].entity(named: "Land")?.name == "Land")
  }

  /// Core Data finds the value among the inherited properties of the object.
  @Test func attributeThatMovesToAChildKeepsItsValues() throws {
    let child = { (properties: String) in entity("C", properties, " parentEntity=\"P\"") }
    let conversion = try convert(
      entity("P", attribute("x", "String") + attribute("n", "Double") + attribute("d", "Date")) + child(""),
      entity("P")
        + child(
          attribute("y", "String", " elementID=\"x\"") + attribute("n", "Integer 64") + attribute("d", "Boolean")),
      current: "App 2")
    let steps = try steps(conversion)
    #expect(steps.contains("C.y becomes x") && steps.contains("C.n becomes integer(n)"), "\(steps)")
    #expect(steps.contains("C.d is new, and empty"))
    #expect(
      conversion.lines == [
        "changed: C.y: a migration takes the values of P.x in version 1",
        "changed: C.n: a migration takes the values of P.n in version 1",
        "left out: C.d: a migration does not keep the values of P.d in version 1",
      ])
  }

  @Test func attributeThatMovesToTheParentIsReported() throws {
    let conversion = try convert(
      entity("P") + entity("C", attribute("x", "String"), " parentEntity=\"P\""),
      entity("P", attribute("x", "String")) + entity("C", "", " parentEntity=\"P\""), current: "App 2")
    #expect(try steps(conversion) == ["P.x is new, and empty", "C.x is removed, with its values"])
    #expect(
      conversion.lines == [
        "left out: P.x: a migration does not keep the values of C.x in version 1"
      ])
  }

  /// Each of the siblings loses its values.
  @Test func attributesOfSiblingsThatMoveToTheParentAreReported() throws {
    func text(_ parent: String, _ child: String) -> String {
      entity("P", parent) + ["C", "D"].map { entity($0, child, " parentEntity=\"P\"") }.joined()
    }
    let x = attribute("x", "String")
    let conversion = try convert(text("", x), text(x, ""), current: "App 2")
    #expect(
      conversion.lines
        == ["C", "D"].map { "left out: P.x: a migration does not keep the values of \($0).x in version 1" })
  }

  @Test(arguments: [true, false]) func attributeThatBecomesACompositeIsReported(isLater: Bool) throws {
    let composite = "<attribute name=\"x\" optional=\"YES\" attributeType=\"Composite\" composite=\"C\"/>"
    let versions = [
      entity("A", attribute("x", "String")),
      entity("A", composite) + "<composite name=\"C\">\(attribute("y", "String"))</composite>",
    ]
    let conversion = try convert(versions[isLater ? 0 : 1], versions[isLater ? 1 : 0], current: "App 2")
    let types = isLater ? "string to composite" : "composite to string"
    #expect(
      conversion.lines == [
        "left out: A.x: a migration does not keep the values of version 1: its type changes from \(types)"
      ])
  }

  /// Xcode warns of a missing inverse, and a to-one is added. Both ends store the pairs then.
  @Test func valuesOfAToOneWithANewToOneInverseAreReported() throws {
    let oneWay = "<relationship name=\"source\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Item\"/>"
    let conversion = try convert(
      entity("Item") + entity("Photo", oneWay),
      entity("Item", toOne("links", "Photo", "source")) + entity("Photo", toOne("source", "Item", "links")),
      current: "App 2")
    #expect(
      conversion.lines.contains {
        $0.contains("Photo.source: a migration does not keep the values of version 1: its inverse is the to-one Item.")
      }, "\(conversion.lines)")
    let models = conversion.versions.map(\.model)
    let plan = try MigrationPlan.infer(from: models[0], to: models[1])
    #expect(plan.steps.map(\.description).contains("Photo.source is new, and still empty"), "\(plan.steps)")
  }

  @Test func relationshipThatMovesIsReported() throws {
    func text(_ parent: String, _ child: String, _ far: String) -> String {
      entity("P", parent) + entity("C", child, " parentEntity=\"P\"") + entity("F", toMany("all", far, "f"))
    }
    let end = toOne("f", "F", "all")
    let conversion = try convert(text(end, "", "P"), text("", end, "C"), current: "App 2")
    #expect(
      conversion.lines.contains("left out: C.f: a migration does not keep the values of P.f in version 1"),
      "\(conversion.lines)")
  }

  /// The parent has the attribute under another name.
  @Test func newAttributeOfAChildWithAFormerNameIsNew() throws {
    let conversion = try convert(
      entity("P", attribute("x", "String")) + entity("C", "", " parentEntity=\"P\""),
      entity("P", attribute("y", "String", " elementID=\"x\""))
        + entity("C", attribute("x", "String"), " parentEntity=\"P\""), current: "App 2")
    #expect(try steps(conversion) == ["P.y was called x", "C.x is new, and empty"])
    #expect(conversion.lines == [])
  }

  /// The side that a file declares first stores the pairs; a new name must not change the side.
  @Test func renamedEntityKeepsThePairsOfManyToMany() throws {
    let conversion = try convert(
      entity("A", toMany("bs", "B", "others")) + entity("B", toMany("others", "A", "bs")),
      entity("B", toMany("others", "Z", "bs")) + entity("Z", toMany("bs", "B", "others"), " elementID=\"A\""))
    #expect(try steps(conversion) == ["Z was called A"])
    #expect(conversion.versions[1].model.entities.map(\.name) == ["Z", "B"])
  }

  @Test func exchangedNamesAreFollowed() throws {
    let conversion = try convert(
      entity("A", attribute("x", "String") + attribute("y", "String")),
      entity("A", attribute("x", "String", " elementID=\"y\"") + attribute("y", "String", " elementID=\"x\"")))
    #expect(try steps(conversion) == ["A.x was called y_1", "A.y was called x_1"])
    #expect(conversion.versions[0].entities[0].properties.map(\.name) == ["x_1", "y_1"])
  }

  @Test func newEntityWithFormerNameOfAnotherIsNew() throws {
    let conversion = try convert(entity("A"), entity("A") + entity("B", "", " elementID=\"A\""))
    #expect(try steps(conversion) == ["B was called A_1", "A is new"])
  }

  @Test func oneOfTwoSuccessorsIsTaken() throws {
    let conversion = try convert(
      entity("A", attribute("x", "String")),
      entity("A", attribute("y", "String", " elementID=\"x\"") + attribute("z", "String", " elementID=\"x\"")))
    #expect(try steps(conversion) == ["A.y was called x", "A.z is new, and empty"])
    #expect(
      conversion.lines.last
        == "left out: A.z: the renaming identifier x: version 1 has no such part, or another part comes from it")
  }

  @Test func versionThatReturnsToAnEarlierOneIsDistinguished() throws {
    let (first, second) = (entity("A"), entity("A", attribute("x", "String")))
    let conversion = try convert(first, second, first, second, second)
    let hashes = conversion.versions.map(\.model.hash)
    #expect(Set(hashes).count == 5)
    #expect(
      conversion.versions.map { $0.model.enumerations.map(\.name) } == [
        [], [], ["Version3"], ["Version4"], ["Version5"],
      ])
    #expect(
      conversion.lines[1]
        == "added: the enumeration Version3, which no attribute uses: it stores the same as version 1, and a store never "
        + "returns to an earlier version")
  }

  @Test func equalVersionsNeedNoMigration() throws {
    let conversion = try convert(
      entity("A", attribute("x", "String")), entity("A", attribute("x", "String", " indexed=\"YES\"")), current: "App 2"
    )
    #expect(conversion.versions[0].model.hash == conversion.versions[1].model.hash)
    #expect(
      conversion.lines == [
        "changed: version 2 stores the same as version 1: a store needs no migration, and new indexes are built by the next one"
      ])
  }

  @Test func requiredAttributeWithoutDefaultIsReported() throws {
    let conversion = try convert(
      entity("Item"), entity("Item", "<attribute name=\"x\" attributeType=\"String\"/>"), current: "App 2")
    #expect(
      conversion.lines == [
        "changed: Item.x: is new in version 2, required and without a default: a store with an Item can't be migrated; give it "
          + "a default or a mapping"
      ])
  }

  /// Versions without numbers: the first, one with a new attribute, and one that renames it.
  private var unnumbered: [(name: String, text: String)] {
    [
      ("Initial", entity("A", attribute("x", "String"))),
      ("AddY", entity("A", attribute("x", "String") + attribute("y", "String"))),
      ("RenameY", entity("A", attribute("x", "String") + attribute("z", "String", " elementID=\"y\""))),
    ]
  }

  @Test func orderWithoutNumbersIsReportedAsAGuess() throws {
    let conversion = try convert(named: unnumbered, current: "RenameY")
    #expect(conversion.versions.map(\.sourceName) == ["Initial", "AddY", "RenameY"])
    #expect(try steps(conversion, to: 3) == ["A.z was called y"])
    #expect(
      conversion.lines == [
        "changed: a bundle does not record the order of its versions, and their names do not give it: Initial, AddY, RenameY "
          + "is a guess from the renaming identifiers, the current version, the numbers of properties, the names; state the "
          + "order with --versions \"Initial,AddY,RenameY\""
      ])
  }

  /// The version that names an earlier attribute follows, although it is smaller and its name comes first.
  @Test func renamingIdentifierOutweighsNamesAndSizes() throws {
    let conversion = try convert(named: [
      ("Fewer", entity("A", attribute("z", "String", " elementID=\"y\""))),
      ("More", entity("A", attribute("x", "String") + attribute("y", "String"))),
    ])
    #expect(conversion.versions.map(\.sourceName) == ["More", "Fewer"])
    #expect(try steps(conversion).contains("A.z was called y"))
  }

  @Test func contradictoryRenamingsLeaveTheOrderOfTheNames() throws {
    let conversion = try convert(named: [
      ("B", entity("A", attribute("x", "String", " elementID=\"y\""))),
      ("A", entity("A", attribute("y", "String", " elementID=\"x\""))),
    ])
    #expect(conversion.versions.map(\.sourceName) == ["A", "B"])
  }

  @Test func statedOrderIsTaken() throws {
    let order = ["RenameY", "AddY", "Initial"]
    let conversion = try convert(named: unnumbered, current: "Initial", order: order)
    #expect(conversion.versions.map(\.sourceName) == order)
    #expect(!conversion.lines.contains { $0.contains("guess") })
    for wrong in [["AddY", "Initial"], order + ["AddY"], ["RenameY", "AddY", "Other"]] {
      #expect(throws: CoreDataModelError.self) { try convert(named: unnumbered, order: wrong) }
    }
  }

  @Test func renamingIdentifierInCompositeIsUsedOrReported() throws {
    func text(_ composite: String, _ member: String) -> String {
      entity("A", "<attribute name=\"c\" optional=\"YES\" attributeType=\"Composite\" composite=\"C\"/>")
        + "<composite name=\"C\"\(composite)>\(member)</composite>"
    }
    let conversion = try convert(
      text("", attribute("x", "String")), text(" elementID=\"B\"", attribute("y", "String", " elementID=\"x\"")),
      text("", attribute("y", "String", " elementID=\"x\"") + attribute("z", "String", " elementID=\"gone\"")),
      current: "App 3")
    #expect(
      conversion.lines == [
        "left out: C.z: the renaming identifier gone: version 2 has no such part, or another part comes from it"
      ])
  }

  @Test func nameIsTheSameInAllVersions() throws {
    let conversion = try convert(
      entity("A", attribute("id", "String")), entity("A", attribute("id", "String") + attribute("id_", "String")))
    #expect(conversion.versions.map { $0.entities[0].properties.map(\.name) } == [["id__2"], ["id__2", "id_"]])
    #expect(try steps(conversion) == ["A.id_ is new, and empty"])
  }
}
