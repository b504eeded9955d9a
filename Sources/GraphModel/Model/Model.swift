/// A data model: entities, their properties and rules, checked as a whole. Immutable, shared by everything that
/// handles its objects.
///
/// Entities and properties have numbers, given in the order of their names: two files that say the same in another
/// order number alike, and bodies on the wire and on disk name nothing.
public final class Model: Sendable {
  /// As the file says; `stickiesd --version` and refusals name it.
  public let name: String
  /// The number in the file's name, from 1.
  public let version: Int
  /// For people; no part of the hash.
  public let documentation: String
  /// In the order of the file.
  public let enumerations: [Enumeration]
  /// In the order of the file.
  public let composites: [Composite]
  /// In the order of the file.
  public let entities: [Entity]
  /// What two programs must agree on to exchange objects.
  public let hash: ModelHash
  /// The file's own text, for a client that has no copy.
  public let source: String

  /// What stored values become when a store of an older version is migrated, in the order of the file.
  public let mappings: [Mapping]

  /// What is written in the predicate language: rules and derivations.
  let parts: ModelParts
  private let entitiesByNumber: [Entity]
  private let propertiesByNumber: [Property]

  init(
    name: String, version: Int, documentation: String, enumerations: [Enumeration], entities: [Entity], source: String,
    composites: [Composite] = [], parts: ModelParts = ModelParts(), mappings: [Mapping] = []
  ) {
    self.name = name
    self.composites = composites
    self.parts = parts
    self.mappings = mappings
    self.version = version
    self.documentation = documentation
    self.enumerations = enumerations
    self.entities = entities
    self.source = source
    entitiesByNumber = entities.sorted { $0.number < $1.number }
    var properties = [PropertyNumber: Property]()
    for entity in entities {
      for property in entity.properties { properties[property.number] = property }
    }
    propertiesByNumber = properties.values.sorted { $0.number < $1.number }
    hash = ModelHash(of: entitiesByNumber, enumerations: enumerations)
  }

  /// Nil for a number that the model does not have.
  public func entity(_ number: EntityNumber) -> Entity? {
    number >= 1 && number <= entitiesByNumber.count ? entitiesByNumber[Int(number) - 1] : nil
  }

  /// Nil for a name that the model does not have; case counts.
  public func entity(named name: String) -> Entity? { entities.first { $0.name == name } }

  /// The entity that declares a uniqueness constraint of `entity`: all its family share it.
  public func owner(of constraint: [PropertyNumber], in entity: Entity) -> Entity {
    var owner = entity
    while let parent = owner.parent.flatMap({ self.entity($0) }), parent.uniquenessConstraints.contains(constraint) {
      owner = parent
    }
    return owner
  }

  /// Nil for a number that the model does not have.
  public func property(_ number: PropertyNumber) -> Property? {
    number >= 1 && number <= propertiesByNumber.count ? propertiesByNumber[Int(number) - 1] : nil
  }

  /// How many properties the model declares; their numbers are 1 to this.
  public var propertyCount: Int { propertiesByNumber.count }
}

/// An entity: what the objects of one kind have in common. A class, as every part of a model: it is handed around on
/// every path, and never changes.
public final class Entity: Sendable {
  /// From 1, in the order of the names.
  public let number: EntityNumber
  /// Unique in the model, case aside.
  public let name: String
  /// What an earlier version called it; nil for the same name.
  public let renamed: String?
  /// For people; empty when the file says nothing.
  public let documentation: String
  /// Only its subentities have objects.
  public let isAbstract: Bool
  /// What it inherits from; nil for a root.
  public let parent: EntityNumber?
  /// The topmost ancestor; the entity itself when it has no parent. One table holds all that share a root.
  public let root: EntityNumber
  /// This entity and everything that inherits from it, by number.
  public let family: [EntityNumber]
  /// Inherited properties first, then its own in the order of the file.
  public let properties: [Property]
  /// Each is a list of properties whose values together no two objects share; inherited ones included.
  public let uniquenessConstraints: [[PropertyNumber]]
  /// How many of the properties have a place in an object's image.
  public let slotCount: Int
  /// The properties that an object's image holds, in the order of their slots.
  public let storedProperties: [Property]
  /// Inherited ones first.
  public let attributes: [Property]
  /// Inherited ones first.
  public let relationships: [Property]
  /// The groups among the attributes, inherited ones first; the attributes themselves are properties like any other.
  public let composites: [CompositeAttribute]
  /// The properties that the server sets.
  public let assignedProperties: [Property]
  /// A new object's values before any edit, by slot: defaults, null, no members.
  public let initialValues: [Value]
  /// The same without the defaults.
  public let emptyValues: [Value]
  /// When the rules of a slot's property have to be asked, by slot.
  let ruleChecks: [RuleCheck]
  /// Whether any of its to-manys has a count that it must not fall below.
  let hasMinimumCounts: Bool
  /// In ascending order, and the property of each.
  private let numbers: [PropertyNumber]
  private let propertiesByNumber: [Property]
  /// Its properties' names have at most so many parts, with dots between.
  let maximumNameParts: Int

  init(
    number: EntityNumber, name: String, documentation: String, isAbstract: Bool, parent: EntityNumber?,
    root: EntityNumber, family: [EntityNumber], properties: [Property], uniquenessConstraints: [[PropertyNumber]],
    slotCount: Int, composites: [CompositeAttribute] = [], renamed: String? = nil
  ) {
    self.renamed = renamed
    self.number = number
    self.name = name
    self.documentation = documentation
    self.isAbstract = isAbstract
    self.parent = parent
    self.root = root
    self.family = family
    self.properties = properties
    self.uniquenessConstraints = uniquenessConstraints
    self.slotCount = slotCount
    self.composites = composites
    storedProperties = properties.filter { $0.slot != nil }.sorted { $0.slot ?? 0 < $1.slot ?? 0 }
    attributes = properties.filter { $0.attribute != nil }
    relationships = properties.filter { $0.relationship != nil }
    assignedProperties = properties.filter { $0.attribute?.assignment != nil }
    emptyValues = storedProperties.map { $0.relationship?.storage == .members ? .objects([]) : .null }
    initialValues = zip(storedProperties, emptyValues).map { property, empty in
      property.attribute.flatMap { $0.checked($0.defaultValue) } ?? empty
    }
    ruleChecks = storedProperties.map { RuleCheck($0) }
    hasMinimumCounts = relationships.contains { ($0.relationship?.minimumCount ?? 0) > 0 }
    propertiesByNumber = properties.sorted { $0.number < $1.number }
    numbers = propertiesByNumber.map(\.number)
    maximumNameParts = properties.map { property in 1 + property.name.count { $0 == "." } }.max() ?? 1
  }

  /// Its own or an inherited one; nil when it has none of that name.
  public func property(named name: String) -> Property? { properties.first { $0.name == name } }

  /// Its own or an inherited one; nil when it has none of that number.
  public func property(_ number: PropertyNumber) -> Property? {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == number ? propertiesByNumber[low] : nil
  }

  /// Whether it is the other entity or inherits from it.
  public func isKind(of other: Entity) -> Bool { other.family.contains(number) }
}

/// An attribute or a relationship.
public final class Property: Sendable {
  /// What the property holds: a value, or other objects.
  public enum Kind: Sendable {
    /// A value of its own.
    case attribute(Attribute)
    /// One object or many, which know of it by the inverse.
    case relationship(Relationship)
  }

  /// From 1; the same wherever the property is inherited.
  public let number: PropertyNumber
  /// Unique within an entity and its ancestors, case aside. A member of a composite has a dot in it: `home.street`.
  public let name: String
  /// What an earlier version called it; nil for the same name.
  public let renamed: String?
  /// For people; empty when the file says nothing.
  public let documentation: String
  /// The entity that declares it.
  public let owner: EntityNumber
  /// Its place in the images of its entity and of every subentity, by name within the entity that declares it; nil for
  /// what is never stored on this side, and for a transient attribute.
  public let slot: Int?
  /// Whether null is legal in a committed graph.
  public let isOptional: Bool
  /// What it is, with what only that kind has.
  public let kind: Kind

  /// Kept beside `kind`, because almost every path asks for one of the two.
  public let attribute: Attribute?
  /// Nil for an attribute; `attribute` is nil for a relationship.
  public let relationship: Relationship?

  init(
    number: PropertyNumber, name: String, documentation: String, owner: EntityNumber, slot: Int?, isOptional: Bool,
    kind: Kind, renamed: String? = nil
  ) {
    self.renamed = renamed
    self.number = number
    self.name = name
    self.documentation = documentation
    self.owner = owner
    self.slot = slot
    self.isOptional = isOptional
    self.kind = kind
    switch kind {
    case .attribute(let attribute): (self.attribute, relationship) = (attribute, nil)
    case .relationship(let relationship): (attribute, self.relationship) = (nil, relationship)
    }
  }
}

/// What an attribute's values are like. docs/model-format.md describes each member.
public final class Attribute: Sendable {
  /// The type; the names are those of the model file and of the wire's dictionary.
  public enum Kind: String, Sendable, CaseIterable {
    /// True or false.
    case bool
    /// Numbers: whole ones of 64 bits, finite floating-point ones, and exact ones of 38 digits.
    case integer, double, decimal
    /// A text that is replaced as a whole.
    case string
    /// A point in time, to the microsecond.
    case date
    /// A UUID that clients give.
    case uuid
    /// Bytes.
    case data
    /// A text with a scheme, a colon and no blanks.
    case uri
    /// The name of one of the attribute's cases.
    case enumeration
    /// A JSON document, kept as one line of text and replaced as a whole; never JSON's `null`.
    case json
    /// A text whose concurrent edits merge character by character.
    case text
  }

  /// Who sets the value: the client, or the server at insert or at each change.
  public enum Assignment: String, Sendable, CaseIterable {
    /// 1, 2, 3 … at insert: rising, and never used twice.
    case sequence
    /// The time of the insert, and that of the last change; an import may give others at insert.
    case created, updated
    /// The place among the members of an ordered relationship, beside the to-one that leads there.
    case position

    /// Those that a model file may name.
    public static let allCases: [Assignment] = [.sequence, .created, .updated]
  }

  /// The type of its values.
  public let kind: Kind
  /// What an insert gets that says nothing of it; null when there is no default.
  public let defaultValue: Value
  /// The least legal value; null for none.
  public let minimum: Value
  /// The greatest legal value; null for none.
  public let maximum: Value
  /// In bytes of UTF-8 for strings, in bytes for data.
  public let minimumLength: Int?
  /// Counted as `minimumLength` is.
  public let maximumLength: Int?
  /// A regular expression that the whole of a string must match, as the file has it; nil for none.
  public let pattern: String?
  /// The legal names, for an enumeration.
  public let cases: [String]
  /// The name of the list of cases; nil for another kind.
  public let enumeration: String?
  /// Nil for what clients set.
  public let assignment: Assignment?
  /// The store keeps an index for predicates and orders.
  public let isIndexed: Bool
  /// `SEARCH` may be asked of it.
  public let isFullText: Bool
  /// A context holds the value for itself: it is never stored and never travels, and has no slot.
  public let isTransient: Bool
  /// What the rules make the value of; nil for what is not derived.
  public let derivation: Derivation?

  /// `pattern`, ready to be asked.
  let expression: RegularExpression?

  init(
    kind: Kind, defaultValue: Value, minimum: Value, maximum: Value, minimumLength: Int?, maximumLength: Int?,
    cases: [String], enumeration: String?, assignment: Assignment?, isIndexed: Bool, isFullText: Bool,
    pattern: String? = nil, expression: RegularExpression? = nil, isTransient: Bool = false,
    derivation: Derivation? = nil
  ) {
    self.kind = kind
    self.defaultValue = defaultValue
    self.minimum = minimum
    self.maximum = maximum
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
    self.cases = cases
    self.enumeration = enumeration
    self.assignment = assignment
    self.isIndexed = isIndexed
    self.isFullText = isFullText
    self.pattern = pattern
    self.expression = expression
    self.isTransient = isTransient
    self.derivation = derivation
  }
}

/// How objects refer to each other: one end of a pair, each the other's inverse.
public final class Relationship: Sendable {
  /// What deleting this object means for those at the other end.
  public enum DeleteRule: String, Sendable, CaseIterable {
    /// They let go of it; refused where their to-one is required.
    case nullify
    /// They are deleted too, by their own rules.
    case cascade
    /// The delete is refused while any of them remain.
    case deny
    /// Nothing happens to them; a delete that would leave a reference to nothing is refused.
    case noAction
  }

  /// Which side of the pair holds the reference.
  public enum Storage: Sendable {
    /// A to-one: this side's row names the other object.
    case reference
    /// The side of a many-to-many that the model declares first: its row lists the members.
    case members
    /// The other side of either: found through the inverse, never part of an image.
    case inverse
  }

  /// The entity at the other end.
  public let destination: EntityNumber
  /// The relationship that leads back.
  public let inverse: PropertyNumber
  /// Whether it leads to any number of objects.
  public let isToMany: Bool
  /// Applied to the final set of a transaction's deletes; `deny` is judged last.
  public let deleteRule: DeleteRule
  /// Of a to-many's members; nil for no limit.
  public let minimumCount: Int?
  /// Of a to-many's members; nil for no limit.
  public let maximumCount: Int?
  /// Which side holds the reference.
  public let storage: Storage
  /// Whether the members of this to-many have an order that people give them.
  public let isOrdered: Bool
  /// Of an ordered to-many and the to-one that is its inverse: the attribute beside that to-one which holds the place
  /// among the members.
  public let position: PropertyNumber?

  init(
    destination: EntityNumber, inverse: PropertyNumber, isToMany: Bool, deleteRule: DeleteRule, minimumCount: Int?,
    maximumCount: Int?, storage: Storage, isOrdered: Bool = false, position: PropertyNumber? = nil
  ) {
    self.destination = destination
    self.inverse = inverse
    self.isToMany = isToMany
    self.deleteRule = deleteRule
    self.minimumCount = minimumCount
    self.maximumCount = maximumCount
    self.storage = storage
    self.isOrdered = isOrdered
    self.position = position
  }
}

/// A list of named values, which attributes of the kind `enumeration` take.
public struct Enumeration: Sendable, Hashable {
  /// What attributes call it by.
  public let name: String
  /// For people; empty when the file says nothing.
  public let documentation: String
  /// In the order of the file, which means nothing to queries: they compare names by bytes.
  public let cases: [String]
}

extension Entity {
  /// What is said to whoever takes a composite for a property; nil for a name that is none's.
  package func adviceOnComposite(_ name: String) -> String? {
    guard composites.contains(where: { $0.name == name }) else { return nil }
    let members = properties.map(\.name).filter { $0.hasPrefix(name + ".") }.joined(separator: ", ")
    return "\(self.name).\(name) is a composite: name one of its members, \(members)"
  }
}
