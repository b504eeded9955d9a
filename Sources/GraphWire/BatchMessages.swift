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

// MARK: - Binary form

extension BatchRequest: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    writer.field(2, UInt64(policy.rawValue))
    writer.field(3, UInt64(entity))
    switch operation {
    case .update(let predicate, let assignments):
      writer.message(4) {
        $0.field(1, predicate)
        for assignment in assignments { $0.field(2, assignment) }
      }
    case .delete(let predicate): writer.message(5) { $0.field(1, predicate) }
    case .insert(let properties, let rows):
      writer.message(6) { writer in
        for property in properties { writer.message(1) { $0.field(1, UInt64(property)) } }
        writer.field(2, rows)
      }
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var (id, policy, entity): (TransactionID?, MergePolicy, EntityNumber) = (nil, .error, 0)
    var operation: Operation?
    while let (number, field) = try reader.next() {
      switch number {
      case 1: id = try field.form()
      case 2: policy = try field.choice()
      case 3: entity = try field.uint32()
      case 4: operation = try Self.update(field)
      case 5:
        var predicate = ""
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { predicate = try field.string() }
        }
        operation = .delete(predicate: predicate)
      case 6: operation = try Self.insert(field)
      default: break
      }
    }
    guard let id else { throw MalformedMessage("a batch has no transaction id") }
    guard let operation else { throw MalformedMessage("a batch has no operation that this version knows") }
    self.init(id: id, policy: policy, entity: entity, operation: operation)
  }

  private static func update(_ field: BinaryReader.Field) throws(MalformedMessage) -> Operation {
    var (predicate, assignments) = ("", [Assignment]())
    var inner = try field.reader()
    while let (number, field) = try inner.next() {
      if number == 1 { predicate = try field.string() }
      if number == 2 { assignments.append(try field.form()) }
    }
    return .update(predicate: predicate, assignments)
  }

  private static func insert(_ field: BinaryReader.Field) throws(MalformedMessage) -> Operation {
    var (properties, rows): ([PropertyNumber], UInt64) = ([], 0)
    var inner = try field.reader()
    while let (number, field) = try inner.next() {
      if number == 1 {
        let property = try field.first()
        guard let known = PropertyNumber(exactly: property) else {
          throw MalformedMessage("a property's number is too large")
        }
        properties.append(known)
      }
      if number == 2 { rows = try field.unsigned() }
    }
    return .insert(properties: properties, rows: rows)
  }
}

extension BatchRequest.Assignment: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(property))
    switch source {
    case .value(let value): writer.field(2, value)
    case .expression(let text): writer.field(3, text, always: true)
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(0, .value(.null))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: property = try field.uint32()
      case 2: source = .value(try field.form())
      case 3: source = .expression(try field.string())
      default: break
      }
    }
  }
}

extension BatchRows: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    Self.encode(rows, to: &writer)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var id: TransactionID?
    var rows = [[Value]]()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: id = try field.form()
      case 2: rows.append(try Self.row(field))
      default: break
      }
    }
    guard let id else { throw MalformedMessage("rows have no transaction id") }
    self.init(id: id, rows: rows)
  }

  private static func row(_ field: BinaryReader.Field) throws(MalformedMessage) -> [Value] {
    var values = [Value]()
    var inner = try field.reader()
    while let (number, field) = try inner.next() {
      if number == 1 { values.append(try field.form()) }
    }
    return values
  }

  private static func encode(_ rows: [[Value]], to writer: inout BinaryWriter) {
    for row in rows {
      writer.message(2) { writer in
        for value in row { writer.field(1, value) }
      }
    }
  }

  /// Rows without an id, as a server keeps them until the batch request arrives.
  public static func bytes(of rows: [[Value]]) -> [UInt8] {
    var writer = BinaryWriter()
    encode(rows, to: &writer)
    return writer.bytes
  }

  /// The rows that `bytes(of:)` wrote.
  public static func rows(in bytes: [UInt8]) throws(MalformedMessage) -> [[Value]] {
    var rows = [[Value]]()
    var reader = BinaryReader(bytes)
    while let (number, field) = try reader.next() {
      if number == 2 { rows.append(try row(field)) }
    }
    return rows
  }
}
