// Tests: LocalCommitLogTests.swift, LogFailureTests.swift, RandomLogTests.swift
import GraphModel
import Synchronization

/// A commit log in segment files of a local folder; docs/commit-log.md describes them.
///
/// The caller must hold the lock of the data directory: two processes would ruin the log.
public final class LocalCommitLog: CommitLog {
  /// The size of a log.
  public struct Options: Hashable, Sendable {
    /// The size of a segment file, a multiple of 4,096.
    public var segmentBytes: Int
    /// The number of segment files, at least 2.
    public var maximumSegments: Int

    /// Creates options; by default the log needs at most 64 MiB.
    public init(segmentBytes: Int = 8 << 20, maximumSegments: Int = 8) {
      precondition(segmentBytes % SegmentHeader.bytes == 0, "segments consist of blocks")
      precondition((2 * SegmentHeader.bytes...Self.maximumSegmentBytes).contains(segmentBytes), "a segment has records")
      precondition(maximumSegments >= 2, "one segment is written while the other one is forgotten")
      (self.segmentBytes, self.maximumSegments) = (segmentBytes, maximumSegments)
    }

    /// The largest size of a segment, which is read into memory as a whole.
    public static let maximumSegmentBytes = 1 << 30

    /// The largest body of a record: a record lies within one segment.
    public var maximumBodyBytes: Int { segmentBytes - SegmentHeader.bytes - RecordFormat.headerBytes }
  }

  /// Draws the number that makes records of this log unpredictable; a simulation passes its own source.
  package typealias Salt = @Sendable () -> UInt64

  package static let randomSalt: Salt = { .random(in: .min ... .max) }

  private let disk: any LogDisk
  private let salt: Salt
  /// Locked during a write and its sync, by the only caller.
  private let writer: Mutex<LogWriter>
  /// A copy, so that other threads don't wait for the disk.
  private let published: Mutex<LogStatus>

  /// Opens the log of a store.
  /// - Parameter folder: the path of the folder, which exists.
  /// - Throws: `StoreFailure` if the folder is missing, or if the log can't be read or written, is damaged at its end,
  ///   of another store, or of a newer program. `read` finds damage before the end.
  public convenience init(opening folder: String, store: UniqueID, options: Options = Options()) throws {
    try self.init(opening: LocalLogDisk(folder: folder), store: store, options: options)
  }

  /// Begins a log after a state of a store, for a store that has no log or that was restored or migrated.
  ///
  /// Removes all segments that the folder holds.
  /// - Parameter folder: the path of the folder; it is created, its parent exists.
  /// - Throws: `StoreFailure` if the disk fails; begin again then.
  public convenience init(
    beginning folder: String, store: UniqueID, after state: LogPosition, options: Options = Options()
  ) throws {
    try self.init(beginning: LocalLogDisk(folder: folder), store: store, after: state, options: options)
  }

  package convenience init(
    opening disk: any LogDisk, store: UniqueID, options: Options, salt: @escaping Salt = randomSalt
  ) throws {
    self.init(try LogWriter(opening: disk, store, options), salt)
  }

  package convenience init(
    beginning disk: any LogDisk, store: UniqueID, after state: LogPosition, options: Options,
    salt: @escaping Salt = randomSalt
  ) throws {
    self.init(try LogWriter(beginning: disk, store, after: state, options, salt: salt()), salt)
  }

  private init(_ writer: LogWriter, _ salt: @escaping Salt) {
    (disk, maximumBodyBytes, self.salt) = (writer.disk, writer.options.maximumBodyBytes, salt)
    published = Mutex(writer.status)
    self.writer = Mutex(writer)
  }

  public let maximumBodyBytes: Int

  public var status: LogStatus { published.withLock { $0 } }

  public func append(_ group: [LogRecord]) throws { try change { try $0.append(group) } }

  public func verify() throws { try change { try $0.verify() } }

  public func forget(through revision: Revision) throws { try change { try $0.forget(through: revision) } }

  public func restart(after state: LogPosition, with records: [LogRecord]) throws {
    try change { try $0.restart(after: state, with: records, salt: salt()) }
  }

  public func read(after revision: Revision, _ body: (LogRecord) throws -> Void) throws {
    // Outside of the lock, because `body` belongs to the caller; segments change only in a call of the same caller.
    let segments = writer.withLock { $0.segments }
    try LogReader(disk, segments).read(after: revision, body)
  }

  private func change(_ body: (inout LogWriter) throws -> Void) throws {
    try writer.withLock { writer in
      defer { published.withLock { $0 = writer.status } }
      try body(&writer)
    }
  }
}
