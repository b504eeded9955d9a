// Tests: TypedAssignmentTests.swift
import GraphModel

/// A property of an object and its new value, a constant: `$0.status.set(to: .done)`. A row of a batch consists of them.
public struct PropertyValue {
  package let property: PropertyNumber
  package let value: Value
}

/// A property of an object and its new value, which may be calculated from the object as it was:
/// `$0.salary.set(to: $0.salary * 2)`. A batch assigns it to many objects.
public struct PropertyAssignment {
  package let property: PropertyNumber
  package let value: GraphExpression
}

/// An attribute of the object that a batch changes, and not one of another object.
public enum OwnAttribute: SingleCardinality {
  public typealias AfterToOne = ExactlyOne
  public typealias AfterOptional = OwnOptionalAttribute
}

/// An attribute of the object that a batch changes, which may be null.
public enum OwnOptionalAttribute: SingleCardinality, NullableCardinality {
  public typealias AfterToOne = ZeroOrOne
  public typealias AfterOptional = OwnOptionalAttribute
}

/// The cardinalities of what a batch assigns to.
public protocol AssignableCardinality: SingleCardinality {}

extension OwnAttribute: AssignableCardinality {}
extension OwnOptionalAttribute: AssignableCardinality {}

extension TypedExpression where Cardinality: AssignableCardinality {
  private var property: PropertyNumber {
    // Only an attribute of the object itself has this cardinality.
    guard case .path(let path) = build(0), case .property(let number) = path.end, path.hops.isEmpty else {
      preconditionFailure("a batch assigns to attributes")
    }
    return number
  }

  /// Sets the attribute to a value.
  public func set(to value: Kind.Constant) -> PropertyValue {
    PropertyValue(property: property, value: Kind.value(value))
  }

  /// Sets the attribute to a value of Foundation's types.
  public func set<Constant: PredicateConstant>(to value: Constant) -> PropertyValue where Constant.Kind == Kind {
    PropertyValue(property: property, value: value.predicateValue)
  }

  /// Sets the attribute to the value of an expression over the object before the batch.
  public func set<OtherKind, Other: SingleCardinality>(
    to value: TypedExpression<OtherKind, Other>
  ) -> PropertyAssignment where OtherKind.ComparableKind == Kind.ComparableKind {
    PropertyAssignment(property: property, value: value.build(0))
  }
}

extension TypedExpression where Cardinality == OwnOptionalAttribute {
  /// Sets the attribute to null.
  public func set(to null: NullLiteral) -> PropertyValue { PropertyValue(property: property, value: .null) }

  /// Sets the attribute to a value, or to null.
  @_disfavoredOverload
  public func set(to value: Kind.Constant?) -> PropertyValue {
    PropertyValue(property: property, value: value.map(Kind.value) ?? .null)
  }

  /// Sets the attribute to a value of Foundation's types, or to null.
  @_disfavoredOverload
  public func set<Constant: PredicateConstant>(to value: Constant?) -> PropertyValue where Constant.Kind == Kind {
    PropertyValue(property: property, value: value.map(\.predicateValue) ?? .null)
  }
}

extension ObjectPath {
  /// Sets the to-one relationship of the batch's objects to an object, which the server must know.
  public func set(to object: Object) -> PropertyValue { set(to: object.id) }

  /// Sets the to-one relationship to the object of an id.
  public func set(to id: ObjectID) -> PropertyValue { setting(.object(id)) }

  fileprivate func setting(_ value: Value) -> PropertyValue {
    precondition(way.hops.count == 1, "a batch assigns to the relationships of its own objects, and not of others")
    return PropertyValue(property: way.hops[0], value: value)
  }
}

extension ObjectPath where Cardinality == ZeroOrOne {
  /// Sets the to-one relationship to no object.
  public func set(to null: NullLiteral) -> PropertyValue { setting(.null) }

  /// Sets the to-one relationship to an object, or to none.
  @_disfavoredOverload
  public func set(to object: Object?) -> PropertyValue { setting(object.map { .object($0.id) } ?? .null) }
}

/// Collects the values of a row, one a line.
@resultBuilder public enum RowValueBuilder {
  public static func buildBlock(_ values: PropertyValue...) -> [PropertyValue] { values }
}

/// Collects the assignments of a batch, one a line.
@resultBuilder public enum AssignmentBuilder {
  public static func buildExpression(_ assignment: PropertyAssignment) -> PropertyAssignment { assignment }
  /// A constant.
  public static func buildExpression(_ value: PropertyValue) -> PropertyAssignment {
    PropertyAssignment(property: value.property, value: .value(value.value))
  }
  /// All assignments.
  public static func buildBlock(_ assignments: PropertyAssignment...) -> [PropertyAssignment] { assignments }
}

extension [PropertyAssignment] {
  /// The assignments of a closure over the objects of a class.
  package init<Object: ManagedObject>(
    _ type: Object.Type, @AssignmentBuilder _ assignments: (ObjectPath<Object, OwnAttribute>) -> [PropertyAssignment]
  ) {
    self = assignments(ObjectPath(way: RelationshipPath()))
  }
}

extension [PropertyValue] {
  /// The values of a closure over the objects of a class and a row.
  package init<Object: ManagedObject, Row>(
    _ type: Object.Type, _ row: Row,
    @RowValueBuilder _ values: (ObjectPath<Object, OwnAttribute>, Row) throws -> [PropertyValue]
  ) rethrows {
    self = try values(ObjectPath(way: RelationshipPath()), row)
  }
}
