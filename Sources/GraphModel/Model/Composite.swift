/// A group of attributes that belong together, such as an address: declared once, used by any number of entities.
///
/// An entity that has one as `home` has a property of its own for each member, `home.street`, with a number, a slot and
/// conflicts of its own: two people who change street and city of one address don't meet.
public struct Composite: Sendable {
  /// One attribute of the group.
  public struct Member: Sendable {
    /// Its own name; an entity's property puts the composite attribute's name and a dot before it.
    public let name: String
    /// For people; empty when the file says nothing.
    public let documentation: String
    /// As the composite says. Where the composite attribute is optional, every member is.
    public let isOptional: Bool
    /// What its values are like.
    public let attribute: Attribute
  }

  /// What composite attributes call it by, and what the generated type is called.
  public let name: String
  /// For people; empty when the file says nothing.
  public let documentation: String
  /// In the order of the file.
  public let members: [Member]
}

/// A composite as an entity has it.
public struct CompositeAttribute: Sendable {
  /// The first half of its properties' names.
  public let name: String
  /// The name of the `Composite`.
  public let composite: String
  /// For people; empty when the file says nothing.
  public let documentation: String
  /// The entity that declares it.
  public let owner: EntityNumber
  /// Whether all of it may be null.
  public let isOptional: Bool
  /// The properties that it comes to, in the order of the composite.
  public let members: [PropertyNumber]
}
