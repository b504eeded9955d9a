import Foundation
import GRDB
import GraphTesting
import Testing

@testable import CoreDataStore

/// The model that a store contains: DEFLATE, a binary property list, a keyed archive.
@Suite struct CachedModelTests {
  private func content(_ name: String) throws -> [UInt8] {
    let fixture = try StoreFixture(name)
    defer { withExtendedLifetime(fixture) {} }
    let queue = try DatabaseQueue(path: fixture.path)
    let data = try queue.read { try Data.fetchOne($0, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE") }
    return Array(try #require(data))
  }

  @Test func storedBlockIsDecompressed() throws {
    #expect(try Inflate.decompress([1, 3, 0, 0xFC, 0xFF, 97, 98, 99], limit: 3) == [97, 98, 99])
    #expect(throws: Inflate.Failure.self) { try Inflate.decompress([1, 3, 0, 0xFC, 0xFF, 97, 98, 99], limit: 2) }
    #expect(throws: Inflate.Failure.self) { try Inflate.decompress([1, 3, 0, 0xFC, 0xFF, 97, 98], limit: 3) }
  }

  /// The output of `zlib.compressobj(wbits=-15)` for 100 times "ab": a fixed code and a match that overlaps itself.
  @Test func fixedCodeIsDecompressed() throws {
    let text = [UInt8](repeating: 97, count: 3)
    #expect(try Inflate.decompress([0x4B, 0x4C, 0x4C, 0x04, 0x00], limit: 100) == text)
    let many = (0..<200).map { UInt8(97 + $0 % 2) }
    #expect(try Inflate.decompress([0x4B, 0x4C, 0x4A, 0x1C, 0x16, 0x10, 0x00], limit: 200) == many)
    #expect(throws: Inflate.Failure.self) { try Inflate.decompress([0x4B, 0x4C, 0x4A, 0x1C, 0x16], limit: 200) }
  }

  @Test func unknownBlockIsRefused() {
    #expect(throws: Inflate.Failure.self) { try Inflate.decompress([0x07], limit: 100) }
    #expect(throws: Inflate.Failure.self) { try Inflate.decompress([], limit: 100) }
  }

  @Test(arguments: ["Cars.sqlite", "Bookmarks4.sqlite", "Moody.moody"])
  func truncatedModelIsRefused(name: String) throws {
    let content = try content(name)
    #expect(CachedModel(content: content) != nil)
    for count in stride(from: 0, to: content.count, by: 37) {
      #expect(CachedModel(content: Array(content[..<count])) == nil, "\(count) bytes")
    }
  }

  /// Changed bytes are refused, or give another model; they never trap.
  @Test func changedBytesDoNoHarm() throws {
    let content = try content("Cars.sqlite")
    let list = try Inflate.decompress(content, limit: 1 << 20)
    var random = SeededGenerator(seed: 3)
    var refused = 0
    for _ in 0..<300 {
      var changed = content
      for _ in 0..<3 { changed[Int(random.next() % UInt64(changed.count))] = UInt8(truncatingIfNeeded: random.next()) }
      if CachedModel(content: changed) == nil { refused += 1 }
      var bytes = list
      for _ in 0..<3 { bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next()) }
      _ = try? PropertyList(parsing: bytes)
    }
    #expect(refused > 0)
  }

  @Test func modelIsWrittenAsContents() throws {
    let cars = try #require(try StoreFixture("Cars.sqlite").read().file.model).contents
    let lines = Set(cars.split(separator: "\n").map(String.init))
    for line in [
      "    <entity name=\"Car\">", "    <entity name=\"ExpensiveSportCar\" parentEntity=\"SportCar\">",
      "        <attribute name=\"color\" optional=\"YES\" attributeType=\"Transformable\" "
        + "valueTransformerName=\"ColorTransformer\"/>",
      "        <attribute name=\"currentDrivingSpeed\" optional=\"YES\" transient=\"YES\" attributeType=\"Integer 64\" "
        + "defaultValueString=\"0\"/>",
      "        <attribute name=\"isLimitedEdition\" optional=\"YES\" attributeType=\"Boolean\" "
        + "defaultValueString=\"NO\"/>",
      "        <attribute name=\"numberPlate\" attributeType=\"String\"/>",
      "        <relationship name=\"owner\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" "
        + "destinationEntity=\"Person\" inverseName=\"cars\" inverseEntity=\"Person\"/>",
      "        <relationship name=\"cars\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\" "
        + "destinationEntity=\"Car\" inverseName=\"owner\" inverseEntity=\"Car\"/>",
      "                <constraint value=\"lastName\"/>",
    ] {
      #expect(lines.contains(line), "\(line)")
    }
    // Subentities do not repeat what they inherit.
    #expect(cars.components(separatedBy: "name=\"numberPlate\"").count == 2)
    #expect(cars.components(separatedBy: "<uniquenessConstraint>").count == 3)
    let bookmarks = try #require(try StoreFixture("Bookmarks4.sqlite").read().file.model).contents
    #expect(
      bookmarks.contains(
        "<relationship name=\"children\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Cascade\" ordered=\"YES\" "
          + "destinationEntity=\"BookmarkEntity\" inverseName=\"parent\" inverseEntity=\"BookmarkEntity\"/>"))
    // The name of an earlier version, and a fetch index.
    #expect(bookmarks.contains(" elementID=\"favoriteFolder\"/>"))
    #expect(
      bookmarks.contains(
        """
                <fetchIndex name="byUUID">
                    <fetchIndexElement property="uuid" type="Binary" order="ascending"/>
                    <fetchIndexElement property="isPendingDeletion" type="Binary" order="ascending"/>
                </fetchIndex>

        """))
    let regions = try #require(try StoreFixture("Moody.moody").read().file.model).contents
    #expect(regions.contains("<entity name=\"GeographicRegion\" isAbstract=\"YES\">"))
  }

  /// A conversion of the text reports what the archive has in these places.
  @Test func predicatesAndExpressionsOfIndexesAreMentioned() throws {
    let index: [String: PropertyList] = ["NSIndexElements": .reference(8)]
    let objects: [PropertyList] = [
      .string("$null"), .dictionary(["NSEntities": .reference(2)]),
      .dictionary(["NS.keys": .array([.reference(3)]), "NS.objects": .array([.reference(4)])]), .string("Person"),
      .dictionary([
        "NSEntityName": .reference(3), "NSProperties": .dictionary(["NS.keys": .array([]), "NS.objects": .array([])]),
        "NSFetchIndexDescriptions": .reference(5),
      ]),
      .dictionary(["NS.objects": .array([.reference(6), .reference(7)])]),
      .dictionary(
        index.merging(["NSIndexName": .string("adults"), "NSPartialIndexPredicate": .reference(9)]) { _, new in new }),
      .dictionary(
        index.merging(["NSIndexName": .string("all"), "NSPartialIndexPredicate": .reference(0)]) { _, new in new }),
      .dictionary(["NS.objects": .array([.reference(10), .reference(11)])]), .dictionary([:]),
      .dictionary(["NSPropertyName": .string("name"), "NSAscending": .bool(true)]),
      .dictionary(["NSPropertyName": .reference(0), "NSAscending": .bool(false)]),
    ]
    let list = PropertyList.dictionary(["$top": .dictionary(["root": .reference(1)]), "$objects": .array(objects)])
    let elements = """
                  <fetchIndexElement property="name" type="Binary" order="ascending"/>
                  <fetchIndexElement expression="(archived in the store)" type="Binary" order="descending"/>
              </fetchIndex>

      """
    let contents = try #require(CachedModel(list)).contents
    #expect(
      contents.contains(
        "        <fetchIndex name=\"adults\" partialIndexPredicate=\"(archived in the store)\">\n" + elements))
    #expect(contents.contains("        <fetchIndex name=\"all\">\n" + elements))
  }

  private typealias ArchivedAttribute = (
    name: String, type: Int64, value: [String: PropertyList]?, className: String
  )

  /// The lines of the attributes of a model with one entity.
  private func lines(of attributes: [ArchivedAttribute]) throws -> [String] {
    let archived = attributes.map { attribute in
      var members: [String: PropertyList] = [
        "NSAttributeType": .integer(attribute.type),
        "$class": .dictionary(["$classname": .string(attribute.className)]),
      ]
      if let value = attribute.value { members["NSDefaultValue"] = .dictionary(value) }
      return PropertyList.dictionary(members)
    }
    func dictionary(_ names: [String], _ values: [PropertyList]) -> PropertyList {
      .dictionary(["NS.keys": .array(names.map { .string($0) }), "NS.objects": .array(values)])
    }
    let entity = PropertyList.dictionary([
      "NSEntityName": .string("Person"), "NSProperties": dictionary(attributes.map(\.name), archived),
    ])
    let model = PropertyList.dictionary(["NSEntities": dictionary(["Person"], [entity])])
    let list = PropertyList.dictionary(["$top": .dictionary(["root": .reference(0)]), "$objects": .array([model])])
    return try #require(CachedModel(list)).contents.split(separator: "\n").map(String.init)
      .filter { $0.contains("<attribute ") }.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private func decimal(_ digits: [UInt8], count: Int64, exponent: Int64, isNegative: Bool) -> [String: PropertyList] {
    [
      "NS.mantissa": .data(digits + [UInt8](repeating: 0, count: 16 - digits.count)), "NS.mantissa.bo": .integer(1),
      "NS.length": .integer(count), "NS.exponent": .integer(exponent), "NS.negative": .bool(isNegative),
    ]
  }

  /// A conversion of the text reports the notes.
  @Test func archivedDefaultsAreWrittenOrMentioned() throws {
    let plain = "NSAttributeDescription"
    let lines = try lines(of: [
      ("born", 900, ["NS.time": .real(725_846_400.5)], plain),
      ("code", 1_100, ["NS.uuidbytes": .data(Array(0..<16))], plain),
      ("color", 1_800, [:], plain), ("ended", 900, [:], plain),
      ("home", 1_200, ["NS.relative": .string("https://example.org/")], plain),
      ("large", 400, decimal([1], count: 8, exponent: 0, isNegative: false), plain),
      ("price", 400, decimal([0xE7, 0x04], count: 1, exponent: -2, isNegative: true), plain),
      ("url", 1_200, [:], plain),
    ])
    #expect(
      lines == [
        #"<attribute name="born" attributeType="Date" defaultDateTimeInterval="725846400.5"/>"#,
        #"<attribute name="code" attributeType="UUID" "#
          + #"defaultValueString="00010203-0405-0607-0809-0a0b0c0d0e0f"/>"#,
        #"<attribute name="color" attributeType="Transformable" defaultDateTimeInterval="(archived in the store)"/>"#,
        #"<attribute name="ended" attributeType="Date" defaultValueString="(archived in the store)"/>"#,
        #"<attribute name="home" attributeType="URI" defaultValueString="https://example.org/"/>"#,
        #"<attribute name="large" attributeType="Decimal" defaultDateTimeInterval="(archived in the store)"/>"#,
        #"<attribute name="price" attributeType="Decimal" defaultValueString="-12.55"/>"#,
        #"<attribute name="url" attributeType="URI" defaultDateTimeInterval="(archived in the store)"/>"#,
      ])
  }

  @Test func derivedAttributesAreMentioned() throws {
    let lines = try lines(of: [("count", 300, nil, "NSDerivedAttributeDescription")])
    #expect(
      lines == [
        #"<attribute name="count" attributeType="Integer 64" derived="YES" "#
          + #"derivationExpression="(archived in the store)"/>"#
      ])
  }

  @Test func unreadableModelIsNoObstacle() throws {
    let fixture = try StoreFixture("Cars.sqlite")
    try fixture.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'")
    #expect(try fixture.read().counts["Person"] == 20)
    #expect(try fixture.read().file.isModelUnreadable)
    try fixture.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL")
    let file = try fixture.read().file
    #expect(file.model == nil && !file.isModelUnreadable)
  }
}
