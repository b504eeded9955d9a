// Tests: LoggedStoreTests.swift, LostPagesTests.swift
import GraphLog
import GraphModel
import Synchronization

/// The commit log of an open store, while there is a usable one.
///
/// Without a usable log, or with little space on the disk, each commit is committed and synced in SQLite instead. The
/// log begins again when that is over. SQLite syncs its own log only at checkpoints; segments of the commit log are
/// released after a sync of it.
///
/// `@unchecked Sendable`: everything but the atomic is guarded by the store's turn.
final class AttachedLog: @unchecked Sendable {
  /// Opens the log, or begins one after a state.
  typealias Opener = (_ beginning: LogPosition?) throws -> any CommitLog

  private let open: Opener
  /// The bytes of the log that are held before its space is released.
  private let heldBytes: Int
  /// Nil while commits are synced in SQLite.
  private(set) var current: (any CommitLog)?
  /// Whether the store has the mark of a log (`LogMark`).
  var isMarked: Bool
  /// The time on the monotonic clock before which no log is begun, after a failure.
  private var nextAttempt: Int64 = .min
  /// The time before which no complete checkpoint is attempted; nil if a sync of SQLite is known to be reliable.
  private var nextCheckpoint: Int64?
  private let bytes = Atomic<Int>(0)

  /// The time without an attempt after a log could not be begun: an attempt may write a whole segment.
  private static let retryNanoseconds: Int64 = 5_000_000_000

  /// - Parameter log: the log of a store with the mark; nil for a store without it, whose log must be begun.
  init(_ log: (any CommitLog)?, heldBytes: Int, open: @escaping Opener) {
    (current, self.heldBytes, self.open, isMarked) = (log, heldBytes, open, log != nil)
  }

  /// The bytes of the log on disk, as of the last call that began or released it. May be called on any thread.
  var bytesOnDisk: Int { bytes.load(ordering: .relaxed) }

  /// The size of a batch's parts, in bytes, above which their entries are not kept. Without a log none are needed.
  var maximumGroupBytes: Int { if let current { current.maximumBodyBytes } else { 0 } }

  /// Whether enough of the log is held for a sync of SQLite. Without a log there is nothing to release.
  var isForgettingDue: Bool { if let current { current.status.heldBytes >= heldBytes } else { false } }

  /// Releases the log through a revision that SQLite holds durably. A log that must begin again is not released.
  func forget(through revision: Revision) throws {
    if let current, case let status = current.status, !status.needsRestart, revision <= status.last {
      defer { bytes.store(current.status.bytes, ordering: .relaxed) }
      try current.forget(through: revision)
    }
  }

  // MARK: - A start beside another program

  /// Continues the log of the last run instead of beginning a new one.
  ///
  /// The previous process may have been killed after a failed sync of SQLite. It is then unknown which of the commits
  /// that SQLite shows are on disk, and only the log certainly has them. They are released after a complete checkpoint,
  /// which another program prevents as long as it reads the store.
  /// - Returns: false if the log can't be continued after the store's state.
  func keepUntilCheckpoint(after state: LogPosition) -> Bool {
    guard let current, case let status = current.status, !status.needsRestart, status.last == state.revision else {
      return false
    }
    nextCheckpoint = .min
    bytes.store(status.bytes, ordering: .relaxed)
    return true
  }

  /// Whether only a complete checkpoint makes SQLite's commits durable.
  var needsCheckpoint: Bool { nextCheckpoint != nil }

  /// Whether a complete checkpoint may be attempted; false for a while after one.
  func mayCheckpoint(at now: Int64) -> Bool {
    guard let nextCheckpoint, now >= nextCheckpoint else { return false }
    self.nextCheckpoint = now < .max - Self.retryNanoseconds ? now + Self.retryNanoseconds : .max
    return true
  }

  /// SQLite holds its commits durably.
  func didCheckpoint() { nextCheckpoint = nil }

  // MARK: - Beginning

  /// Whether a log may be begun; false for a while after a failure.
  func mayBegin(at now: Int64) -> Bool { now >= nextAttempt }

  /// Begins the log, or begins it again, after a state that SQLite holds durably.
  /// - Parameter now: the time on the monotonic clock.
  func begin(after state: LogPosition, at now: Int64) throws {
    nextAttempt = now < .max - Self.retryNanoseconds ? now + Self.retryNanoseconds : .max
    let log: any CommitLog
    if let current {
      try current.restart(after: state, with: [])
      log = current
    } else {
      log = try open(state)
    }
    current = log
    bytes.store(log.status.bytes, ordering: .relaxed)
    (nextAttempt, nextCheckpoint) = (.min, nil)
  }

  /// Stops appending until the next `begin`: SQLite syncs each commit.
  func rest() {
    (current, nextCheckpoint) = (nil, nil)
    bytes.store(0, ordering: .relaxed)
  }
}
