// Tests: ReplicaTests.swift
import GraphModel
import GraphWire

/// A live query of this replica, independent of the server's number for it.
package typealias QueryID = UInt64

/// A request of this replica's owner; unlike the request numbers on the wire it is unique across reconnects.
package typealias RequestID = UInt64

/// A load of a context; `.filled` names it when it has ended.
package typealias LoadID = UInt64

/// An input of the replica, from the network or from its owner.
package enum ReplicaEvent: Sendable {
  /// A connection was established; the replica sends a hello.
  case connected
  /// The credential for the hellos of later connections: a token of a user, or empty for none.
  case credential(String)
  /// A message arrived on the current connection.
  case received(ToClient)
  /// The connection was lost: requests are refused, saves and queries kept.
  case disconnected
  /// Commits a transaction, immediately or after the next connect; answered by `.saved`.
  case save(Transaction)
  /// Undoes or redoes a step; kept and answered like a save.
  case undo(UndoRequest)
  /// Restores an earlier state; kept and answered like a save.
  case restore(RestoreRequest)
  /// Follows a query across reconnects until `.unsubscribe`. A query whose result has more than `atMost` objects is
  /// refused, as soon as too many have arrived; nil accepts any number.
  case subscribe(QueryID, Subscribe, atMost: Int? = nil)
  /// Stops following the query.
  case unsubscribe(QueryID)
  /// Moves the window of a query; answered by `.loadedWindow`.
  case moveWindow(QueryID, offset: UInt64, limit: UInt64)
  /// Sends a request of the owner; answered by `.reply` or `.refused`, and refused without a connection, because the
  /// owner decides whether to repeat it. A batch or an import may have been committed then, and can be requested again
  /// under the same id.
  case request(RequestID, ToServer.Body)
  /// Requests the next part of a reply, after the owner has used one.
  case more(RequestID)
  /// Cancels a request of the owner, which receives nothing more about it, except for a batch or an import: it may be
  /// committed already, and is answered.
  case cancel(RequestID)
  /// Gives a replica that is a copy a new, random id, in answer to `.copied`. For the owner, the ids of earlier
  /// transactions stay valid.
  case renew(UniqueID)
  /// Sets the presence that other sessions receive; dropped without a connection.
  case presence([UInt8])
  /// The time of a monotonic clock, in milliseconds. It precedes each received message, and is due at the replica's
  /// `deadline`.
  case tick(Int64)
}

/// An output of the replica: an effect to perform or a notification, in this order.
package enum ReplicaAction: Sendable {
  /// Send a message on the current connection.
  case send(ToServer)
  /// Close the connection, which is no longer usable.
  case disconnect(Refusal)
  /// The hello was answered; pending saves are sent once the queries have reached the server's head.
  case welcomed(Welcome)
  /// Another instance of this replica has committed, because the replica was copied or restored to an earlier state.
  /// The owner answers with `.renew`. Unsent edits wait for that answer, and for the next connection.
  case copied
  /// The server has rejected this client permanently.
  case rejected(Refusal)
  /// The outcome of a save or an undo; once for each.
  case saved(TransactionID, Result<SaveResult, Refusal>)
  /// The query's next `.loaded` or `.loadedWindow` lacks these objects, which exist but are damaged.
  case incomplete(QueryID, DamageNotice)
  /// A query's first result, or a new one after a reset, is complete.
  case loaded(QueryID, [ObjectImage], at: Token)
  /// The rows of a window: the first rows, new rows after a reset, or the rows of a new place.
  case loadedWindow(QueryID, WindowRows, at: Token)
  /// The query resumed at this revision; its old result stays valid for now.
  case resumed(QueryID, since: Revision)
  /// The history of the store differs from the one that this replica has seen: it was restored from a backup, or it is
  /// another store. All held objects are invalid until they are reloaded.
  case diverged
  /// An unanswered save from before `.diverged`. The replica no longer keeps it. Its maker builds it again from the
  /// current state, under the same id.
  case outdated(Transaction)
  /// A commit, with all of its changes to this replica's queries.
  case changed(CommitUpdate)
  /// The server does not follow the query.
  case refusedQuery(QueryID, Refusal)
  /// A load has completed, or failed in part; once for each load. The context emits this, not the replica.
  case filled(LoadID, Refusal?)
  /// The reply to a request, or a part of it. The owner requests the next part with `.more` where the part
  /// `awaitsMore`.
  case reply(RequestID, ToClient.Body, isLast: Bool)
  /// The request, or the rest of its reply, is refused.
  case refused(RequestID, Refusal)
  /// Another session's presence; `left` if the session has ended.
  case presence(session: UInt64, author: String, state: [UInt8], left: Bool)
  /// The new roles of the principal. They replace the roles in the welcome.
  case rights([Welcome.GrantEntry])
  /// True if an answer is overdue and the server sends nothing, false when it sends again. The connection stays open.
  case silence(Bool)
}

/// An accepted transaction, with the objects as the server stored them.
public struct SaveResult: Hashable, Sendable {
  /// The revision, permanent ids, and conflicts that the policy decided.
  public var committed: CommitResult
  /// The objects of the commit as stored, as many as fit into the reply.
  public var objects: [ObjectImage]
  /// Whether `objects` and `deleted` contain everything that the commit changed.
  public var isComplete: Bool
  /// The objects that the commit deleted, those of delete rules included, as many as fit into the reply.
  public var deleted: [ObjectID]
}

/// One commit, as it affects this replica's queries.
package struct CommitUpdate: Hashable, Sendable {
  /// The commit's revision.
  package var revision: Revision
  /// The commit's time.
  package var time: Timestamp
  /// The commit's author.
  package var author: String
  /// The changes to each query that the commit touches.
  package var changes: [(query: QueryID, changes: [Delta.Change])]
  /// For windows: the number of rows of their queries, where it changed.
  package var totals = [QueryID: UInt64]()

  /// A commit, and its changes to each query that it touches.
  package init(
    revision: Revision, time: Timestamp, author: String, changes: [(query: QueryID, changes: [Delta.Change])]
  ) {
    self.revision = revision
    self.time = time
    self.author = author
    self.changes = changes
  }

  package static func == (left: CommitUpdate, right: CommitUpdate) -> Bool {
    left.revision == right.revision && left.totals == right.totals
      && left.changes.map(\.query) == right.changes.map(\.query)
      && left.changes.map(\.changes) == right.changes.map(\.changes)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(revision) }
}

extension ReplicaAction {
  /// Whether the action is a message to the server, or the welcome, which sets the limits for messages. These come
  /// first, in the order of request numbers, because the handlers of other actions may make further requests.
  package var isForTheConnection: Bool {
    switch self {
    case .send, .welcomed: true
    default: false
    }
  }
}
