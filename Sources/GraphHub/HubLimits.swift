import GraphWire

/// What a server allows; docs/protocol.md and docs/operating.md name each.
public struct HubLimits: Sendable {
  /// Bytes that wait for one session's socket before its deltas are dropped.
  public var sessionBacklog = 4 << 20
  /// A session that lagged is fed again when no more than this waits.
  public var resumeBacklog = 1 << 20
  /// Bytes that wait for all sockets together; past it, every session with more than `fairShare` lags.
  public var totalBacklog = 64 << 20
  public var fairShare = 64 << 10
  /// The ring of recent commits.
  public var ringBytes = 16 << 20
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
  public var queriesPerSession = ProtocolLimits.maximumQueries
  /// A connection says hello within this time, and something at least every `silenceMilliseconds`.
  public var helloMilliseconds: Int64 = 10_000
  public var heartbeatMilliseconds: Int64 = 15_000
  public var silenceMilliseconds: Int64 = 120_000
  public var maximumFrameSize = ProtocolLimits.maximumFrameSize
  /// Objects in a commit's reply take at most this many bytes; a client reads the rest by itself.
  public var replyBytes = 4 << 20

  public init() {}
}
