import GraphModel
import GraphWire

/// A live query of this replica, whatever the server calls it.
public typealias QueryID = UInt64

/// A question of this replica's owner; unlike the numbers on the wire it survives a reconnect.
public typealias RequestID = UInt64

/// What happens to the replica: from the network below, and from its owner above.
public enum ReplicaEvent: Sendable {
  case connected
  case received(ToClient)
  case disconnected
  /// Commits, now or when there is a connection again; answered by `.saved`.
  case save(Transaction)
  case undo(TransactionID, revision: Revision)
  /// Follows a query until `.unsubscribe`, over every reconnect.
  case subscribe(QueryID, Subscribe)
  case unsubscribe(QueryID)
  case ask(RequestID, Question)
  /// The owner has used a chunk and takes another.
  case more(RequestID)
  case presence([UInt8])
  case tick(Int64)
}

public enum Question: Hashable, Sendable {
  case fetch(Fetch)
  case log(after: Revision, limit: UInt64, through: Revision)
  case status
  case model
}

/// What the replica wants done or has to tell, in this order.
public enum ReplicaAction: Sendable {
  case send(ToServer)
  /// The connection is of no use any more.
  case disconnect(Refusal)
  /// The hello was answered; everything that was pending has been sent again.
  case welcomed(Welcome)
  /// The server wants nothing to do with this client, now or later.
  case rejected(Refusal)
  case saved(TransactionID, Result<Saved, Refusal>)
  /// A query's first result, or a new one after a reset, may be shown.
  case loaded(QueryID, [ObjectImage], at: Token)
  /// The query's old result stands for a while: it resumed at this revision.
  case resumed(QueryID, since: Revision)
  /// The store does not know the past that this replica knows: it was restored from a backup, or is another one. What
  /// is held is worth nothing until it is loaded again.
  case diverged
  /// A commit, with everything that it does to this replica's queries.
  case changed(CommitUpdate)
  case refusedQuery(QueryID, Refusal)
  case chunk(RequestID, Chunk)
  case answer(RequestID, Answer)
  case refused(RequestID, Refusal)
  case presence(session: UInt64, author: String, state: [UInt8], left: Bool)
}

public struct Saved: Hashable, Sendable {
  public var committed: Committed
  /// The objects of the commit as stored, as far as they fit into the reply.
  public var objects: [ObjectImage]
  /// Whether those are all that the commit changed.
  public var isComplete: Bool
}

public enum Answer: Hashable, Sendable {
  case log([CommitEntry], last: Bool)
  case status(ServerStatus)
  case model(source: String, hash: ModelHash)
}

/// One commit as this replica's queries saw it.
public struct CommitUpdate: Hashable, Sendable {
  public var revision: Revision
  public var time: Timestamp
  public var author: String
  public var changes: [(query: QueryID, changes: [Delta.Change])]

  public init(
    revision: Revision, time: Timestamp, author: String, changes: [(query: QueryID, changes: [Delta.Change])]
  ) {
    self.revision = revision
    self.time = time
    self.author = author
    self.changes = changes
  }

  public static func == (left: CommitUpdate, right: CommitUpdate) -> Bool {
    left.revision == right.revision && left.changes.map(\.query) == right.changes.map(\.query)
      && left.changes.map(\.changes) == right.changes.map(\.changes)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(revision) }
}
