/// A request for rows of named values instead of objects: one row for each object, or for each group of objects.
public struct RowRequest: Hashable, Sendable {
  /// A column of a row.
  public struct Column: Hashable, Sendable {
    /// The name; unique among the columns.
    public var name: String
    /// The content of the column.
    public var value: ColumnValue

    /// Creates a column.
    public init(name: String, value: ColumnValue) {
      self.name = name
      self.value = value
    }
  }

  /// The content of a column.
  public enum ColumnValue: Hashable, Sendable {
    /// An expression over the object; with groups, one of the grouped expressions.
    case expression(GraphExpression)
    /// The number of objects in the group.
    case count
    /// An aggregate over the group's objects. Nulls are ignored.
    case aggregate(GraphPredicate.Aggregate, GraphExpression)
  }

  /// A sort key for groups and distinct rows.
  public struct SortColumn: Hashable, Sendable {
    /// The index of the column, from 0.
    public var column: Int
    /// Whether the order is ascending.
    public var ascending: Bool
    /// The collation for strings; nil for their byte order.
    public var collation: Collation?

    /// Creates a sort key for a column.
    public init(column: Int, ascending: Bool = true, collation: Collation? = nil) {
      self.column = column
      self.ascending = ascending
      self.collation = collation
    }
  }

  /// The columns, from left to right.
  public var columns: [Column]
  /// Whether equal rows are returned once.
  public var isDistinct: Bool
  /// The grouping expressions: objects with equal values form a group. If empty, and a column is an aggregate, all
  /// objects do.
  public var groups: [GraphExpression]
  /// The order of groups and distinct rows. Ties, and an empty list, are ordered by the columns from first to last.
  /// Rows for single objects have the order of the objects.
  public var order: [SortColumn]

  /// The maximum number of columns.
  public static let maximumColumns = 100
  /// The maximum number of grouping expressions.
  public static let maximumGroups = 16
  /// The maximum size of a column's name, in bytes.
  public static let maximumNameSize = 200

  /// Creates a request for a row per object, or per group of objects.
  public init(columns: [Column], isDistinct: Bool = false, groups: [GraphExpression] = [], order: [SortColumn] = []) {
    self.columns = columns
    self.isDistinct = isDistinct
    self.groups = groups
    self.order = order
  }

  /// Whether rows are groups of objects.
  public var isGrouped: Bool {
    !groups.isEmpty || columns.contains { if case .expression = $0.value { false } else { true } }
  }

  /// Whether there is one row per object, in the order of the objects.
  public var hasRowPerObject: Bool { !isDistinct && !isGrouped }

  /// The request with a time for `now()`.
  public func bound(now: Timestamp) -> RowRequest {
    var request = self
    request.groups = groups.map { $0.bound(now: now, variables: [:]) }
    request.columns = columns.map { column in
      var column = column
      switch column.value {
      case .expression(let expression): column.value = .expression(expression.bound(now: now, variables: [:]))
      case .aggregate(let aggregate, let expression):
        column.value = .aggregate(aggregate, expression.bound(now: now, variables: [:]))
      case .count: break
      }
      return column
    }
    return request
  }

  /// The names and types of the columns, for the client.
  public func description(in model: Model) -> [RowColumn] {
    columns.map { RowColumn(name: $0.name, type: $0.value.typeName(in: model)) }
  }
}

/// The description of a column in a reply with rows.
public struct RowColumn: Hashable, Sendable {
  /// The name in the request.
  public var name: String
  /// The attribute type's name, or `object`, `duration` (microseconds), `null`.
  public var type: String

  /// Creates a description.
  public init(name: String, type: String) {
    self.name = name
    self.type = type
  }

  /// The kind of attribute with such values; nil if there is none.
  public var kind: Attribute.Kind? { Attribute.Kind(rawValue: type) }
}

extension RowRequest.ColumnValue {
  /// The type of the column's values. A sum that overflows 64 bits is a double nevertheless.
  public func type(in model: Model) -> GraphValueType {
    switch self {
    case .expression(let expression): return expression.type(in: model)
    case .count: return .integer
    case .aggregate(let aggregate, let expression):
      let type = expression.type(in: model)
      return aggregate == .average && type == .integer ? .double : type
    }
  }

  fileprivate func typeName(in model: Model) -> String {
    switch self {
    case .expression(.path(let path)), .aggregate(.minimum, .path(let path)), .aggregate(.maximum, .path(let path)):
      if case .property(let number) = path.end, let kind = model.property(number)?.attribute?.kind {
        return kind.rawValue
      }
    default: break
    }
    switch type(in: model) {
    case .null: return "null"
    case .duration: return "duration"
    case .object: return "object"
    case let type: return type.kind?.rawValue ?? "null"
    }
  }
}

extension ObjectImage {
  /// The object without its values.
  public var identifier: ObjectImage { ObjectImage(id: id, revision: revision, values: []) }
}
