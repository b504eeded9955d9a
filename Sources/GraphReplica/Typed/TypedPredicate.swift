import GraphModel
import GraphWire

/// A condition that the compiler has checked against the model. Each name is one of its properties, each value has its
/// property's type, and nil is compared only with properties that may be null.
///
/// A program writes it as a closure over an ``ObjectPath``; it becomes a `GraphPredicate` without an intermediate
/// text form.
public struct TypedPredicate {
  /// Builds the predicate inside `depth` subqueries.
  let build: (_ depth: Int) -> GraphPredicate

  init(build: @escaping (Int) -> GraphPredicate) { self.build = build }

  /// Matches every object.
  public static var always: TypedPredicate { TypedPredicate { _ in .always } }
  /// Matches no object.
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

  /// The predicate does not hold.
  public static prefix func ! (predicate: TypedPredicate) -> TypedPredicate {
    TypedPredicate { depth in .not(predicate.build(depth)) }
  }
}

extension GraphPredicate {
  /// The predicate of a closure over the objects of a class. Example: `GraphPredicate(Person.self) { $0.age > 30 }`.
  public init<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate
  ) {
    self = predicate(ObjectPath(way: RelationshipPath())).build(0)
  }
}

// MARK: - Orders

/// A sort key that the compiler has checked: `\.created.descending`.
public struct TypedSortKey: Sendable {
  let key: SortKey
}

/// A text path with a collation; `ascending` or `descending` turns it into a sort key.
public struct CollatedText {
  let path: GraphPredicate.Path
  let collation: Collation

  /// `a` before `z`.
  public var ascending: TypedSortKey { TypedSortKey(key: SortKey(path, collation: collation)) }
  /// `z` before `a`.
  public var descending: TypedSortKey { TypedSortKey(key: SortKey(path, ascending: false, collation: collation)) }
}

extension TypedExpression where Cardinality: SortableCardinality {
  var path: GraphPredicate.Path {
    // Only a path has a sortable cardinality.
    guard case .path(let path) = build(0) else { preconditionFailure("an order consists of paths") }
    return path
  }

  /// Ascending, null first.
  public var ascending: TypedSortKey { TypedSortKey(key: SortKey(path)) }
  /// Descending, null last.
  public var descending: TypedSortKey { TypedSortKey(key: SortKey(path, ascending: false)) }
}

extension TypedExpression where Kind: TextKind, Cardinality: SortableCardinality {
  /// Sorts as people order texts: see `Collation`.
  public var localized: CollatedText { CollatedText(path: path, collation: .localized) }
  /// Sorts as people order texts, and `9` before `10`.
  public var natural: CollatedText { CollatedText(path: path, collation: .natural) }
}

extension [SortKey] {
  /// The sort order of a class's objects. Example: `[SortKey](Person.self, [\.name.localized.ascending,
  /// \.age.descending])`.
  public init<Object: ManagedObject>(
    _ type: Object.Type, _ keys: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey]
  ) {
    self = keys.map { $0(ObjectPath(way: RelationshipPath())).key }
  }
}

/// An attribute that is true or false is a condition by itself: `{ $0.pinned && $0.number > 3 }`, `{ !$0.pinned }`.
///
/// The operators have an overload for each side, and not one over a protocol of conditions: with it the compiler would
/// look for the types of both operands without a hint, and a long condition would take it seconds.
extension TypedExpression where Kind == Bool {
  /// `== true`, for `where: \.active.isTrue`.
  public var isTrue: TypedPredicate { comparing(.equal, true) }

  /// Not true: false or null.
  public static prefix func ! (attribute: Self) -> TypedPredicate { !attribute.isTrue }

  /// The attribute is true, and the condition holds.
  public static func && (left: Self, right: TypedPredicate) -> TypedPredicate { left.isTrue && right }

  /// The condition holds, and the attribute is true.
  public static func && (left: TypedPredicate, right: Self) -> TypedPredicate { left && right.isTrue }

  /// Both attributes are true.
  public static func && <Other>(left: Self, right: TypedExpression<Bool, Other>) -> TypedPredicate {
    left.isTrue && right.isTrue
  }

  /// The attribute is true, or the condition holds.
  public static func || (left: Self, right: TypedPredicate) -> TypedPredicate { left.isTrue || right }

  /// The condition holds, or the attribute is true.
  public static func || (left: TypedPredicate, right: Self) -> TypedPredicate { left || right.isTrue }

  /// At least one of the attributes is true.
  public static func || <Other>(left: Self, right: TypedExpression<Bool, Other>) -> TypedPredicate {
    left.isTrue || right.isTrue
  }
}

extension TypedExpression where Kind == Bool, Cardinality == ExactlyOne {
  /// `== false`, which an index serves.
  public static prefix func ! (attribute: Self) -> TypedPredicate { attribute == false }
}

extension ToManyPath where Cardinality: SingleCardinality {
  /// At least one member has an attribute that is true: `$0.members.contains { $0.remote }`.
  public func contains<Single: SingleCardinality>(
    where attribute: @escaping (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Single>
  ) -> TypedPredicate { contains { attribute($0).isTrue } }

  /// The number of members with an attribute that is true.
  public func count<Single: SingleCardinality>(
    where attribute: @escaping (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Single>
  ) -> TypedExpression<Int64, CalculatedValue> { count { attribute($0).isTrue } }
}
