// Tests: SegmentFormatTests.swift
import GraphModel

/// The first block of a segment file; docs/commit-log.md describes its fields.
///
/// The header is written together with the first group, because only then is it known what the segment follows. The
/// header of a segment thus proves that everything that it refers to had been synced before.
package struct SegmentHeader: Hashable, Sendable {
  /// The segment that this one continues, and the offset at which that one ends.
  package struct Link: Hashable, Sendable {
    package var number: UInt64
    package var end: Int
  }

  /// The store whose entries the log holds.
  package var store: UniqueID
  package var key: SegmentKey
  /// The size of the file.
  package var fileBytes: Int
  /// The state after which the log began.
  package var beginning: LogPosition
  /// Nil if the log begins with this segment.
  package var previous: Link?
  /// The revision of the record before the first one.
  package var start: Revision
  /// Whether the first record continues an entry whose earlier parts are in the previous segment.
  package var continuesEntry: Bool
  /// The offset up to which records had been synced before the header was written. They can't be torn.
  package var syncedEnd: Int = Self.bytes

  package var number: UInt64 { key.number }

  package static let bytes = 4096
  private static let magic = Array("GraphLog".utf8)
  private static let version: UInt32 = 1
  private static let continuesEntryFlag: UInt32 = 1

  /// The meaning of a file's first block.
  enum Block {
    case header(SegmentHeader)
    /// A newer program wrote the block.
    case newer(version: UInt32)
    /// No header, or only a part of one: the segment was never begun, or its first write was torn.
    case none
  }

  /// Appends the block to an empty buffer.
  func append(to buffer: inout [UInt8]) {
    precondition(buffer.isEmpty, "a header stands at the beginning of a file")
    buffer.append(contentsOf: Self.magic)
    buffer.append(contentsOf: [UInt8](repeating: 0, count: 8))
    buffer.appendInteger(Self.version)
    buffer.appendInteger(continuesEntry ? Self.continuesEntryFlag : 0)
    buffer.append(contentsOf: store.bytes)
    buffer.appendInteger(key.number)
    buffer.appendInteger(UInt64(fileBytes))
    buffer.appendInteger(beginning.revision)
    buffer.appendInteger(beginning.fingerprint)
    if let previous {
      buffer.appendInteger(previous.number)
      buffer.appendInteger(UInt64(previous.end))
    } else {
      buffer.append(contentsOf: [UInt8](repeating: 0, count: 16))
    }
    buffer.appendInteger(start)
    buffer.appendInteger(UInt64(syncedEnd))
    buffer.appendInteger(key.salt)
    buffer.append(contentsOf: [UInt8](repeating: 0, count: Self.bytes - buffer.count))
    buffer.setInteger(Self.checksum(buffer), at: 8)
  }

  private static func checksum(_ block: [UInt8]) -> UInt64 {
    block.withUnsafeBytes { Checksum.of(UnsafeRawBufferPointer(rebasing: $0[16..<bytes])) }
  }

  static func read(_ block: [UInt8]) -> Block {
    guard block.count == bytes, block.starts(with: magic), block.integer(at: 8) == checksum(block) else { return .none }
    let version: UInt32 = block.integer(at: 16)
    guard version == self.version else { return .newer(version: version) }
    func size(at offset: Int) -> Int? { Int(exactly: block.integer(at: offset) as UInt64) }
    guard let store = UniqueID(bytes: block[24..<40]), let fileBytes = size(at: 48), let end = size(at: 80),
      let syncedEnd = size(at: 96)
    else { return .none }
    let (flags, previous): (UInt32, UInt64) = (block.integer(at: 20), block.integer(at: 72))
    return .header(
      SegmentHeader(
        store: store, key: SegmentKey(number: block.integer(at: 40), salt: block.integer(at: 104)),
        fileBytes: fileBytes,
        beginning: LogPosition(revision: block.integer(at: 56), fingerprint: block.integer(at: 64)),
        previous: previous == 0 ? nil : Link(number: previous, end: end), start: block.integer(at: 88),
        continuesEntry: flags & continuesEntryFlag != 0, syncedEnd: syncedEnd))
  }
}

extension [UInt8] {
  /// Appends a number, least significant byte first.
  mutating func appendInteger(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  /// Replaces the bytes at an offset by a number, least significant byte first.
  mutating func setInteger(_ value: some FixedWidthInteger, at offset: Int) {
    withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value)) }
  }

  /// The number at an offset, least significant byte first.
  func integer<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
  }
}
