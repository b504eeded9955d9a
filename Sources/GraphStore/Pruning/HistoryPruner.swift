// Tests: PruningTests.swift, PruningTwinTests.swift, PruningFailureTests.swift
import GRDBSQLite
import GraphModel

/// Removes old commits from history, one slice per transaction of the writer.
///
/// A slice removes the oldest commits and the rows that refer to them (`_whole`, `_lost`), and moves the floor, all
/// in one transaction. So after any interruption the store is in the state before or after a slice. The parts of a
/// batch, with up to a million changes, are removed after their commit, some megabytes at a time; until then they
/// have no meaning.
///
/// Not removed are all objects, all tombstones (an update based before a delete still loses), the interned names, and
/// for each replica the highest sequence number among its removed commits.
struct HistoryPruner {
  let connection: Connection
  /// The maximum number of commits in a slice, which also ends with the commit that reaches `sliceBytes`.
  let sliceCommits: Int
  static let sliceBytes = 4 << 20

  // MARK: - Commits

  /// Removes some of the commits up to `target`, which must be older than the newest. Call it inside a transaction.
  /// - Returns: the new floor; nil if there was nothing to remove.
  func removeCommits(through target: Revision) throws -> HistoryFloor? {
    let slice = try oldestCommits(through: target)
    guard let floor = slice.floor else { return nil }
    try invariant(floor.revision <= target, "no commit after the target is pruned")
    for keyframe in slice.keyframes {
      let delete = try connection.statement("DELETE FROM _whole WHERE id = ? AND revision = ?")
      delete.bind(1, keyframe.id)
      delete.bind(2, keyframe.revision)
      try connection.run(delete)
    }
    let hasLosses = try !slice.losses.isEmpty && OverwrittenValues.tableExists(connection)
    for (loss, revision) in slice.losses where hasLosses {
      // Both are in the store's numbers.
      let delete = try connection.statement("DELETE FROM _lost WHERE id = ? AND property = ? AND revision = ?")
      delete.bind(1, loss.id.key)
      delete.bind(2, Int64(loss.property))
      delete.bind(3, revision)
      try connection.run(delete)
    }
    for (replica, sequence) in slice.sequences.sorted(by: { $0.key < $1.key }) {
      let highest = try connection.statement(
        """
        INSERT INTO _pruned (replica, sequence) VALUES (?, ?) \
        ON CONFLICT (replica) DO UPDATE SET sequence = max(sequence, excluded.sequence)
        """)
      highest.bind(1, replica)
      highest.bind(2, sequence)
      try connection.run(highest)
    }
    let delete = try connection.statement("DELETE FROM _commit WHERE revision <= ?")
    delete.bind(1, floor.revision)
    try connection.run(delete)
    try ClockSetbacks.prune(through: floor.revision, connection)
    try floor.write(connection)
    return floor
  }

  /// The oldest commits, and the rows that refer to them.
  private struct Slice {
    /// The newest of the commits; nil if there are none.
    var floor: HistoryFloor?
    /// The highest sequence number of each replica.
    var sequences = [Int64: Int64]()
    var losses = [(Conflict, Revision)]()
    var keyframes = [(id: UniqueID, revision: Revision)]()
  }

  private func oldestCommits(through target: Revision) throws -> Slice {
    var slice = Slice()
    var size = 0
    let row = try connection.statement(
      """
      SELECT revision, fingerprint, time, author, replica, sequence, outcome, changes FROM _commit WHERE revision <= ? \
      ORDER BY revision LIMIT ?
      """)
    row.bind(1, target)
    row.bind(2, Int64(sliceCommits))
    defer { sqlite3_reset(row.statement) }
    while size < Self.sliceBytes, try connection.step(row) {
      let revision = row.integer(0)
      slice.floor = HistoryFloor(
        revision: revision, fingerprint: UInt64(bitPattern: row.integer(1)), time: row.integer(2),
        author: row.integer(3))
      slice.sequences[row.integer(4)] = max(slice.sequences[row.integer(4), default: .min], row.integer(5))
      let changes = row.blob(7)
      size += changes.count
      if !row.isNull(6) {
        let outcome = row.blob(6)
        size += outcome.count
        for conflict in try CommitResult(binary: outcome).conflicts where conflict.isLoss {
          slice.losses.append((conflict, revision))
        }
      }
      guard try CommitPartSummary(changes) == nil else { continue }
      for change in try HistoryChange.decode(changes) where change.kind == .updated && !change.values.isEmpty {
        slice.keyframes.append((change.id.key, revision))
      }
    }
    return slice
  }

  // MARK: - Parts

  /// Removes some of the parts whose commits were removed. Call it inside a transaction.
  /// - Returns: whether there may be more.
  func removeParts(through floor: Revision) throws -> Bool {
    var found = [(revision: Revision, number: Int64)]()
    var size = 0
    let row = try connection.statement(
      "SELECT revision, number, length(changes) FROM _part WHERE revision <= ? ORDER BY revision, number LIMIT ?")
    row.bind(1, floor)
    row.bind(2, Int64(sliceCommits))
    defer { sqlite3_reset(row.statement) }
    while size < Self.sliceBytes, try connection.step(row) {
      found.append((row.integer(0), row.integer(1)))
      size += Int(row.integer(2))
    }
    sqlite3_reset(row.statement)
    for part in found {
      let delete = try connection.statement("DELETE FROM _part WHERE revision = ? AND number = ?")
      delete.bind(1, part.revision)
      delete.bind(2, part.number)
      try connection.run(delete)
    }
    return size >= Self.sliceBytes || found.count == sliceCommits
  }
}
