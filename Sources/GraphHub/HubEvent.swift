import GraphModel
import GraphWire

/// A connection, numbered by whoever accepts it; never used twice.
public typealias SessionID = UInt64

/// A question to the store that has not been answered.
public struct Ticket: Hashable, Sendable, Comparable {
  /// Rises; the answer carries it too.
  public let number: UInt64

  /// The ticket of that number.
  public init(_ number: UInt64) { self.number = number }

  public static func < (left: Ticket, right: Ticket) -> Bool { left.number < right.number }
}

/// The end of a read.
///
/// The last frame takes the hub's own way to the socket, unlike those before it: a client takes every advance behind that
/// frame for its new result as well, so the hub must know that the result is complete before it sends anything else.
public struct ReadEnd: Sendable {
  /// The state that was read.
  public let at: Token
  /// The frame that completes the answer.
  public let lastFrame: [UInt8]

  /// A read of the state `at`, completed by `lastFrame`.
  public init(at: Token, lastFrame: [UInt8]) { (self.at, self.lastFrame) = (at, lastFrame) }
}

/// What happens to the hub.
public enum HubEvent: Sendable {
  /// A connection was accepted; its hello is still to come.
  case opened(SessionID)
  /// A message of a session, in the order in which it sent them.
  case received(ToServer, from: SessionID)
  /// So many bytes of a session's next frame are here, and the rest of it is not; 0 for none.
  case receivedPart(bytes: Int, from: SessionID)
  /// A frame or a message that can't be read: the session ends.
  case malformed(String, from: SessionID)
  /// So many of the bytes given to `.send` and `.broadcast` have left for this session's socket.
  case drained(SessionID, bytes: Int)
  /// The connection is gone; nothing of it follows.
  case closed(SessionID)
  /// A batch came back from the writer, in the order of the tickets' commits.
  case committed([(ticket: Ticket, result: WriteResult)])
  /// The writer could not commit these: nothing of them is known to be on disk.
  case commitFailed([Ticket], StoreFailure)
  /// How far a batch is that the writer has.
  case batchProgress(Ticket, BatchProgress)
  /// So many rows are kept under this ticket; or they are not, and those before them are of no use.
  case rowsKept(Ticket, request: UInt64, Result<Int, Refusal>)
  /// A read is complete: its frames but the last one have gone to the session, the last one is the hub's to send. Or the
  /// read was refused.
  case readFinished(Ticket, Result<ReadEnd, Refusal>)
  /// The commits that `.history` asked for, or the first of them; or they can't be read.
  case history(Ticket, Result<[CommitRecord], Refusal>)
  /// Objects for an order. Those that come in its sort are put behind one another, others are searched a place.
  case collected(Ticket, [ObjectImage])
  /// An order's objects are all here, as of that state; or it can't be read.
  case collectFinished(Ticket, Result<Token, Refusal>)
  /// The turn of what `.continueOrder` put off.
  case continueOrder(Ticket)
  /// Whether the store was ever in the state that `.recognize` asked about; false when it can't tell.
  case recognized(Ticket, Bool)
  /// What the server tells of itself; the hub adds what it alone knows.
  case statistics(Ticket, ServerStatus)
  /// Time passes: milliseconds of a clock that only goes forward.
  case tick(Int64)
  /// The daemon is told to end.
  case shutdown
}

/// What the hub wants done, in this order.
public enum HubAction: Sendable {
  /// One encoded frame to a session.
  case send([UInt8], to: SessionID)
  /// The same bytes to several sessions: encoded once.
  case broadcast([UInt8], to: [SessionID])
  /// Hand this to the writer, behind what it has already.
  case commit(Ticket, WriteRequest)
  /// Keep rows, behind those that are kept under this ticket: not in memory, there may be gigabytes.
  case keepRows(Ticket, [[Value]], request: UInt64)
  /// The rows that are kept under this ticket are of no use any more.
  case dropRows(Ticket)
  /// The rows that are kept under the first ticket are those of the batch that is committed next, under the second.
  case takeRows(Ticket, for: Ticket)
  /// Nobody waits for the batch any more: it ends at its next slice, and nothing of it stays.
  case cancelBatch(Ticket)
  /// Read objects and stream them to the session as chunks that answer `request`: two at once, then one for each
  /// `.continueRead`. Their bytes do not pass through the hub, but for the last frame (`ReadEnd`).
  case read(Ticket, ReadRequest, session: SessionID, request: UInt64)
  /// Read objects for an order that windows are cut from, and hand them over some at a time, between which everything else
  /// has its turn: one statement. They need not come in the sort that the fetch names, but then cost least. `session` is
  /// who asked first.
  case collect(Ticket, FetchRequest, session: SessionID)
  /// Come back with the event of this name when others have had their turn: there is more to do for the order.
  case continueOrder(Ticket)
  /// Free these elsewhere, it takes long.
  case discard(DiscardedRows)
  /// The session takes one more chunk of the read.
  case continueRead(Ticket)
  /// Nobody waits any more for what `.read` or `.collect` asked for.
  case cancelRead(Ticket)
  /// Commits for a session that lags behind the ring.
  case history(Ticket, after: Revision, through: Revision)
  /// From the next batch on, records say what becomes of this query, which follows paths.
  case watch(LiveQuery, number: UInt64)
  /// Records need not speak of the query with this number any more.
  case unwatch(UInt64)
  /// Was the store ever in this state?
  case recognize(Ticket, Token)
  /// Collect what the server tells of itself.
  case statistics(Ticket)
  /// Take nothing more from the session's socket: it reads too slowly, or has too many commits under way.
  case pauseReading(SessionID)
  /// Read from the session's socket again.
  case resumeReading(SessionID)
  /// Close once everything sent has left, or after a moment.
  case close(SessionID)
  /// Log a fault of the hub, which ends the session that met it.
  case report(InvariantFailure, session: SessionID)
  /// Every session was told; nothing is in flight any more.
  case finished
}

/// What a read streams to a session.
public indirect enum ReadRequest: Sendable, Hashable {
  /// Objects, or rows made of them, now or as they were.
  case objects(FetchRequest)
  /// Commits of history.
  case log(LogRequest)
  /// What undo and redo of an author would take; nil for all scopes.
  case undoState(author: String, scope: UniqueID?)
  /// The newest commit at or before a time.
  case revision(at: Timestamp)
  /// Where the value of a property comes from.
  case why(ObjectID, PropertyNumber)
  /// What was committed behind a token, or what two states differ in.
  case changes(ChangesRequest)
  /// The whole graph, behind its head.
  case graph
  /// One of the others, its answer as an older version of the model has it.
  case seen(ReadRequest, through: ModelLens)
}
