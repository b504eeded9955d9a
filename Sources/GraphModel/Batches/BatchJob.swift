/// A batch for the writer, with the rows and callbacks of its client.
public struct BatchJob: Sendable {
  /// The batch to run.
  public var batch: Batch
  /// The principal that commits it.
  public var author: Principal
  /// The rights of the principal at the time of the request; nil permits everything.
  public var rights: Rights?
  /// The rows of an insert.
  public var rows: (any BatchRowSource)?
  /// Called on the writer's thread after each slice. An error that it throws rolls back the batch.
  public var progress: @Sendable (BatchProgress) throws -> Void
  /// Called repeatedly on the writer's thread while the objects of an update or a delete are selected, with the number
  /// of objects found so far. A refusal ends the selection and refuses the batch.
  public var selectionRefusal: @Sendable (_ found: Int) -> Refusal? = { _ in nil }

  /// Creates a run; by default it reports no progress.
  public init(
    _ batch: Batch, author: Principal, rights: Rights? = nil, rows: (any BatchRowSource)? = nil,
    progress: @escaping @Sendable (BatchProgress) throws -> Void = { _ in }
  ) {
    self.batch = batch
    self.author = author
    self.rights = rights
    self.rows = rows
    self.progress = progress
  }
}

/// The progress of a batch.
public struct BatchProgress: Hashable, Sendable {
  /// The number of objects processed, of `total`.
  public var done: Int
  /// The number of objects in the batch; 0 while it is unknown.
  public var total: Int
  /// The number of objects changed so far: without objects that keep their values, with cascaded deletes.
  public var changed: Int

  /// Creates a progress report.
  public init(done: Int, total: Int, changed: Int) {
    self.done = done
    self.total = total
    self.changed = changed
  }
}

/// The rows of an insert or a restore, in memory or in a file.
public protocol BatchRowSource: Sendable {
  /// The number of rows.
  var count: Int { get }

  /// Passes the rows to `body` in order, in chunks.
  func forEachChunk(_ body: ([[Value]]) throws -> Void) throws
}

extension Attribute {
  /// Converts the result of an expression to the attribute's type without loss, as an integer to a decimal.
  public func calculated(_ value: Value) -> Value {
    if kind == .decimal, case .integer(let number) = value {
      return DecimalValue("\(number)").map(Value.decimal) ?? value
    }
    return value
  }
}
