import GraphModel

/// The relationships that are loaded with a result, as paths that the compiler checks: `[\.board, \.tags.each.owner]`.
/// They are paths of their own kind: a predicate can't be made of them, and they may go on behind a to-many.
public protocol LoadReach: PathReach {}

/// It leads to one object, or to none.
public enum ToLoad: LoadReach {
  public typealias Followed = ToLoad
  public typealias IfThere = ToLoad
}

/// It leads to any number of objects.
public enum ToLoadEach: LoadReach {
  public typealias Followed = ToLoadEach
  public typealias IfThere = ToLoadEach
}

/// A path that ends at objects, and can therefore be loaded.
public protocol LoadPath {
  /// The relationships that it follows. A function of the type, because a path's members are the model's.
  static func hops(of path: Self) -> [PropertyNumber]
}

extension ObjectPath: LoadPath where Reach: LoadReach {
  public static func hops(of path: Self) -> [PropertyNumber] { path.way.hops }
}

extension ToManyPath: LoadPath where Reach: LoadReach {
  public static func hops(of path: Self) -> [PropertyNumber] { path.way.hops + [path.property] }
}

extension ToManyPath where Reach: LoadReach {
  /// The objects, to go on from: `\.tags.each.owner`.
  public var each: ObjectPath<Object, ToLoadEach> {
    ObjectPath(way: way.following(property, isToMany: true))
  }
}

extension RelationshipTree {
  /// Paths from the objects of a class.
  public init<Object: ManagedObject>(_ type: Object.Type, _ paths: [(ObjectPath<Object, ToLoad>) -> any LoadPath]) {
    self.init(paths.map { Self.hops(of: $0(ObjectPath(way: PathWay()))) })
  }

  /// One path from the objects of a class.
  public init<Object: ManagedObject, Path: LoadPath>(
    _ type: Object.Type, _ path: (ObjectPath<Object, ToLoad>) -> Path
  ) {
    self.init([Path.hops(of: path(ObjectPath(way: PathWay())))])
  }

  private static func hops<Path: LoadPath>(of path: Path) -> [PropertyNumber] { Path.hops(of: path) }
}

extension ObjectContext {
  /// What a path of to-ones leads to as this context has it; nil at the first that leads nowhere.
  public func object<Object: ManagedObject, Destination: ManagedObject>(
    at path: (ObjectPath<Object, ToLoad>) -> ObjectPath<Destination, ToLoad>, from object: Object
  ) -> Destination? {
    var place: ManagedObject? = object
    for hop in path(ObjectPath(way: PathWay())).way.hops { place = place?.object(hop, ManagedObject.self) }
    return place as? Destination
  }

  /// What a path of to-ones and a to-many behind them leads to as this context has it.
  public func objects<Object: ManagedObject, Destination: ManagedObject>(
    at path: (ObjectPath<Object, ToLoad>) -> ToManyPath<Destination, ToLoad>, from object: Object
  ) -> [Destination] {
    let path = path(ObjectPath(way: PathWay()))
    var place: ManagedObject? = object
    for hop in path.way.hops { place = place?.object(hop, ManagedObject.self) }
    return place?.objects(path.property, Destination.self) ?? []
  }
}
