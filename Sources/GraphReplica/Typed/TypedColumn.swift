// Tests: TypedColumnTests.swift
import GraphModel

/// A column of typed rows: a value of each object, or an aggregate of a group of objects.
///
/// A closure over a class lists the columns, one per line, and ``RowBuilder`` gives each its type: an optional for
/// columns that may be null.
public struct TypedColumn<Output> {
  let value: RowRequest.ColumnValue
  /// Reads the column's value; nil for a value that is not of the column's type.
  let read: (Value) -> Output?

  init(_ value: RowRequest.ColumnValue, read: @escaping (Value) -> Output?) {
    self.value = value
    self.read = read
  }

  /// The column's smaller values first, null before them. For the order of groups.
  public var ascending: GroupSortKey { GroupSortKey(value, ascending: true) }
  /// The column's greater values first. For the order of groups.
  public var descending: GroupSortKey { GroupSortKey(value, ascending: false) }
}

// MARK: - Aggregates of groups

extension TypedExpression where Kind == ObjectID, Cardinality == ExactlyOne {
  /// The number of objects of a group: `$0.id.count`.
  public var count: TypedColumn<Int64> { TypedColumn(.count) { Int64.constant($0) } }
}

extension TypedExpression where Kind: OrderedKind, Cardinality: SingleCardinality {
  /// The smallest value of a group, nulls excluded; nil if there is none.
  public var minimum: TypedColumn<Kind.ColumnValue?> { aggregate(.minimum, Kind.columnValue) }
  /// The greatest value of a group, nulls excluded; nil if there is none.
  public var maximum: TypedColumn<Kind.ColumnValue?> { aggregate(.maximum, Kind.columnValue) }
}

extension TypedExpression where Kind: NumberKind, Cardinality: SingleCardinality {
  /// The sum of a group, 0 without values; nil where it is too large.
  public var sum: TypedColumn<Kind.ColumnValue?> { aggregate(.sum, Kind.columnValue) }
  /// The average of a group, nulls excluded; nil if there are no values.
  public var average: TypedColumn<Kind.Average.ColumnValue?> { aggregate(.average, Kind.Average.columnValue) }
}

extension TypedExpression where Cardinality: SingleCardinality {
  private func aggregate<Output>(
    _ aggregate: GraphPredicate.Aggregate, _ read: @escaping (Value) -> Output?
  ) -> TypedColumn<Output?> {
    TypedColumn(.aggregate(aggregate, build(0)), read: RowBuilder.orNil(read))
  }
}

// MARK: - The order of groups

/// A key of the order of groups: one of their columns.
public protocol GroupOrderKey {
  /// The column, and whether its smaller values come first.
  static func key(_ key: Self) -> GroupSortKey
}

/// A column that groups are ordered by: `{ $0.salary.average.descending }`.
public struct GroupSortKey: GroupOrderKey {
  let value: RowRequest.ColumnValue
  let ascending: Bool
  let collation: Collation?

  init(_ value: RowRequest.ColumnValue, ascending: Bool, collation: Collation? = nil) {
    self.value = value
    self.ascending = ascending
    self.collation = collation
  }

  public static func key(_ key: GroupSortKey) -> GroupSortKey { key }
}

extension TypedSortKey: GroupOrderKey {
  public static func key(_ key: TypedSortKey) -> GroupSortKey {
    GroupSortKey(.expression(.path(key.key.path)), ascending: key.key.ascending, collation: key.key.collation)
  }
}

extension TypedExpression: GroupOrderKey where Cardinality: SingleCardinality {
  /// Ascending, null first: `\.department.code`, `{ $0.hired.year }`.
  public static func key(_ key: Self) -> GroupSortKey { GroupSortKey(.expression(key.build(0)), ascending: true) }
}

extension [GroupSortKey] {
  /// The order of groups of a class's objects.
  package init<Object: ManagedObject>(
    _ type: Object.Type, _ keys: [(ObjectPath<Object, ExactlyOne>) -> any GroupOrderKey]
  ) {
    func key<Key: GroupOrderKey>(_ key: Key) -> GroupSortKey { Key.key(key) }
    self = keys.map { key($0(ObjectPath(way: RelationshipPath()))) }
  }
}
