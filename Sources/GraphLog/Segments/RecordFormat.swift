// Tests: SegmentFormatTests.swift
import GraphModel

/// The bytes of a record in a segment file; docs/commit-log.md describes its fields.
///
/// A record is valid only in the segment whose number it contains: recycled files keep old records. It also contains
/// the offset of its group's first record. All earlier groups had been synced when a group was written. A valid record
/// after a bad one therefore proves damage, unless both belong to one group.
///
/// The checksum begins with the salt of the log, which no client knows, so that bytes in a body never form a record.
enum RecordFormat {
  static let headerBytes = 40
  private static let isLastFlag: UInt32 = 1

  /// The record's size in a file.
  static func bytes(ofBody count: Int) -> Int { (headerBytes + count + 7) & ~7 }

  /// Appends a record to the bytes of its group.
  /// - Parameter group: the offset of the group's first record in the file.
  static func append(_ record: LogRecord, segment: SegmentKey, group: Int, to buffer: inout [UInt8]) {
    let start = buffer.count
    let size = headerBytes + record.body.count
    buffer.appendInteger(UInt64.zero)
    buffer.appendInteger(UInt32(record.body.count))
    buffer.appendInteger(record.isLast ? isLastFlag : 0)
    buffer.appendInteger(record.revision)
    buffer.appendInteger(segment.number)
    buffer.appendInteger(UInt64(group))
    buffer.append(contentsOf: record.body)
    let sum = buffer.withUnsafeBytes { checksum($0, start..<(start + size), segment.salt) }
    buffer.setInteger(sum, at: start)
    for _ in size..<bytes(ofBody: record.body.count) { buffer.append(0) }
  }

  private static func checksum(_ bytes: UnsafeRawBufferPointer, _ record: Range<Int>, _ salt: UInt64) -> UInt64 {
    Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[(record.lowerBound + 8)..<record.upperBound]), seed: salt)
  }

  /// The valid record of a segment at an offset; nil if there is none.
  static func read(_ bytes: UnsafeRawBufferPointer, at offset: Int, segment: SegmentKey) -> StoredRecord? {
    guard bytes.count - offset >= headerBytes else { return nil }
    func integer<Number: FixedWidthInteger & BitwiseCopyable>(_ place: Int) -> Number {
      Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + place, as: Number.self))
    }
    // The number is compared first, because it excludes zeros and almost all old bytes.
    let number: UInt64 = integer(24)
    guard number == segment.number else { return nil }
    let (count, flags, group): (UInt32, UInt32, UInt64) = (integer(8), integer(12), integer(32))
    guard Int(count) <= bytes.count - offset - headerBytes, group >= SegmentHeader.bytes, group <= offset else {
      return nil
    }
    let body = (offset + headerBytes)..<(offset + headerBytes + Int(count))
    guard integer(0) == checksum(bytes, offset..<body.upperBound, segment.salt) else { return nil }
    return StoredRecord(
      offset: offset, revision: integer(16), isLast: flags & isLastFlag != 0, group: Int(group), body: body)
  }
}

/// The numbers that make a record valid in one segment of one log only.
package struct SegmentKey: Hashable, Sendable {
  package var number: UInt64
  /// Drawn at random when the log begins; the same in all its segments.
  package var salt: UInt64

  package init(number: UInt64, salt: UInt64) { (self.number, self.salt) = (number, salt) }
}

/// A valid record in the bytes of a segment.
struct StoredRecord {
  let offset: Int
  let revision: Revision
  let isLast: Bool
  /// The offset of its group's first record.
  let group: Int
  let body: Range<Int>

  /// The offset after the record.
  var end: Int { offset + RecordFormat.bytes(ofBody: body.count) }
}
