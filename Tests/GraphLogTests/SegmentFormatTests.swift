import GraphModel
import GraphTesting
import Testing

@testable import GraphLog

/// The bytes of a segment, as docs/commit-log.md describes them.
@Suite struct SegmentFormatTests {
  private static let key = SegmentKey(number: 3, salt: 0xF0E0_D0C0_B0A0_9080)
  private static let header = SegmentHeader(
    store: UniqueID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10), key: key, fileBytes: 8 << 20,
    beginning: LogPosition(revision: -2, fingerprint: 0x8877_6655_4433_2211),
    previous: SegmentHeader.Link(number: 2, end: 0x1234), start: 17, continuesEntry: true, syncedEnd: 4096)

  private func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test func headerHasDocumentedBytes() throws {
    var block = [UInt8]()
    Self.header.append(to: &block)
    #expect(block.count == 4096)
    #expect(hex(block[0..<8]) == "47726170684c6f67")
    #expect(block.integer(at: 8) == Checksum.of(Array(block[16...])))
    #expect(
      hex(block[16..<112])
        == [
          "01000000", "01000000", "0102030405060708090a0b0c0d0e0f10", "0300000000000000", "0000800000000000",
          "feffffffffffffff", "1122334455667788", "0200000000000000", "3412000000000000", "1100000000000000",
          "0010000000000000", "8090a0b0c0d0e0f0",
        ].joined())
    #expect(block[112...].allSatisfy { $0 == 0 })
    guard case .header(let read) = SegmentHeader.read(block) else {
      Issue.record("the header is valid")
      return
    }
    #expect(read == Self.header)
  }

  @Test func flippedHeaderIsNone() {
    var block = [UInt8]()
    Self.header.append(to: &block)
    for offset in 0..<block.count {
      block[offset] ^= 0x10
      if case .none = SegmentHeader.read(block) {} else { Issue.record("byte \(offset) is not covered") }
      block[offset] ^= 0x10
    }
    if case .none = SegmentHeader.read([UInt8](repeating: 0, count: 4096)) {} else { Issue.record("zeros are none") }
    if case .none = SegmentHeader.read(Array(block.prefix(4095))) {} else { Issue.record("a part is none") }
  }

  @Test func recordHasDocumentedBytes() throws {
    var bytes = [UInt8](repeating: 0, count: 4104)
    RecordFormat.append(
      LogRecord(revision: 9, isLast: true, body: [1, 2, 3]), segment: Self.key, group: 4096, to: &bytes)
    let record = bytes[4104...]
    #expect(record.count == 48)
    #expect(
      hex(record.dropFirst(8))
        == [
          "03000000", "01000000", "0900000000000000", "0300000000000000", "0010000000000000", "0102030000000000",
        ].joined())
    #expect(bytes.integer(at: 4104) == Checksum.of(Array(record.dropFirst(8).prefix(35)), seed: Self.key.salt))
  }

  @Test func changedRecordIsInvalid() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    RecordFormat.append(.entry(9, bytes: 61), segment: Self.key, group: 4096, to: &bytes)
    func isValid(_ key: SegmentKey = Self.key) -> Bool {
      bytes.withUnsafeBytes { RecordFormat.read($0, at: 4096, segment: key) != nil }
    }
    #expect(isValid())
    #expect(!isValid(SegmentKey(number: 2, salt: Self.key.salt)))
    #expect(!isValid(SegmentKey(number: 3, salt: Self.key.salt + 1)))
    for bit in 0..<8 * (40 + 61) {
      bytes[4096 + bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!isValid(), "bit \(bit) is not covered")
      bytes[4096 + bit / 8] ^= 1 << UInt8(bit % 8)
    }
    bytes.removeLast(4)
    #expect(!isValid(), "the record is cut short")
  }

  @Test func nameHasTenDigits() {
    #expect(Segment.name(1) == "0000000001.segment")
    #expect(Segment.name(12_345_678_901) == "12345678901.segment")
    for number: UInt64 in [1, 99, 9_999_999_999, UInt64(Int64.max)] {
      #expect(Segment.number(in: Segment.name(number)) == number)
    }
    for name in [
      "1.segment", "0000000000.segment", "0000000001.segment.new", "000000000x.segment", "+000000001.segment",
      "18446744073709551615.segment",
    ] {
      #expect(Segment.number(in: name) == nil, "\(name)")
    }
  }
}
