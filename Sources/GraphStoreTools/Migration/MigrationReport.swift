// Tests: MigrationTests.swift, MigrationFailureTests.swift
import GraphModel

/// The result of a migration or a rehearsal.
public struct MigrationReport: Sendable {
  /// The store's old version.
  public let from: Int
  /// The store's new version.
  public let to: Int
  /// The steps, version by version.
  public internal(set) var steps = [MigrationStep]()
  /// The losses of the present state; history and the copy still have the values.
  public internal(set) var lost = [MigrationLoss]()
  /// The number of rewritten rows; all other rows are untouched.
  public internal(set) var rewritten = 0
  /// The duration of the transaction, without the copy.
  public internal(set) var milliseconds = 0
  /// The path of the copy; nil for a rehearsal.
  public internal(set) var backup: String?
  /// The revision of the migration's commit; 0 for none.
  public internal(set) var revision: Revision = 0

  init(from: Model, to: Model) { (self.from, self.to) = (from.version, to.version) }
}

/// An object that violates the new version's rules.
public struct MigrationViolation: Sendable, Equatable, CustomStringConvertible {
  /// Nil if no single object is affected.
  public let object: ObjectID?
  /// The object's entity, by the new version's name.
  public let entity: String
  /// The rest of a sentence about the object.
  public let text: String

  public var description: String {
    if let object { "\(entity) \(object): \(text)" } else { "\(entity): \(text)" }
  }
}

/// The reason why a store is not migrated: ambiguous models, or all objects that violate new rules.
public struct MigrationRefusal: Error, Sendable, CustomStringConvertible {
  /// The store's version.
  public let from: Int
  /// The version that it can't be migrated to.
  public let to: Int
  /// The problems of the models, each with its path.
  public let problems: [String]
  /// The violating objects.
  public let breaches: [MigrationViolation]
  /// The number of violating objects that are not listed.
  public let more: Int

  /// The maximum number of objects listed.
  public static let maximumBreaches = 100_000

  init(from: Int, to: Int, problems: [String] = [], breaches: [MigrationViolation] = [], more: Int = 0) {
    self.from = from
    self.to = to
    self.problems = problems
    self.breaches = breaches
    self.more = more
  }

  public var description: String {
    let lines = problems + breaches.map(\.description) + (more > 0 ? ["and \(more) more"] : [])
    return "the store can't be migrated from version \(from) to version \(to):\n" + lines.joined(separator: "\n")
  }
}
