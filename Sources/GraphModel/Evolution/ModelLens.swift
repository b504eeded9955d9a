/// Translates between a client of an older version of a model and a store of a newer one. Requests are translated
/// into the newer version's numbers, names and types, replies and deltas into the older one's.
///
/// A lens is inferred from the same files as a migration, with one step for each version in between. It exists if
/// every state that the newer version allows has a view that the older one allows, and every edit of the older
/// version has a meaning in the newer; docs/decisions/0024 has the list. Parts that the older version does not have
/// are not visible to it.
public struct ModelLens: Sendable, Hashable {
  /// The client's version.
  public let old: Model
  /// The store's version.
  public let new: Model
  /// The lenses from older to newer, one per version.
  let steps: [VersionLens]
  /// Stored properties of the newer version that the older one does not have.
  public let unseen: Set<PropertyNumber>

  /// Creates a lens over one or more version steps.
  /// - Parameter versions: the client's version first, the store's last, without gaps as far as the files exist.
  /// - Throws: all differences that have no view or no meaning, with their paths.
  public init(over versions: [Model]) throws(MigrationPlan.Problems) {
    var steps = [VersionLens]()
    for (old, new) in zip(versions, versions.dropFirst()) { steps.append(try VersionLens(from: old, to: new)) }
    guard let first = steps.first, let last = steps.last else {
      throw MigrationPlan.Problems(all: [.init("versions", "a lens needs at least two")])
    }
    self.steps = steps
    (old, new) = (first.old, last.new)
    var unseen = Set<PropertyNumber>()
    for property in new.entities.flatMap(\.storedProperties) {
      var number: PropertyNumber? = property.number
      for step in steps.reversed() { number = number.flatMap { step.downgradedProperties[$0] } }
      if number == nil { unseen.insert(property.number) }
    }
    self.unseen = unseen
  }

  public static func == (left: ModelLens, right: ModelLens) -> Bool {
    left.old.hash == right.old.hash && left.new.hash == right.new.hash
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(old.hash)
    hasher.combine(new.hash)
  }
}

/// A server's lenses to its model: one for each older version, or the reason why there is none.
public struct ModelLenses: Sendable {
  /// Whether a client of another version can be served.
  public enum LensAvailability: Sendable {
    /// The client's model is unknown.
    case unknown
    /// The client is served through this lens.
    case lens(ModelLens)
    /// The client has this version, and these differences rule out a lens.
    case none(Model, MigrationPlan.Problems)
  }

  private var answers = [ModelHash: LensAvailability]()

  /// - Parameters:
  ///   - model: the model that the server serves.
  ///   - older: earlier versions, in any order; others are ignored.
  public init(to model: Model, from older: [Model]) {
    var versions = [Int: Model]()
    for other in older where other.name == model.name && other.version < model.version {
      versions[other.version] = versions[other.version] ?? other
    }
    let line = versions.values.sorted { $0.version < $1.version } + [model]
    // Among versions of equal hash the newest is used; equal hashes need no translation.
    for index in line.indices.dropLast() where line[index].hash != model.hash {
      do {
        answers[line[index].hash] = .lens(try ModelLens(over: Array(line[index...])))
      } catch {
        answers[line[index].hash] = LensAvailability.none(line[index], error)
      }
    }
  }

  /// The answer for a client whose model has this hash, which must not be the server's.
  public subscript(hash: ModelHash) -> LensAvailability { answers[hash] ?? .unknown }
}
