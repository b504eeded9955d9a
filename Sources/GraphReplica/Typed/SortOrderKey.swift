// Tests: TypedPredicateTests.swift
import GraphModel

/// A key of a typed sort order: a path, which sorts ascending, or a path with a direction. A list can mix them:
/// `[\.pinned.descending, \.number]`.
public protocol SortOrderKey {
  /// The sort key. A static function, like those of other paths.
  static func sortKey(_ key: Self) -> TypedSortKey
}

extension TypedSortKey: SortOrderKey {
  public static func sortKey(_ key: Self) -> TypedSortKey { key }
}

extension TypedExpression: SortOrderKey where Cardinality: SortableCardinality {
  /// Ascending, null first.
  public static func sortKey(_ key: Self) -> TypedSortKey { key.ascending }
}

extension CollatedText: SortOrderKey {
  /// Ascending, null first.
  public static func sortKey(_ key: Self) -> TypedSortKey { key.ascending }
}

extension [SortKey] {
  /// The sort order of a class's objects. Example: `[SortKey](Person.self, by: [\.age.descending, \.name])`.
  public init<Object: ManagedObject>(
    _ type: Object.Type, by keys: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey]
  ) {
    func sortKey(_ key: some SortOrderKey) -> TypedSortKey { Swift.type(of: key).sortKey(key) }
    self = keys.map { sortKey($0(ObjectPath(way: RelationshipPath()))).key }
  }
}
