// Tests: LocalCommitLogTests.swift, LogFailureTests.swift
import GraphModel

/// Makes commits durable: a log of the entries of a store, in the order of their revisions.
///
/// One caller at a time may use a log; `status` may be read on any thread. The bodies are opaque to the log.
public protocol CommitLog: Sendable {
  /// Appends a group of complete entries and syncs; when it returns, all records are durable.
  /// - Throws: `LogRefusal` if the group can't be written: the log is unchanged and accepts other groups.
  ///   `StoreFailure` if the disk fails. If `status.needsRestart` is then true, it is unknown whether a part of the
  ///   group is durable, and the log accepts no group before `restart`; otherwise nothing was written.
  func append(_ group: [LogRecord]) throws
  /// Checks that the next start finds the records that were not forgotten: call it after `append`, before an answer.
  ///
  /// The caller makes the group durable elsewhere and begins the log again, as after a failed `append`.
  /// - Throws: `StoreFailure(.moved)` if a file with such records, or the folder, was moved, replaced or removed. The
  ///   log then accepts no group before `restart`, which creates the folder again. `LogRefusal.needsRestart` if a
  ///   restart is needed already.
  func verify() throws
  /// Passes the records after a revision to `body`, in order. After a failed `append`, the records of its group are
  /// left out.
  ///
  /// A log that ends before the revision passes nothing. It has lost entries, but the store holds them: the caller
  /// compares `status.last`, makes the store durable, and begins the log again.
  /// - Throws: `StoreFailure(.corrupt)` if an entry after the revision is missing or damaged.
  func read(after revision: Revision, _ body: (LogRecord) throws -> Void) throws
  /// Releases the space of the records up to and including a revision; the store must hold their commits durably.
  /// - Throws: `StoreFailure` if the space can't be prepared; the log still accepts groups.
  func forget(through revision: Revision) throws
  /// Begins again after a state: `records` supersede everything in the log.
  ///
  /// Durable when it returns. After an error it is unknown whether the log began again; it accepts no group before
  /// another `restart`.
  /// - Parameter records: the acknowledged entries that the store does not hold durably; usually none.
  func restart(after state: LogPosition, with records: [LogRecord]) throws
  /// The largest body of a record, in bytes.
  var maximumBodyBytes: Int { get }
  /// The state of the log after the last call that changed it.
  var status: LogStatus { get }
}

/// A record of a commit log: an entry, or a part of one.
public struct LogRecord: Hashable, Sendable {
  /// The revision that the entry leads to; revisions are consecutive.
  public var revision: Revision
  /// Whether this is the last record of its entry. The parts of a batch come before it, with the same revision.
  public var isLast: Bool
  /// The content, opaque to the log.
  public var body: [UInt8]

  /// Creates a record.
  public init(revision: Revision, isLast: Bool = true, body: [UInt8]) {
    (self.revision, self.isLast, self.body) = (revision, isLast, body)
  }
}

/// A state of the store that the first record of a log follows.
public struct LogPosition: Hashable, Sendable {
  /// The state's revision; 0 for an empty store.
  public var revision: Revision
  /// The fingerprint of the commit with that revision.
  public var fingerprint: UInt64

  /// Creates a position.
  public init(revision: Revision, fingerprint: UInt64) { (self.revision, self.fingerprint) = (revision, fingerprint) }
}

/// The extent of a commit log.
public struct LogStatus: Hashable, Sendable {
  /// The state after which the log began, or began again. The space of the first records may have been reused.
  public var beginning: LogPosition
  /// The log holds the entries after this revision.
  public var after: Revision
  /// The newest durable entry's revision; equal to `after` if the log holds no entry.
  public var last: Revision
  /// The bytes on disk.
  public var bytes: Int
  /// The bytes on disk that can't be reused yet, because they hold records that were not forgotten.
  public var heldBytes: Int
  /// The number of files.
  public var segments: Int
  /// Whether a write, a sync or a restart failed; the log accepts no group before `restart` succeeds.
  public var needsRestart: Bool
}

/// A group that a log does not accept. The log is unchanged.
public enum LogRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The log has its maximal size, and no space of it may be reused: checkpoint the store, `forget`, and append again.
  case full(bytes: Int)
  /// A record's body is larger than `maximumBodyBytes`.
  case recordTooLarge(bytes: Int, limit: Int)
  /// The group does not fit into an empty log of the maximal size.
  case groupTooLarge(bytes: Int, limit: Int)
  /// A write, a sync or a restart failed before.
  case needsRestart

  public var description: String {
    switch self {
    case .full(let bytes): "the log of \(bytes) bytes is full; commits resume after the next checkpoint of the store"
    case .recordTooLarge(let bytes, let limit): "a record of \(bytes) bytes is too large for the log (limit: \(limit))"
    case .groupTooLarge(let bytes, let limit): "\(bytes) bytes in a group are too large for the log (limit: \(limit))"
    case .needsRestart: "the log accepts no commit, because writing it failed and it has not begun again since"
    }
  }
}
