import GraphModel

/// A version in our format's terms, still in the names of the source. The steps of the conversion change it: the
/// converter fills it, the loader's mistakes remove parts, and the linker orders it and connects it with the previous
/// version.
struct VersionDraft {
  var number: Int
  var sourceName: String
  var documentation: String
  var entities = [EntityDraft]()
  var composites = [CompositeDraft]()
  var fetchRequests = [FetchRequestDraft]()
  var place: SourcePlace
  /// The name of an enumeration that gives the version a different hash; nil for none.
  var distinction: String?

  func entity(_ source: String) -> EntityDraft? { entities.first { $0.source == source } }

  /// The composite of an attribute; nil if the attribute is not of a composite.
  func composite(of attribute: AttributeDraft) -> CompositeDraft? {
    composites.first { $0.source == attribute.composite }
  }

  /// The names of an entity and its ancestors, the entity first.
  func lineage(of source: String) -> [EntityDraft] {
    var line = [EntityDraft]()
    var next: String? = source
    while let entity = next.flatMap({ self.entity($0) }), line.count < entities.count {
      line.append(entity)
      next = entity.parent
    }
    return line
  }

  /// The entity without a parent that an entity descends from.
  func root(of source: String) -> String {
    if let root = lineage(of: source).last { root.source } else { source }
  }
}

struct EntityDraft {
  let source: String
  let parent: String?
  let isAbstract: Bool
  /// The renaming identifier; nil for none.
  let identifier: String?
  var attributes = [AttributeDraft]()
  var relationships = [RelationshipDraft]()
  var unique = [(names: [String], place: SourcePlace)]()
  let place: SourcePlace
}

struct AttributeDraft {
  enum Derivation {
    /// The number of objects in a to-many.
    case count(String)
    /// A function of the predicate language, and the attribute that it reads.
    case function(String, String)
  }

  let source: String
  /// The type in the model file.
  let type: String
  /// The type in the source; nil if it states none.
  let sourceType: String?
  let identifier: String?
  let place: SourcePlace
  var isOptional: Bool
  var composite: String?
  var derivation: Derivation?
  /// The members of the model file that need no names: `default`, `minimum`, `pattern`, `indexed` and so on.
  var members = [JSON.Member]()
  /// The expression that converts values of the previous version; nil for none.
  var mapping: String?

  mutating func set(_ name: String, _ value: JSON) { members.append(JSON.Member(name, value)) }

  /// Removes a member.
  /// - Returns: whether it was there.
  mutating func remove(_ name: String) -> Bool {
    let count = members.count
    members.removeAll { $0.name == name }
    return members.count < count
  }

  func has(_ name: String) -> Bool { members.contains { $0.name == name } }
}

struct RelationshipDraft {
  let source: String
  var identifier: String?
  var destination: String
  var inverse: String
  let isToMany: Bool
  var isOptional: Bool
  var isOrdered: Bool
  var deleteRule: String
  var minimumCount: Int?
  var maximumCount: Int?
  /// Whether the source has no such relationship.
  var isAdded = false
  let place: SourcePlace

  /// The documentation of such a relationship in a model file.
  static let addedInverse = "The inverse, which the Core Data model does not have."

  /// The name of such a relationship, unless another property has it.
  static func nameOfInverse(_ relationship: String, of entity: String) -> String { "\(relationship)Of\(entity)" }
}

struct CompositeDraft {
  let source: String
  /// The renaming identifier; nil for none.
  let identifier: String?
  var attributes: [AttributeDraft]
  let place: SourcePlace
}

extension CompositeDraft {
  /// The name of the composite in tables that have entities, too. It differs from the name of each entity.
  var owner: String { "<composite \(source)>" }

  /// The name of a member in tables that have the properties of entities, too.
  func part(_ member: String) -> String { "\(owner).\(member)" }
}

struct FetchRequestDraft {
  let source: String
  let entity: String
  var predicate: String?
  var limit: Int?
  let place: SourcePlace
}
