// Tests: UserLimitTests.swift
/// The limits of one user: of all connections of a principal with an account, of a share link, or of another local
/// user. The machine's owner has only the limits of each connection; docs/operating.md describes each.
public struct UserLimits: Sendable {
  /// Open connections; one more is refused.
  public var connections = 1_024
  /// Live queries; one more is refused.
  public var queries = 32_768
  /// The estimated steps of evaluating all live queries for one object; a query that exceeds them is refused. Half of
  /// the limit for the queries of all clients for one commit.
  public var querySteps = 1 << 21
  /// Reads in progress; others wait.
  public var reads = 64
  /// Commits that wait for the disk; past it, the server stops reading from the connections that send more.
  public var commits = 1_024
  /// The approximate size of these commits, in bytes; past it, the same.
  public var commitBytes = 64 << 20
  /// Bytes that wait for the connections, beyond `HubLimits.guaranteedBacklog` of each; past it, those with more lag.
  public var backlog = 32 << 20
  /// Presences that are forwarded in a second; the newest of each connection follows in the next second.
  public var presences = 256
  /// Bytes of unread answers and of rows for batches in temporary files; past it, the answer or the batch is refused.
  public var spooledBytes = 4 << 30
  /// A fetch that takes longer in total is refused, even if it finds objects all the time.
  public var fetchMilliseconds: Int64 = 600_000
  /// A fetch that finds more objects or rows is refused.
  public var fetchedRows = 5_000_000

  /// Creates the default limits.
  public init() {}
}
