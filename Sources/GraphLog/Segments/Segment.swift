// Tests: LocalCommitLogTests.swift
import GraphModel

/// A file of the log with its extent.
struct Segment: Hashable, Sendable {
  let header: SegmentHeader
  /// The offset after the last record.
  var end: Int
  /// The revision of the last record; the header's `start` if there is none.
  var last: Revision

  var name: String { Self.name(header.number) }

  static func name(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits + ".segment"
  }

  /// The number in the name of a segment file; nil for other files. It is at most `Int64.max`, so that the next number
  /// exists.
  static func number(in name: String) -> UInt64? {
    guard let number = Int64(name.prefix { $0 != "." }), number > 0 else { return nil }
    return Self.name(UInt64(number)) == name ? UInt64(number) : nil
  }
}

/// The order of revisions in a log: each entry's revision is one more than the previous entry's.
struct RevisionOrder {
  /// The revision of the last record.
  private(set) var last: Revision
  /// Whether that record is not the last one of its entry.
  private(set) var isInsideEntry: Bool

  init(after segment: SegmentHeader) { (last, isInsideEntry) = (segment.start, segment.continuesEntry) }

  init(after revision: Revision) { (last, isInsideEntry) = (revision, false) }

  /// The only revision that the next record can have.
  var next: Revision { isInsideEntry ? last : last + 1 }

  mutating func advance(past revision: Revision, isLast: Bool) {
    precondition(revision == next, "the caller has compared the revision with the expected one")
    (last, isInsideEntry) = (revision, !isLast)
  }
}
