// Tests: LocalCommitLogTests.swift, LogDamageTests.swift
import GraphModel

/// The log that a folder holds, found without changing it.
///
/// The newest segment with a valid header is the end of the log. Each header names the segment that it continues, so
/// the log is the chain from there to a segment that begins the log, or to one whose predecessor was recycled. Segments
/// outside the chain are superseded. Files after the end were prepared and not begun, or their first write was torn.
struct LogScan {
  /// The segments of the log, the oldest first.
  private(set) var segments = [Segment]()
  /// The bytes of the last segment from the beginning of its last group to its end, and their offset.
  private(set) var lastGroup = (offset: 0, bytes: ArraySlice<UInt8>())
  /// Whether the last segment must not be written again.
  private(set) var isClosed = false
  /// A number that no file has, larger than all others.
  private(set) var nextNumber: UInt64 = 1

  private struct File {
    let number: UInt64
    let size: Int
    /// Nil if the segment was not begun.
    let header: SegmentHeader?
  }

  /// - Throws: `StoreFailure` if the folder is missing, can't be read or has no log, or if the log is damaged, of
  ///   another store, or of a newer program.
  init(_ disk: any LogDisk, _ store: UniqueID) throws {
    guard let names = try disk.names() else { throw LogFailure.missing(disk.folder) }
    let files = try names.compactMap(Segment.number).sorted().map { try Self.file($0, disk, store) }
    guard let newest = files.last(where: { $0.header != nil }), let last = files.last else {
      throw LogFailure.neverBegun(disk.folder)
    }
    nextNumber = last.number + 1
    let chain = try Self.chain(to: newest, files, disk)
    for file in files where file.header == nil { try Self.verifyUnused(file, chain[0].key.salt, disk) }
    try findEnd(chain, disk)
  }

  /// Whether another store or a newer program has written a segment.
  static func isForeign(_ number: UInt64, _ disk: any LogDisk, _ store: UniqueID) throws -> Bool {
    switch SegmentHeader.read(try firstBlock(of: disk.open(Segment.name(number), forWriting: false))) {
    case .none: false
    case .newer: true
    case .header(let header): header.store != store
    }
  }

  private static func firstBlock(of file: any LogFile) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: SegmentHeader.bytes) { buffer, filled in
      filled = try file.read(at: 0, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  private static func file(_ number: UInt64, _ disk: any LogDisk, _ store: UniqueID) throws -> File {
    let path = disk.path(Segment.name(number))
    let file = try disk.open(Segment.name(number), forWriting: false)
    let size = try file.size()
    switch SegmentHeader.read(try firstBlock(of: file)) {
    case .none: return File(number: number, size: size, header: nil)
    case .newer(let version): throw LogFailure.newer(path, version)
    case .header(let header):
      guard header.store == store else { throw LogFailure.otherStore(path, header.store, expected: store) }
      guard header.number <= number else { throw LogFailure.renamed(path, header.number) }
      // A smaller number: the file was recycled and not begun.
      return File(number: number, size: size, header: header.number == number ? header : nil)
    }
  }

  /// Checks that a bad header is not damage: the header was synced with the first group, before any later one.
  private static func verifyUnused(_ file: File, _ salt: UInt64, _ disk: any LogDisk) throws {
    let image = try SegmentImage(SegmentKey(number: file.number, salt: salt), file.size, disk)
    guard let later = image.records(behind: SegmentHeader.bytes - 8, laterThan: SegmentHeader.bytes).later else {
      return
    }
    throw LogFailure.damaged(image.path, at: 0, "the record of a later commit at byte \(later) is sound")
  }

  /// The headers of the log, the oldest first.
  private static func chain(to newest: File, _ files: [File], _ disk: any LogDisk) throws -> [SegmentHeader] {
    var headers = [SegmentHeader]()
    var next: File? = newest
    while let file = next, let header = file.header {
      guard file.size >= header.fileBytes else {
        throw LogFailure.truncated(disk.path(Segment.name(file.number)), file.size, of: header.fileBytes)
      }
      headers.append(header)
      let previous = header.previous.map(\.number)
      next = files.first { $0.number == previous && $0.number < file.number }
      if let next, next.header == nil {
        throw LogFailure.damaged(disk.path(Segment.name(next.number)), at: 0, "a later segment continues it")
      }
    }
    return headers.reversed()
  }

  /// Finds the last complete entry. Parts of an unfinished one may fill whole segments; the log then ends before them.
  private mutating func findEnd(_ chain: [SegmentHeader], _ disk: any LogDisk) throws {
    var chain = chain
    var present = chain[chain.count - 1]
    var image = try SegmentImage(present.key, present.fileBytes, disk)
    var extent = try SegmentExtent(newest: present, image)
    while extent.lastComplete == nil, present.continuesEntry {
      guard chain.count > 1, let link = chain.removeLast().previous else {
        throw LogFailure.damaged(image.path, at: 0, "the segment with the beginning of its first commit is missing")
      }
      present = chain[chain.count - 1]
      image = try SegmentImage(present.key, link.end, disk)
      extent = try SegmentExtent(present, image, through: link.end)
    }
    isClosed = extent.hasLeftovers
    for (header, next) in zip(chain, chain.dropFirst()) {
      let link = try invariant(next.previous, "a segment of the chain continues the one before it")
      segments.append(Segment(header: header, end: link.end, last: next.start))
    }
    var last = Segment(header: present, end: SegmentHeader.bytes, last: present.start)
    var group = 0
    if let record = extent.lastComplete {
      (last.end, last.last) = (record.end, record.revision)
      if record.group > SegmentHeader.bytes { group = record.group }
    }
    segments.append(last)
    lastGroup = (group, image.bytes[group..<last.end])
  }
}
