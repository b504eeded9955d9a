/// The state of the graph at a time: the state of the newest commit at or before it.
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
