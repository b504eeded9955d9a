import CoreDataModels
import Foundation
import Testing

/// A Core Data model in a file, and the expected result of its conversion.
struct Fixture: Sendable, CustomTestStringConvertible {
  /// The counts of a converted version. Relationships include the added inverses.
  struct Version: Sendable, Equatable {
    let name: String
    let entities, attributes, relationships: Int
    let isCurrent: Bool

    init(_ name: String, _ entities: Int, _ attributes: Int, _ relationships: Int, isCurrent: Bool) {
      self.name = name
      (self.entities, self.attributes, self.relationships) = (entities, attributes, relationships)
      self.isCurrent = isCurrent
    }
  }

  let path: String
  /// The name of the file with the expected lines.
  let expected: String
  let versions: [Version]

  init(_ path: String, expected: String, _ versions: [Version]) {
    (self.path, self.expected, self.versions) = (path, expected, versions)
  }

  var testDescription: String { expected }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")

  var file: String { Self.folder.appendingPathComponent(path).path }

  static func text(_ path: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
  }

  func conversion() throws -> CoreDataConversion { try CoreDataConversion(CoreDataBundle.read(file)) }

  static let all: [Fixture] = [
    Fixture(
      "LoopKit+LoopKit/LoopKit/Persistence/Model.xcdatamodeld", expected: "LoopKit-Model",
      [
        Version("Model", 6, 50, 0, isCurrent: false),
        Version("Modelv4", 8, 85, 0, isCurrent: true),
      ]),
    Fixture(
      "RestKit+RestKit/Tests/Models/VersionedModel.xcdatamodeld", expected: "RestKit-VersionedModel",
      [
        Version("VersionedModel", 2, 3, 0, isCurrent: false),
        Version("VersionedModel 2", 2, 4, 0, isCurrent: false),
        Version("VersionedModel 3", 2, 5, 0, isCurrent: false),
        Version("VersionedModel 4", 2, 4, 0, isCurrent: true),
      ]),
    Fixture(
      "SwiftGen+SwiftGen/Sources/TestUtils/Fixtures/Resources/CoreData/Model.xcdatamodeld", expected: "SwiftGen-Model",
      [
        Version("Model", 3, 14, 6, isCurrent: false),
        Version("Model 2", 8, 32, 6, isCurrent: true),
      ]),
    Fixture(
      "alemar11+CoreDataPlus/Tests/Resources/SampleModel/SampleModel.xcdatamodeld", expected: "alemar11-SampleModel",
      [
        Version("SampleModel", 4, 12, 2, isCurrent: true),
        Version("SampleModel2", 4, 8, 2, isCurrent: false),
        Version("SampleModel3", 5, 8, 6, isCurrent: false),
      ]),
    Fixture(
      "ashalkhakov+FreeCoreData/Examples/EmployeeDirectory/EmployeeDirectory.xcdatamodeld",
      expected: "ashalkhakov-EmployeeDirectory", [Version("EmployeeDirectory", 5, 8, 4, isCurrent: true)]),
    Fixture(
      "delawaremathguy+ShoppingList/ShoppingList/CoreData Related/ShoppingList.xcdatamodeld",
      expected: "delawaremathguy-ShoppingList", [Version("ShoppingList", 2, 13, 2, isCurrent: true)]),
    Fixture(
      "drewmccormack+ensembles/Examples/Idiomatic/Shared/Model.xcdatamodeld", expected: "drewmccormack-Model",
      [
        Version("Model_0", 2, 4, 2, isCurrent: false),
        Version("Model_1", 3, 6, 4, isCurrent: true),
      ]),
    Fixture(
      "duckduckgo+BrowserServicesKit/Sources/Bookmarks/BookmarksModel.xcdatamodeld",
      expected: "duckduckgo-BookmarksModel",
      [
        Version("BookmarksModel", 1, 5, 4, isCurrent: false),
        Version("BookmarksModel 2", 1, 5, 4, isCurrent: false),
        Version("BookmarksModel 3", 1, 6, 4, isCurrent: false),
        Version("BookmarksModel 4", 1, 6, 4, isCurrent: false),
        Version("BookmarksModel 5", 1, 7, 4, isCurrent: false),
        Version("BookmarksModel 6", 1, 8, 4, isCurrent: true),
      ]),
    Fixture(
      "fatbobman+CoreDataEvolution/Integration/GeneratedFlowFixture/Models/GeneratedFlowModel.xcdatamodeld",
      expected: "fatbobman-GeneratedFlowModel", [Version("GeneratedFlowModel", 2, 9, 2, isCurrent: true)]),
    Fixture(
      "kharrison+CodeExamples/WorldFacts/WorldFacts/WorldFacts.xcdatamodeld", expected: "kharrison-WorldFacts",
      [Version("WorldFacts", 1, 8, 0, isCurrent: true)]),
    Fixture(
      "made/Everything.xcdatamodeld", expected: "made-Everything",
      [
        Version("Everything", 5, 33, 14, isCurrent: false),
        Version("Everything 2", 5, 9, 6, isCurrent: false),
        Version("Everything 10", 5, 9, 6, isCurrent: true),
      ]),
    Fixture(
      "objcio+core-data/Migrations/Migrations/Moody.xcdatamodeld", expected: "objcio-Moody",
      [
        Version("Moody", 4, 14, 4, isCurrent: false),
        Version("Moody 2", 4, 15, 4, isCurrent: false),
        Version("Moody 3", 4, 15, 6, isCurrent: false),
        Version("Moody 4", 3, 20, 6, isCurrent: false),
        Version("Moody 5", 2, 15, 2, isCurrent: false),
        Version("Moody 6", 3, 15, 4, isCurrent: true),
      ]),
    Fixture(
      "objcio+core-data/Sample-Project-Chapter-1.2/Moody/Moody.xcdatamodeld", expected: "objcio-Moody2",
      [Version("Moody", 4, 6, 4, isCurrent: true)]),
    Fixture(
      "owntracks+ios/OwnTracks/OwnTracks/coredata/Model.xcdatamodeld", expected: "owntracks-Model",
      [
        Version("Model", 2, 13, 2, isCurrent: false),
        Version("Model 8.2.18", 6, 51, 6, isCurrent: false),
        Version("Model 9.5.0", 8, 60, 10, isCurrent: false),
        Version("Model 14.0.0", 6, 35, 4, isCurrent: false),
        Version("Model 18.4.3", 6, 49, 4, isCurrent: true),
      ]),
    Fixture(
      "p0deje+Maccy/Maccy/Storage.xcdatamodeld", expected: "p0deje-Storage",
      [Version("Storage", 2, 8, 2, isCurrent: true)]),
    Fixture(
      "rentzsch+mogenerator/test/test.xcdatamodel", expected: "rentzsch-test",
      [Version("test", 9, 24, 6, isCurrent: true)]),
    Fixture(
      "synthetic/Gaps.xcdatamodeld", expected: "synthetic-Gaps",
      [
        Version("Gaps", 4, 6, 4, isCurrent: false),
        Version("Gaps 2", 4, 8, 4, isCurrent: true),
      ]),
  ]
}

/// Converts versions that a test writes as the contents of a `<model>` element.
func convert(
  _ versions: String..., current: String? = nil, existing: [Int: [UInt8]] = [:]
) throws -> CoreDataConversion {
  let named = versions.enumerated().map { index, text in
    CoreDataBundle.Version(name: "App \(index + 1)", file: "\(index + 1)", bytes: bytes(text))
  }
  return try convert(named, current, nil, existing)
}

/// Converts versions with these names.
func convert(
  named versions: [(name: String, text: String)], current: String? = nil, order: [String]? = nil
) throws -> CoreDataConversion {
  let named = versions.map { name, text in CoreDataBundle.Version(name: name, file: name, bytes: bytes(text)) }
  return try convert(named, current, order)
}

private func bytes(_ text: String) -> [UInt8] { Array("<model>\(text)</model>".utf8) }

private func convert(
  _ versions: [CoreDataBundle.Version], _ current: String?, _ order: [String]?, _ existing: [Int: [UInt8]] = [:]
) throws -> CoreDataConversion {
  try CoreDataConversion(
    CoreDataBundle(name: "App", path: "App.xcdatamodeld", versions: versions, current: current), order: order,
    existing: existing)
}

extension CoreDataConversion {
  /// The lines about differences, without the file and the place, and without the line about parts of Xcode's own.
  var lines: [String] {
    findings.filter { !$0.text.hasPrefix("these have no meaning") }.map { finding in
      "\(finding.kind.rawValue): \(finding.subject.isEmpty ? "" : finding.subject + ": ")\(finding.text)"
    }
  }
}

/// A folder of a test.
struct TemporaryFolder {
  let path: String

  /// Creates a folder with these files.
  init(_ files: [String: Data] = [:]) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-\(UUID().uuidString)")
    path = folder.path
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, data) in files {
      let file = folder.appendingPathComponent(name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: file)
    }
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
