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
