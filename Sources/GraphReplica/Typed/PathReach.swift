/// How many values a typed path has for one object, and whether one of them may be null. Known at compile time, so
/// that a meaningless comparison with nil, sort order or calculation does not compile. These types exist for the
/// compiler only, and are never instantiated.
public protocol PathReach {
  /// The reach after a required to-one relationship.
  associatedtype Followed: PathReach
  /// The reach after an optional property.
  associatedtype IfThere: PathReach
}

/// One value for each object: such paths can be used in calculations.
public protocol SingleReach: PathReach {}
/// The value may be null.
public protocol NullableReach: PathReach {}
/// A plain path, which a sort order can use.
public protocol SortableReach: SingleReach {}
/// Any number of values, under `any`, `all` or `none`.
public protocol QuantifiedReach: PathReach {}

/// Exactly one value.
public enum Here: SortableReach {
  public typealias Followed = Here
  public typealias IfThere = Maybe
}

/// One value, or null: the property, or one before it on its path, is optional.
public enum Maybe: SortableReach, NullableReach {
  public typealias Followed = Maybe
  public typealias IfThere = Maybe
}

/// One calculated value; null where it can't be calculated: from null, by zero, or out of range.
public enum Calculated: SingleReach, NullableReach {
  public typealias Followed = Calculated
  public typealias IfThere = Calculated
}

/// Values of many objects.
public enum Each: QuantifiedReach {
  public typealias Followed = Each
  public typealias IfThere = EachMaybe
}

/// Values of many objects, some of which may be null.
public enum EachMaybe: QuantifiedReach, NullableReach {
  public typealias Followed = EachMaybe
  public typealias IfThere = EachMaybe
}

/// An attribute of a to-many's members, as `sum` and other aggregates use it; the path ends there.
public enum OfMembers: PathReach {
  public typealias Followed = Maybe
  public typealias IfThere = OfMembers
}
