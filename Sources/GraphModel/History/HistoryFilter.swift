/// A filter of commits and their changes; all of its conditions must match.
public struct HistoryFilter: Hashable, Sendable {
  /// The authors; empty for all.
  public var authors: [String]
  /// The entities of the changed objects, including subentities; empty for all.
  public var entities: [EntityNumber]
  /// The prefix of a single object's id, whether it exists or was deleted; empty for all.
  public var object: String
  /// The earliest commit time, inclusive.
  public var since: Timestamp?
  /// The latest commit time, exclusive.
  public var until: Timestamp?

  /// Creates a filter, by default without conditions.
  public init(
    authors: [String] = [], entities: [EntityNumber] = [], object: String = "", since: Timestamp? = nil,
    until: Timestamp? = nil
  ) {
    self.authors = authors
    self.entities = entities
    self.object = object
    self.since = since
    self.until = until
  }

  /// The most authors or entities in a filter; each is compared with every commit.
  public static let maximumNames = 100

  /// Whether the filter selects whole commits without reading their changes.
  public var selectsWholeCommits: Bool { entities.isEmpty && object.isEmpty }

  /// Whether the filter has no conditions.
  public var isEmpty: Bool { self == HistoryFilter() }

  /// - Throws: `Refusal` for an entity that the model does not have, or too many names.
  public func check(in model: Model) throws {
    guard authors.count <= Self.maximumNames, entities.count <= Self.maximumNames else {
      throw Refusal(.limit, "a request for history can name at most \(Self.maximumNames) authors or entities")
    }
    for number in entities where model.entity(number) == nil {
      throw Refusal(.malformed, "there is no entity number \(number) in the model \(model.name)")
    }
  }

  /// The concrete entities of the filter; nil for all.
  public func family(in model: Model) -> Set<EntityNumber>? {
    entities.isEmpty ? nil : Set(entities.flatMap { model.family(of: $0) })
  }
}
