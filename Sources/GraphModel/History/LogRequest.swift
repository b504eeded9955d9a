/// A request for commits of the log.
public struct LogRequest: Hashable, Sendable {
  /// The commits after this revision.
  public var after: Revision
  /// The maximum number of commits; 0 for the server's choice.
  public var limit: UInt64
  /// The last revision; 0 is the head.
  public var through: Revision
  /// Selects commits and changes.
  public var filter: HistoryFilter
  /// Whether to start with the oldest commit instead of the newest.
  public var oldestFirst: Bool
  /// The maximum number of matching changes listed per commit; the others are counted. Nil lists all of them; with 0
  /// the server reads no objects.
  public var changes: UInt64?

  /// Creates a request, by default for the newest commits, newest first.
  public init(
    after: Revision = 0, limit: UInt64 = 0, through: Revision = 0, filter: HistoryFilter = HistoryFilter(),
    oldestFirst: Bool = false, changes: UInt64? = nil
  ) {
    self.after = after
    self.limit = limit
    self.through = through
    self.filter = filter
    self.oldestFirst = oldestFirst
    self.changes = changes
  }
}

/// `message Log { int64 after = 1; uint64 limit = 2; int64 through = 3; HistoryFilter filter = 20;
/// bool oldest_first = 21; optional uint64 changes = 22; }`
extension LogRequest: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, after)
    writer.field(2, limit)
    writer.field(3, through)
    if !filter.isEmpty { writer.field(20, filter) }
    writer.field(21, oldestFirst)
    if let changes { writer.field(22, changes, always: true) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: after = try field.integer()
      case 2: limit = try field.unsigned()
      case 3: through = try field.integer()
      case 20: filter = try field.form()
      case 21: oldestFirst = try field.bool()
      case 22: changes = try field.unsigned()
      default: break
      }
    }
  }
}
