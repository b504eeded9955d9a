// Tests: TypedPredicateTests.swift
import GraphModel

/// An operand of a typed predicate or sort order. It is an attribute at the end of a path, or a calculation from such
/// attributes. The compiler knows its kind, and whether it may be null.
public struct TypedExpression<Kind: PropertyKind, Cardinality: PathCardinality> {
  /// Builds the expression inside `depth` subqueries. A path states how many subqueries lie between it and its
  /// object, and that is known only when the predicate is complete.
  let build: (_ depth: Int) -> GraphExpression
  let quantifier: GraphPredicate.Quantifier

  init(_ quantifier: GraphPredicate.Quantifier = .one, build: @escaping (Int) -> GraphExpression) {
    self.quantifier = quantifier
    self.build = build
  }

  init(_ way: RelationshipPath, _ end: GraphPredicate.Path.End) {
    self.init(way.quantifier) { depth in .path(way.path(end, depth: depth)) }
  }

  /// An attribute of the object at the end of `path`. For generated code.
  public init<Object, Before>(_ path: ObjectPath<Object, Before>, attribute: PropertyNumber) {
    self.init(path.way, .property(attribute))
  }

  /// A member of a composite attribute. For generated code.
  public init<Composite, Before>(_ path: CompositePath<Composite, Before>, attribute: PropertyNumber) {
    self.init(path.way, .property(attribute))
  }
}

// MARK: - Functions

extension TypedExpression where Cardinality: SingleCardinality {
  func calling<Result>(_ function: GraphFunction, _ arguments: GraphExpression...) -> TypedExpression<
    Result, CalculatedValue
  > {
    TypedExpression<Result, CalculatedValue> { depth in .function(function, [build(depth)] + arguments) }
  }

  /// The value, or another one if it is null.
  public func ifNull(_ other: Kind.Constant) -> TypedExpression<Kind.ComparableKind, CalculatedValue> {
    calling(.ifNull, .value(Kind.value(other)))
  }
}

extension TypedExpression where Cardinality: SingleCardinality {
  /// The value, or another expression's if it is null.
  public func ifNull<OtherKind, Other: SingleCardinality>(
    _ other: TypedExpression<OtherKind, Other>
  ) -> TypedExpression<Kind.ComparableKind, CalculatedValue> where OtherKind.ComparableKind == Kind.ComparableKind {
    TypedExpression<Kind.ComparableKind, CalculatedValue> { .function(.ifNull, [build($0), other.build($0)]) }
  }

  /// Another expression's value, or null if this one is null.
  public func given<OtherKind, Other: SingleCardinality>(
    _ other: TypedExpression<OtherKind, Other>
  ) -> TypedExpression<OtherKind.ComparableKind, CalculatedValue> {
    TypedExpression<OtherKind.ComparableKind, CalculatedValue> { .function(.given, [build($0), other.build($0)]) }
  }
}

extension TypedExpression where Kind == Bool, Cardinality: SingleCardinality {
  /// `true` or `false`.
  public var asText: TypedExpression<String, CalculatedValue> { calling(.string) }
}

extension TypedExpression where Kind == DateTime, Cardinality: SingleCardinality {
  /// The date in the format of RFC 3339, in UTC.
  public var asText: TypedExpression<String, CalculatedValue> { calling(.string) }
}

extension TypedExpression where Kind == UniqueID, Cardinality: SingleCardinality {
  /// The UUID with its hyphens.
  public var asText: TypedExpression<String, CalculatedValue> { calling(.string) }
}

extension TypedExpression where Kind: TextKind, Cardinality: SingleCardinality {
  /// The text in lower case.
  public var lowercased: TypedExpression<String, CalculatedValue> { calling(.lowercase) }
  /// The text in upper case.
  public var uppercased: TypedExpression<String, CalculatedValue> { calling(.uppercase) }
  /// The text without case and diacritics, as `[cd]` compares.
  public var canonical: TypedExpression<String, CalculatedValue> { calling(.canonical) }
  /// The text without white space at either end.
  public var trimmed: TypedExpression<String, CalculatedValue> { calling(.trimmed) }
  /// The length in Unicode scalars.
  public var length: TypedExpression<Int64, CalculatedValue> { calling(.length) }
  /// The number that the text represents; null if it represents none.
  public var asInteger: TypedExpression<Int64, CalculatedValue> { calling(.integer) }
  /// The number that the text represents; null if it represents none.
  public var asDouble: TypedExpression<Double, CalculatedValue> { calling(.double) }
  /// The number that the text represents; null if it represents none.
  public var asDecimal: TypedExpression<DecimalValue, CalculatedValue> { calling(.decimal) }
  /// The date that the text represents in the format of RFC 3339; null if it represents none.
  public var asDate: TypedExpression<DateTime, CalculatedValue> { calling(.date) }
  /// The UUID that the text represents, with its hyphens; null if it represents none.
  public var asUniqueID: TypedExpression<UniqueID, CalculatedValue> { calling(.uuid) }
  /// The bytes that the text represents in base64; null if it represents none.
  public var asData: TypedExpression<[UInt8], CalculatedValue> { calling(.data) }

  /// The concatenation of both texts.
  public static func + (left: Self, right: String) -> TypedExpression<String, CalculatedValue> {
    left.calling(.concat, .value(.string(right)))
  }

  /// The concatenation of both texts.
  public static func + <OtherKind: TextKind, Other: SingleCardinality>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedExpression<String, CalculatedValue> {
    TypedExpression<String, CalculatedValue> { .function(.concat, [left.build($0), right.build($0)]) }
  }
}

extension TypedExpression where Kind: NumberKind, Cardinality: SingleCardinality {
  /// The absolute value.
  public var absolute: TypedExpression<Kind, CalculatedValue> { calling(.abs) }
  /// The number as people write it.
  public var asText: TypedExpression<String, CalculatedValue> { calling(.string) }
}

extension TypedExpression where Kind == Int64, Cardinality: SingleCardinality {
  /// The same number as a `Double`.
  public var asDouble: TypedExpression<Double, CalculatedValue> { calling(.double) }
  /// The same number as a `DecimalValue`.
  public var asDecimal: TypedExpression<DecimalValue, CalculatedValue> { calling(.decimal) }

  /// The remainder of a division, with the sign of the dividend; null for a division by zero.
  public static func % (left: Self, right: Int64) -> TypedExpression<Int64, CalculatedValue> {
    left.calling(.modulus, .value(.integer(right)))
  }
}

extension TypedExpression where Kind == Double, Cardinality: SingleCardinality {
  /// The nearest whole number; halves are rounded away from zero.
  public var rounded: TypedExpression<Double, CalculatedValue> { calling(.round) }
  /// The smallest whole number that is not smaller than the value.
  public var roundedUp: TypedExpression<Double, CalculatedValue> { calling(.ceiling) }
  /// The greatest whole number that is not greater than the value.
  public var roundedDown: TypedExpression<Double, CalculatedValue> { calling(.floor) }
  /// The value without its fraction.
  public var truncated: TypedExpression<Double, CalculatedValue> { calling(.trunc) }
  /// The square root; null for a negative number.
  public var squareRoot: TypedExpression<Double, CalculatedValue> { calling(.sqrt) }
  /// The value without its fraction, as a whole number; null beyond 64 bits.
  public var asInteger: TypedExpression<Int64, CalculatedValue> { calling(.integer) }

  /// The value to the power of a whole number; null for any other exponent.
  public func power(_ exponent: Double) -> TypedExpression<Double, CalculatedValue> {
    calling(.power, .value(.double(exponent)))
  }
}

extension TypedExpression where Kind == DecimalValue, Cardinality: SingleCardinality {
  /// The remainder of a division, with the sign of the dividend; null for a division by zero.
  public static func % (left: Self, right: DecimalValue) -> TypedExpression<DecimalValue, CalculatedValue> {
    left.calling(.modulus, .value(.decimal(right)))
  }

  /// The nearest whole number; halves are rounded away from zero.
  public var rounded: TypedExpression<DecimalValue, CalculatedValue> { calling(.round) }
  /// The smallest whole number that is not smaller than the value.
  public var roundedUp: TypedExpression<DecimalValue, CalculatedValue> { calling(.ceiling) }
  /// The greatest whole number that is not greater than the value.
  public var roundedDown: TypedExpression<DecimalValue, CalculatedValue> { calling(.floor) }
  /// The value without its fraction.
  public var truncated: TypedExpression<DecimalValue, CalculatedValue> { calling(.trunc) }
  /// The nearest `Double`.
  public var asDouble: TypedExpression<Double, CalculatedValue> { calling(.double) }
  /// The value without its fraction, as a whole number; null beyond 64 bits.
  public var asInteger: TypedExpression<Int64, CalculatedValue> { calling(.integer) }
}
