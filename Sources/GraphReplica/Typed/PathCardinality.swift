// Tests: TypedPredicateTests.swift, TypedCompileErrorTests.swift

/// The number of values that a typed path has for one object, and whether one of them may be null. Known at compile
/// time, so that a meaningless comparison with nil, sort order or calculation does not compile. These types exist for
/// the compiler only, and are never instantiated.
public protocol PathCardinality {
  /// The reach after a required to-one relationship.
  associatedtype AfterToOne: PathCardinality
  /// The reach after an optional property.
  associatedtype AfterOptional: PathCardinality
}

/// One value for each object: such paths can be used in calculations.
public protocol SingleCardinality: PathCardinality {}
/// The value may be null.
public protocol NullableCardinality: PathCardinality {}
/// A plain path, which a sort order can use.
public protocol SortableCardinality: SingleCardinality {}
/// Any number of values, under `any`, `all` or `none`.
public protocol QuantifiedCardinality: PathCardinality {}

/// Exactly one value.
public enum ExactlyOne: SortableCardinality {
  public typealias AfterToOne = ExactlyOne
  public typealias AfterOptional = ZeroOrOne
}

/// One value, or null: the property, or one before it on its path, is optional.
public enum ZeroOrOne: SortableCardinality, NullableCardinality {
  public typealias AfterToOne = ZeroOrOne
  public typealias AfterOptional = ZeroOrOne
}

/// One calculated value; null where it can't be calculated: from null, by zero, or out of range.
public enum CalculatedValue: SingleCardinality, NullableCardinality {
  public typealias AfterToOne = CalculatedValue
  public typealias AfterOptional = CalculatedValue
}

/// Values of many objects.
public enum ManyValues: QuantifiedCardinality {
  public typealias AfterToOne = ManyValues
  public typealias AfterOptional = ManyNullableValues
}

/// Values of many objects, some of which may be null.
public enum ManyNullableValues: QuantifiedCardinality, NullableCardinality {
  public typealias AfterToOne = ManyNullableValues
  public typealias AfterOptional = ManyNullableValues
}

/// An attribute of a to-many's members, as `sum` and other aggregates use it; the path ends there.
public enum MemberAttribute: PathCardinality {
  public typealias AfterToOne = ZeroOrOne
  public typealias AfterOptional = MemberAttribute
}
