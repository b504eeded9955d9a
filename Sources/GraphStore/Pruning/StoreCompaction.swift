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

    /// What became of a store.
    public init(pruning: HistoryPruning, before: Int, after: Int) {
      self.pruning = pruning
      self.before = before
      self.after = after
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
      let pruning = try store.pruning(policy, now: now)
      if isRehearsal {
        try store.close()
        return Report(pruning: pruning, before: before, after: before)
      }
      // Parts that an earlier run has left go as well.
      while try store.prune(through: pruning.floor) {
        try progress(.pruning(try store.oldestRevision, of: pruning.floor))
      }
      try progress(.givingBackSpace)
      try store.giveBackSpace()
      try store.close()
      return Report(pruning: pruning, before: before, after: StoreFiles.size(of: path))
    } catch {
      try? store.close()
      throw error
    }
  }
}
