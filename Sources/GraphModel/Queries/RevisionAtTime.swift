/// The state of the graph at a time: that of the newest commit at or before it.
public struct RevisionAtTime: Hashable, Sendable {
  /// The revision; 0 if there was no commit yet and the graph was empty.
  public var revision: Revision
  /// The time of the commit.
  public var time: Timestamp
  /// The author of the commit; empty for revision 0.
  public var author: String
  /// The head at the time of the request.
  public var head: Token

  /// Creates a dated revision with the store's current head.
  public init(revision: Revision, time: Timestamp, author: String, head: Token) {
    self.revision = revision
    self.time = time
    self.author = author
    self.head = head
  }
}

/// `message RevisionAtTime { int64 revision = 1; int64 time = 2; string author = 3; Token head = 4; }`
extension RevisionAtTime: BinaryCodable {
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
