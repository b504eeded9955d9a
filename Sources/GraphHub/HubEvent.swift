// Tests: HubTests.swift
import GraphModel
import GraphWire

/// The number of a connection, assigned by the code that accepts it; never reused.
public typealias SessionID = UInt64

/// Identifies a pending request to the store.
public struct StoreRequestID: Hashable, Sendable, Comparable {
  /// The number, which increases with each request. The answer contains it.
  public let number: UInt64

  /// Creates the id with this number.
  public init(_ number: UInt64) { self.number = number }

  public static func < (left: StoreRequestID, right: StoreRequestID) -> Bool { left.number < right.number }
}

/// The identity of a connection's other end, as the connection itself shows it.
public enum Peer: Hashable, Sendable {
  /// A program of the server's own user or of root. Its sessions act under the name that their hello gives.
  case owner
  /// A program on a network: the connection shows no user. A server without accounts treats it as a program of the
  /// owner; any other server requires a token.
  case network
  /// Another local user, which the system names.
  case user(Principal)
}

/// The identity that a credential gives to a client.
public enum ClientIdentity: Hashable, Sendable {
  /// The server has no accounts: the client is one of the owner.
  case owner
  /// The user of a token, the number of the token (`tokensEnded` contains it), and the rights of the user.
  case user(Principal, token: UInt64, access: GrantedAccess)
}

/// The user as whom a browser is to log in.
public enum BrowserUser: Hashable, Sendable {
  /// The user of the token with this number.
  case token(UInt64)
  /// The account of this name, which the owner of the machine has chosen. An empty name is the owner without an
  /// account. A server with accounts refuses it, because a browser's connection can't prove that its user is the owner.
  case named(String)
}

/// The rights of the user of a token, and the revision since which it has them.
public struct GrantedAccess: Hashable, Sendable {
  /// The rights that the user's grants give.
  public var rights: Rights
  /// The number of the last change of the grants, which never repeats.
  public var generation: Int64
  /// The revision at which the last session with earlier grants had ended. A client with an older state may have
  /// objects that its user no longer sees, or lack objects that it sees now, so it does not resume. Nil if it is not
  /// known.
  public var since: Revision?

  /// Creates the access of a user.
  public init(_ rights: Rights, generation: Int64 = 0, since: Revision? = 0) {
    (self.rights, self.generation, self.since) = (rights, generation, since)
  }

  /// The access of a principal with one role on the complete store.
  public init(_ role: Role, of principal: Principal) { self.init(Rights(user: principal.id, role: role)) }
}

/// The end of a read: the state that was read, and the last frame.
///
/// The earlier frames bypass the hub, but the last frame is sent by the hub: a client applies every advance after that
/// frame to its new result, so the hub must know that the result is complete before it sends anything else.
public struct ReadCompletion: Sendable {
  /// The state that was read.
  public let at: Token
  /// The frame that completes the answer.
  public let lastFrame: [UInt8]

  /// Creates the end of a read of the state `at`.
  public init(at: Token, lastFrame: [UInt8]) { (self.at, self.lastFrame) = (at, lastFrame) }
}

/// An input of the hub.
public enum HubEvent: Sendable {
  /// A connection of this peer was accepted; it has not sent its hello yet.
  case opened(SessionID, of: Peer = .owner)
  /// A message of a session, in the order in which it sent them.
  case received(ToServer, from: SessionID)
  /// The number of bytes of a session's incomplete next frame that have arrived; 0 when there is no incomplete frame.
  case receivedPart(bytes: Int, from: SessionID)
  /// A frame or message cannot be decoded: the session ends.
  case malformed(String, from: SessionID)
  /// The number of bytes passed to `.send` and `.broadcast` that have been written to this session's socket.
  case drained(SessionID, bytes: Int)
  /// The connection has closed; later events of it have no effect.
  case closed(SessionID)
  /// The writer has committed a group of requests; the results are in the order of `.commit`.
  case committed([(ticket: StoreRequestID, result: WriteResult)])
  /// The writer could not commit these; none of them is known to be on disk.
  case commitFailed([StoreRequestID], StoreFailure)
  /// Progress of a batch that the writer is running.
  case batchProgress(StoreRequestID, BatchProgress)
  /// The number of rows kept under this id so far; or a refusal, after which the earlier rows are of no use either.
  case rowsKept(StoreRequestID, request: UInt64, Result<Int, Refusal>)
  /// A read is complete: all frames but the last have been sent to the session, and the hub sends the last one. Or
  /// the read was refused.
  case readFinished(StoreRequestID, Result<ReadCompletion, Refusal>)
  /// The commits requested by `.history`, or the first of them; or a refusal.
  case history(StoreRequestID, Result<[CommitRecord], Refusal>)
  /// Objects for an order, with their sort keys, which the reader's thread allocates and computes. Objects that arrive
  /// in the order's sort are appended, others are inserted by search.
  case collected(StoreRequestID, [SortedObject])
  /// All objects of an order have arrived, as of this state, except for damaged ones; or the read was refused.
  case collectFinished(StoreRequestID, Result<Token, Refusal>, damage: DamageNotice = DamageNotice())
  /// Continues the work that `.continueOrder` postponed.
  case continueOrder(StoreRequestID)
  /// The identity for the credential passed to `.authenticate`; or a refusal, which ends the session.
  case authenticated(Result<ClientIdentity, Refusal>, session: SessionID)
  /// Tokens that can no longer be used, with the reasons: their sessions end.
  case tokensEnded([UInt64: Refusal])
  /// Clients of the network need a token from now on: the sessions without one end.
  case tokenRequired(Refusal)
  /// The present rights of principals, by the principals' ids. Their sessions continue with these.
  case rightsChanged([String: GrantedAccess])
  /// The transactions in history of the replica passed to `.findReplica`, nil if there are none. After a refusal the
  /// session commits nothing.
  case foundReplica(Result<KnownReplica?, Refusal>, session: SessionID)
  /// Whether the store's history contains the state passed to `.recognize`; false when the store does not know.
  case recognized(StoreRequestID, Bool)
  /// The store's newest state; nil if it can't be read.
  case foundHead(Token?)
  /// A code with which a browser logs in, or the reason why there is none.
  case browserCode(StoreRequestID, Result<BrowserCode, Refusal>)
  /// The server's part of the status; the hub adds its own.
  case statistics(StoreRequestID, ServerStatus)
  /// The current time, in milliseconds of a monotonic clock.
  case tick(Int64)
  /// A request to shut down.
  case shutdown
}

/// An output of the hub, to be performed in order.
public enum HubAction: Sendable {
  /// One encoded frame to a session.
  case send([UInt8], to: SessionID)
  /// Send the same bytes, encoded once, to several sessions.
  case broadcast([UInt8], to: [SessionID])
  /// Pass this request to the writer, after all earlier ones.
  case commit(StoreRequestID, WriteRequest)
  /// Append rows to those kept under this id. They are kept on disk, because there may be gigabytes.
  case keepRows(StoreRequestID, [[Value]], request: UInt64)
  /// Discard the rows kept under this id.
  case dropRows(StoreRequestID)
  /// Assign the rows kept under the first id to the batch that is committed next under the second id.
  case assignRows(StoreRequestID, for: StoreRequestID)
  /// Cancel the batch, because its client has cancelled it or disconnected: it stops at its next slice and is rolled
  /// back, unless it is being committed already.
  case cancelBatch(StoreRequestID)
  /// Read objects and stream them to the session as chunks that answer `request`: two at once, then one for each
  /// `.continueRead`. Only the last frame passes through the hub (`ReadCompletion`).
  case read(StoreRequestID, ReadRequest, session: SessionID, request: UInt64)
  /// Read objects for an order, with one statement, and deliver them in slices between which the loop handles other
  /// events.
  ///
  /// The objects may come in any sequence, but cost least in the sort that the fetch names. `session` is the first
  /// reader.
  case collect(StoreRequestID, FetchRequest, seenBy: Visibility?, session: SessionID)
  /// Return this as an event after other events have been handled: the order has more work to do.
  case continueOrder(StoreRequestID)
  /// Free these on another thread, because it takes long.
  case discard(DiscardedRows)
  /// Send one more chunk of the read to the session.
  case continueRead(StoreRequestID)
  /// Cancel a `.read` or `.collect` whose result is no longer needed.
  case cancelRead(StoreRequestID)
  /// Read commits from history for a session that lags behind the ring.
  case history(StoreRequestID, after: Revision, through: Revision)
  /// From the next batch on, include the effects on this key-path query in the commit records.
  case watch(LiveQuery, number: UInt64, seenBy: Visibility?)
  /// Stop including the effects on the query with this number.
  case unwatch(UInt64)
  /// Whether commit records contain the objects to which the changed ones refer, from the next batch on.
  case recordReferences(Bool)
  /// Verify the credential of a hello; nil for a client of the network without a credential. The welcome waits for it.
  case authenticate(String?, session: SessionID)
  /// Look up the replica that a session's hello names; the welcome waits for it.
  case findReplica(UniqueID, session: SessionID)
  /// Check whether the store's history contains this state.
  case recognize(StoreRequestID, Token)
  /// Read the store's newest state: commits whose outcome is unknown may exist.
  case findHead
  /// Record the revision from which on all sessions of this principal have at least the grants of this generation.
  case recordAccess(principal: String, generation: Int64, at: Revision)
  /// Make a code with which a browser logs in as this user.
  case makeBrowserCode(StoreRequestID, BrowserUser)
  /// Collect the server's part of the status.
  case statistics(StoreRequestID)
  /// Stop reading from the session's socket: it reads too slowly, or has too many commits in flight.
  case pauseReading(SessionID)
  /// Read from the session's socket again.
  case resumeReading(SessionID)
  /// Close the connection once everything sent has been written, or after a timeout.
  case close(SessionID)
  /// Write a line to the audit log.
  case audit(AuditEvent, session: SessionID)
  /// Log a broken invariant of the hub. It has ended the session in which it occurred.
  case report(InvariantFailure, session: SessionID)
  /// All sessions have ended, and nothing is in flight: the shutdown is complete.
  case finished
}

/// The content of a read that streams to a session.
public indirect enum ReadRequest: Sendable, Hashable {
  /// Objects, or rows computed from them, of the present or of a past revision.
  case objects(FetchRequest)
  /// Another message that reads the store, of a session of this principal.
  case message(ToServer.Body, author: Principal)
  /// Another read, with its answer translated for an older version of the model.
  case translated(ReadRequest, through: ModelLens)
  /// Another read, of the graph reduced to the objects that the session may see.
  case reduced(ReadRequest, to: Visibility)
}
