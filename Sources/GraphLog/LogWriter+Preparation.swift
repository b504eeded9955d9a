// Tests: LocalCommitLogTests.swift, LogFailureTests.swift, RandomLogTests.swift
import GraphModel

/// Segments are prepared before they are needed: a sync of a write that grows a file, or that is the first one to its
/// blocks, costs twice as much as one over blocks that exist.
///
/// The writer's thread prepares the next segment in `forget`, which follows a checkpoint. To recycle a segment costs a
/// rename and a sync of the folder, about a millisecond. To create one costs writing and syncing its zeros, about 10 ms
/// for 8 MiB; that happens only until the log has as many segments as two checkpoints need. `append` prepares a segment
/// only if the previous spare was used and no `forget` came since.
extension LogWriter {
  /// The segments in front whose records are all forgotten, without the present one.
  private var reusableCount: Int { segments.dropLast().prefix { $0.last <= forgotten }.count }

  private var fileCount: Int { segments.count + spares.count }

  /// The number of segments that can be begun before another `forget`.
  var availableSegments: Int { spares.count + reusableCount + max(0, options.maximumSegments - fileCount) }

  /// Removes forgotten segments beyond the maximum, which an earlier start with other options or a restart has left.
  mutating func trim() throws {
    while fileCount > options.maximumSegments, reusableCount > 0 {
      try disk.remove(segments[0].name)
      dropOldest()
    }
  }

  /// Prepares a spare file: recycles the oldest forgotten segment, or creates a file.
  mutating func prepareSpare() throws {
    precondition(availableSegments > spares.count, "the caller has compared the number of segments with the limit")
    let number = nextNumber
    nextNumber += 1
    guard reusableCount > 0 else {
      spares.append(try createSpare(number))
      return
    }
    let oldest = segments[0]
    guard oldest.header.fileBytes == options.segmentBytes else {
      // Large records of a restart, or another size of segments.
      try disk.remove(oldest.name)
      dropOldest()
      spares.append(try createSpare(number))
      return
    }
    let name = Segment.name(number)
    try disk.rename(oldest.name, to: name)
    dropOldest()
    spares.append(
      try removingOnFailure(name, disk) {
        let file = try disk.open(name, forWriting: true)
        try disk.synchronizeFolder()
        return SpareSegment(number: number, bytes: options.segmentBytes, file: file, identity: try file.identity())
      })
  }

  private func createSpare(_ number: UInt64) throws -> SpareSegment {
    let name = Segment.name(number)
    return try removingOnFailure(name, disk) {
      let file = try disk.create(name)
      try file.fill(options.segmentBytes)
      try file.synchronize()
      try disk.synchronizeFolder()
      return SpareSegment(number: number, bytes: options.segmentBytes, file: file, identity: try file.identity())
    }
  }

  /// Removes segment files that are not in use, durably: superseded, prepared and not begun, or written in part.
  func removeOtherFiles() throws {
    guard let names = try disk.names() else { throw LogFailure.missing(disk.folder) }
    let used = Set(segments.map(\.header.number) + spares.map(\.number))
    let others = names.compactMap(Segment.number).filter { !used.contains($0) }
    for number in others { try disk.remove(Segment.name(number)) }
    // After a crash, a removed log of another store must not reappear.
    if !others.isEmpty { try disk.synchronizeFolder() }
  }
}

/// The first segment of a log, or of a log that begins again.
///
/// The header is written last, after the records and the name are durable: a valid header supersedes all other
/// segments. The file is larger than other segments if the records need it.
struct InitialSegment {
  let store: UniqueID
  let key: SegmentKey
  let state: LogPosition
  let records: [LogRecord]

  /// Writes the segment durably.
  func write(to disk: any LogDisk, segmentBytes: Int) throws -> (segment: Segment, file: any LogFile) {
    var content = [UInt8]()
    for record in records {
      RecordFormat.append(record, segment: key, group: SegmentHeader.bytes, to: &content)
    }
    let end = SegmentHeader.bytes + content.count
    let bytes = max(segmentBytes, (end + SegmentHeader.bytes - 1) / SegmentHeader.bytes * SegmentHeader.bytes)
    let name = Segment.name(key.number)
    let file = try removingOnFailure(name, disk) {
      let file = try disk.create(name)
      try file.fill(bytes)
      if !content.isEmpty { try content.withUnsafeBytes { try file.write($0, at: SegmentHeader.bytes) } }
      try file.synchronize()
      try disk.synchronizeFolder()
      return file
    }
    let header = SegmentHeader(
      store: store, key: key, fileBytes: bytes, beginning: state, previous: nil, start: state.revision,
      continuesEntry: false, syncedEnd: end)
    var block = [UInt8]()
    header.append(to: &block)
    try block.withUnsafeBytes { try file.write($0, at: 0) }
    try file.synchronize()
    return (Segment(header: header, end: end, last: records.last.map(\.revision) ?? state.revision), file)
  }
}

/// Runs `body`, which prepares a file that has no header, and removes the file if that fails.
private func removingOnFailure<Result>(_ name: String, _ disk: any LogDisk, _ body: () throws -> Result) throws
  -> Result
{
  do {
    return try body()
  } catch let failure {
    do {
      try disk.remove(name)
    } catch {
      // The disk fails in every way. A file without a header has no records, and the next opening removes it.
    }
    throw failure
  }
}

extension LogFile {
  private static var chunk: Int { 1 << 20 }

  /// Writes zeros, because blocks that were only reserved are written twice at the first sync.
  fileprivate func fill(_ count: Int) throws {
    let zeros = [UInt8](repeating: 0, count: min(count, Self.chunk))
    var offset = 0
    while offset < count {
      let part = min(zeros.count, count - offset)
      try zeros.withUnsafeBytes { try write(UnsafeRawBufferPointer(rebasing: $0[..<part]), at: offset) }
      offset += part
    }
  }
}
