/// How many values a typed path has for one object, and whether one of them may be null: known when the program is
/// compiled, so that a comparison with nil, an order or a calculation that makes no sense does not compile. These are
/// names for the compiler alone; nothing is ever made of them.
public protocol PathReach {
  /// Behind a required to-one relationship.
  associatedtype Followed: PathReach
  /// Behind something optional.
  associatedtype IfThere: PathReach
}

/// One value for each object: such paths can be calculated with.
public protocol SingleReach: PathReach {}
/// The value may be null.
public protocol NullableReach: PathReach {}
/// A path as it stands, which an order can go by.
public protocol SortableReach: SingleReach {}
/// Any number of values, under `any`, `all` or `none`.
public protocol QuantifiedReach: PathReach {}

/// There is exactly one value.
public enum Here: SortableReach {
  public typealias Followed = Here
  public typealias IfThere = Maybe
}

/// There is one value, or null: it is optional, or something before it on its path is.
public enum Maybe: SortableReach, NullableReach {
  public typealias Followed = Maybe
  public typealias IfThere = Maybe
}

/// One value that is calculated. Null where it can't be: of null, by zero, beyond the range.
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

/// An attribute of a to-many's own objects, which `sum` and the like are made of: nothing behind it can be followed.
public enum OfMembers: PathReach {
  public typealias Followed = Maybe
  public typealias IfThere = OfMembers
}
