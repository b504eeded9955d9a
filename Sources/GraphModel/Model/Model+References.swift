/// Lookups of the numbers by which the parts of a model refer to each other. They cannot fail, because the linker has
/// checked these numbers. Look up a number from a file or a message with ``Model/entity(_:)``: it may be unknown.
extension Model {
  /// The entity that a part of this model refers to.
  package func ownEntity(_ number: EntityNumber) -> Entity {
    guard let entity = entity(number) else {
      preconditionFailure("the model \(name) has the entity that it refers to: \(number)")
    }
    return entity
  }

  /// The property that a part of this model refers to.
  package func ownProperty(_ number: PropertyNumber) -> Property {
    guard let property = property(number) else {
      preconditionFailure("the model \(name) has the property that it refers to: \(number)")
    }
    return property
  }

  /// The entity at the other end of a relationship of this model.
  package func destination(of relationship: Relationship) -> Entity { ownEntity(relationship.destination) }

  /// The relationship at the other end of a relationship of this model.
  package func inverse(of relationship: Relationship) -> Property { ownProperty(relationship.inverse) }

  /// The key of the container whose roles apply to an object. Nil for an object without a scope, to which only roles
  /// on the complete store apply.
  public func scope(of image: ObjectImage) -> UniqueID? {
    guard let entity = entity(image.id.entity), let scope = entity.scope else { return nil }
    return entity.scopeKey(of: image, scope)
  }

  /// An entity of this model and its subentities.
  package func family(of entity: Entity) -> [Entity] { entity.family.map { ownEntity($0) } }
}

/// Names for messages to users, also for a number that the model does not have: another program may have sent it.
extension Model {
  /// The entity's name; its number if the model does not have it.
  package func entityName(_ number: EntityNumber) -> String {
    if let entity = entity(number) { entity.name } else { "entity number \(number)" }
  }

  /// The property's name; its number if the model does not have it.
  package func propertyName(_ number: PropertyNumber) -> String {
    if let property = property(number) { property.name } else { "number \(number)" }
  }
}
