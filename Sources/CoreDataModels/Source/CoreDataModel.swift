/// One version of a Core Data model as its `contents` file describes it, in the file's names and order.
///
/// Xcode's model compiler, momc, reads the same file. All parts have their place in the file, for messages.
public struct CoreDataModel: Sendable {
  /// An entity.
  public struct Entity: Sendable {
    /// The name.
    public let name: String
    /// The name of the parent entity; nil for none.
    public let parent: String?
    /// Whether only its subentities have objects.
    public let isAbstract: Bool
    /// The renaming identifier; nil for none.
    public let renamingIdentifier: String?
    /// The attributes, in the order of the file.
    public internal(set) var attributes: [Attribute]
    /// The relationships, in the order of the file.
    public internal(set) var relationships: [Relationship]
    /// The place in the file.
    public let place: SourcePlace

    /// The uniqueness constraints, each with the names of its properties.
    var unique = [(names: [String], place: SourcePlace)]()
    var indexes = [Index]()
  }

  /// An attribute of an entity or of a composite.
  public struct Attribute: Sendable {
    /// The name.
    public let name: String
    /// The type as Xcode writes it: `Integer 16`, `Transformable`; nil if the file states none.
    public let type: String?
    /// Whether null is allowed.
    public let isOptional: Bool
    /// Whether it is never stored.
    public let isTransient: Bool
    /// The expression of a derived attribute; nil for all others.
    public let derivation: String?
    /// The renaming identifier; nil for none.
    public let renamingIdentifier: String?
    /// The place in the file.
    public let place: SourcePlace

    var composite: String?
    /// Settings with their places, by Xcode's names, such as `defaultValueString` and `minValueString`.
    var settings = [String: Setting]()
    var isIndexed = false
    var valueTransformer: String?
    var className: String?
  }

  /// A relationship.
  public struct Relationship: Sendable {
    /// The name.
    public let name: String
    /// The name of the entity at the other end.
    public let destination: String
    /// The name of the relationship that leads back; nil for none.
    public let inverse: String?
    /// Whether it refers to any number of objects.
    public let isToMany: Bool
    /// Whether its objects have an order.
    public let isOrdered: Bool
    /// Whether a to-one may be null, or a to-many empty.
    public let isOptional: Bool
    /// The renaming identifier; nil for none.
    public let renamingIdentifier: String?
    /// The place in the file.
    public let place: SourcePlace

    /// The entity in which the file expects the inverse; nil for the destination.
    var inverseEntity: String?
    var deleteRule: String?
    var minimumCount: Int?
    var maximumCount: Int?
  }

  struct Setting: Sendable {
    var text: String
    var place: SourcePlace
  }

  /// A fetch index, or a compound index of older models.
  struct Index: Sendable {
    struct Element: Sendable {
      var property: String?
      var expression: String?
      var type: String?
      var place: SourcePlace
    }
    var elements: [Element]
    var place: SourcePlace
  }

  struct Composite: Sendable {
    var name: String
    /// The renaming identifier; nil for none.
    var renamingIdentifier: String?
    var attributes: [Attribute]
    var place: SourcePlace
  }

  struct FetchRequest: Sendable {
    var name, entity: String
    var predicate: String?
    var limit: Int?
    var place: SourcePlace
  }

  /// The entities, in the order of the file.
  public internal(set) var entities = [Entity]()
  /// The version identifier that its developer gave it; empty for none.
  public internal(set) var versionIdentifier = ""

  var composites = [Composite]()
  var fetchRequests = [FetchRequest]()
  /// The place of the `model` element.
  var place = SourcePlace.start

  /// The entity of that name; nil if there is none.
  public func entity(named name: String) -> Entity? { entities.first { $0.name == name } }

  /// An entity and its ancestors, the entity first. The parents have no cycle.
  public func lineage(of entity: Entity) -> [Entity] {
    var line = [entity]
    while let parent = line[line.count - 1].parent.flatMap({ self.entity(named: $0) }) {
      precondition(line.count <= entities.count, "the parents of a checked model have no cycle")
      line.append(parent)
    }
    return line
  }
}
