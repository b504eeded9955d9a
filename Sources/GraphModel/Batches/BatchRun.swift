/// A batch on its way to the writer, with what the writer needs of whoever asked for it.
public struct BatchRun: Sendable {
  /// What is asked.
  public var batch: Batch
  /// Believed, as a transaction's author is.
  public var author: String
  /// The rows of an insert.
  public var rows: (any BatchRowSource)?
  /// Called on the writer's thread after each slice. What it throws ends the batch: nothing of it stays.
  public var progress: @Sendable (BatchProgress) throws -> Void

  /// A batch that nobody watches, unless it is said who does.
  public init(
    _ batch: Batch, author: String, rows: (any BatchRowSource)? = nil,
    progress: @escaping @Sendable (BatchProgress) throws -> Void = { _ in }
  ) {
    self.batch = batch
    self.author = author
    self.rows = rows
    self.progress = progress
  }
}

/// How far a batch has come.
public struct BatchProgress: Hashable, Sendable {
  /// Objects that are done, of `total`.
  public var done: Int
  /// 0 while it is not known.
  public var total: Int
  /// Objects that the commit changes so far: those that were left as they were don't count, those that a delete takes
  /// along do.
  public var changed: Int

  /// So far.
  public init(done: Int, total: Int, changed: Int) {
    self.done = done
    self.total = total
    self.changed = changed
  }
}

extension BatchProgress: BinaryForm {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(done))
    writer.field(2, UInt64(total))
    writer.field(3, UInt64(changed))
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(done: 0, total: 0, changed: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: done = try field.count()
      case 2: total = try field.count()
      case 3: changed = try field.count()
      default: break
      }
    }
  }
}

/// Rows that are somewhere: in memory, or in a file.
public protocol BatchRowSource: Sendable {
  /// How many there are.
  var count: Int { get }

  /// Hands them out in order, some at a time.
  func forEachChunk(_ body: ([[Value]]) throws -> Void) throws
}

extension Attribute {
  /// What an expression came to, in the attribute's type where no digit is lost: a whole number is a decimal, too.
  public func calculated(_ value: Value) -> Value {
    if kind == .decimal, case .integer(let number) = value {
      return DecimalValue("\(number)").map(Value.decimal) ?? value
    }
    return value
  }
}
