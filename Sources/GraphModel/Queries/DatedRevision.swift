/// Which state of the graph a time means: that of the newest commit at or before it.
public struct DatedRevision: Hashable, Sendable {
  /// 0 where nothing had been committed by then: the empty graph.
  public var revision: Revision
  /// When it was committed.
  public var time: Timestamp
  /// Who committed it; empty for revision 0.
  public var author: String
  /// The newest state of all when this was asked.
  public var head: Token

  /// A commit, and the state that the store is in now.
  public init(revision: Revision, time: Timestamp, author: String, head: Token) {
    self.revision = revision
    self.time = time
    self.author = author
    self.head = head
  }
}

/// `message DatedRevision { int64 revision = 1; int64 time = 2; string author = 3; Token head = 4; }`
extension DatedRevision: BinaryForm {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, revision)
    writer.field(2, time)
    writer.field(3, author)
    writer.field(4, head)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(revision: 0, time: 0, author: "", head: Token(store: .zero, revision: 0, fingerprint: 0))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: revision = try field.integer()
      case 2: time = try field.integer()
      case 3: author = try field.string()
      case 4: head = try field.form()
      default: break
      }
    }
  }
}
