// Tests: CutLogTests.swift, LongReadTests.swift

/// The extent of the WAL as SQLite's index of it describes it: the frames that reads and checkpoints rely on.
///
/// SQLite keeps the index in shared memory and updates it after each commit, checkpoint and restart of the WAL. It
/// never compares the index with the WAL's file again: a checkpoint copies the bytes that the file has in
/// these places at that time.
struct WriteAheadLogIndex: Hashable, Sendable {
  /// The number of frames up to the newest commit.
  let frames: Int
  /// The number of frames that checkpoints have copied into the database.
  let copiedFrames: Int
  /// In bytes.
  let pageSize: Int
  /// The salts, as the WAL's header has them.
  let salts: [UInt8]
  /// The checksum of the last frame.
  let sum: WALChecksum
  /// Whether the checksums are computed over big-endian words.
  let isBigEndian: Bool

  /// The places in the index, fixed by its format: two copies of a header, then the state of checkpoints.
  private enum Place {
    static let headerBytes = 48
    static let isInitialized = 12
    static let isBigEndian = 13
    static let pageSize = 14
    static let frames = 16
    static let sums = (24, 28)
    static let salts = 32..<40
    static let copiedFrames = 96
  }

  /// The number of attempts to read a header that is being written.
  private static let maximumAttempts = 100

  /// - Parameter memory: the first page of the index.
  /// - Returns: nil if the index is empty, or is being written all the time.
  init?(_ memory: UnsafeRawPointer) {
    for _ in 0..<Self.maximumAttempts {
      let before = Self.header(0, memory)
      // SQLite writes the second copy first.
      guard before == Self.header(1, memory) else { continue }
      let copied = memory.load(fromByteOffset: Place.copiedFrames, as: UInt32.self)
      guard Self.header(0, memory) == before else { continue }
      guard before[Place.isInitialized] != 0 else { return nil }
      self.init(header: before, copiedFrames: Int(copied))
      return
    }
    return nil
  }

  private static func header(_ number: Int, _ memory: UnsafeRawPointer) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: memory + number * Place.headerBytes, count: Place.headerBytes))
  }

  private init(header: [UInt8], copiedFrames: Int) {
    // The index has the machine's byte order.
    func number(_ place: Int) -> UInt32 {
      header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
    }
    let size = header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: Place.pageSize, as: UInt16.self) }
    // 65,536 does not fit into two bytes, and 1 stands for it.
    pageSize = size == 1 ? 65_536 : Int(size)
    frames = Int(number(Place.frames))
    self.copiedFrames = copiedFrames
    salts = Array(header[Place.salts])
    sum = WALChecksum(first: number(Place.sums.0), second: number(Place.sums.1))
    isBigEndian = header[Place.isBigEndian] != 0
  }

  private var frameBytes: Int { WriteAheadLogScan.frameHeaderSize + pageSize }

  /// The offset of a frame, counted from 1, in the WAL.
  private func offset(ofFrame number: Int) -> Int { WriteAheadLogScan.headerSize + (number - 1) * frameBytes }

  /// The smallest size of the WAL's file.
  private var smallestSize: Int { offset(ofFrame: frames + 1) }

  /// The frames that a checkpoint would copy. After a comparison without a difference they are known to be sound.
  var uncopiedFrames: SoundFrames { SoundFrames(salts: salts, after: copiedFrames, through: frames, sum: sum) }

  /// Frames that were compared and are not compared again.
  ///
  /// A commit is followed by a checkpoint as soon as the WAL has its usual size, and an open read prevents its end.
  /// Without this range each of these checkpoints would compare the whole WAL again.
  struct SoundFrames: Hashable, Sendable {
    /// The salts of the WAL; others belong to later frames in the same places.
    fileprivate let salts: [UInt8]
    /// The frame before the first one of the range.
    fileprivate let after: Int
    fileprivate let through: Int
    /// The checksum of the last frame.
    fileprivate let sum: WALChecksum
  }

  /// The frames whose content is compared.
  enum ComparedFrames: Hashable, Sendable {
    case none
    /// Those that a checkpoint would copy.
    case uncopied
    /// Those without the ones that an earlier comparison has found sound.
    case uncopiedExcept(SoundFrames)
  }

  /// Compares the index with the WAL's file: its size, its header, the last frame's header, and the content of frames.
  /// - Parameter read: returns the bytes of a range, fewer at the end of the file.
  /// - Returns: what the file lacks; nil if it has all frames.
  func difference(
    fromFileOf size: Int, in compared: ComparedFrames, _ read: (Range<Int>) throws -> [UInt8]
  ) rethrows -> String? {
    // A WAL without frames may be empty.
    guard frames > 0 else { return nil }
    if size < smallestSize { return "it has \(size) bytes, and SQLite has written \(smallestSize)" }
    let header = try read(0..<WriteAheadLogScan.headerSize)
    guard header.count == WriteAheadLogScan.headerSize, header[16..<24].elementsEqual(salts) else {
      return "its header is not the one that SQLite has written"
    }
    let last = offset(ofFrame: frames)
    let frame = try read(last..<(last + WriteAheadLogScan.frameHeaderSize))
    guard frame.count == WriteAheadLogScan.frameHeaderSize, frame[8..<16].elementsEqual(salts),
      WALChecksum(stored: frame[16..<24]) == sum
    else { return "frame \(frames) at byte \(last) is not the one that SQLite has written" }
    switch compared {
    case .none: return nil
    case .uncopied: return try differenceInFrames(header, nil, read)
    case .uncopiedExcept(let sound): return try differenceInFrames(header, sound, read)
    }
  }

  /// Recomputes the checksums of the frames that no checkpoint has copied, behind those that are known to be sound.
  private func differenceInFrames(
    _ header: [UInt8], _ sound: SoundFrames?, _ read: (Range<Int>) throws -> [UInt8]
  ) rethrows -> String? {
    let known = sound.flatMap { hasFrames($0) ? $0 : nil }
    let last = known?.through ?? copiedFrames
    guard last < frames else { return nil }
    var running = WALChecksum(stored: header[24..<32])
    if last > 0 {
      guard let stored = try storedSum(ofFrame: last, read) else { return "frame \(last) is missing" }
      if let known, stored != known.sum {
        return "frame \(last) at byte \(offset(ofFrame: last)) was overwritten"
      }
      running = stored
    }
    let perPiece = max(1, WriteAheadLogScan.pieceSize / frameBytes)
    for first in stride(from: last + 1, through: frames, by: perPiece) {
      let count = min(perPiece, frames + 1 - first)
      let piece = try read(offset(ofFrame: first)..<offset(ofFrame: first + count))
      for place in 0..<count {
        let bytes = piece.dropFirst(place * frameBytes).prefix(frameBytes)
        guard bytes.count == frameBytes else { return "frame \(first + place) is missing" }
        running = running.adding(frame: bytes, isBigEndian: isBigEndian)
        if running != WALChecksum(stored: bytes.dropFirst(16).prefix(8)) {
          return "frame \(first + place) at byte \(offset(ofFrame: first + place)) has a wrong checksum"
        }
      }
    }
    return nil
  }

  /// Whether frames that a checkpoint would copy begin with these.
  private func hasFrames(_ sound: SoundFrames) -> Bool {
    sound.salts == salts && sound.after <= copiedFrames && copiedFrames < sound.through && sound.through <= frames
  }

  private func storedSum(
    ofFrame number: Int, _ read: (Range<Int>) throws -> [UInt8]
  ) rethrows -> WALChecksum? {
    let start = offset(ofFrame: number)
    let frame = try read(start..<(start + WriteAheadLogScan.frameHeaderSize))
    return frame.count == WriteAheadLogScan.frameHeaderSize ? WALChecksum(stored: frame[16...]) : nil
  }
}

extension WALChecksum {
  /// A checksum as the WAL has it: two big-endian words.
  fileprivate init(stored bytes: ArraySlice<UInt8>) {
    func word(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    self.init(first: word(bytes), second: word(bytes.dropFirst(4)))
  }
}
