import GraphModel
import GraphWire

/// A condition that the compiler has checked against the model: every name is one of its properties, every value has
/// its property's type, and nil is compared only with what may be null.
///
/// It is written as a closure over an ``ObjectPath``, and becomes a `GraphPredicate` without any text between.
public struct TypedPredicate {
  /// Inside so many subqueries.
  let build: (_ depth: Int) -> GraphPredicate

  init(build: @escaping (Int) -> GraphPredicate) { self.build = build }

  /// Every object.
  public static var always: TypedPredicate { TypedPredicate { _ in .always } }
  /// No object.
  public static var never: TypedPredicate { TypedPredicate { _ in .never } }

  /// Both hold.
  public static func && (left: TypedPredicate, right: TypedPredicate) -> TypedPredicate {
    TypedPredicate { depth in
      let (left, right) = (left.build(depth), right.build(depth))
      if case .and(let parts) = left { return .and(parts + [right]) }
      return .and([left, right])
    }
  }

  /// At least one of them holds.
  public static func || (left: TypedPredicate, right: TypedPredicate) -> TypedPredicate {
    TypedPredicate { depth in
      let (left, right) = (left.build(depth), right.build(depth))
      if case .or(let parts) = left { return .or(parts + [right]) }
      return .or([left, right])
    }
  }

  /// It does not hold.
  public static prefix func ! (predicate: TypedPredicate) -> TypedPredicate {
    TypedPredicate { depth in .not(predicate.build(depth)) }
  }
}

extension GraphPredicate {
  /// What a closure says of the objects of a class: `GraphPredicate(Person.self) { $0.age > 30 }`.
  public init<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, Here>) -> TypedPredicate
  ) {
    self = predicate(ObjectPath(way: PathWay())).build(0)
  }
}

// MARK: - Orders

/// A key of an order that the compiler has checked: `\.created.descending`.
public struct TypedSortKey: Sendable {
  let key: SortKey
}

/// An order of strings for people, before its direction is said.
public struct CollatedText {
  let path: GraphPredicate.Path
  let collation: Collation

  /// `a` before `z`.
  public var ascending: TypedSortKey { TypedSortKey(key: SortKey(path, collation: collation)) }
  /// `z` before `a`.
  public var descending: TypedSortKey { TypedSortKey(key: SortKey(path, ascending: false, collation: collation)) }
}

extension TypedExpression where Reach: SortableReach {
  var path: GraphPredicate.Path {
    // Everything else has another reach.
    guard case .path(let path) = build(0) else { preconditionFailure("an order goes by paths") }
    return path
  }

  /// The least value first, null before it.
  public var ascending: TypedSortKey { TypedSortKey(key: SortKey(path)) }
  /// The greatest value first, null at the end.
  public var descending: TypedSortKey { TypedSortKey(key: SortKey(path, ascending: false)) }
}

extension TypedExpression where Kind: TextKind, Reach: SortableReach {
  /// As people order texts: see `Collation`.
  public var localized: CollatedText { CollatedText(path: path, collation: .localized) }
  /// The same, and `9` before `10`.
  public var natural: CollatedText { CollatedText(path: path, collation: .natural) }
}

extension [SortKey] {
  /// The order of a class's objects: `[SortKey](Person.self, [\.name.localized.ascending, \.age.descending])`.
  public init<Object: ManagedObject>(
    _ type: Object.Type, _ keys: [(ObjectPath<Object, Here>) -> TypedSortKey]
  ) {
    self = keys.map { $0(ObjectPath(way: PathWay())).key }
  }
}

extension ObjectContext {
  /// The objects of a live query as they are now, in the given order.
  public func result<Object: ManagedObject>(
    of query: QueryID, as type: Object.Type, sort: [(ObjectPath<Object, Here>) -> TypedSortKey] = []
  ) -> [Object] {
    result(of: query, sort: [SortKey](type, sort)).compactMap { $0 as? Object }
  }
}
