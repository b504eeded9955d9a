// Tests: LoggedStoreTests.swift
import GraphLog
import GraphModel
import Synchronization

/// The commits that are not yet committed in SQLite.
///
/// A commit is acknowledged once its entry is in the log; `unsynced` has the entries that are not. The writer leaves
/// its SQLite transaction open meanwhile, so that many commits share the work of one COMMIT, which needs no sync. It
/// commits the transaction when a read must see it, when enough commits have gathered, and before a large batch and a
/// pruning. If the transaction is lost, the entries repeat it: those in memory while the process lives, those in the
/// log after its end.
///
/// `@unchecked Sendable`: everything but the atomics and `unsynced` is guarded by the store's turn.
final class GatheredCommits: @unchecked Sendable {
  /// The limits at which the gathered commits are committed in SQLite.
  struct Limits: Hashable, Sendable {
    var commits = 64
    /// The size of the entries, in bytes.
    var bytes = 1 << 20
  }

  let log: AttachedLog
  private let limits: Limits
  /// The entries of the open transaction, by group; entries of commits that were not acknowledged come last.
  private var groups = [[LogEntry]]()
  private var count = 0
  /// The commits of the open transaction that are not acknowledged; on any thread.
  private let unsynced: UnsyncedGroups
  private var bytes = 0
  /// Whether SQLite syncs each COMMIT of the writer's connection.
  var isSyncing = false
  /// Whether SQLite's transaction is open.
  private(set) var isOpen = false
  /// The number of groups that reads must see; on any thread.
  private let acknowledged = Atomic<Int>(0)
  /// The number of groups that reads see; on any thread.
  private let visible = Atomic<Int>(0)
  /// The number of reads that wait for a COMMIT; on any thread.
  private let waitingReads = Atomic<Int>(0)

  init(_ log: AttachedLog, limits: Limits, _ options: SQLiteStore.Options) {
    (self.log, self.limits) = (log, limits)
    unsynced = UnsyncedGroups(comparedNanoseconds: options.comparedNanoseconds, clock: options.monotonicNanoseconds)
  }

  /// Registers a read. May be called on any thread.
  /// - Returns: the newest group that the read must see; nil if it is visible, and the read does not wait.
  func waitForNewest() -> Int? {
    let newest = acknowledged.load(ordering: .acquiring)
    if isVisible(newest) { return nil }
    waitingReads.add(1, ordering: .relaxed)
    return newest
  }

  /// Ends a wait.
  func endWait() { waitingReads.subtract(1, ordering: .relaxed) }

  /// Whether reads see a group. May be called on any thread.
  func isVisible(_ group: Int) -> Bool { visible.load(ordering: .acquiring) >= group }

  /// Whether enough has gathered for a COMMIT, or a read waits for one.
  var isDue: Bool {
    count >= limits.commits || bytes >= limits.bytes || waitingReads.load(ordering: .relaxed) > 0
  }

  /// The entries of the open transaction, in order.
  var entries: [LogEntry] { groups.flatMap { $0 } }

  func didBegin() { isOpen = true }

  /// Adds a group whose rows are in the open transaction.
  func add(_ group: UnsyncedGroups.Group) {
    groups.append(group.entries)
    count += group.entries.count
    bytes += group.bytes
    unsynced.add(group)
  }

  /// Makes the groups durable in the log that were added; may be called on any thread.
  /// - Parameter group: returns as soon as this group has an outcome; nil for all groups.
  /// - Returns: the failure of the log, if a group still waits. The holder of the store's turn must then make the
  ///   groups durable in SQLite.
  func writeUnsynced(until group: UnsyncedGroups.Group? = nil) -> (any Error)? {
    unsynced.write(group) { acknowledged.add($0, ordering: .releasing) }
  }

  /// Compares the names of the log's files while no commit does so. Only the holder of the store's turn may call it.
  /// - Returns: the reason why the log must begin again; nil if there is none, or if commits are in progress.
  func verifyIdleLog() -> (any Error)? {
    guard !isOpen, let current = log.current else { return nil }
    return unsynced.verify(current)
  }

  /// Ends the groups that are not durable in the log.
  func resolveUnsynced(_ outcome: UnsyncedGroups.Outcome) { unsynced.resolve(outcome) }

  /// Nil while a group is not durable; on any thread.
  func outcome(of group: UnsyncedGroups.Group) -> UnsyncedGroups.Outcome? { unsynced.outcome(of: group) }

  /// SQLite's transaction is committed before its commits are durable: reads wait for the store's turn.
  func willCommitUnsynced() { acknowledged.add(1, ordering: .releasing) }

  /// SQLite's transaction was committed.
  func didCommit() {
    groups.removeAll(keepingCapacity: true)
    (count, bytes, isOpen) = (0, 0, false)
    visible.store(acknowledged.load(ordering: .relaxed), ordering: .releasing)
  }

  /// SQLite's transaction was rolled back; its entries must be repeated.
  func didRollBack() { isOpen = false }
}

/// Collects the entries of a group while the writer writes it. It drops the entries of a batch beyond a limit.
final class EntryCollector {
  /// The maximum size in bytes; nil for no limit.
  private let limit: Int?
  private var bytes = 0
  /// The entries; nil if they are too large together.
  private(set) var entries: [LogEntry]? = []

  /// - Parameter count: the expected number of entries.
  init(limit: Int?, count: Int) {
    self.limit = limit
    entries?.reserveCapacity(count)
  }

  /// Whether nothing was written.
  var isEmpty: Bool { entries?.isEmpty == true }

  func append(_ entry: LogEntry) {
    entries?.append(entry)
    if let limit, !entry.isLast {
      bytes += entry.binary.count
      if bytes > limit { entries = nil }
    }
  }
}
