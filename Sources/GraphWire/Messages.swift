import GraphModel

/// A message from a client.
public struct ToServer: Hashable, Sendable {
  /// The kinds of messages; docs/protocol.md says how each is answered.
  public enum Body: Hashable, Sendable {
    /// The first message of a connection, sent once.
    case hello(Hello)
    /// Requests the model file.
    case model
    /// Reads objects, in chunks.
    case fetch(Fetch)
    /// Commits a transaction.
    case commit(Transaction)
    /// Undoes or redoes a step of the author's own commits.
    case undo(UndoRequest)
    /// Follows a query until `unsubscribe` or the end of the connection.
    case subscribe(Subscribe)
    /// Stops following the query with the number that `subscribed` gave.
    case unsubscribe(query: UInt64)
    /// Requests the next chunk of the answer to an earlier request.
    case more(of: UInt64)
    /// Requests commits of history, in chunks.
    case log(LogRequest)
    /// Requests the server's status.
    case status
    /// Requests a pong.
    case ping
    /// Ends the connection, with any code and message.
    case close(code: String, message: String)
    /// Sets the client's presence, in a format that only clients interpret.
    case presence([UInt8])
    /// Requests the next undo and redo steps; without a scope, of all of the author's.
    case undoState(scope: UniqueID?)
    /// Sends rows for a batch that follows; answered by progress when they are kept.
    case batchRows(BatchRows)
    /// Changes many objects in one commit; answered by progress, then like a commit.
    case batch(BatchRequest)
    /// Requests the newest revision at a time.
    case revisionAt(Timestamp)
    /// Requests the origin of a property's value.
    case why(ObjectID, PropertyNumber)
    /// Restores the state of a revision; answered like a commit.
    case restore(RestoreRequest)
    /// Requests the commits after a token, or the differences of two states.
    case changes(ChangesRequest)
    /// Requests the complete graph; answered by its head, then in chunks.
    case exportGraph
    /// Imports a complete graph from sent rows into a store without commits; answered like a batch.
    case importGraph(ImportRequest)
    /// Moves a window of this connection; answered by `windowMoved`, or like a subscription.
    case moveWindow(query: UInt64, offset: UInt64, limit: UInt64)
    /// Cancels an earlier request of this connection, unless it has been answered.
    case cancel(of: UInt64)
    /// Requests a code with which a browser logs in; only the machine's owner names a user.
    case browserLogin(user: String)
  }

  /// The request number. Numbers ascend within a connection.
  public var request: UInt64
  /// The content of the message.
  public var body: Body

  /// A message with a request number.
  public init(_ request: UInt64, _ body: Body) {
    self.request = request
    self.body = body
  }
}

extension ToServer.Body {
  /// Whether a server answers the message from its store, after the session's earlier commits and a few at a time.
  public var readsStore: Bool { traits.readsStore }

  /// Whether `ModelLens` translates the message of a client with an older version of the model.
  public var isTranslatedByLens: Bool { traits.isTranslatedByLens }

  private var traits: (readsStore: Bool, isTranslatedByLens: Bool) {
    switch self {
    case .fetch, .subscribe, .log, .why, .changes, .exportGraph: (true, true)
    case .moveWindow, .status, .undoState, .revisionAt, .browserLogin: (true, false)
    case .commit, .restore, .batchRows, .batch, .importGraph: (false, true)
    case .hello, .model, .undo, .unsubscribe, .more, .ping, .close, .presence, .cancel: (false, false)
    }
  }
}

/// A message from the server.
public struct ToClient: Hashable, Sendable {
  /// The kinds of messages; docs/protocol.md says which requests they answer.
  public enum Body: Hashable, Sendable {
    /// Accepts the hello.
    case welcome(Welcome)
    /// The request was not carried out; the connection stays open.
    case refused(Refusal)
    /// The model file's text and hash.
    case model(source: String, hash: ModelHash)
    /// A part of the result of a fetch or a live query.
    case chunk(Chunk)
    /// The commit of a transaction, the changed objects as stored, and the deleted ones. `isComplete`: these are all
    /// objects that the commit changed.
    case committed(CommitResult, objects: [ObjectImage], isComplete: Bool, deleted: [ObjectID] = [])
    /// A subscription was accepted. `query` is the server's number on this connection.
    ///
    /// If `resumed` is true, deltas follow instead of chunks. `known`: the store still has the state that the client
    /// named; if the query did not resume although it is true, its predicate follows paths.
    case subscribed(query: UInt64, resumed: Bool, known: Bool = false)
    /// A subscription has ended: no delta of this query follows.
    case unsubscribed(query: UInt64)
    /// The changes of one commit to one query.
    case delta(Delta)
    /// All changes up to this revision have been sent for all queries of this connection.
    case advance(revision: Revision, fingerprint: UInt64)
    /// The client must discard the query's result; chunks follow.
    case reset(query: UInt64, reason: String)
    /// Commits of the log; newest first, unless the request reverses the order. `damage`, in the last part: the commits
    /// that are omitted because they are damaged, and the objects whose changes have no values.
    case log([CommitEntry], last: Bool, damage: DamageNotice = DamageNotice())
    /// The server's status.
    case status(ServerStatus)
    /// The token from which the connection may resume; revision 0 while it lags or loads.
    case pong(Token)
    /// The connection ends; later messages are ignored.
    case close(code: String, message: String)
    /// Another session's presence; `left` if the session has ended.
    case presence(session: UInt64, author: String, state: [UInt8], left: Bool)
    /// The next undo and redo steps.
    case undoState(UndoState)
    /// The progress of a batch; while its rows are sent, the number of rows that are kept.
    case progress(BatchProgress)
    /// The newest commit at or before a time.
    case revisionAt(RevisionAtTime)
    /// The origin of a property's value.
    case why(ValueOrigin)
    /// Commits after a token, oldest first, the state up to which history was read, and the newest state. `damage`: the
    /// commits that are omitted because they are damaged, and the objects whose changes have no values.
    case followed([CommitEntry], at: Token, head: Token, damage: DamageNotice = DamageNotice())
    /// The differences of two states. `damage`, in the last part: the objects that are omitted because one of their
    /// states is unknown, and the damaged commits, whose changes are missing.
    case differences([ObjectDifference], last: Bool, damage: DamageNotice = DamageNotice())
    /// The head of an exported graph; its chunks follow.
    case exportHead(ExportHead)
    /// The answer to moving a window, with the rows of its new place.
    case windowMoved(WindowMoved)
    /// A code with which a browser logs in.
    case browserCode(BrowserCode)
    /// The new roles of the session's principal. They replace the roles in the welcome.
    case rights([Welcome.GrantEntry])
  }

  /// The request that the message answers; 0 for an unsolicited message.
  public var request: UInt64
  /// The content of the message.
  public var body: Body

  /// An answer to a request; 0 for an unsolicited message.
  public init(_ request: UInt64, _ body: Body) {
    self.request = request
    self.body = body
  }
}

extension ToClient.Body {
  /// Whether the server sends the next part of the reply when the client requests it with `more`.
  public var awaitsMore: Bool {
    switch self {
    case .chunk(let chunk): chunk.end == nil
    case .log(_, let last, _), .differences(_, let last, _): !last
    case .exportHead: true
    default: false
    }
  }

  /// Whether `ModelLens` translates the message for a client with an older version of the model. Deltas and origins are
  /// translated earlier: the changes of a delta before it is built, because all clients with this lens share it; an
  /// origin at the place where its property is known.
  public var isTranslatedByLens: Bool {
    switch self {
    case .refused, .model, .chunk, .committed, .log, .followed, .status, .differences, .windowMoved: true
    case .welcome, .subscribed, .unsubscribed, .delta, .advance, .reset, .pong, .close, .presence, .undoState,
      .progress, .revisionAt, .why, .exportHead, .browserCode, .rights:
      false
    }
  }
}
