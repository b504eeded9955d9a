import GraphModel

/// A part of a result, in the result's order.
public struct Chunk: Hashable, Sendable {
  /// Complete objects, or objects without values where identifiers were requested.
  public var objects: [ObjectImage]
  /// The rows, each with a value for each column.
  public var rows: [[Value]]
  /// The columns of rows; in the first chunk of an answer in rows.
  public var columns: [RowColumn]
  /// On the last chunk: the state that the result was read at, and the number of objects or rows.
  public var end: (at: Token, count: UInt64)?
  /// On the last chunk of a fetch with a limit: the cursor of the next page, empty if there is none.
  public var next: [UInt8]
  /// For a fetch that explains: how it is executed, instead of a result.
  public var explanation: FetchExplanation?
  /// On the last chunk of a window's rows: the number of rows of the query before limit and offset.
  public var total: UInt64?

  /// A chunk of objects, rows or neither; the last chunk has `end`.
  public init(
    objects: [ObjectImage], rows: [[Value]] = [], columns: [RowColumn] = [], end: (at: Token, count: UInt64)? = nil,
    next: [UInt8] = [], explanation: FetchExplanation? = nil, total: UInt64? = nil
  ) {
    self.objects = objects
    self.rows = rows
    self.columns = columns
    self.end = end
    self.next = next
    self.explanation = explanation
    self.total = total
  }

  public static func == (left: Chunk, right: Chunk) -> Bool {
    left.objects == right.objects && left.rows == right.rows && left.columns == right.columns
      && left.end?.at == right.end?.at && left.end?.count == right.end?.count && left.next == right.next
      && left.explanation == right.explanation && left.total == right.total
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(objects)
    hasher.combine(rows)
  }
}

extension Chunk: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    for object in objects { writer.field(1, object) }
    if let end {
      writer.field(2, true)
      writer.field(3, end.at)
      writer.field(4, end.count)
    }
    for row in rows { writer.row(5, row) }
    for column in columns { writer.field(6, column) }
    writer.field(7, next)
    if let explanation { writer.field(8, explanation) }
    writer.count(30, total)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(objects: [])
    var (last, at, count): (Bool, Token?, UInt64) = (false, nil, 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: objects.append(try field.form())
      case 2: last = try field.bool()
      case 3: at = try field.form()
      case 4: count = try field.unsigned()
      case 5: rows.append(try field.row())
      case 6: columns.append(try field.form())
      case 7: next = try field.array()
      case 8: explanation = try field.form()
      case 30: total = try field.first()
      default: break
      }
    }
    if last {
      guard let at else { throw MalformedMessage("the last chunk has no token") }
      end = (at, count)
    }
  }
}

extension BinaryWriter {
  /// `message Row { repeated Value values = 1; }`
  mutating func row(_ number: Int, _ values: [Value]) {
    message(number) { for value in values { $0.field(1, value) } }
  }
}

extension BinaryReader.Field {
  fileprivate func row() throws(MalformedMessage) -> [Value] {
    var values = [Value]()
    var inner = try reader()
    while let (number, field) = try inner.next() {
      if number == 1 { values.append(try field.form()) }
    }
    return values
  }
}
