import GraphModel

/// What a typed predicate compares and an order goes by: an attribute at the end of a path, or what is calculated of
/// such. The compiler knows its kind and whether it may be null.
public struct TypedExpression<Kind: PropertyKind, Reach: PathReach> {
  /// A path says how many subqueries lie between it and its object; that is known only when the predicate is whole. So
  /// an expression is made when its place is known: inside so many subqueries.
  let build: (_ depth: Int) -> GraphExpression
  let quantifier: GraphPredicate.Quantifier

  init(_ quantifier: GraphPredicate.Quantifier = .one, build: @escaping (Int) -> GraphExpression) {
    self.quantifier = quantifier
    self.build = build
  }

  init(_ way: PathWay, _ end: GraphPredicate.Path.End) {
    self.init(way.quantifier) { depth in .path(way.path(end, depth: depth)) }
  }

  /// An attribute of the object at the end of `path`. Generated code calls it.
  public init<Object, Before>(_ path: ObjectPath<Object, Before>, attribute: PropertyNumber) {
    self.init(path.way, .property(attribute))
  }

  /// A member of a composite attribute. Generated code calls it.
  public init<Composite, Before>(_ path: CompositePath<Composite, Before>, attribute: PropertyNumber) {
    self.init(path.way, .property(attribute))
  }
}

// MARK: - Functions

extension TypedExpression where Reach: SingleReach {
  func calling<Result>(_ function: GraphFunction, _ arguments: GraphExpression...) -> TypedExpression<
    Result, Calculated
  > {
    TypedExpression<Result, Calculated> { depth in .function(function, [build(depth)] + arguments) }
  }

  /// The value, or another one where it is null.
  public func ifNull(_ other: Kind.Plain) -> TypedExpression<Kind.Like, Calculated> {
    calling(.ifNull, .value(Kind.value(other)))
  }
}

extension TypedExpression where Reach: SingleReach {
  /// The value, or another expression's where it is null.
  public func ifNull<OtherKind, Other: SingleReach>(
    _ other: TypedExpression<OtherKind, Other>
  ) -> TypedExpression<Kind.Like, Calculated> where OtherKind.Like == Kind.Like {
    TypedExpression<Kind.Like, Calculated> { .function(.ifNull, [build($0), other.build($0)]) }
  }

  /// Another expression's value, or null where this one is null.
  public func given<OtherKind, Other: SingleReach>(
    _ other: TypedExpression<OtherKind, Other>
  ) -> TypedExpression<OtherKind.Like, Calculated> {
    TypedExpression<OtherKind.Like, Calculated> { .function(.given, [build($0), other.build($0)]) }
  }
}

extension TypedExpression where Kind == Bool, Reach: SingleReach {
  /// `true` or `false`.
  public var asText: TypedExpression<String, Calculated> { calling(.string) }
}

extension TypedExpression where Kind == DateTime, Reach: SingleReach {
  /// As RFC 3339 writes it, in UTC.
  public var asText: TypedExpression<String, Calculated> { calling(.string) }
}

extension TypedExpression where Kind == UniqueID, Reach: SingleReach {
  /// With its hyphens.
  public var asText: TypedExpression<String, Calculated> { calling(.string) }
}

extension TypedExpression where Kind: TextKind, Reach: SingleReach {
  /// In small letters.
  public var lowercased: TypedExpression<String, Calculated> { calling(.lowercase) }
  /// In capitals.
  public var uppercased: TypedExpression<String, Calculated> { calling(.uppercase) }
  /// Without case and diacritics, as `[cd]` compares.
  public var canonical: TypedExpression<String, Calculated> { calling(.canonical) }
  /// Without white space at either end.
  public var trimmed: TypedExpression<String, Calculated> { calling(.trimmed) }
  /// In Unicode scalars.
  public var length: TypedExpression<Int64, Calculated> { calling(.length) }
  /// The number that the text is; null for a text that is none.
  public var asInteger: TypedExpression<Int64, Calculated> { calling(.integer) }
  /// The number that the text is; null for a text that is none.
  public var asDouble: TypedExpression<Double, Calculated> { calling(.double) }
  /// The number that the text is; null for a text that is none.
  public var asDecimal: TypedExpression<DecimalValue, Calculated> { calling(.decimal) }
  /// The date that the text is, as RFC 3339 writes it; null for a text that is none.
  public var asDate: TypedExpression<DateTime, Calculated> { calling(.date) }
  /// The UUID that the text is, with its hyphens; null for a text that is none.
  public var asUniqueID: TypedExpression<UniqueID, Calculated> { calling(.uuid) }
  /// The bytes that the text is in base64; null for a text that is none.
  public var asData: TypedExpression<[UInt8], Calculated> { calling(.data) }

  /// Both, one behind the other.
  public static func + (left: Self, right: String) -> TypedExpression<String, Calculated> {
    left.calling(.concat, .value(.string(right)))
  }

  /// Both, one behind the other.
  public static func + <OtherKind: TextKind, Other: SingleReach>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedExpression<String, Calculated> {
    TypedExpression<String, Calculated> { .function(.concat, [left.build($0), right.build($0)]) }
  }
}

extension TypedExpression where Kind: NumberKind, Reach: SingleReach {
  /// Without its sign.
  public var absolute: TypedExpression<Kind, Calculated> { calling(.abs) }
  /// As people write it.
  public var asText: TypedExpression<String, Calculated> { calling(.string) }
}

extension TypedExpression where Kind == Int64, Reach: SingleReach {
  /// The same number as a `Double`.
  public var asDouble: TypedExpression<Double, Calculated> { calling(.double) }
  /// The same number as a `DecimalValue`.
  public var asDecimal: TypedExpression<DecimalValue, Calculated> { calling(.decimal) }

  /// What is left of a division, with the sign of the dividend; null for a division by zero.
  public static func % (left: Self, right: Int64) -> TypedExpression<Int64, Calculated> {
    left.calling(.modulus, .value(.integer(right)))
  }
}

extension TypedExpression where Kind == Double, Reach: SingleReach {
  /// The nearest whole number; halves go away from zero.
  public var rounded: TypedExpression<Double, Calculated> { calling(.round) }
  /// The next whole number that is not smaller.
  public var roundedUp: TypedExpression<Double, Calculated> { calling(.ceiling) }
  /// The next whole number that is not greater.
  public var roundedDown: TypedExpression<Double, Calculated> { calling(.floor) }
  /// Without its fraction.
  public var truncated: TypedExpression<Double, Calculated> { calling(.trunc) }
  /// Null for a negative number.
  public var squareRoot: TypedExpression<Double, Calculated> { calling(.sqrt) }
  /// Without its fraction, as a whole number; null beyond 64 bits.
  public var asInteger: TypedExpression<Int64, Calculated> { calling(.integer) }

  /// To a whole power; null for another.
  public func power(_ exponent: Double) -> TypedExpression<Double, Calculated> {
    calling(.power, .value(.double(exponent)))
  }
}

extension TypedExpression where Kind == DecimalValue, Reach: SingleReach {
  /// What is left of a division, with the sign of the dividend; null for a division by zero.
  public static func % (left: Self, right: DecimalValue) -> TypedExpression<DecimalValue, Calculated> {
    left.calling(.modulus, .value(.decimal(right)))
  }

  /// The nearest whole number; halves go away from zero.
  public var rounded: TypedExpression<DecimalValue, Calculated> { calling(.round) }
  /// The next whole number that is not smaller.
  public var roundedUp: TypedExpression<DecimalValue, Calculated> { calling(.ceiling) }
  /// The next whole number that is not greater.
  public var roundedDown: TypedExpression<DecimalValue, Calculated> { calling(.floor) }
  /// Without its fraction.
  public var truncated: TypedExpression<DecimalValue, Calculated> { calling(.trunc) }
  /// The nearest `Double`.
  public var asDouble: TypedExpression<Double, Calculated> { calling(.double) }
  /// Without its fraction, as a whole number; null beyond 64 bits.
  public var asInteger: TypedExpression<Int64, Calculated> { calling(.integer) }
}
