import GraphModel

/// The answer to moving a window: its new number, and the rows of its new place.
public struct WindowMoved: Hashable, Sendable {
  /// The server's number for the window from here on; its previous number is no longer valid.
  public var query: UInt64
  /// The ids of the rows, in order.
  public var rows: [ObjectID]
  /// The objects of those rows that were not visible at the previous place.
  public var objects: [ObjectImage]
  /// The number of rows of the query before limit and offset.
  public var total: UInt64
  /// The state of all rows: the one up to which this connection has been sent everything.
  public var at: Token

  /// A window at its new place.
  public init(query: UInt64, rows: [ObjectID], objects: [ObjectImage], total: UInt64, at: Token) {
    self.query = query
    self.rows = rows
    self.objects = objects
    self.total = total
    self.at = at
  }
}

extension WindowMoved: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, query)
    for row in rows { writer.field(2, row) }
    for object in objects { writer.field(3, object) }
    writer.field(4, total)
    writer.field(5, at)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(query: 0, rows: [], objects: [], total: 0, at: Token(store: .zero, revision: 0, fingerprint: 0))
    var hasToken = false
    while let (number, field) = try reader.next() {
      switch number {
      case 1: query = try field.unsigned()
      case 2: rows.append(try field.form())
      case 3: objects.append(try field.form())
      case 4: total = try field.unsigned()
      case 5:
        at = try field.form()
        hasToken = true
      default: break
      }
    }
    guard hasToken else { throw MalformedMessage("a moved window has no token") }
  }
}

extension Subscribe.Window: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, sort)
    writer.field(2, offset)
    writer.field(3, limit)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(limit: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: sort = try field.string()
      case 2: offset = try field.unsigned()
      case 3: limit = try field.unsigned()
      default: break
      }
    }
  }
}

extension ToServer {
  static func moveWindow(_ field: BinaryReader.Field) throws(MalformedMessage) -> Body {
    var (query, offset, limit): (UInt64, UInt64, UInt64) = (0, 0, 0)
    var inner = try field.reader()
    while let (number, field) = try inner.next() {
      switch number {
      case 1: query = try field.unsigned()
      case 2: offset = try field.unsigned()
      case 3: limit = try field.unsigned()
      default: break
      }
    }
    return .moveWindow(query: query, offset: offset, limit: limit)
  }
}

extension BinaryWriter {
  /// `message Count { uint64 count = 1; }`: a number that may be absent, and may be 0.
  mutating func count(_ number: Int, _ value: UInt64?) {
    guard let value else { return }
    message(number) { $0.field(1, value) }
  }
}
