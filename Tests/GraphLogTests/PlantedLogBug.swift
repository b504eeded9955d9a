import GraphModel
import GraphStoreFaults
import Synchronization

@testable import GraphLog

/// An error of a log or of its caller, planted below or above it. The random test must find each of them.
enum PlantedLogBug: String, CaseIterable, Sendable {
  /// The answer does not wait for the sync.
  case answerBeforeSync
  /// A sync that failed is repeated, and its success believed.
  case retriedSync
  /// The old records of a recycled segment count as its new ones.
  case staleRecordAccepted
  /// The caller forgets records that its store does not hold durably.
  case recycledBeforeForget
}

/// A disk with a planted error.
struct BuggyLogDisk: LogDisk {
  let inner: SimulatedLogDisk
  let bug: PlantedLogBug

  init(_ inner: SimulatedLogDisk, _ bug: PlantedLogBug) { (self.inner, self.bug) = (inner, bug) }

  var folder: String { inner.folder }

  func makeFolder() throws { try inner.makeFolder() }

  func names() throws -> [String]? { try inner.names() }

  func folderIdentity() -> FileIdentity? { inner.folderIdentity() }

  func identity(of name: String) -> FileIdentity? { inner.identity(of: name) }

  func create(_ name: String) throws -> any LogFile { BuggyLogFile(try inner.create(name), bug) }

  func open(_ name: String, forWriting: Bool) throws -> any LogFile {
    BuggyLogFile(try inner.open(name, forWriting: forWriting), bug)
  }

  func rename(_ name: String, to newName: String) throws {
    try inner.rename(name, to: newName)
    guard bug == .staleRecordAccepted, let old = Segment.number(in: name), let new = Segment.number(in: newName) else {
      return
    }
    inner.edit(newName) { bytes in
      let salt: UInt64 = bytes.integer(at: 104)
      let (old, new) = (SegmentKey(number: old, salt: salt), SegmentKey(number: new, salt: salt))
      var offset = SegmentHeader.bytes
      while let record = bytes.withUnsafeBytes({ RecordFormat.read($0, at: offset, segment: old) }) {
        let renumbered = LogRecord(revision: record.revision, isLast: record.isLast, body: Array(bytes[record.body]))
        var form = [UInt8]()
        RecordFormat.append(renumbered, segment: new, group: record.group, to: &form)
        bytes.replaceSubrange(offset..<record.end, with: form)
        offset = record.end
      }
    }
  }

  func remove(_ name: String) throws { try inner.remove(name) }

  func synchronizeFolder() throws { try inner.synchronizeFolder() }
}

private final class BuggyLogFile: LogFile {
  private let inner: any LogFile
  private let bug: PlantedLogBug
  /// Whether records were written since the last sync. A file of zeros is prepared without the bug.
  private let hasRecords = Atomic(false)

  init(_ inner: any LogFile, _ bug: PlantedLogBug) { (self.inner, self.bug) = (inner, bug) }

  func identity() throws -> FileIdentity { try inner.identity() }

  func size() throws -> Int { try inner.size() }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    try inner.read(at: offset, into: buffer)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    if !bytes.allSatisfy({ $0 == 0 }) { hasRecords.store(true, ordering: .relaxed) }
    try inner.write(bytes, at: offset)
  }

  func synchronize() throws {
    let isGroup = hasRecords.exchange(false, ordering: .relaxed)
    if bug == .answerBeforeSync, isGroup { return }
    do {
      try inner.synchronize()
    } catch {
      guard bug == .retriedSync, isGroup else { throw error }
      try inner.synchronize()
    }
  }
}
