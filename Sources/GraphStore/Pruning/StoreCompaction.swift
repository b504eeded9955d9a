import Foundation
import GraphModel

/// `stickiesd compact`: prunes a store that nobody serves, and gives the room back.
public enum StoreCompaction {
  /// What was done, or would be.
  public struct Report: Hashable, Sendable {
    /// What went of history.
    public var pruning: HistoryPruning
    /// Bytes of the store's files before.
    public var before: Int
    /// The same after; of a rehearsal as before.
    public var after: Int
    /// So many microseconds the clock was ahead of the newest commit, where that was so much that ages were counted from
    /// that commit; else nil.
    public var clockLead: Timestamp?

    /// What became of a store.
    public init(pruning: HistoryPruning, before: Int, after: Int, clockLead: Timestamp? = nil) {
      self.pruning = pruning
      self.before = before
      self.after = after
      self.clockLead = clockLead
    }
  }

  /// What goes on.
  public enum Progress: Hashable, Sendable {
    /// Commits up to a revision are gone, of those that go up to another.
    case pruning(Revision, of: Revision)
    /// The file is written anew.
    case givingBackSpace
  }

  /// Takes out of history what the policy lets go, then writes the file anew without the room that it had. Each slice of
  /// history is on disk before the next: a run that is ended has pruned less, and may be started again.
  /// - Parameters:
  ///   - now: the time by the clock. Where it is far ahead of the newest commit, ages are counted from that commit: a
  ///     wrong clock must not delete history (``PruningClock``).
  ///   - isRehearsal: only says what would go.
  ///   - progress: told as it goes; what it throws ends the run.
  /// - Throws: `StoreFailure`, also when a daemon serves the store, or there is none.
  public static func run(
    directory: String, model: Model, policy: HistoryPolicy, now: Timestamp, isRehearsal: Bool = false,
    options: SQLiteStore.Options = SQLiteStore.Options(), progress: (Progress) throws -> Void = { _ in }
  ) throws -> Report {
    let path = directory + "/" + StoreFiles.name
    guard try StoreFiles.kind(of: path) != .absent || StoreRestore.isUnfinished(in: directory) else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    let store = try SQLiteStore(directory: directory, model: model, options: options)
    do {
      let before = StoreFiles.size(of: path)
      let newest = try store.revision(at: .max)
      let dated = newest.revision > 0 ? newest.time : nil
      let lead = PruningClock.lead(wall: now, newest: dated, kept: policy.kept)
      let pruning = try store.pruning(
        policy, now: PruningClock.time(wall: now, newest: dated, kept: policy.kept))
      if isRehearsal {
        try store.close()
        return Report(pruning: pruning, before: before, after: before, clockLead: lead)
      }
      // Parts that an earlier run has left go as well.
      while try store.prune(through: pruning.floor) {
        try progress(.pruning(try store.oldestRevision, of: pruning.floor))
      }
      try progress(.givingBackSpace)
      try store.giveBackSpace()
      try store.close()
      return Report(pruning: pruning, before: before, after: StoreFiles.size(of: path), clockLead: lead)
    } catch {
      try? store.close()
      throw error
    }
  }
}
