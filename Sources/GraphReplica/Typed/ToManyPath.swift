// Tests: TypedPredicateTests.swift
import GraphModel

extension ToManyPath where Cardinality: SingleCardinality {
  /// The members, with a comparison that at least one of them must satisfy.
  public var any: ObjectPath<Object, ManyValues> { quantified(.any) }

  /// The members, with a comparison that every one of them must satisfy; true if there are none.
  public var all: ObjectPath<Object, ManyValues> { quantified(.all) }

  /// The members, with a comparison that none of them may satisfy.
  public var none: ObjectPath<Object, ManyValues> { quantified(.none) }

  private func quantified(_ quantifier: GraphPredicate.Quantifier) -> ObjectPath<Object, ManyValues> {
    ObjectPath(way: way.following(property, isToMany: true, quantifier))
  }

  /// The object is a member.
  public func contains(_ object: Object) -> TypedPredicate { any == object }

  /// The number of members that satisfy a predicate, which may use paths of the enclosing objects.
  public func count(
    where predicate: @escaping (ObjectPath<Object, ExactlyOne>) -> TypedPredicate
  ) -> TypedExpression<Int64, CalculatedValue> {
    let hops = way.hops + [property]
    let scope = way.scope
    return TypedExpression { depth in
      let inner = predicate(ObjectPath(way: RelationshipPath(scope: depth + 1)))
      return .subquery(level: depth - scope, hops: hops, inner.build(depth + 1))
    }
  }

  /// At least one member satisfies the complete predicate. `any` would apply to each comparison separately.
  public func contains(where predicate: @escaping (ObjectPath<Object, ExactlyOne>) -> TypedPredicate) -> TypedPredicate
  {
    count(where: predicate) > 0
  }

  /// There are no members.
  public var isEmpty: TypedPredicate { count == 0 }
}

extension ToManyPath where Cardinality: QuantifiedCardinality {
  /// The members, under the `any`, `all` or `none` that the path already has.
  public var each: ObjectPath<Object, Cardinality> { ObjectPath(way: way.following(property, isToMany: true)) }
}

extension ToManyPath {
  /// The number of members.
  public var count: TypedExpression<Int64, Cardinality> { TypedExpression(way, .count(property)) }

  /// The smallest value of an attribute; null if there is none.
  public func min<Kind: OrderedKind>(
    _ attribute: (ObjectPath<Object, MemberAttribute>) -> TypedExpression<Kind, MemberAttribute>
  ) -> TypedExpression<Kind.ComparableKind, Cardinality.AfterOptional> { aggregate(.minimum, attribute) }

  /// The greatest value of an attribute; null if there is none.
  public func max<Kind: OrderedKind>(
    _ attribute: (ObjectPath<Object, MemberAttribute>) -> TypedExpression<Kind, MemberAttribute>
  ) -> TypedExpression<Kind.ComparableKind, Cardinality.AfterOptional> { aggregate(.maximum, attribute) }

  /// The sum of an attribute; 0 if there are no values.
  public func sum<Kind: NumberKind>(
    _ attribute: (ObjectPath<Object, MemberAttribute>) -> TypedExpression<Kind, MemberAttribute>
  ) -> TypedExpression<Kind, Cardinality> { aggregate(.sum, attribute) }

  /// The average of an attribute, nulls excluded; null if there are no values.
  public func average<Kind: NumberKind>(
    _ attribute: (ObjectPath<Object, MemberAttribute>) -> TypedExpression<Kind, MemberAttribute>
  ) -> TypedExpression<Kind.Average, Cardinality.AfterOptional> { aggregate(.average, attribute) }

  private func aggregate<Kind, Result, After>(
    _ aggregate: GraphPredicate.Aggregate,
    _ attribute: (ObjectPath<Object, MemberAttribute>) -> TypedExpression<Kind, MemberAttribute>
  ) -> TypedExpression<Result, After> {
    // Only an attribute of the member itself has this type.
    guard case .path(let path) = attribute(ObjectPath(way: RelationshipPath())).build(0),
      case .property(let number) = path.end
    else { preconditionFailure("an aggregate needs an attribute") }
    return TypedExpression(way, .aggregate(aggregate, property, attribute: number))
  }
}
