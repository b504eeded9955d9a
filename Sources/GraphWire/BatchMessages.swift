import GraphModel

/// A batch in its wire form: predicate and expressions are in their text form.
public struct BatchRequest: Hashable, Sendable {
  /// The operation of a batch.
  public enum Operation: Hashable, Sendable {
    /// Updates all objects that match; an empty predicate means all.
    case update(predicate: String, [Assignment])
    /// Deletes all objects that match, and those that the delete rules cascade to. An empty predicate means all.
    case delete(predicate: String)
    /// Inserts the rows that `batchRows` has sent under the same id, with a value for each property.
    case insert(properties: [PropertyNumber], rows: UInt64)
  }

  /// The new value of a property.
  public struct Assignment: Hashable, Sendable {
    /// The source of a value: a constant, or an expression such as `salary * 1.1`.
    public enum Source: Hashable, Sendable {
      /// The same value for every object.
      case value(Value)
      /// An expression in the language of predicates, evaluated over each object before the change.
      case expression(String)
    }

    /// The property, by its number in the model.
    public var property: PropertyNumber
    /// The source of its value.
    public var source: Source

    /// The new value of one property.
    public init(_ property: PropertyNumber, _ source: Source) {
      self.property = property
      self.source = source
    }
  }

  /// The idempotency key, like that of a transaction.
  public var id: TransactionID
  /// Resolves a row whose unique key already exists.
  public var policy: MergePolicy
  /// Objects of this entity and of all that inherit from it; for rows only the entity itself.
  public var entity: EntityNumber
  /// The operation.
  public var operation: Operation

  /// A batch request.
  public init(id: TransactionID, policy: MergePolicy = .error, entity: EntityNumber, operation: Operation) {
    self.id = id
    self.policy = policy
    self.entity = entity
    self.operation = operation
  }
}

/// Rows for a batch that follows.
public struct BatchRows: Hashable, Sendable {
  /// The transaction id of the batch.
  public var id: TransactionID
  /// The rows, each with a value for each property that the batch will name.
  public var rows: [[Value]]

  /// Rows under the transaction id of their batch.
  public init(id: TransactionID, rows: [[Value]]) {
    self.id = id
    self.rows = rows
  }
}

extension BatchRows {
  /// Rows without an id, as a server keeps them until the batch request arrives.
  public static func bytes(of rows: [[Value]]) -> [UInt8] {
    var writer = BinaryWriter()
    for row in rows { writer.batchRow(2, row) }
    return writer.bytes
  }

  /// The rows that `bytes(of:)` wrote.
  public static func rows(in bytes: [UInt8]) throws(MalformedMessage) -> [[Value]] {
    var rows = [[Value]]()
    var reader = BinaryReader(bytes)
    while let (number, field) = try reader.next() {
      if number == 2 { rows.append(try field.batchRow()) }
    }
    return rows
  }
}
