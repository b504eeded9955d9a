// Tests: LocalCommitLogTests.swift, LogDamageTests.swift, ServedLogTests.swift
import GraphModel

/// Reads the records of a log without changing it. It needs the memory of one segment.
///
/// The log must not be written meanwhile: a group that is written during a read looks like damage. `attempt` is for a
/// log that another program may be writing.
package struct LogReader {
  private let disk: any LogDisk
  private let segments: [Segment]

  /// Finds the log of a store in a folder, for tools that only read.
  /// - Throws: `StoreFailure` if there is no log, or if its end is damaged, of another store, or of a newer program.
  package init(folder: String, store: UniqueID) throws { try self.init(LocalLogDisk(folder: folder), store) }

  package init(_ disk: any LogDisk, _ store: UniqueID) throws {
    self.init(disk, try LogScan(disk, store).segments)
  }

  init(_ disk: any LogDisk, _ segments: [Segment]) {
    precondition(!segments.isEmpty, "a log has a segment")
    (self.disk, self.segments) = (disk, segments)
  }

  /// The state after which the log began.
  package var beginning: LogPosition { segments[0].header.beginning }

  /// The log holds the entries after the first revision through the last one.
  package var extent: (after: Revision, last: Revision) {
    (segments[0].header.start, segments[segments.count - 1].last)
  }

  /// Passes the records after a revision to `body`.
  /// - Throws: `StoreFailure(.corrupt)` if an entry after the revision is missing or damaged.
  package func read(after revision: Revision, _ body: (LogRecord) throws -> Void) throws {
    let oldest = segments[0].header
    guard revision >= oldest.start else {
      let missing = oldest.previous.map { disk.path(Segment.name($0.number)) }
      throw LogFailure.gap(disk.folder, after: revision, through: oldest.start, missing: missing)
    }
    let needed = segments.drop { $0.last <= revision }
    guard let first = needed.first else { return }
    var order = RevisionOrder(after: first.header)
    for segment in needed {
      let image = try SegmentImage(segment.header.key, segment.end, disk)
      guard image.bytes.count == segment.end else {
        throw LogFailure.truncated(image.path, image.bytes.count, of: segment.header.fileBytes)
      }
      guard segment.header.start == order.last, segment.header.continuesEntry == order.isInsideEntry else {
        throw LogFailure.gap(disk.folder, after: order.last, through: segment.header.start, missing: nil)
      }
      try read(segment, image, &order) { if $0.revision > revision { try body($0) } }
    }
  }

  private func read(
    _ segment: Segment, _ image: SegmentImage, _ order: inout RevisionOrder, _ body: (LogRecord) throws -> Void
  ) throws {
    var offset = SegmentHeader.bytes
    while offset < segment.end {
      guard let record = image.record(at: offset) else {
        throw LogFailure.damaged(image.path, at: offset, "its first \(segment.end) bytes were synced")
      }
      guard record.revision == order.next else {
        throw LogFailure.wrongRevision(image.path, record, expected: order.next)
      }
      order.advance(past: record.revision, isLast: record.isLast)
      offset = record.end
      try body(
        LogRecord(revision: record.revision, isLast: record.isLast, body: Array(image.bytes[record.body])))
    }
  }
}

/// Reading beside the program that writes the log.
extension LogReader {
  /// Returns the records after a revision of a log that another program may be writing; they are durable.
  ///
  /// Nothing excludes the writer. While its files are read, it can write groups, recycle or remove segments, and begin
  /// the log again. A torn last group only ends the log, as after a crash. The other events look like a missing file, a
  /// gap or damage, so the caller tries again after a failure, with a new snapshot of the store.
  ///
  /// *A failure that the writer causes does not recur in the next attempt.* The writer writes a group only after the
  /// groups before it. So a sound record after a bad one means that the read passed the place of the bad record before
  /// its group was written, and the next read finds both. A missing file was listed before it was renamed or removed,
  /// and the next list lacks it. Before segments of a revision are recycled or superseded, the store holds that
  /// revision, so the next snapshot closes the gap. Only another event can cause another failure, and the writer
  /// recycles a segment at most as often as it fills one.
  ///
  /// *The result contains each commit that was acknowledged before the call and that the snapshot of the store lacks.*
  /// Its record was synced, so each read of the file has it, and those before it. Only a segment that was recycled or
  /// superseded lacks it. If that happened before the list, it is a gap. A segment that is recycled later loses its
  /// name before its content, and the names are looked up again at the end.
  /// - Parameter revision: the revision of a snapshot of the store that was taken before the call.
  /// - Throws: `StoreFailure` if the log is damaged, or if the writer has changed it meanwhile.
  package static func attempt(
    folder: String, store: UniqueID, after revision: Revision
  ) throws -> [LogRecord] {
    try attempt(LocalLogDisk(folder: folder), store, after: revision)
  }

  package static func attempt(
    _ disk: any LogDisk, _ store: UniqueID, after revision: Revision
  ) throws -> [LogRecord] {
    let reader = try LogReader(disk, store)
    var records = [LogRecord]()
    try reader.read(after: revision) { records.append($0) }
    assert(records.last?.isLast != false, "a log ends with a complete entry")
    // The end of the log was found in the newest segment, even if it has no record that is needed.
    let newest = reader.segments.count - 1
    for (number, segment) in reader.segments.enumerated() where segment.last > revision || number == newest {
      let file = try disk.open(segment.name, forWriting: false)
      // Its last group may not be synced yet.
      if segment.last > revision { try file.synchronize() }
    }
    return records
  }
}
