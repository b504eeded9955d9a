import GraphModel

extension ToManyPath where Reach: SingleReach {
  /// Holds when it holds for at least one of the objects.
  public var any: ObjectPath<Object, Each> { quantified(.any) }

  /// Holds when it holds for every one of the objects, or there is none.
  public var all: ObjectPath<Object, Each> { quantified(.all) }

  /// Holds when it holds for not one of the objects.
  public var none: ObjectPath<Object, Each> { quantified(.none) }

  private func quantified(_ quantifier: GraphPredicate.Quantifier) -> ObjectPath<Object, Each> {
    ObjectPath(way: way.following(property, isToMany: true, quantifier))
  }

  /// The object is one of them.
  public func contains(_ object: Object) -> TypedPredicate { any == object }

  /// How many of them satisfy a predicate. Paths of the objects around it may be used in it.
  public func count(
    where predicate: @escaping (ObjectPath<Object, Here>) -> TypedPredicate
  ) -> TypedExpression<Int64, Calculated> {
    let hops = way.hops + [property]
    let scope = way.scope
    return TypedExpression { depth in
      let inner = predicate(ObjectPath(way: PathWay(scope: depth + 1)))
      return .subquery(level: depth - scope, hops: hops, inner.build(depth + 1))
    }
  }

  /// At least one of them satisfies a predicate: one object all of it, where `any` asks for each comparison by itself.
  public func contains(where predicate: @escaping (ObjectPath<Object, Here>) -> TypedPredicate) -> TypedPredicate {
    count(where: predicate) > 0
  }

  /// None is there.
  public var isEmpty: TypedPredicate { count == 0 }
}

extension ToManyPath where Reach: QuantifiedReach {
  /// The objects, under the `any`, `all` or `none` that the path has already.
  public var each: ObjectPath<Object, Reach> { ObjectPath(way: way.following(property, isToMany: true)) }
}

extension ToManyPath {
  /// How many there are.
  public var count: TypedExpression<Int64, Reach> { TypedExpression(way, .count(property)) }

  /// An attribute's least value; null when there is none.
  public func min<Kind: OrderedKind>(
    _ attribute: (ObjectPath<Object, OfMembers>) -> TypedExpression<Kind, OfMembers>
  ) -> TypedExpression<Kind.Like, Reach.IfThere> { aggregate(.minimum, attribute) }

  /// An attribute's greatest value; null when there is none.
  public func max<Kind: OrderedKind>(
    _ attribute: (ObjectPath<Object, OfMembers>) -> TypedExpression<Kind, OfMembers>
  ) -> TypedExpression<Kind.Like, Reach.IfThere> { aggregate(.maximum, attribute) }

  /// An attribute's sum; 0 when there is none.
  public func sum<Kind: NumberKind>(
    _ attribute: (ObjectPath<Object, OfMembers>) -> TypedExpression<Kind, OfMembers>
  ) -> TypedExpression<Kind, Reach> { aggregate(.sum, attribute) }

  /// An attribute's average, nulls left out; null when there is none.
  public func average<Kind: NumberKind>(
    _ attribute: (ObjectPath<Object, OfMembers>) -> TypedExpression<Kind, OfMembers>
  ) -> TypedExpression<Kind.Average, Reach.IfThere> { aggregate(.average, attribute) }

  private func aggregate<Kind, Result, After>(
    _ aggregate: GraphPredicate.Aggregate,
    _ attribute: (ObjectPath<Object, OfMembers>) -> TypedExpression<Kind, OfMembers>
  ) -> TypedExpression<Result, After> {
    // Nothing but an attribute of the object itself has this type.
    guard case .path(let path) = attribute(ObjectPath(way: PathWay())).build(0), case .property(let number) = path.end
    else { preconditionFailure("an aggregate is made of an attribute") }
    return TypedExpression(way, .aggregate(aggregate, property, attribute: number))
  }
}
