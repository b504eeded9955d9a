/// Rows of named values in place of objects: a value of each object for every column, or of each group of objects.
public struct RowRequest: Hashable, Sendable {
  /// One value of a row.
  public struct Column: Hashable, Sendable {
    /// Unique among the columns.
    public var name: String
    /// What it holds.
    public var value: ColumnValue

    /// A value under a name.
    public init(name: String, value: ColumnValue) {
      self.name = name
      self.value = value
    }
  }

  /// What a column holds.
  public enum ColumnValue: Hashable, Sendable {
    /// A value of the object; in groups, one that they are grouped by.
    case expression(GraphExpression)
    /// How many objects the group has.
    case count
    /// What is made of the values that the group's objects have. Nulls do not count.
    case aggregate(GraphPredicate.Aggregate, GraphExpression)
  }

  /// One key of the order of groups or distinct rows.
  public struct Order: Hashable, Sendable {
    /// Which column, from 0.
    public var column: Int
    /// False turns the order of this key around.
    public var ascending: Bool
    /// How people would order the strings; nil for the order of their bytes.
    public var collation: Collation?

    /// By one of the columns.
    public init(column: Int, ascending: Bool = true, collation: Collation? = nil) {
      self.column = column
      self.ascending = ascending
      self.collation = collation
    }
  }

  /// From left to right.
  public var columns: [Column]
  /// Equal rows come once.
  public var isDistinct: Bool
  /// Objects with equal values of all of these are one group; with none, and an aggregate among the columns, all are.
  public var groups: [GraphExpression]
  /// Of groups and distinct rows; ties, and an empty list, are settled by the columns from the first to the last. Rows
  /// that stand for objects have the objects' order.
  public var order: [Order]

  /// Columns, at most.
  public static let maximumColumns = 100
  /// Values to group by, at most.
  public static let maximumGroups = 16
  /// Bytes of a column's name, at most.
  public static let maximumNameSize = 200

  /// A row for each object, or for each group of objects.
  public init(columns: [Column], isDistinct: Bool = false, groups: [GraphExpression] = [], order: [Order] = []) {
    self.columns = columns
    self.isDistinct = isDistinct
    self.groups = groups
    self.order = order
  }

  /// Rows are made of groups of objects.
  public var isGrouped: Bool {
    !groups.isEmpty || columns.contains { if case .expression = $0.value { false } else { true } }
  }

  /// There is one row for each object, in the objects' order.
  public var standForObjects: Bool { !isDistinct && !isGrouped }

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

  /// What a client is told of the columns.
  public func description(in model: Model) -> [RowColumn] {
    columns.map { RowColumn(name: $0.name, type: $0.value.typeName(in: model)) }
  }
}

/// A column as it is told to whoever gets rows.
public struct RowColumn: Hashable, Sendable {
  /// As the request has it.
  public var name: String
  /// The name of an attribute's type, or `object`, `duration` (microseconds), `null`.
  public var type: String

  /// A column of an answer.
  public init(name: String, type: String) {
    self.name = name
    self.type = type
  }

  /// The kind of attribute that has such values; nil for others.
  public var kind: Attribute.Kind? { Attribute.Kind(rawValue: type) }
}

extension RowRequest.ColumnValue {
  /// The type of the column's values. A sum that is too large for 64 bits is a fraction all the same.
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
  /// The object without its values, for those who only ask who it is.
  public var identifier: ObjectImage { ObjectImage(id: id, revision: revision, values: []) }
}
