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
