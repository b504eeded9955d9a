import CoreDataModels
import Foundation
import Testing

/// Models that are refused, each with the place, the mistake and a remedy.
@Suite struct MalformedModelTests {
  /// The mistakes of a model with these contents, which begin in column 8 of line 1.
  private func mistakes(_ contents: String) throws -> [String] {
    let error = #expect(throws: CoreDataModelError.self) { try convert(contents) }
    return try #require(error).mistakes.map(\.description)
  }

  private static let known =
    "Integer 16, Integer 32, Integer 64, Decimal, Double, Float, String, Boolean, Date, Binary, UUID, URI, "
    + "Transformable, Composite, ObjectID, Undefined"

  @Test(arguments: [
    ("", ["1:1:1: error: the model has no entity; give a model with entities"]),
    ("<entity name=\"A\"", ["1:1:24: error: a blank or > is expected here"]),
    ("<entity/>", ["1:1:8: error: this <entity> has no name"]),
    (
      "<entity name=\"A\"/>\n<entity name=\"A\"/>",
      ["1:2:1: error: the entity A is declared twice, first in line 1; remove one"]
    ),
    (
      "<entity name=\"A\" parentEntity=\"B\"/>",
      ["1:1:8: error: the parent of A is B, but there is no such entity"]
    ),
    (
      "<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>",
      [
        "1:1:8: error: A inherits from itself through B; give one of them another parent",
        "1:2:1: error: B inherits from itself through A; give one of them another parent",
      ]
    ),
    (
      "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Int\"/></entity>",
      ["1:2:1: error: A.x has the type \"Int\", which is not one of \(known)"]
    ),
    (
      "<entity name=\"A\">\n<attribute name=\"x\" optional=\"maybe\" attributeType=\"String\"/></entity>",
      ["1:2:21: error: A.x: optional is \"maybe\"; it must be YES or NO"]
    ),
    (
      "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\"/>\n<attribute name=\"x\" attributeType=\"Date\"/></entity>",
      ["1:3:1: error: A declares x, which A has already; remove one"]
    ),
    (
      "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\"/></entity>"
        + "\n<entity name=\"B\" parentEntity=\"A\">\n<attribute name=\"x\" attributeType=\"Date\"/></entity>",
      ["1:4:1: error: B declares x, which A has already; remove one"]
    ),
    (
      "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Composite\" composite=\"P\"/></entity>",
      ["1:2:1: error: A.x is a P, but there is no such composite"]
    ),
    (
      "<entity name=\"A\">\n<relationship name=\"b\" destinationEntity=\"B\"/></entity>",
      ["1:2:1: error: A.b leads to B, but there is no such entity"]
    ),
    (
      "<entity name=\"A\">\n<relationship name=\"b\" destinationEntity=\"A\" inverseName=\"c\" inverseEntity=\"A\"/></entity>",
      [
        "1:2:1: error: the inverse of A.b is A.c, but there is no such relationship; choose one of A, or none"
      ]
    ),
    (
      "<entity name=\"A\">\n<relationship name=\"b\" destinationEntity=\"A\" inverseName=\"c\"/>"
        + "\n<relationship name=\"c\" destinationEntity=\"A\" inverseName=\"d\"/>"
        + "\n<relationship name=\"d\" destinationEntity=\"A\" inverseName=\"c\"/></entity>",
      [
        "1:2:1: error: the inverse of A.b is A.c, whose own inverse is A.d; make each the inverse of the other"
      ]
    ),
    (
      "<entity name=\"A\">\n<relationship name=\"b\" destinationEntity=\"A\" deletionRule=\"Burn\" maxCount=\"-1\"/></entity>",
      [
        "1:2:66: error: A.b: maxCount is \"-1\"; it must be a whole number from 0 to 1000000000"
      ]
    ),
    (
      "<entity name=\"A\">\n<relationship name=\"b\" destinationEntity=\"A\" deletionRule=\"Burn\"/></entity>",
      [
        "1:2:1: error: A.b has the delete rule \"Burn\", which is not one of Cascade, Deny, No Action, Nullify"
      ]
    ),
    (
      "<entity name=\"A\"><uniquenessConstraints><uniquenessConstraint>\n<constraint value=\"y\"/>"
        + "</uniquenessConstraint></uniquenessConstraints></entity>",
      ["1:1:48: error: a uniqueness constraint of A names y, but there is no such property"]
    ),
    (
      "<entity name=\"A\"><fetchIndex name=\"i\">\n<fetchIndexElement property=\"y\"/></fetchIndex></entity>",
      ["1:2:1: error: an index of A names y, but there is no such property"]
    ),
    (
      "<entity name=\"A\"/>\n<fetchRequest name=\"f\" entity=\"B\"/>",
      ["1:2:1: error: the fetch request f is for B, but there is no such entity"]
    ),
    (
      "<entity name=\"A\">\n<relationship name=\"b\" toMany=\"YES\" minCount=\"3\" maxCount=\"2\" destinationEntity=\"A\"/></entity>",
      [
        "1:2:1: error: A.b: its maximumCount is less than the minimumCount; a model file does not allow this"
      ]
    ),
  ])
  func mistakeHasItsPlace(contents: String, expected: [String]) throws {
    #expect(try mistakes(contents) == expected)
  }

  @Test func otherDocumentIsRefused() throws {
    let bundle = CoreDataBundle(
      name: "App", path: "p", versions: [.init(name: "App", file: "f", bytes: Array("<plist/>".utf8))])
    let error = #expect(throws: CoreDataModelError.self) { try CoreDataConversion(bundle) }
    #expect(
      try #require(error).description
        == "f:1:1: error: this is a <plist>, and not a Core Data <model>; give the file contents of an .xcdatamodel")
  }

  @Test func manyEntitiesAndDeepInheritanceAreRefused() throws {
    let many = (0...1_000).map { "<entity name=\"E\($0)\"/>" }.joined()
    #expect(try mistakes(many) == ["1:1:1: error: the model has more than 1000 entities or composites"])
    let deep = (0..<40).map { "\n<entity name=\"E\($0)\"\($0 > 0 ? " parentEntity=\"E\($0 - 1)\"" : "")/>" }.joined()
    let found = try mistakes(deep)
    #expect(found.count == 8)
    #expect(
      found.first
        == "1:34:1: error: E32: its parent the inheritance is more than 32 entities deep; a model file does not "
        + "allow this")
  }

  /// A model with many properties takes seconds.
  @Test func largeModelIsReadInSeconds() throws {
    let attributes = (0..<900).map { "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"String\"/>" }.joined()
    let entities = (0..<20).map { "<entity name=\"E\($0)\">\(attributes)</entity>" }.joined()
    let start = ContinuousClock.now
    let conversion = try convert(entities)
    #expect(conversion.versions[0].entities.count == 20)
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  /// A model that is cut anywhere, or has a byte changed, is refused or converted, and never traps.
  @Test func damagedModelNeverTraps() throws {
    let bytes = Array(try Fixture.text("made/Everything.xcdatamodeld/Everything 2.xcdatamodel/contents").utf8)
    func attempt(_ bytes: [UInt8]) -> Bool {
      let bundle = CoreDataBundle(name: "App", path: "p", versions: [.init(name: "A", file: "f", bytes: bytes)])
      return (try? CoreDataConversion(bundle)) != nil
    }
    for count in stride(from: 0, to: bytes.count - 10, by: 17) {
      #expect(!attempt(Array(bytes.prefix(count))), "the first \(count) bytes")
    }
    var random = SystemRandomNumberGenerator()
    let seed = random.next() as UInt64
    var number = seed
    var converted = 0
    for _ in 0..<300 {
      number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var changed = bytes
      changed[Int(number >> 33) % bytes.count] = UInt8(truncatingIfNeeded: number >> 25)
      if attempt(changed) { converted += 1 }
    }
    #expect(converted < 300, "seed \(seed)")
  }
}
