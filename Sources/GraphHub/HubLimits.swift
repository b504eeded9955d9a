import GraphWire

/// What a server allows; docs/protocol.md and docs/operating.md name each.
public struct HubLimits: Sendable {
  /// Bytes that wait for one session's socket before its deltas are dropped.
  public var sessionBacklog = 4 << 20
  /// A session that lagged is fed again when no more than this waits.
  public var resumeBacklog = 1 << 20
  /// Bytes that wait for all sockets together; past it, every session with more than `fairShare` lags.
  public var totalBacklog = 64 << 20
  /// Bytes that a session may have waiting even then.
  public var fairShare = 64 << 10
  /// The ring of recent commits: about how many bytes it holds.
  public var ringBytes = 16 << 20
  /// The ring of recent commits: how many it holds at most.
  public var ringCommits = 8_192
  /// How many object changes are read from history for one lagging session at a time; past it, a reset.
  public var historyChanges = 20_000
  /// About how many bytes of commits are read from history at a time; past it, a reset.
  public var historyBytes = 16 << 20
  /// Commits that wait for the disk; past it the socket is not read.
  public var outstandingRequests = ProtocolLimits.maximumOutstandingRequests
  /// About how many bytes of one session's commits wait for the disk; past it the socket is not read.
  public var sessionCommitBytes = 32 << 20
  /// The same for all sessions; past it no session has more than one commit waiting beyond those it has.
  public var totalCommitBytes = 256 << 20
  /// Bytes of rows that are kept for one session's batch.
  public var rowBytes = 4 << 30
  /// Requests that wait for commits or for reads before them; one more is refused.
  public var waitingRequests = ProtocolLimits.maximumOutstandingRequests
  /// Reads that stream to one session at once; others wait.
  public var concurrentReads = 16
  /// A fetch that has found nothing for so long is given up: its thread is one of a few.
  public var searchMilliseconds: Int64 = 60_000
  /// Questions of one session that wait for the next commit.
  public var waitingFollowers = 16
  /// Live queries that one session may follow.
  public var queriesPerSession = ProtocolLimits.maximumQueries
  /// Rows that a window shows at most.
  public var windowRows = ProtocolLimits.maximumWindow
  /// About how many bytes the rows of a window have when they are sent together.
  public var windowBytes = 4 << 20
  /// Objects of one query that windows are cut from.
  public var orderRows = 1_000_000
  /// About how many bytes the objects of all such queries take in memory.
  public var orderBytes = 512 << 20
  /// Queries without a window that are kept in order anyway, for a client that comes back.
  public var idleOrders = 8
  /// How long they are kept.
  public var idleOrderMilliseconds: Int64 = 60_000
  /// Changes of commits that are carried over into an order in one event.
  public var carriedChanges = 256
  /// Orders of so many objects are freed on another thread.
  public var discardedRows = 10_000
  /// A connection says hello within this time, and something at least every `silenceMilliseconds`.
  public var helloMilliseconds: Int64 = 10_000
  /// What the welcome says: a client that has heard nothing for so long asks.
  public var heartbeatMilliseconds: Int64 = 15_000
  /// A session that says nothing for so long is ended.
  public var silenceMilliseconds: Int64 = 120_000
  /// Bytes of the largest message that is taken.
  public var maximumFrameSize = ProtocolLimits.maximumFrameSize
  /// A message is complete within this time from its first byte on, while the server reads from the session.
  public var frameMilliseconds: Int64 = 60_000
  /// Bytes of incomplete messages of all sessions together; past it, sessions with more than `fairShare` of them end.
  public var unfinishedBytes = 64 << 20
  /// Objects in a commit's reply take at most this many bytes; a client reads the rest by itself.
  public var replyBytes = 4 << 20

  /// The limits of a daemon that nobody has told others.
  public init() {}
}
