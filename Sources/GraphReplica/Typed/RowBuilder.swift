// Tests: TypedColumnTests.swift
import GraphModel

/// Makes the columns of typed rows from the expressions of a closure, one a line:
///
/// ```swift
/// let rows = try await client.rows(of: Person.self) {
///   $0.name
///   $0.salary * 12
/// }
/// for (name, yearly) in rows { … }
/// ```
@resultBuilder
public enum RowBuilder {
  /// A value that is never null.
  public static func buildExpression<Kind>(
    _ value: TypedExpression<Kind, ExactlyOne>
  ) -> TypedColumn<Kind.ColumnValue> {
    TypedColumn(.expression(value.build(0)), read: Kind.columnValue)
  }

  /// A value that may be null.
  public static func buildExpression<Kind, Cardinality: SingleCardinality & NullableCardinality>(
    _ value: TypedExpression<Kind, Cardinality>
  ) -> TypedColumn<Kind.ColumnValue?> {
    TypedColumn(.expression(value.build(0)), read: orNil(Kind.columnValue))
  }

  /// The id of the object of a required to-one relationship.
  public static func buildExpression<Object>(_ path: ObjectPath<Object, ExactlyOne>) -> TypedColumn<ObjectID> {
    TypedColumn(reference(path), read: ObjectID.constant)
  }

  /// The id of the object of a to-one relationship; nil if there is none.
  public static func buildExpression<Object>(_ path: ObjectPath<Object, ZeroOrOne>) -> TypedColumn<ObjectID?> {
    TypedColumn(reference(path), read: orNil(ObjectID.constant))
  }

  /// An aggregate.
  public static func buildExpression<Output>(_ column: TypedColumn<Output>) -> TypedColumn<Output> { column }

  /// All columns.
  public static func buildBlock<each Output>(_ columns: repeat TypedColumn<each Output>) -> TypedRow<repeat each Output>
  {
    TypedRow(columns: (repeat each columns))
  }

  private static func reference<Object, Cardinality>(
    _ path: ObjectPath<Object, Cardinality>
  ) -> RowRequest.ColumnValue {
    let (way, end) = path.way.ownEnd
    return .expression(.path(way.path(end, depth: 0)))
  }

  /// Reads null as nil. The outer nil is a value of another type.
  static func orNil<Output>(_ read: @escaping (Value) -> Output?) -> (Value) -> Output?? {
    { value in
      if value.isNull { return .some(nil) }
      return read(value).map { .some($0) }
    }
  }
}

/// The columns of typed rows: their request, and how a row becomes a tuple.
public struct TypedRow<each Output> {
  let columns: (repeat TypedColumn<each Output>)

  /// The columns of a closure over the objects of a class.
  package init<Object: ManagedObject>(
    _ type: Object.Type, @RowBuilder _ columns: (ObjectPath<Object, ExactlyOne>) -> TypedRow<repeat each Output>
  ) {
    self = columns(ObjectPath(way: RelationshipPath()))
  }

  init(columns: (repeat TypedColumn<each Output>)) { self.columns = columns }

  /// The values of the columns, from the first to the last.
  private var values: [RowRequest.ColumnValue] {
    var values = [RowRequest.ColumnValue]()
    repeat values.append((each columns).value)
    return values
  }

  /// The columns and groups of a request, in the text form of the wire. If a column is an aggregate, all others are
  /// grouped by. A column without a readable name is called by its position.
  package func request(in model: Model) -> (properties: String, groupBy: String) {
    let values = values
    let properties = values.enumerated().map { "\($1.text(in: model)) AS \(Self.name(of: $0))" }
    let expressions = values.compactMap { if case .expression = $0 { $0.text(in: model) } else { nil } }
    let isGrouped = expressions.count < values.count
    // A value may be listed twice.
    var groups = [String]()
    for text in expressions where isGrouped && !groups.contains(text) { groups.append(text) }
    return (properties.joined(separator: ", "), groups.joined(separator: ", "))
  }

  /// The order of groups in the text form of the wire.
  /// - Throws: `Refusal` for a key that is none of the columns.
  package func order(_ keys: [GroupSortKey], in model: Model) throws(Refusal) -> String {
    let values = values
    var texts = [String]()
    for key in keys {
      guard let place = values.firstIndex(of: key.value) else {
        throw Refusal(
          .malformed, "groups are ordered by their columns, and \(key.value.text(in: model)) is not one: add the column"
        )
      }
      let collation = key.collation.map { "[\($0.rawValue)]" } ?? ""
      texts.append((key.ascending ? "" : "-") + Self.name(of: place) + collation)
    }
    return texts.joined(separator: ",")
  }

  private static func name(of place: Int) -> String { "c\(place)" }

  /// A row as a tuple.
  /// - Throws: `RowValueError` for a value that is not of its column's type.
  package func tuple(of row: [Value], in model: Model) throws(RowValueError) -> (repeat each Output) {
    var place = 0
    func next<Column>(_ column: TypedColumn<Column>) throws(RowValueError) -> Column {
      defer { place += 1 }
      guard place < row.count, let output = column.read(row[place]) else {
        throw RowValueError(
          column: column.value.text(in: model), expected: "\(Column.self)", found: place < row.count ? row[place] : nil)
      }
      return output
    }
    return (repeat try next(each columns))
  }
}

/// A value of a row does not have the type that the program expects, or the row has no such column.
public struct RowValueError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the column, or its expression.
  public let column: String
  /// A message for a person, without contents.
  public let message: String

  /// An error of a column.
  public init(column: String, message: String) { (self.column, self.message) = (column, message) }

  /// A column with another type than the program expects.
  /// - Parameters:
  ///   - expected: the Swift type.
  ///   - found: the value; nil for a row that ends before it.
  public init(column: String, expected: String, found: Value?) {
    let found = found?.typeName ?? "no value"
    self.init(column: column, message: "the column \(column) has \(found), and the program expects \(expected)")
  }

  public var description: String { message }
}

extension Value {
  /// The type of the value, for messages, which have no contents.
  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "a Bool"
    case .integer: "an integer"
    case .double: "a double"
    case .decimal: "a decimal"
    case .string: "a text"
    case .date: "a date"
    case .uuid: "a UUID"
    case .data: "data"
    case .object: "an object's id"
    case .objects: "ids of objects"
    }
  }
}
