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
      "        <attribute name=\"color\" optional=\"YES\" attributeType=\"Transformable\"/>",
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
    let regions = try #require(try StoreFixture("Moody.moody").read().file.model).contents
    #expect(regions.contains("<entity name=\"GeographicRegion\" isAbstract=\"YES\">"))
  }

  @Test func unreadableModelIsNoObstacle() throws {
    let fixture = try StoreFixture("Cars.sqlite")
    try fixture.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'")
    #expect(try fixture.read().counts["Person"] == 20)
    try fixture.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL")
    #expect(try fixture.read().file.model == nil)
  }
}
