// Tests: PruningTests.swift, PruningTwinTests.swift, PruningFailureTests.swift
import GRDBSQLite
import GraphModel

/// Selects the commits that a policy removes. It only reads.
struct PruningPlanner {
  let history: HistoryReader

  /// Returns the commits that a policy removes now.
  /// - Parameters:
  ///   - now: the time from which ages are counted.
  ///   - ceiling: the last revision that may be removed.
  func plan(_ policy: HistoryPolicy, now: Timestamp, through ceiling: Revision = .max) throws -> HistoryPruning {
    let (head, oldest) = (try history.head().revision, try history.oldest())
    let highest = min(policy.highest(head: head), ceiling)
    let floor = min(highest, try last(before: policy.boundary(now: now), now: now))
    let wanted = min(highest, try last(before: policy.boundary(now: now, forReplicas: false), now: now))
    var pruning = HistoryPruning(
      oldest: oldest, floor: max(oldest, floor), head: head, wanted: max(oldest, wanted))
    let row = try history.connection.statement(
      """
      SELECT coalesce(sum(length(changes) + coalesce(length(outcome), 0)), 0), \
      (SELECT coalesce(sum(length(changes)), 0) FROM _part WHERE revision <= ?1) FROM _commit WHERE revision <= ?1
      """)
    row.bind(1, pruning.floor)
    defer { sqlite3_reset(row.statement) }
    if try history.connection.step(row) { pruning.bytes = Int(row.integer(0)) + Int(row.integer(1)) }
    return pruning
  }

  /// The newest revision older than all commits within the retention time.
  ///
  /// If there is none, it is the oldest revision in history. Times may fall between revisions: a commit dated in the
  /// future by a wrong clock does not indicate its age, so it is removed with its neighbors and does not keep later
  /// commits. Only the oldest commits are examined: those that may be removed, and one more.
  private func last(before time: Timestamp, now: Timestamp) throws -> Revision {
    let young = try history.connection.integer(
      "SELECT revision FROM _commit WHERE time >= ? AND time <= ? ORDER BY revision LIMIT 1", .integer(time),
      .integer(now))
    let end = if let young { young } else { Revision.max }
    let old = try history.connection.integer(
      "SELECT revision FROM _commit WHERE revision < ? AND time < ? ORDER BY revision DESC LIMIT 1", .integer(end),
      .integer(time))
    return try old ?? history.oldest()
  }
}
