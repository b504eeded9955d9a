// Tests: LocalCommitLogTests.swift, LogDamageTests.swift
import GraphModel

/// Reads the records of a log without changing it; the memory that it needs is that of one segment.
///
/// The log must not be written meanwhile: a group that is written during a read looks like damage.
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
