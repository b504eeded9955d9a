import GraphModel
import GraphWire

/// A live query of this replica, whatever the server calls it.
public typealias QueryID = UInt64

/// A question of this replica's owner; unlike the numbers on the wire it survives a reconnect.
public typealias RequestID = UInt64

/// Objects that a context asked for; it says when they are here.
public typealias LoadID = UInt64

/// What happens to the replica: from the network below, and from its owner above.
public enum ReplicaEvent: Sendable {
  /// A connection stands; hello goes out.
  case connected
  /// A message of the connection that stands.
  case received(ToClient)
  /// It is gone: questions are refused, saves and queries kept.
  case disconnected
  /// Commits, now or when there is a connection again; answered by `.saved`.
  case save(Transaction)
  /// Takes a step back or does it again; kept and answered as a save is.
  case undo(UndoRequest)
  /// Brings back what was there; kept and answered as a save is.
  case restore(RestoreRequest)
  /// Follows a query until `.unsubscribe`, over every reconnect. One whose result turns out to have more objects than
  /// `atMost` is refused, as soon as that many are here; nil takes however many there are.
  case subscribe(QueryID, Subscribe, atMost: Int? = nil)
  /// Follows the query no more.
  case unsubscribe(QueryID)
  /// The window of a query that has one is to stand somewhere else; answered by `.loadedWindow`.
  case moveWindow(QueryID, offset: UInt64, limit: UInt64)
  /// A question; refused when there is no connection, for it is its owner's to repeat.
  case ask(RequestID, Question)
  /// The owner has used a chunk and takes another.
  case more(RequestID)
  /// What others are to see; dropped when there is no connection.
  case presence([UInt8])
  /// Milliseconds of a clock that never goes back: before what is received, and at the replica's `deadline`.
  case tick(Int64)
}

/// What can be asked besides live queries.
public enum Question: Hashable, Sendable {
  /// Answered by chunks.
  case fetch(Fetch)
  /// Commits of history.
  case log(LogRequest)
  /// What the server tells of itself.
  case status
  /// The model file.
  case model
  /// What undo and redo would take now; nil for all scopes of the author.
  case undoState(scope: UniqueID?)
  /// Which revision was the newest at a time.
  case revisionAt(Timestamp)
  /// Where the value of a property comes from.
  case why(ObjectID, PropertyNumber)
  /// What was committed behind a token, or what two states differ in; of the latter the owner asks for each further part
  /// by `.more`.
  case changes(ChangesRequest)
  /// Rows for a batch that follows.
  case batchRows(BatchRows)
  /// Many objects in one commit. A lost connection refuses it as `unavailable`: it may have been committed, and is
  /// asked for again under the same id.
  case batch(BatchRequest)
  /// The whole graph: its head, then chunks.
  case exportGraph
  /// A whole graph of rows that were sent; as a batch.
  case importGraph(ImportRequest)
}

/// What the replica wants done or has to tell, in this order.
public enum ReplicaAction: Sendable {
  /// To the server, on the connection that stands.
  case send(ToServer)
  /// The connection is of no use any more.
  case disconnect(Refusal)
  /// The hello was answered; what is pending is sent once the queries have come as far as the server.
  case welcomed(Welcome)
  /// The server wants nothing to do with this client, now or later.
  case rejected(Refusal)
  /// What became of a save or an undo; once for each.
  case saved(TransactionID, Result<Saved, Refusal>)
  /// A query's first result, or a new one after a reset, may be shown.
  case loaded(QueryID, [ObjectImage], at: Token)
  /// What a window shows: its first rows, new ones after a reset, or those of the place that it was moved to.
  case loadedWindow(QueryID, WindowRows, at: Token)
  /// The query's old result stands for a while: it resumed at this revision.
  case resumed(QueryID, since: Revision)
  /// The store does not know the past that this replica knows: it was restored from a backup, or is another one. What
  /// is held is worth nothing until it is loaded again.
  case diverged
  /// A save that was made before the store turned out to have another past, and that was never answered: whoever made it
  /// makes it anew, under its id, of what there is. It is not kept any more.
  case outdated(Transaction)
  /// A commit, with everything that it does to this replica's queries.
  case changed(CommitUpdate)
  /// The query is not followed.
  case refusedQuery(QueryID, Refusal)
  /// A part of a fetch's answer; the owner asks for the next by `.more`.
  case chunk(RequestID, Chunk)
  /// What a context asked for is here, or why not all of it is; once for each load. The context says it, not the replica.
  case filled(LoadID, Refusal?)
  /// The answer to another question, or a part of it.
  case answer(RequestID, Answer)
  /// The question has no answer, or no further part.
  case refused(RequestID, Refusal)
  /// What another session shows of itself; `left`: it is gone.
  case presence(session: UInt64, author: String, state: [UInt8], left: Bool)
  /// The server owes an answer for a while and says nothing, or it says something again. The connection stands.
  case silence(Bool)
}

/// An accepted transaction, with the objects as the server stored them.
public struct Saved: Hashable, Sendable {
  /// Revision, permanent ids, conflicts that the policy decided.
  public var committed: Committed
  /// The objects of the commit as stored, as far as they fit into the reply.
  public var objects: [ObjectImage]
  /// Whether those are all that the commit changed.
  public var isComplete: Bool
}

/// The answer to a question that is no fetch.
public enum Answer: Hashable, Sendable {
  /// Commits of the log, or a part of them; more follow unless it is the last.
  case log([CommitEntry], last: Bool)
  /// What the server tells of itself.
  case status(ServerStatus)
  /// The text of the server's model file, and its hash.
  case model(source: String, hash: ModelHash)
  /// What undo and redo would take now.
  case undoState(UndoState)
  /// The newest commit at or before the time that was asked about.
  case revisionAt(DatedRevision)
  /// Where the value of the property comes from.
  case why(ValueOrigin)
  /// Commits behind a token, up to where history was read, and the newest state.
  case followed([CommitEntry], at: Token, head: Token)
  /// What two states differ in, or a part of it.
  case differences([ObjectDifference], last: Bool)
  /// So many rows are kept.
  case kept(Int)
  /// How far the batch is; more follows.
  case progress(BatchProgress)
  /// The batch is on disk.
  case saved(Saved)
  /// What the chunks that follow are.
  case exportHead(ExportHead)
}

/// One commit as this replica's queries saw it.
public struct CommitUpdate: Hashable, Sendable {
  /// The commit.
  public var revision: Revision
  /// When it was committed.
  public var time: Timestamp
  /// Who committed it.
  public var author: String
  /// For each query that it touches, what it does to it.
  public var changes: [(query: QueryID, changes: [Delta.Change])]
  /// Of windows: how many rows their queries have now, where that is another number than before.
  public var totals = [QueryID: UInt64]()

  /// A commit, and what it did to each query that it touched.
  public init(
    revision: Revision, time: Timestamp, author: String, changes: [(query: QueryID, changes: [Delta.Change])]
  ) {
    self.revision = revision
    self.time = time
    self.author = author
    self.changes = changes
  }

  public static func == (left: CommitUpdate, right: CommitUpdate) -> Bool {
    left.revision == right.revision && left.totals == right.totals
      && left.changes.map(\.query) == right.changes.map(\.query)
      && left.changes.map(\.changes) == right.changes.map(\.changes)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(revision) }
}

extension ReplicaAction {
  /// What goes to the server, in the order of the requests' numbers, and the welcome that tells how: it comes before what
  /// is told, for whoever is told may make further requests.
  public var isForTheConnection: Bool {
    switch self {
    case .send, .welcomed: true
    default: false
    }
  }
}
