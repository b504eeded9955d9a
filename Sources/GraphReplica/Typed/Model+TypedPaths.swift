// Tests: TypedPredicateTests.swift, LoadPathTests.swift
import GraphModel

/// The properties of a model by the typed paths of its classes, for programs that work with images and changes. The
/// compiler checks the names, as it does in predicates.
extension Model {
  /// The attribute at a path: `model.property(Person.self, \.name)`.
  public func property<Object: ManagedObject, Kind, Cardinality: SortableCardinality>(
    _ type: Object.Type, _ path: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Kind, Cardinality>
  ) -> Property {
    guard case .property(let number) = path(ObjectPath(way: RelationshipPath())).path.end else {
      preconditionFailure("the path of \(type) ends at no property")
    }
    return property(number, of: type)
  }

  /// The to-one relationship at a path: `model.property(Person.self, \.manager)`.
  public func property<Object: ManagedObject, Destination, Cardinality>(
    _ type: Object.Type, _ path: (ObjectPath<Object, ExactlyOne>) -> ObjectPath<Destination, Cardinality>
  ) -> Property {
    guard let number = path(ObjectPath(way: RelationshipPath())).way.hops.last else {
      preconditionFailure("the path of \(type) has no relationship")
    }
    return property(number, of: type)
  }

  /// The to-many relationship at a path: `model.property(Person.self, \.projects)`.
  public func property<Object: ManagedObject, Member, Cardinality>(
    _ type: Object.Type, _ path: (ObjectPath<Object, ExactlyOne>) -> ToManyPath<Member, Cardinality>
  ) -> Property {
    property(path(ObjectPath(way: RelationshipPath())).property, of: type)
  }

  private func property(_ number: PropertyNumber, of type: ManagedObject.Type) -> Property {
    guard let property = property(number) else {
      preconditionFailure("the model \(name) has no property \(number), which \(type) declares")
    }
    return property
  }
}
