/// A data model: entities, their properties and rules. It was validated as a whole, is immutable and can be shared.
///
/// Entities and properties are numbered in the order of their names, so equal models in files of different order get
/// the same numbers. Wire messages and the store refer to them by number.
public final class Model: Sendable {
  /// The name in the file, which `stickiesd --version` and refusals mention.
  public let name: String
  /// The version number in the file's name, from 1.
  public let version: Int
  /// Documentation for people; not part of the hash.
  public let documentation: String
  /// The enumerations, in the order of the file.
  public let enumerations: [Enumeration]
  /// The composites, in the order of the file.
  public let composites: [Composite]
  /// The entities, in the order of the file.
  public let entities: [Entity]
  /// The hash that two programs must have in common to exchange objects.
  public let hash: ModelHash
  /// The text of the file, for clients without a copy.
  public let source: String

  /// The mappings for the migration from the previous version, in the order of the file.
  public let mappings: [Mapping]

  /// The parsed predicates and expressions: rules, derivations, fetch requests.
  let parts: CompiledModelExpressions
  private let entitiesByNumber: [Entity]
  private let propertiesByNumber: [Property]

  init(
    name: String, version: Int, documentation: String, enumerations: [Enumeration], entities: [Entity], source: String,
    composites: [Composite] = [], parts: CompiledModelExpressions = CompiledModelExpressions(), mappings: [Mapping] = []
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
      for property in entity.allProperties { properties[property.number] = property }
    }
    propertiesByNumber = properties.values.sorted { $0.number < $1.number }
    hash = ModelHash(of: entitiesByNumber, enumerations: enumerations)
    precondition(
      entitiesByNumber.enumerated().allSatisfy { Int($1.number) == $0 + 1 },
      "entities are numbered from 1, without gaps")
    precondition(
      propertiesByNumber.enumerated().allSatisfy { Int($1.number) == $0 + 1 },
      "properties are numbered from 1, without gaps")
  }

  /// The entity with that number; nil if there is none.
  public func entity(_ number: EntityNumber) -> Entity? {
    number >= 1 && number <= entitiesByNumber.count ? entitiesByNumber[Int(number) - 1] : nil
  }

  /// The entity of that name, with case respected; nil if there is none.
  public func entity(named name: String) -> Entity? { entities.first { $0.name == name } }

  /// An entity and its subentities; none for an unknown entity.
  func family(of entity: EntityNumber) -> [EntityNumber] {
    if let entity = self.entity(entity) { entity.family } else { [] }
  }

  /// The stored properties of an entity; none for an unknown entity. History may name entities that were removed.
  package func storedProperties(of entity: EntityNumber) -> [Property] {
    if let entity = self.entity(entity) { entity.storedProperties } else { [] }
  }

  /// The property's name after that of the entity that declares it: `Person.age`.
  package func qualifiedName(of property: Property) -> String { "\(owner(of: property).name).\(property.name)" }

  /// The entity that declares a property of this model.
  package func owner(of property: Property) -> Entity { ownEntity(property.owner) }

  /// The entity that declares a uniqueness constraint of `entity`; its complete family shares the constraint.
  public func owner(of constraint: [PropertyNumber], in entity: Entity) -> Entity {
    var owner = entity
    while let parent = owner.parent.flatMap({ self.entity($0) }), parent.uniquenessConstraints.contains(constraint) {
      owner = parent
    }
    return owner
  }

  /// The property with that number; nil if there is none.
  public func property(_ number: PropertyNumber) -> Property? {
    number >= 1 && number <= propertiesByNumber.count ? propertiesByNumber[Int(number) - 1] : nil
  }

  /// The number of properties in the model; their numbers are 1 to this.
  public var propertyCount: Int { propertiesByNumber.count }
}

/// An entity: a type of objects. Like all parts of a model it is a class, because it is immutable and used everywhere.
public final class Entity: Sendable {
  /// The number, from 1, in the order of the names.
  public let number: EntityNumber
  /// The name; unique in the model, ignoring case.
  public let name: String
  /// The name in an earlier version; nil if it is the same.
  public let renamed: String?
  /// Documentation for people; empty if the file has none.
  public let documentation: String
  /// Whether only its subentities can have objects.
  public let isAbstract: Bool
  /// The parent entity; nil for a root.
  public let parent: EntityNumber?
  /// The topmost ancestor, or the entity itself. All entities with the same root share a table.
  public let root: EntityNumber
  /// This entity and all its descendants, by number.
  public let family: [EntityNumber]
  /// The properties, inherited ones first, then its own in the order of the file. Without hidden ones.
  public let properties: [Property]
  /// The properties, and the hidden attribute with the scope, which no program names.
  package let allProperties: [Property]
  /// The path to an object's scope; nil for objects without one.
  public let scope: EntityScope?
  /// The unique keys, inherited ones included: no two objects share the values of all properties of a list.
  public let uniquenessConstraints: [[PropertyNumber]]
  /// The number of slots in an object's image.
  public let slotCount: Int
  /// The properties with a slot in an object's image, in slot order.
  public let storedProperties: [Property]
  /// The attributes, inherited ones first.
  public let attributes: [Property]
  /// The relationships, inherited ones first.
  public let relationships: [Property]
  /// The composite attributes, inherited ones first; their members are ordinary properties.
  public let composites: [CompositeAttribute]
  /// The properties that the server assigns.
  public let assignedProperties: [Property]
  /// A new object's values before any edit, by slot: defaults, null, no members.
  public let initialValues: [Value]
  /// The initial values without the defaults.
  public let emptyValues: [Value]
  /// Which values of each slot need a check of the property's rules, by slot.
  let ruleChecks: [RuleCheck]
  /// Whether a to-many has a minimum count above 0.
  let hasMinimumCounts: Bool
  /// The property numbers in ascending order; `propertiesByNumber` has the same order.
  private let numbers: [PropertyNumber]
  private let propertiesByNumber: [Property]
  /// The maximum number of parts in a property's name, which dots separate.
  let maximumNameParts: Int

  init(
    number: EntityNumber, name: String, documentation: String, isAbstract: Bool, parent: EntityNumber?,
    root: EntityNumber, family: [EntityNumber], properties: [Property], uniquenessConstraints: [[PropertyNumber]],
    slotCount: Int, composites: [CompositeAttribute] = [], renamed: String? = nil, scope: EntityScope? = nil
  ) {
    self.renamed = renamed
    self.scope = scope
    self.number = number
    self.name = name
    self.documentation = documentation
    self.isAbstract = isAbstract
    self.parent = parent
    self.root = root
    self.family = family
    allProperties = properties
    let properties = properties.filter { !$0.isHidden }
    self.properties = properties
    self.uniquenessConstraints = uniquenessConstraints
    self.slotCount = slotCount
    self.composites = composites
    storedProperties = allProperties.compactMap { property in property.slot.map { (slot: $0, property: property) } }
      .sorted { $0.slot < $1.slot }.map(\.property)
    attributes = properties.filter { $0.attribute != nil }
    relationships = properties.filter { $0.relationship != nil }
    assignedProperties = properties.filter { $0.attribute?.assignment != nil }
    emptyValues = storedProperties.map { $0.relationship?.storage == .members ? .objects([]) : .null }
    initialValues = zip(storedProperties, emptyValues).map { property, empty in
      property.attribute.flatMap { $0.checked($0.defaultValue) } ?? empty
    }
    ruleChecks = storedProperties.map { RuleCheck($0) }
    hasMinimumCounts = relationships.contains { $0.requiresMembers }
    propertiesByNumber = allProperties.sorted { $0.number < $1.number }
    numbers = propertiesByNumber.map(\.number)
    precondition(
      storedProperties.count == slotCount && storedProperties.enumerated().allSatisfy { $1.slot == $0 },
      "each slot of \(name) has one property")
    maximumNameParts = properties.reduce(1) { most, property in max(most, 1 + property.name.count { $0 == "." }) }
  }

  /// The own or inherited property of that name; nil if there is none.
  public func property(named name: String) -> Property? { properties.first { $0.name == name } }

  /// The own or inherited property with that number; nil if there is none.
  public func property(_ number: PropertyNumber) -> Property? {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == number ? propertiesByNumber[low] : nil
  }

  /// Whether the entity is `other` or inherits from it.
  public func isKind(of other: Entity) -> Bool { other.family.contains(number) }
}

/// An attribute or a relationship.
public final class Property: Sendable {
  /// The kind of property: an attribute or a relationship.
  public enum Kind: Sendable {
    /// An attribute with a value.
    case attribute(Attribute)
    /// A relationship to one or many objects, which have the inverse.
    case relationship(Relationship)
  }

  /// The number, from 1; inherited properties keep it.
  public let number: PropertyNumber
  /// The name, unique within an entity and its ancestors, ignoring case. A composite's member has a dot:
  /// `home.street`.
  public let name: String
  /// The name in an earlier version; nil if it is the same.
  public let renamed: String?
  /// Documentation for people; empty if the file has none.
  public let documentation: String
  /// The entity that declares it.
  public let owner: EntityNumber
  /// The index of the value in images of its entity and all subentities. Slots are in the order of the names within
  /// the declaring entity. Nil for a transient attribute, and for a relationship that only the inverse stores.
  public let slot: Int?
  /// Whether null is allowed in a committed graph.
  public let isOptional: Bool
  /// The kind of property, with its details.
  public let kind: Kind

  /// The attribute's details; nil for a relationship. Stored beside `kind`, because almost all callers need one of
  /// the two.
  public let attribute: Attribute?
  /// The relationship's details; nil for an attribute.
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

  /// Whether the property is the hidden attribute with an object's scope.
  package var isHidden: Bool { attribute?.derivation?.isScope == true }

  /// Whether the property is a to-many with a minimum above zero.
  var requiresMembers: Bool {
    if let minimum = relationship?.minimumCount { minimum > 0 } else { false }
  }
}

/// The type and rules of an attribute's values; docs/model-format.md describes each member.
public final class Attribute: Sendable {
  /// The type; the raw values are used in the model file and in the wire protocol's dictionary.
  public enum Kind: String, Sendable, CaseIterable {
    /// True or false.
    case bool
    /// Numbers: 64-bit integers, finite floating-point numbers, and exact decimals of up to 38 digits.
    case integer, double, decimal
    /// A string, which edits replace as a whole.
    case string
    /// A point in time, to the microsecond.
    case date
    /// A UUID that clients supply.
    case uuid
    /// Bytes.
    case data
    /// A text with a scheme, a colon and no spaces.
    case uri
    /// The name of one of the attribute's cases.
    case enumeration
    /// A JSON document, stored as one line of text and replaced as a whole; never JSON's `null`.
    case json
    /// A text whose concurrent edits merge character by character.
    case text
  }

  /// The rule by which the server assigns the value, at insert or at each change.
  public enum Assignment: String, Sendable, CaseIterable {
    /// A number 1, 2, 3 … at insert: rising, and never used twice.
    case sequence
    /// The id of the principal that inserts the object; never changed.
    case creator
    /// The time of the insert, and of the last change; an import may supply others at insert.
    case created, updated
    /// The position among the members of an ordered relationship; it belongs to the member's to-one.
    case position

    /// The assignments that a model file may name.
    public static let allCases: [Assignment] = [.sequence, .created, .updated, .creator]
  }

  /// The type of its values.
  public let kind: Kind
  /// The value of an insert that does not set the attribute; null for no default.
  public let defaultValue: Value
  /// The minimum; null for none.
  public let minimum: Value
  /// The maximum; null for none.
  public let maximum: Value
  /// The minimum length in bytes, of UTF-8 for strings; nil for none.
  public let minimumLength: Int?
  /// The maximum length in bytes, of UTF-8 for strings; nil for none.
  public let maximumLength: Int?
  /// The text of a regular expression that the complete string must match; nil for none.
  public let pattern: String?
  /// The allowed names, for an enumeration.
  public let cases: [String]
  /// The name of the enumeration; nil for other kinds.
  public let enumeration: String?
  /// The rule by which the server assigns the value; nil if clients set it.
  public let assignment: Assignment?
  /// Whether the store has an index on it, for predicates and orders.
  public let isIndexed: Bool
  /// Whether it has a full-text index, for `SEARCH`.
  public let isFullText: Bool
  /// Whether only a context holds the value: it is never stored or sent, and has no slot.
  public let isTransient: Bool
  /// The source of a derived value; nil if the attribute is not derived.
  public let derivation: Derivation?

  /// The compiled `pattern`.
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

/// One end of a pair of references between objects; each end is the other's inverse.
public final class Relationship: Sendable {
  /// The effect of an object's delete on the objects at the other end.
  public enum DeleteRule: String, Sendable, CaseIterable {
    /// Their references are removed; refused where their to-one is required.
    case nullify
    /// They are deleted, too, by their own rules.
    case cascade
    /// The delete is refused while any of them remain.
    case deny
    /// The objects at the other end don't change; a delete that would leave a dangling reference is refused.
    case noAction
  }

  /// The side of the pair that stores the reference.
  public enum Storage: Sendable {
    /// A to-one: this side's row refers to the other object.
    case reference
    /// The side of a many-to-many that the model declares first: its row lists the members.
    case members
    /// The other side of such a pair. Its objects are found through the inverse, and are never part of an image.
    case inverse
  }

  /// The entity at the other end.
  public let destination: EntityNumber
  /// The relationship at the other end.
  public let inverse: PropertyNumber
  /// Whether it refers to any number of objects.
  public let isToMany: Bool
  /// The delete rule, applied to the final set of a transaction's deletes; `deny` is checked last.
  public let deleteRule: DeleteRule
  /// The minimum number of a to-many's members; nil for none.
  public let minimumCount: Int?
  /// The maximum number of a to-many's members; nil for none.
  public let maximumCount: Int?
  /// The side that stores the reference.
  public let storage: Storage
  /// Whether the members of this to-many have an order that users choose.
  public let isOrdered: Bool
  /// The attribute with the position among the members, for an ordered to-many and its inverse to-one.
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

/// A named list of values, for attributes of kind `enumeration`.
public struct Enumeration: Sendable, Hashable {
  /// The name, which attributes refer to.
  public let name: String
  /// Documentation for people; empty if the file has none.
  public let documentation: String
  /// The cases, in the order of the file. Queries ignore this order; they compare the names by bytes.
  public let cases: [String]
}

extension Entity {
  /// An advice for a name that is a composite instead of a property; nil if it is neither.
  package func adviceOnComposite(_ name: String) -> String? {
    guard composites.contains(where: { $0.name == name }) else { return nil }
    let members = properties.map(\.name).filter { $0.hasPrefix(name + ".") }.joined(separator: ", ")
    return "\(self.name).\(name) is a composite: name one of its members, \(members)"
  }
}
