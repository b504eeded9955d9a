/// A group of attributes that belong together, such as an address: declared once, used by any number of entities.
///
/// An entity with a composite attribute `home` has one property per member, such as `home.street`, each with its own
/// number, slot and conflicts: concurrent changes of the street and the city of an address merge.
public struct Composite: Sendable {
  /// One attribute of the group.
  public struct Member: Sendable {
    /// The member's name; the entity's property has the composite attribute's name and a dot in front.
    public let name: String
    /// Documentation for people; empty if the file has none.
    public let documentation: String
    /// Whether the composite declares the member optional; in an optional composite attribute all members are.
    public let isOptional: Bool
    /// The member's type and rules.
    public let attribute: Attribute
  }

  /// The name, which composite attributes refer to and the generated type has.
  public let name: String
  /// Documentation for people; empty if the file has none.
  public let documentation: String
  /// The members, in the order of the file.
  public let members: [Member]
}

/// An entity's attribute of a composite type.
public struct CompositeAttribute: Sendable {
  /// The name, which is the first part of its properties' names.
  public let name: String
  /// The name of the `Composite`.
  public let composite: String
  /// Documentation for people; empty if the file has none.
  public let documentation: String
  /// The entity that declares it.
  public let owner: EntityNumber
  /// Whether all members may be null.
  public let isOptional: Bool
  /// The properties for its members, in the order of the composite.
  public let members: [PropertyNumber]
}
