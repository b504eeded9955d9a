import Foundation
import GraphModel
import GraphStore

/// Fixtures of the tests: models and files of the package.
public enum Fixtures {
  /// The path of the package.
  public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// Reads a file of the package.
  /// - Parameter path: relative to the package.
  public static func file(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: root + "/" + path)))
  }

  /// The first version of the notes' model, without scopes and creators, for tests that do not need these.
  public static func stickies() throws -> Model { try Model(parsing: try file("Schema/Stickies/1.json")) }

  /// The newest version of the notes' model, which the programs have.
  public static func notes() throws -> Model { try Model(parsing: try file("Schema/Stickies/2.json")) }

  /// A model with the features that the notes lack: inheritance, recursion, one-to-one, deny, no action, counts.
  public static func company() throws -> Model { try Model(parsing: companySource.utf8) }

  /// A model with both kinds of ordered relationship: one stores positions in the members, the other stores a list.
  public static func ordered() throws -> Model { try Model(parsing: orderedSource.utf8) }

  /// The source of `ordered()`.
  public static let orderedSource = """
    {"format": 1, "name": "Ordered", "version": 1, "entities": [
      {"name": "Project", "attributes": [{"name": "title", "type": "string", "default": ""}], "relationships": [
        {"name": "steps", "destination": "Step", "inverse": "project", "toMany": true, "ordered": true},
        {"name": "chapters", "destination": "Chapter", "inverse": "projects", "toMany": true}]},
      {"name": "Item", "abstract": true, "attributes": [{"name": "changedAt", "type": "date", "assigned": "updated"}]},
      {"name": "Step", "parent": "Item", "attributes": [{"name": "label", "type": "string", "default": ""}],
       "relationships": [{"name": "project", "destination": "Project", "inverse": "steps"}]},
      {"name": "Chapter", "relationships": [
        {"name": "projects", "destination": "Project", "inverse": "chapters", "toMany": true, "ordered": true}]}]}
    """

  /// The source of `company()`.
  public static let companySource = """
    {"format": 1, "name": "Company", "version": 1,
     "enumerations": [{"name": "Level", "cases": ["junior", "senior"]}],
     "entities": [
       {"name": "Party", "abstract": true,
        "attributes": [{"name": "name", "type": "string", "minimumLength": 1}], "unique": [["name"]]},
       {"name": "Person", "parent": "Party",
        "attributes": [
          {"name": "age", "type": "integer", "optional": true, "minimum": 0, "maximum": 150, "indexed": true},
          {"name": "level", "type": "enumeration", "enumeration": "Level", "default": "junior"},
          {"name": "salary", "type": "decimal", "optional": true},
          {"name": "badge", "type": "uuid", "optional": true},
          {"name": "photo", "type": "data", "optional": true, "maximumLength": 16},
          {"name": "home", "type": "uri", "optional": true},
          {"name": "extra", "type": "json", "optional": true},
          {"name": "score", "type": "double", "optional": true},
          {"name": "active", "type": "bool", "default": true},
          {"name": "bio", "type": "text", "optional": true, "fullText": true},
          {"name": "born", "type": "date", "optional": true, "indexed": true},
          {"name": "hired", "type": "date", "optional": true}],
        "relationships": [
          {"name": "manager", "destination": "Person", "inverse": "reports"},
          {"name": "reports", "destination": "Person", "inverse": "manager", "toMany": true, "deleteRule": "deny"},
          {"name": "projects", "destination": "Project", "inverse": "members", "toMany": true},
          {"name": "desk", "destination": "Desk", "inverse": "owner", "deleteRule": "cascade"}]},
       {"name": "Robot", "parent": "Party", "attributes": [{"name": "volts", "type": "integer", "default": 12}]},
       {"name": "Project",
        "attributes": [{"name": "title", "type": "string"}, {"name": "year", "type": "integer"},
          {"name": "due", "type": "date", "optional": true}],
        "relationships": [
          {"name": "members", "destination": "Person", "inverse": "projects", "toMany": true, "maximumCount": 3},
          {"name": "steps", "destination": "Step", "inverse": "project", "toMany": true, "deleteRule": "cascade"}],
        "unique": [["title", "year"]]},
       {"name": "Step", "attributes": [{"name": "label", "type": "string"}],
        "relationships": [{"name": "project", "destination": "Project", "inverse": "steps", "optional": false}]},
       {"name": "Desk", "attributes": [{"name": "place", "type": "string", "optional": true}],
        "relationships": [{"name": "owner", "destination": "Person", "inverse": "desk", "deleteRule": "noAction"}]}]}
    """
}

/// A temporary directory that is removed when it is deallocated.
public final class TemporaryDirectory: Sendable {
  /// The path of the directory.
  public let path: String

  /// Creates an empty directory with a unique name.
  public init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("graph-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A deterministic random number generator (SplitMix64): the same seed gives the same numbers on every platform.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator from a seed.
  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return state.mixed
  }

  /// A random number below `bound`; 0 if `bound` is not positive.
  public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }

  /// True with a probability of `percent` percent.
  public mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  /// A random date that tends to reveal errors.
  ///
  /// The dates are around 1970 and before, at midnight, with a fraction of a second, at the limits of the date range,
  /// and within days of `now`.
  public mutating func date(near now: Timestamp) -> Timestamp {
    let day: Int64 = 86_400_000_000
    switch below(8) {
    case 0: return Int64(below(7)) - 3
    case 1: return -Int64(below(60 * 365)) * day - Int64(below(86_400_000)) * 1_000
    case 2: return (18_320 + Int64(below(9))) * day
    case 3: return element(of: [RFC3339.range.lowerBound, RFC3339.range.upperBound])
    case 4: return now + (Int64(below(11)) - 5) * day
    default: return now + Int64(below(600_000_000)) * 1_000 - 300_000_000_000
    }
  }

  /// A random element of a nonempty array.
  public mutating func element<Element>(of elements: [Element]) -> Element {
    guard let element = elements.randomElement(using: &self) else {
      preconditionFailure("an element of an empty array")
    }
    return element
  }

  /// A random element; nil for an empty array.
  public mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &self) }
}
