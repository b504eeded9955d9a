// Tests: WriteAheadLogTests.swift

/// Finds commits that a write-ahead log has lost from its middle.
///
/// SQLite reads a WAL up to the first frame whose checksum is wrong and silently drops the rest. That is right for a
/// tail torn by a power failure, and wrong for a flipped byte before acknowledged commits. A frame's checksum covers
/// that of the preceding frame, so a frame after a damaged one can still be verified from the checksum *stored* in its
/// predecessor.
///
/// The rule: commits are lost if, at or after the first bad frame, a frame that ends a commit is followed by a frame
/// with the WAL's current salts that verifies from it.
///
/// This rule never refuses a torn tail. The follower's checksum continues the checksum of the frame before it, so it
/// was written when that frame was in place and SQLite considered it committed. With synchronous=FULL, SQLite does so
/// only after a sync of everything up to that frame, and under the same salts it never writes there again. So
/// everything bad up to that frame was once good on disk. A power failure leaves something different: old salts (a
/// restarted WAL), frames of a transaction that was rolled back or whose sync failed (possibly with a commit frame, but
/// with no frame that continues it), or parts of the one transaction being written (whose only commit frame is its
/// last).
///
/// A frame that merely verifies is no proof: the disk may have kept a later page of that last transaction and lost an
/// earlier one. Hence damage within the newest commit can't be distinguished from a torn tail; the file alone never
/// contains that information.
package struct WriteAheadLogScan {
  /// A gap in the WAL, with sound frames after it.
  package struct Gap: Hashable {
    /// The first frame that SQLite rejects, counted from 1; 0 is the WAL's header.
    let frame: Int
    /// The frame's offset in the file.
    let offset: Int
    /// The number of a sound frame of a later commit.
    let survivor: Int
  }

  static let headerSize = 32
  static let frameHeaderSize = 24
  /// The maximum number of bytes per read, unless a frame is larger.
  static let pieceSize = 256 << 10

  private let size: Int
  private let read: (Range<Int>) throws -> [UInt8]

  /// - Parameters:
  ///   - size: the WAL's size in bytes.
  ///   - read: returns the bytes of a range, fewer at the end of the file.
  init(size: Int, read: @escaping (Range<Int>) throws -> [UInt8]) {
    self.size = size
    self.read = read
  }

  /// - Parameter pageSize: the database's page size, for a WAL whose header is damaged.
  func loss(pageSize: Int) throws -> Gap? {
    guard size >= Self.headerSize else { return nil }
    let header = try read(0..<Self.headerSize)
    guard header.count == Self.headerSize else { return nil }
    if let log = WALHeader(header) {
      return try loss(pageSize: log.pageSize, salts: log.salts, from: log.sum, isBigEndian: log.isBigEndian)
    }
    // The damaged header would have contained the byte order of the checksums too.
    return try loss(pageSize: pageSize, salts: nil, from: nil, isBigEndian: false)
      ?? loss(pageSize: pageSize, salts: nil, from: nil, isBigEndian: true)
  }

  /// - Parameters:
  ///   - salts: the WAL's salts; nil for those of the first frame.
  ///   - start: the header's checksum; nil if the header is damaged, so that the first frame can't be verified.
  private func loss(pageSize: Int, salts: UInt64?, from start: WALChecksum?, isBigEndian: Bool) throws -> Gap? {
    let frameSize = Self.frameHeaderSize + pageSize
    let count = (size - Self.headerSize) / frameSize
    let perPiece = max(1, Self.pieceSize / frameSize)
    var salts = salts
    // Nil from the first bad frame on.
    var running = start
    var bad: Int? = start == nil ? 0 : nil
    var previous: WALFrame?
    for first in stride(from: 0, to: count, by: perPiece) {
      let begin = Self.headerSize + first * frameSize
      let piece = try read(begin..<(begin + min(perPiece, count - first) * frameSize))
      for place in 0..<(piece.count / frameSize) {
        let bytes = piece[(place * frameSize)..<((place + 1) * frameSize)]
        var frame = WALFrame(bytes)
        if salts == nil { salts = frame.salts }
        let isCurrent = frame.salts == salts && frame.page != 0
        if let sum = running {
          frame.computed = isCurrent ? sum.adding(frame: bytes, isBigEndian: isBigEndian) : nil
          if isCurrent, frame.computed == frame.stored {
            running = frame.stored
          } else {
            (running, bad) = (nil, first + place + 1)
          }
        } else if isCurrent, let before = previous {
          if before.endsCommit, before.leads(to: frame, bytes, isBigEndian: isBigEndian), let bad {
            let offset = bad == 0 ? 0 : Self.headerSize + (bad - 1) * frameSize
            return Gap(frame: bad, offset: offset, survivor: first + place + 1)
          }
          frame.computed = before.stored.adding(frame: bytes, isBigEndian: isBigEndian)
        }
        previous = frame
      }
    }
    return nil
  }
}

/// SQLite's running checksum over a WAL: two words, updated by eight bytes at a time.
struct WALChecksum: Hashable {
  var first: UInt32
  var second: UInt32

  /// - Parameter bytes: its length is a multiple of eight.
  mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
    assert(bytes.count % 8 == 0)
    var (a, b) = (first, second)
    bytes.withUnsafeBytes { bytes in
      // A tenth of a simulation without optimization: a loop over a `stride` takes several times as long there.
      var offset = 0
      while offset + 8 <= bytes.count {
        let words = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let (x, y) = (UInt32(truncatingIfNeeded: words >> 32), UInt32(truncatingIfNeeded: words))
        a = a &+ (isBigEndian ? x : x.byteSwapped) &+ b
        b = b &+ (isBigEndian ? y : y.byteSwapped) &+ a
        offset += 8
      }
    }
    (first, second) = (a, b)
  }

  /// The checksum after a frame, which covers the first eight bytes of the frame's header, and the page.
  func adding(frame bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> WALChecksum {
    var sum = self
    sum.add(bytes.prefix(8), isBigEndian: isBigEndian)
    sum.add(bytes.dropFirst(WriteAheadLogScan.frameHeaderSize), isBigEndian: isBigEndian)
    return sum
  }
}

/// The WAL's first 32 bytes; nil if SQLite would reject them.
private struct WALHeader {
  let pageSize: Int
  let salts: UInt64
  let sum: WALChecksum
  let isBigEndian: Bool

  init?(_ bytes: [UInt8]) {
    let magic = word(bytes[0...], at: 0)
    guard magic & ~1 == 0x377F_0682 else { return nil }
    isBigEndian = magic & 1 == 1
    pageSize = Int(word(bytes[0...], at: 8))
    guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { return nil }
    salts = UInt64(word(bytes[0...], at: 16)) << 32 | UInt64(word(bytes[0...], at: 20))
    sum = WALChecksum(first: word(bytes[0...], at: 24), second: word(bytes[0...], at: 28))
    var computed = WALChecksum(first: 0, second: 0)
    computed.add(bytes[..<24], isBigEndian: isBigEndian)
    guard computed == sum else { return nil }
  }
}

/// A frame's header, and its recomputed checksum.
private struct WALFrame {
  let page: UInt32
  /// Whether the header contains the database's size after a commit.
  let endsCommit: Bool
  let salts: UInt64
  let stored: WALChecksum
  /// Recomputed from the content and the predecessor's stored checksum; nil if that was not necessary.
  var computed: WALChecksum?

  init(_ bytes: ArraySlice<UInt8>) {
    page = word(bytes, at: 0)
    endsCommit = word(bytes, at: 4) != 0
    salts = UInt64(word(bytes, at: 8)) << 32 | UInt64(word(bytes, at: 12))
    stored = WALChecksum(first: word(bytes, at: 16), second: word(bytes, at: 20))
  }

  /// Whether `next` continues this frame, from its stored checksum or from the recomputed one.
  ///
  /// The latter covers the case that only the stored checksum is damaged.
  func leads(to next: WALFrame, _ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> Bool {
    if stored.adding(frame: bytes, isBigEndian: isBigEndian) == next.stored { return true }
    return computed?.adding(frame: bytes, isBigEndian: isBigEndian) == next.stored
  }
}

/// A big-endian number of four bytes.
private func word(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
  bytes.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
}
