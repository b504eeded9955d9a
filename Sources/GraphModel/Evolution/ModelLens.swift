/// What stands between a client of an older version of a model and a store of a newer one: whatever the client says is
/// put into the newer version's numbers, names and types, whatever it is told into the older one's.
///
/// Inferred from the same two files as a migration, one step for each version in between. There is a lens where every
/// state that the newer version allows has a view that the older one allows, and every edit of the older one has a
/// meaning in the newer; docs/decisions/0024 has the list. What the older version does not have it does not see.
public struct ModelLens: Sendable, Hashable {
  /// What the client has.
  public let old: Model
  /// What the store has.
  public let new: Model
  /// From the older to the newer, one version at a time.
  let steps: [VersionLens]
  /// Stored properties of the newer version that the older one does not show.
  public let unseen: Set<PropertyNumber>

  /// A lens over one or more versions.
  /// - Parameter versions: the client's first, the store's last, without gaps as far as files are there.
  /// - Throws: all that has no view, or no meaning, with its path.
  public init(over versions: [Model]) throws(MigrationPlan.Problems) {
    var steps = [VersionLens]()
    for (old, new) in zip(versions, versions.dropFirst()) { steps.append(try VersionLens(from: old, to: new)) }
    guard let first = steps.first, let last = steps.last else {
      throw MigrationPlan.Problems(all: [.init("versions", "a lens needs two of them")])
    }
    self.steps = steps
    (old, new) = (first.old, last.new)
    var unseen = Set<PropertyNumber>()
    for property in new.entities.flatMap(\.storedProperties) {
      var number: PropertyNumber? = property.number
      for step in steps.reversed() { number = number.flatMap { step.earlier[$0] } }
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

/// The lenses that a server has for its model: one for each older version, or the reason why there is none.
public struct ModelLenses: Sendable {
  /// What becomes of a client.
  public enum Answer: Sendable {
    /// Nobody knows its model.
    case unknown
    /// It works through this.
    case lens(ModelLens)
    /// It is of this version, and this stands in the way.
    case none(Model, MigrationPlan.Problems)
  }

  private var answers = [ModelHash: Answer]()

  /// - Parameters:
  ///   - model: the one that is served.
  ///   - older: versions before it, in any order; others are passed over.
  public init(to model: Model, from older: [Model]) {
    var versions = [Int: Model]()
    for other in older where other.name == model.name && other.version < model.version {
      versions[other.version] = versions[other.version] ?? other
    }
    let line = versions.values.sorted { $0.version < $1.version } + [model]
    // The newest version of a hash counts: between equal ones there is nothing to translate.
    for index in line.indices.dropLast() where line[index].hash != model.hash {
      do {
        answers[line[index].hash] = .lens(try ModelLens(over: Array(line[index...])))
      } catch {
        answers[line[index].hash] = Answer.none(line[index], error)
      }
    }
  }

  /// What becomes of a client whose model has this hash, which is not the server's.
  public subscript(hash: ModelHash) -> Answer { answers[hash] ?? .unknown }
}
