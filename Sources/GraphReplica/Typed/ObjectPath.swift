// Tests: TypedPredicateTests.swift
import GraphModel

/// A path to an object, from which a typed predicate starts. Example: `$0` in `client.fetch(Person.self, where: {
/// $0.manager.name == "Ann" })`.
///
/// Its members are the properties that the model gives `Object`; graph-generate writes them, in an extension for each
/// entity, so that a subentity also has its parents' properties. Only `id` is declared here, because no other name
/// may collide with one of a model.
public struct ObjectPath<Object: ManagedObject, Cardinality: PathCardinality> {
  let way: RelationshipPath

  init(way: RelationshipPath) { self.way = way }

  /// A to-one relationship of the object at the end of `path`. For generated code.
  public init<Source, Before>(_ path: ObjectPath<Source, Before>, toOne property: PropertyNumber) {
    way = path.way.following(property, isToMany: false)
  }

  /// The object's id.
  public var id: TypedExpression<ObjectID, Cardinality> { TypedExpression(way, .identifier) }
}

/// A composite attribute of the object at the end of a path: its members are those of the composite.
public struct CompositePath<Composite, Cardinality: PathCardinality> {
  let way: RelationshipPath

  /// For generated code.
  public init<Object>(_ path: ObjectPath<Object, Cardinality>) { way = path.way }
}

/// A path to the objects of a to-many relationship. A condition states how many of them must satisfy it: with `any`,
/// `all`, `none`, `count`, an aggregate, or a predicate of their own.
public struct ToManyPath<Object: ManagedObject, Cardinality: PathCardinality> {
  let way: RelationshipPath
  let property: PropertyNumber

  /// A to-many relationship of the object at the end of `path`. For generated code.
  public init<Source, Before>(_ path: ObjectPath<Source, Before>, toMany property: PropertyNumber) {
    way = path.way
    self.property = property
  }
}

/// The relationships that a path follows, and the scope of the object that it starts from.
struct RelationshipPath {
  /// The number of subqueries around the object that the path starts from.
  var scope = 0
  var hops = [PropertyNumber]()
  var lastIsToMany = false
  var quantifier = GraphPredicate.Quantifier.one

  func following(
    _ property: PropertyNumber, isToMany: Bool, _ quantifier: GraphPredicate.Quantifier? = nil
  ) -> RelationshipPath {
    var way = self
    way.hops.append(property)
    way.lastIsToMany = isToMany
    if let quantifier { way.quantifier = quantifier }
    return way
  }

  /// The path and end that a path to an object is compared by. The end is the reference of its last to-one, or the
  /// objects' ids.
  var ownEnd: (way: RelationshipPath, end: GraphPredicate.Path.End) {
    guard let last = hops.last, !lastIsToMany else { return (self, .identifier) }
    var way = self
    way.hops.removeLast()
    return (way, .property(last))
  }

  func path(_ end: GraphPredicate.Path.End, depth: Int) -> GraphPredicate.Path {
    GraphPredicate.Path(level: depth - scope, hops: hops, end: end)
  }
}

// MARK: - Objects as values

extension ObjectPath {
  private func comparing(_ comparator: GraphPredicate.Comparator, _ right: GraphExpression) -> TypedPredicate {
    let (way, end) = way.ownEnd
    return TypedPredicate { depth in
      .comparison(GraphPredicate.Comparison(way.quantifier, way.path(end, depth: depth), comparator, right))
    }
  }

  /// Is the object, which the server must know: an unsaved object matches nothing.
  public static func == (left: Self, right: Object) -> TypedPredicate {
    left.comparing(.equal, .value(.object(right.id)))
  }

  /// Is another object, or none.
  public static func != (left: Self, right: Object) -> TypedPredicate {
    left.comparing(.notEqual, .value(.object(right.id)))
  }

  /// Both paths lead to the same object, or both to none.
  public static func == <Other: SingleCardinality>(left: Self, right: ObjectPath<Object, Other>) -> TypedPredicate {
    left.comparing(.equal, right)
  }

  /// The paths lead to two objects, or one of them to none.
  public static func != <Other: SingleCardinality>(left: Self, right: ObjectPath<Object, Other>) -> TypedPredicate {
    left.comparing(.notEqual, right)
  }

  private func comparing<Other>(
    _ comparator: GraphPredicate.Comparator, _ right: ObjectPath<Object, Other>
  ) -> TypedPredicate {
    let (left, right) = (way.ownEnd, right.way.ownEnd)
    return TypedPredicate { depth in
      .comparison(
        GraphPredicate.Comparison(
          left.way.quantifier, left.way.path(left.end, depth: depth), comparator,
          .path(right.way.path(right.end, depth: depth))))
    }
  }

  /// Is one of the objects; false for an empty sequence.
  public func isIn(_ objects: some Sequence<Object>) -> TypedPredicate {
    comparing(.in, .list(objects.map { .object($0.id) }))
  }
}

extension ObjectPath where Cardinality: NullableCardinality {
  /// There is no object.
  public static func == (left: Self, right: NullLiteral) -> TypedPredicate { left.comparing(.equal, .value(.null)) }

  /// There is an object.
  public static func != (left: Self, right: NullLiteral) -> TypedPredicate { left.comparing(.notEqual, .value(.null)) }
}

/// `nil`, as a typed predicate compares with it.
public struct NullLiteral: ExpressibleByNilLiteral, Sendable {
  public init(nilLiteral: ()) {}
}
