import GraphModel

/// What a migration did, or would do.
public struct MigrationReport: Sendable {
  /// The version that the store had.
  public let from: Int
  /// The version that it has, or would have.
  public let to: Int
  /// What happened, version by version.
  public internal(set) var steps = [MigrationStep]()
  /// What is gone from the present; history and the copy still have it.
  public internal(set) var lost = [MigrationLoss]()
  /// Rows that were written again; nothing else of the objects was touched.
  public internal(set) var rewritten = 0
  /// How long the transaction took, the copy aside.
  public internal(set) var milliseconds = 0
  /// The path of the copy; nil for a rehearsal.
  public internal(set) var backup: String?
  /// The commit that stands for the migration; 0 where there was none.
  public internal(set) var revision: Revision = 0

  init(from: Model, to: Model) { (self.from, self.to) = (from.version, to.version) }
}

/// An object that the new version does not allow.
public struct MigrationBreach: Sendable, Equatable, CustomStringConvertible {
  /// Nil for what concerns no single object.
  public let object: ObjectID?
  /// Its entity, by the new version's name.
  public let entity: String
  /// The end of a sentence about it.
  public let text: String

  public var description: String { "\(entity) \(object.map(\.description) ?? ""): \(text)" }
}

/// Why a store stays as it is: what the models leave open, or the objects that break what is new; all of it.
public struct MigrationRefusal: Error, Sendable, CustomStringConvertible {
  /// The version that the store would have to leave.
  public let from: Int
  /// The version that it can't reach.
  public let to: Int
  /// What the models leave open, each with its path.
  public let problems: [String]
  /// The objects in the way.
  public let breaches: [MigrationBreach]
  /// Of these, how many are not listed.
  public let more: Int

  /// So many objects are listed.
  public static let maximumBreaches = 100_000

  init(from: Int, to: Int, problems: [String] = [], breaches: [MigrationBreach] = [], more: Int = 0) {
    self.from = from
    self.to = to
    self.problems = problems
    self.breaches = breaches
    self.more = more
  }

  public var description: String {
    let lines = problems + breaches.map(\.description) + (more > 0 ? ["and \(more) more"] : [])
    return "the store can't go from version \(from) to version \(to):\n" + lines.joined(separator: "\n")
  }
}
