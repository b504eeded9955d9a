// Tests: CompactTests.swift, PruningFailureTests.swift
import Foundation
import GraphModel
import GraphStore

/// `stickiesd compact`: prunes a store that no daemon serves, and frees the space.
public enum StoreCompaction {
  /// The result of a compaction or a rehearsal.
  public struct Report: Hashable, Sendable {
    /// The removed part of history.
    public var pruning: HistoryPruning
    /// The size of the store's files before, in bytes.
    public var before: Int
    /// The size after; for a rehearsal, the size before.
    public var after: Int
    /// The time in microseconds by which the clock is ahead of the newest commit; nil if it is not far ahead.
    ///
    /// If it is not nil, ages were counted from that commit.
    public var clockLead: Timestamp?

    /// Creates a report.
    public init(pruning: HistoryPruning, before: Int, after: Int, clockLead: Timestamp? = nil) {
      self.pruning = pruning
      self.before = before
      self.after = after
      self.clockLead = clockLead
    }
  }

  /// The progress of a compaction.
  public enum Progress: Hashable, Sendable {
    /// The revision up to which commits are removed, and the last one to remove.
    case pruning(Revision, of: Revision)
    /// The file is being rewritten.
    case givingBackSpace
  }

  /// Removes the commits that the policy does not keep, then rewrites the file without its free space. Each slice of
  /// history is on disk before the next one: an interrupted run has pruned less, and can be repeated.
  /// - Parameters:
  ///   - now: the clock's time. If it is far ahead of the newest commit, ages are counted from that commit: a wrong
  ///     clock must not delete history (`PruningClock`).
  ///   - isRehearsal: whether to only report what would be removed.
  ///   - progress: called repeatedly; if it throws, the run ends.
  /// - Throws: `StoreFailure`, also if a daemon serves the store or there is no store.
  public static func run(
    directory: String, model: Model, policy: HistoryPolicy, now: Timestamp, isRehearsal: Bool = false,
    options: SQLiteStore.Options = SQLiteStore.Options(), progress: (Progress) throws -> Void = { _ in }
  ) throws -> Report {
    let path = directory + "/" + StoreFiles.name
    guard try StoreFiles.kind(of: path) != .absent || PendingRestore.exists(in: directory) else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    let store = try SQLiteStore(directory: directory, model: model, options: options)
    do {
      let before = StoreFiles.size(of: path)
      let dated = try PruningClock.confirmedTime(of: store, wall: now, retention: policy.retention)
      let lead = PruningClock.lead(wall: now, newest: dated, retention: policy.retention)
      let pruning = try store.pruning(
        policy, now: PruningClock.time(wall: now, newest: dated, retention: policy.retention))
      assert(pruning.floor >= pruning.oldest, "the floor of history never falls")
      if isRehearsal {
        try store.close()
        return Report(pruning: pruning, before: before, after: before, clockLead: lead)
      }
      // This also removes parts that an earlier run has left.
      while try store.prune(through: pruning.floor) {
        try progress(.pruning(try store.oldestRevision, of: pruning.floor))
      }
      try progress(.givingBackSpace)
      try store.vacuum()
      try store.close()
      return Report(pruning: pruning, before: before, after: StoreFiles.size(of: path), clockLead: lead)
    } catch {
      try? store.close()
      throw error
    }
  }
}
