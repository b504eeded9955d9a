// Tests: RedoTests.swift
import GraphModel

/// The completion of commits that are repeated from their entries (`RedoWriter`).
extension StoreWriter {
  /// The ids of repeated inserts, above which the next commits assign theirs.
  struct AssignedIDs {
    /// The lowest id that the commit could assign.
    private let first: UInt64
    fileprivate private(set) var next: UInt64

    init(first: UInt64) { (self.first, next) = (first, first) }

    /// Objects that are revived, or imported with their ids, may have any id; only ids near the first one count.
    mutating func record(_ id: ObjectID) {
      if id.key.high >= next, id.key.high - first <= UInt64(2 * Batch.maximumObjects) { next = id.key.high + 1 }
    }
  }

  func assignedIDs(at time: Timestamp) -> AssignedIDs { AssignedIDs(first: firstIDHigh(time: time)) }

  /// Completes a repeated commit whose rows are written.
  /// - Parameters:
  ///   - keyframes: the updated objects that the commit holds completely.
  ///   - size: the size in bytes of all changed images.
  func finish(
    _ commit: LogEntry.Commit, _ changes: [ObjectChange], keyframes ids: [ObjectID], conflicts: [Conflict], size: Int,
    _ assigned: AssignedIDs
  ) throws {
    try insert(commit)
    for id in ids { try keyframes.write(id, in: commit.revision, connection) }
    try OverwrittenValues(connection: connection, numbers: layout.numbers).record(conflicts, of: commit.revision)
    fullText.recordCommit(changes: changes.count, size: size)
    // So that later commits get the same marks as in the store that planned this one.
    _ = lastWriters.lastWrites(of: changes, at: commit.revision)
    lastWriters.remember()
    try advance(past: commit, assigned)
  }

  /// Completes a repeated batch whose rows and parts are written.
  func finishBatch(_ commit: LogEntry.Commit, _ assigned: AssignedIDs) throws {
    try insert(commit)
    try advance(past: commit, assigned)
  }

  private func advance(past commit: LogEntry.Commit, _ assigned: AssignedIDs) throws {
    advanceHead(to: commit.revision, commit.fingerprint, time: commit.row.time)
    sequences = try SequenceCounters.decode(commit.row.counters, layout.numbers)
    lastIDHigh = assigned.next
  }
}
