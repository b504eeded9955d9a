// Tests: LogDamageTests.swift
import GraphModel

/// The bytes of a segment file in memory.
struct SegmentImage {
  let key: SegmentKey
  let path: String
  let bytes: [UInt8]

  /// Reads a file.
  /// - Parameter count: the number of bytes to read; fewer if the file is shorter.
  init(_ key: SegmentKey, _ count: Int, _ disk: any LogDisk) throws {
    self.key = key
    path = disk.path(Segment.name(key.number))
    let file = try disk.open(Segment.name(key.number), forWriting: false)
    bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = try file.read(at: 0, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// The valid record at an offset; nil if there is none.
  func record(at offset: Int) -> StoredRecord? {
    bytes.withUnsafeBytes { RecordFormat.read($0, at: offset, segment: key) }
  }

  /// The valid records after an offset, wherever they begin.
  ///
  /// - Returns: whether there are any, and the offset of the first one of a later group than `group`.
  func records(behind offset: Int, laterThan group: Int) -> (exist: Bool, later: Int?) {
    bytes.withUnsafeBytes { bytes in
      var place = offset + 8
      var exist = false
      while place < bytes.count {
        guard let record = RecordFormat.read(bytes, at: place, segment: key) else {
          place += 8
          continue
        }
        if record.group > group { return (true, record.offset) }
        (exist, place) = (true, record.end)
      }
      return (exist, nil)
    }
  }
}

/// The end of the log in a segment.
struct SegmentExtent {
  /// The last record of the last complete entry in the segment.
  private(set) var lastComplete: StoredRecord?
  /// Whether valid records of an unfinished group or entry follow. Records written over some of them could complete
  /// the others, so the segment must not be written again.
  private(set) var hasLeftovers = false

  /// Finds the end of a segment that another one continues.
  /// - Throws: `StoreFailure(.corrupt)` for a bad record before `end`.
  init(_ header: SegmentHeader, _ image: SegmentImage, through end: Int) throws {
    let chain = try follow(header, image, through: end)
    guard chain == end else {
      throw LogFailure.damaged(image.path, at: chain, "a later segment proves that \(end) bytes were synced")
    }
    if let lastComplete { hasLeftovers = lastComplete.end < end } else { hasLeftovers = true }
  }

  /// Finds the end of the newest segment: its first bad record.
  /// - Throws: `StoreFailure(.corrupt)` if a record of a later group follows it.
  init(newest header: SegmentHeader, _ image: SegmentImage) throws {
    let chain = try follow(header, image, through: image.bytes.count)
    guard chain >= header.syncedEnd else {
      throw LogFailure.damaged(image.path, at: chain, "its header proves that \(header.syncedEnd) bytes were synced")
    }
    let behind = image.records(behind: chain, laterThan: chain)
    if let later = behind.later {
      throw LogFailure.damaged(image.path, at: chain, "the record of a later commit at byte \(later) is sound")
    }
    hasLeftovers = behind.exist || chain > (lastComplete.map(\.end) ?? SegmentHeader.bytes)
  }

  /// - Returns: the offset of the first bad record, or the end.
  private mutating func follow(_ header: SegmentHeader, _ image: SegmentImage, through end: Int) throws -> Int {
    var order = RevisionOrder(after: header)
    var offset = SegmentHeader.bytes
    while offset < end, let record = image.record(at: offset) {
      guard record.revision == order.next else {
        throw LogFailure.wrongRevision(image.path, record, expected: order.next)
      }
      order.advance(past: record.revision, isLast: record.isLast)
      if record.isLast { lastComplete = record }
      offset = record.end
    }
    return offset
  }
}
