// Tests: HubTests.swift, IncompleteFrameTests.swift
import GraphWire

/// The limits of a server; docs/protocol.md and docs/operating.md describe each.
public struct HubLimits: Sendable {
  /// Bytes of backlog at which a session's deltas are dropped.
  public var sessionBacklog = 4 << 20
  /// Bytes of backlog at or below which a lagging session receives deltas again.
  public var resumeBacklog = 1 << 20
  /// Bytes of backlog of all sessions; past it, every session with more than `guaranteedBacklog` lags.
  public var totalBacklog = 64 << 20
  /// Bytes of backlog that a session may have even when `totalBacklog` is exceeded.
  public var guaranteedBacklog = 64 << 10
  /// The approximate size of the ring of recent commits, in bytes.
  public var ringBytes = 16 << 20
  /// The maximum number of commits in the ring of recent commits.
  public var ringCommits = 8_192
  /// Object changes read from history at a time for one lagging session; past it, a reset.
  public var historyChanges = 20_000
  /// The approximate size of the commits read from history at a time, in bytes; past it, a reset.
  public var historyBytes = 16 << 20
  /// Commits of one session that wait for the disk; past it, the server stops reading from the session.
  public var outstandingRequests = ProtocolLimits.maximumOutstandingRequests
  /// The approximate size of one session's commits that wait for the disk; past it, the server stops reading from it.
  public var sessionCommitBytes = 32 << 20
  /// The same for all sessions; past it, the server stops reading from each session that has a commit in flight.
  public var totalCommitBytes = 256 << 20
  /// Bytes of rows kept for one session's batch.
  public var rowBytes = 4 << 30
  /// The maximum number of requests of one session that wait for commits or reads; one more is refused.
  public var waitingRequests = ProtocolLimits.maximumOutstandingRequests
  /// Reads that stream to one session at the same time; others wait.
  public var concurrentReads = 16
  /// A fetch that has found nothing after this time is refused, because it occupies one of few threads.
  public var searchMilliseconds: Int64 = 60_000
  /// Follow requests of one session that wait for the next commit.
  public var waitingFollowers = 16
  /// Live queries of one session.
  public var queriesPerSession = ProtocolLimits.maximumQueries
  /// Former numbers that a session keeps of live queries which changes of rights have renumbered; past it, it ends.
  public var renumberedQueries = 1 << 16
  /// The estimated steps of evaluating a live query for one object (`GraphPredicate.evaluationSteps`); a query with
  /// more is refused.
  public var liveQuerySteps = 1 << 17
  /// The steps that the evaluation of all live queries for one commit may take; past it, each further query has a
  /// thirty-second of them, and is read again if it needs more. Past four times as many, all others are read again.
  public var commitSteps = 1 << 22
  /// The maximum number of rows in a window.
  public var windowRows = ProtocolLimits.maximumWindow
  /// The approximate size of a window's rows that are sent together, in bytes.
  public var windowBytes = 4 << 20
  /// The maximum number of objects in an order.
  public var orderRows = 1_000_000
  /// The approximate size of all orders in memory, in bytes.
  public var orderBytes = 512 << 20
  /// The number of orders without a window that are kept for clients that return.
  public var idleOrders = 8
  /// The time for which an order without a window is kept.
  public var idleOrderMilliseconds: Int64 = 60_000
  /// Changes of commits applied to a newly read order in one event.
  public var carriedChanges = 256
  /// Orders with at least this many objects are freed on another thread.
  public var discardedRows = 10_000
  /// A connection must send its hello within this time.
  public var helloMilliseconds: Int64 = 10_000
  /// The heartbeat interval announced in the welcome: a client that has received nothing for this long sends a ping.
  public var heartbeatMilliseconds: Int64 = 15_000
  /// A session that has been silent for this long is ended.
  public var silenceMilliseconds: Int64 = 120_000
  /// The maximum size of a client's message, in bytes.
  public var maximumFrameSize = ProtocolLimits.maximumFrameSize
  /// A message must be complete within this time after its first byte, not counting pauses made by the server.
  public var frameMilliseconds: Int64 = 60_000
  /// Bytes of incomplete messages of all sessions; past it, sessions with more than `guaranteedBacklog` of them end.
  public var unfinishedBytes = 64 << 20
  /// The maximum number of bytes of objects in a commit's reply; a client fetches the remaining objects.
  public var replyBytes = 4 << 20

  /// The limits of a user, for all of its connections.
  public var user = UserLimits()
  /// Connections of one network: of an IPv4 address, or of the first 64 bits of an IPv6 address. Connections from this
  /// machine are not counted.
  public var networkConnections = 2_048

  /// Creates the default limits.
  public init() {}
}
