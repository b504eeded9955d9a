import GraphModel

/// The number of objects that a load path leads to. Load paths name the relationships to load with a result, and are
/// checked by the compiler: `[\.board, \.tags.each.owner]`. They are distinct from other paths: they can't form a
/// predicate, and may continue after a to-many.
public protocol LoadCardinality: PathCardinality {}

/// Leads to one object or none.
public enum ToOneLoad: LoadCardinality {
  public typealias AfterToOne = ToOneLoad
  public typealias AfterOptional = ToOneLoad
}

/// Leads to any number of objects.
public enum ToManyLoad: LoadCardinality {
  public typealias AfterToOne = ToManyLoad
  public typealias AfterOptional = ToManyLoad
}

/// A path that ends at objects, and can therefore be loaded.
public protocol LoadPath {
  /// The relationships of a path. A static function, because a path's members are the model's properties.
  static func hops(of path: Self) -> [PropertyNumber]
}

extension ObjectPath: LoadPath where Cardinality: LoadCardinality {
  public static func hops(of path: Self) -> [PropertyNumber] { path.way.hops }
}

extension ToManyPath: LoadPath where Cardinality: LoadCardinality {
  public static func hops(of path: Self) -> [PropertyNumber] { path.way.hops + [path.property] }
}

extension ToManyPath where Cardinality: LoadCardinality {
  /// The members, to continue from: `\.tags.each.owner`.
  public var each: ObjectPath<Object, ToManyLoad> {
    ObjectPath(way: way.following(property, isToMany: true))
  }
}

extension RelationshipTree {
  /// A tree of paths from the objects of a class.
  public init<Object: ManagedObject>(_ type: Object.Type, _ paths: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath]) {
    self.init(paths.map { Self.hops(of: $0(ObjectPath(way: RelationshipPath()))) })
  }

  /// A tree of one path from the objects of a class.
  public init<Object: ManagedObject, Path: LoadPath>(
    _ type: Object.Type, _ path: (ObjectPath<Object, ToOneLoad>) -> Path
  ) {
    self.init([Path.hops(of: path(ObjectPath(way: RelationshipPath())))])
  }

  private static func hops<Path: LoadPath>(of path: Path) -> [PropertyNumber] { Path.hops(of: path) }
}
