// Tests: ClockCheckTests.swift
import GraphModel

/// Finds commits by their times. All commits of a range that is searched must exist.
struct CommitTimes {
  let history: HistoryReader

  private var connection: Connection { history.connection }

  /// Returns the newest commit at or before a time. For the last pruned commit, the floor still has the time.
  ///
  /// Times may fall between revisions (`ClockSetbacks`): of several runs that reach back to the time, the newest
  /// counts.
  func revision(at time: Timestamp) throws -> (revision: Revision, time: Timestamp, author: String) {
    let (oldest, head) = (try history.oldest(), try history.head().revision)
    if let found = try newestCommit(upTo: time, from: oldest + 1, through: head), let commit = try dated(found) {
      return commit
    }
    if let floor = try HistoryFloor.read(connection), floor.revision == oldest, floor.time <= time {
      let author = if let name = try CommitAuthors(connection).name(of: floor.author) { name } else { "" }
      return (oldest, floor.time, author)
    }
    guard oldest == 0 else {
      guard let kept = try dated(oldest + 1) else { throw history.missingCommit(oldest + 1) }
      throw Refusal(
        .pruned,
        "the history of that time was pruned: the oldest commit that is kept, revision \(kept.revision), is from "
          + RFC3339.text(kept.time))
    }
    return (0, 0, "")
  }

  private func dated(_ revision: Revision) throws -> (revision: Revision, time: Timestamp, author: String)? {
    try CommitAuthors(connection).stamp(of: revision).map { (revision, $0.time, $0.author) }
  }

  /// The newest commit at or before a time; nil for none.
  func newestCommit(upTo time: Timestamp, from first: Revision, through last: Revision) throws -> Revision? {
    guard first <= last else { return nil }
    // The newest run that begins early enough; later runs are completely after the time.
    let begin = try setback("time <= ?3 ORDER BY revision DESC", time, from: first, through: last) ?? first
    guard try self.time(of: begin) <= time else { return nil }
    var (low, high) = (
      begin, try setback("?3 = ?3 ORDER BY revision", 0, from: begin, through: last).map { $0 - 1 } ?? last
    )
    while low < high {
      let middle = low + (high - low + 1) / 2
      if try self.time(of: middle) <= time { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// The oldest commit at or after a time; nil for none.
  func oldestCommit(from time: Timestamp, from first: Revision, through last: Revision) throws -> Revision? {
    guard first <= last else { return nil }
    // The oldest run that ends late enough: it ends before a commit whose predecessor is late enough.
    let end = try setback("previous >= ?3 ORDER BY revision", time, from: first, through: last).map { $0 - 1 } ?? last
    guard try self.time(of: end) >= time else { return nil }
    var (low, high) = (try setback("?3 = ?3 ORDER BY revision DESC", 0, from: first, through: end) ?? first, end)
    while low < high {
      let middle = low + (high - low) / 2
      if try self.time(of: middle) < time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// A setback after `first` that matches a condition on `?3`.
  private func setback(
    _ condition: String, _ value: Int64, from first: Revision, through last: Revision
  ) throws -> Revision? {
    guard try ClockSetbacks.tableExists(connection) else { return nil }
    return try connection.integer(
      "SELECT revision FROM _setback WHERE revision > ?1 AND revision <= ?2 AND \(condition) LIMIT 1",
      .integer(first), .integer(last), .integer(value))
  }

  private func time(of revision: Revision) throws -> Timestamp {
    let time = try connection.integer("SELECT time FROM _commit WHERE revision = ?", .integer(revision))
    guard let time else { throw history.missingCommit(revision) }
    return time
  }
}
