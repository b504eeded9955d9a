import GraphLog
import GraphModel
import GraphStoreFaults
import GraphTesting
import Synchronization

/// A log of small segments on a simulated disk.
final class LogFixture {
  static let store = UniqueID(high: 7, low: 9)
  /// The same salt for all logs, so that tests can put records of one log into another one.
  static let salt: LocalCommitLog.Salt = { 0x5A17 }

  let disk: SimulatedLogDisk
  let options: LocalCommitLog.Options
  let log: LocalCommitLog

  init(
    seed: UInt64 = 1, segmentBytes: Int = 8192, maximumSegments: Int = 4,
    after state: LogPosition = LogPosition(revision: 0, fingerprint: 5)
  ) throws {
    disk = SimulatedLogDisk(seed: seed)
    options = LocalCommitLog.Options(segmentBytes: segmentBytes, maximumSegments: maximumSegments)
    log = try LocalCommitLog(beginning: disk, store: Self.store, after: state, options: options, salt: Self.salt)
  }

  /// Opens the log again, as the next process does.
  func reopen() throws -> LocalCommitLog {
    try LocalCommitLog(opening: disk, store: Self.store, options: options, salt: Self.salt)
  }

  /// The names of the segment files.
  func names() throws -> [String] { try disk.names().map { $0.sorted() } ?? [] }
}

extension SimulatedLogDisk {
  convenience init(seed: UInt64) {
    let generator = Mutex(SeededGenerator(seed: seed))
    self.init { generator.withLock { $0.next() } }
  }
}

extension CommitLog {
  /// The records after a revision.
  func records(after revision: Revision = 0) throws -> [LogRecord] {
    var records = [LogRecord]()
    try read(after: revision) { records.append($0) }
    return records
  }

  /// The revisions of the records after a revision.
  func revisions(after revision: Revision = 0) throws -> [Revision] { try records(after: revision).map(\.revision) }
}

extension LogRecord {
  /// A complete entry with a body of some bytes, which differ from revision to revision.
  static func entry(_ revision: Revision, bytes: Int = 20) -> LogRecord {
    LogRecord(revision: revision, body: (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &+ Int(revision) &* 31) })
  }
}
