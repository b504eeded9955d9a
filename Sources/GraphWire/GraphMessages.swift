import GraphModel

/// A complete graph to import from rows. Each row has an object's id, and then a value for each slot of its entity.
public struct ImportRequest: Hashable, Sendable {
  /// The idempotency key, like that of a transaction; the rows were sent under it.
  public var id: TransactionID
  /// The number of rows that have been sent.
  public var rows: UInt64

  /// An import of this many rows.
  public init(id: TransactionID, rows: UInt64) {
    self.id = id
    self.rows = rows
  }
}

/// The head of an exported graph; its chunks follow.
public struct ExportHead: Hashable, Sendable {
  /// The state of all objects.
  public var at: Token
  /// The number of objects that follow.
  public var objects: UInt64

  /// A head for this many objects, as of a state.
  public init(at: Token, objects: UInt64) {
    self.at = at
    self.objects = objects
  }
}

// MARK: - Binary form

extension ImportRequest: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    writer.field(2, rows)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var id: TransactionID?
    rows = 0
    while let (number, field) = try reader.next() {
      if number == 1 { id = try field.form() }
      if number == 2 { rows = try field.unsigned() }
    }
    self.id = id ?? TransactionID(replica: .zero, sequence: 0)
  }
}

extension ExportHead: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, at)
    writer.field(2, objects)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var token: Token?
    objects = 0
    while let (number, field) = try reader.next() {
      if number == 1 { token = try field.form() }
      if number == 2 { objects = try field.unsigned() }
    }
    at = token ?? Token(store: .zero, revision: 0, fingerprint: 0)
  }
}
