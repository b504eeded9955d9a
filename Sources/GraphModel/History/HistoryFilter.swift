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

  /// Whether commits match as a whole, so that the filter reads none of their changes.
  public var selectsWholeCommits: Bool { entities.isEmpty && object.isEmpty }

  /// Whether the filter has no conditions.
  public var isEmpty: Bool { self == HistoryFilter() }

  /// - Throws: `Refusal` for an entity that the model does not have, or too many names.
  public func check(in model: Model) throws {
    guard authors.count <= Self.maximumNames, entities.count <= Self.maximumNames else {
      throw Refusal(.limit, "history is asked for at most \(Self.maximumNames) authors or entities at a time")
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

/// `message HistoryFilter { repeated string authors = 1; repeated HistoryEntity entities = 2; string object = 3;
/// int64 since = 4; int64 until = 5; }`, `message HistoryEntity { uint32 number = 1; }`
extension HistoryFilter: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    for author in authors { writer.field(1, author, always: true) }
    for entity in entities { writer.message(2) { $0.field(1, UInt64(entity)) } }
    writer.field(3, object)
    writer.field(4, since)
    writer.field(5, until)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: authors.append(try field.string())
      case 2:
        var (entity, inner): (EntityNumber, BinaryReader) = (0, try field.reader())
        while let (number, field) = try inner.next() {
          if number == 1 { entity = try field.uint32() }
        }
        entities.append(entity)
      case 3: object = try field.string()
      case 4: since = Self.time(try field.integer())
      case 5: until = Self.time(try field.integer())
      default: break
      }
    }
  }

  private static func time(_ value: Int64) -> Timestamp? { value == 0 ? nil : value }
}
