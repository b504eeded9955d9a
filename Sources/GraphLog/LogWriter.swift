// Tests: LocalCommitLogTests.swift, LogFailureTests.swift, RandomLogTests.swift
import GraphModel

/// Writes a log. A group needs one write and one sync for each segment that it touches, which is almost always one.
///
/// The last of `segments` is the present one, which is written. `spares` are prepared files without a header. A segment
/// whose records are all forgotten is kept until it is reused as the next spare.
struct LogWriter {
  /// The file that is written.
  struct WrittenSegment {
    let file: any LogFile
    /// Whether its header is on disk.
    var isBegun: Bool
    /// Whether it must not be written again; the next group begins another segment.
    var isClosed = false
  }

  /// A file of zeros or of old records, synced under its name.
  struct SpareSegment {
    let number: UInt64
    let bytes: Int
    let file: any LogFile
    let identity: FileIdentity
  }

  let disk: any LogDisk
  let store: UniqueID
  let options: LocalCommitLog.Options
  /// The segments with records, the oldest first.
  var segments: [Segment]
  private var present: WrittenSegment
  var spares = [SpareSegment]()
  var names: LogFileIdentities
  /// Larger than the number of every file, also of those that were removed since the log was opened.
  var nextNumber: UInt64
  /// The store holds the entries through this revision.
  private(set) var forgotten: Revision
  private var order: RevisionOrder
  var needsRestart = false
  /// The bytes of the group that is written; kept, because allocating them costs more than filling them.
  private var buffer = [UInt8]()

  /// A buffer that a large group has filled is released.
  private static let keptBufferBytes = 1 << 20

  /// Opens the log in a folder.
  ///
  /// Writes the last group again and syncs it. The process that wrote it may have been killed before its sync, or after
  /// a failed one: the group can then be read although the disk does not have it, and a second sync would not write it.
  init(opening disk: any LogDisk, _ store: UniqueID, _ options: LocalCommitLog.Options) throws {
    let scan = try LogScan(disk, store)
    let last = scan.segments[scan.segments.count - 1]
    let file = try disk.open(last.name, forWriting: true)
    try scan.lastGroup.bytes.withUnsafeBytes { try file.write($0, at: scan.lastGroup.offset) }
    try file.synchronize()
    (self.disk, self.store, self.options, nextNumber) = (disk, store, options, scan.nextNumber)
    segments = scan.segments
    names = try LogFileIdentities(disk)
    for segment in scan.segments.dropLast() {
      names.record(try disk.open(segment.name, forWriting: false).identity(), of: segment.header.number)
    }
    names.record(try file.identity(), of: last.header.number)
    present = WrittenSegment(file: file, isBegun: true, isClosed: scan.isClosed)
    forgotten = segments[0].header.start
    order = RevisionOrder(after: last.last)
    try removeOtherFiles()
  }

  /// Begins a log in a folder, which is created if it does not exist. The log supersedes all segments in the folder.
  init(
    beginning disk: any LogDisk, _ store: UniqueID, after state: LogPosition, _ options: LocalCommitLog.Options,
    salt: UInt64
  ) throws {
    try disk.makeFolder()
    names = try LogFileIdentities(disk)
    guard let found = try disk.names() else { throw LogFailure.missing(disk.folder) }
    let existing = found.compactMap(Segment.number)
    // A store that was moved away may be moved back and need them.
    for number in existing where try LogScan.isForeign(number, disk, store) {
      try disk.rename(Segment.name(number), to: Segment.name(number) + ".orphan")
    }
    let number = existing.reduce(0, max) + 1
    let key = SegmentKey(number: number, salt: salt)
    let beginning = InitialSegment(store: store, key: key, state: state, records: [])
    let (segment, file) = try beginning.write(to: disk, segmentBytes: options.segmentBytes)
    (self.disk, self.store, self.options, nextNumber) = (disk, store, options, number + 1)
    (segments, present) = ([segment], WrittenSegment(file: file, isBegun: true))
    names.begin(with: try file.identity(), of: number)
    (forgotten, order) = (state.revision, RevisionOrder(after: state.revision))
    try removeOtherFiles()
  }

  /// Begins again in a new file: the pages of a file whose sync failed are unreliable, and the next start does not find
  /// a file that was moved.
  mutating func restart(after state: LogPosition, with records: [LogRecord], salt: UInt64) throws {
    needsRestart = true
    var order = RevisionOrder(after: state.revision)
    try order.verify(records)
    try replaceMovedFolder()
    let key = SegmentKey(number: nextNumber, salt: salt)
    let beginning = InitialSegment(store: store, key: key, state: state, records: records)
    nextNumber += 1
    let (segment, file) = try beginning.write(to: disk, segmentBytes: options.segmentBytes)
    (segments, present, spares) = ([segment], WrittenSegment(file: file, isBegun: true), [])
    names.begin(with: try file.identity(), of: key.number)
    (forgotten, self.order) = (state.revision, order)
    try removeOtherFiles()
    needsRestart = false
  }

  mutating func append(_ group: [LogRecord]) throws {
    guard !needsRestart else { throw LogRefusal.needsRestart }
    var newOrder = order
    try newOrder.verify(group)
    let parts = try parts(of: group)
    while spares.count < parts.count - 1 { try prepareSpare() }
    let before = segments
    needsRestart = true
    do {
      for (number, part) in parts.enumerated() {
        if number > 0 { beginNextSegment() }
        if !part.isEmpty { try write(part) }
      }
    } catch {
      segments = before
      throw error
    }
    needsRestart = false
    if buffer.capacity > Self.keptBufferBytes { buffer = [] }
  }

  /// The records of a group for each segment, the present one first.
  private func parts(of group: [LogRecord]) throws -> [ArraySlice<LogRecord>] {
    let segment = segments[segments.count - 1]
    var free = present.isClosed ? 0 : segment.header.fileBytes - segment.end
    var (parts, start, bytes) = ([ArraySlice<LogRecord>](), group.startIndex, 0)
    for (index, record) in group.enumerated() {
      guard record.body.count <= options.maximumBodyBytes else {
        throw LogRefusal.recordTooLarge(bytes: record.body.count, limit: options.maximumBodyBytes)
      }
      let size = RecordFormat.bytes(ofBody: record.body.count)
      if size > free {
        parts.append(group[start..<index])
        (start, free) = (index, options.segmentBytes - SegmentHeader.bytes)
      }
      free -= size
      bytes += size
    }
    parts.append(group[start...])
    let limit = options.maximumSegments - 1
    guard parts.count - 1 <= limit else {
      throw LogRefusal.groupTooLarge(bytes: bytes, limit: limit * (options.segmentBytes - SegmentHeader.bytes))
    }
    guard parts.count - 1 <= availableSegments else { throw LogRefusal.full(bytes: status.bytes) }
    return parts
  }

  private mutating func beginNextSegment() {
    precondition(!spares.isEmpty, "the files for all parts of a group are prepared")
    let spare = spares.removeFirst()
    let (last, first) = (segments[segments.count - 1], segments[0])
    let header = SegmentHeader(
      store: store, key: SegmentKey(number: spare.number, salt: last.header.key.salt), fileBytes: spare.bytes,
      beginning: first.header.beginning,
      previous: SegmentHeader.Link(number: last.header.number, end: last.end), start: order.last,
      continuesEntry: order.isInsideEntry)
    segments.append(Segment(header: header, end: SegmentHeader.bytes, last: order.last))
    names.record(spare.identity, of: spare.number)
    present = WrittenSegment(file: spare.file, isBegun: false)
  }

  /// Writes records to the present segment, with its header if it has none yet, and syncs them.
  private mutating func write(_ records: ArraySlice<LogRecord>) throws {
    var segment = segments[segments.count - 1]
    let offset = present.isBegun ? segment.end : 0
    buffer.removeAll(keepingCapacity: true)
    if !present.isBegun { segment.header.append(to: &buffer) }
    for record in records {
      RecordFormat.append(record, segment: segment.header.key, group: segment.end, to: &buffer)
      order.advance(past: record.revision, isLast: record.isLast)
    }
    try buffer.withUnsafeBytes { try present.file.write($0, at: offset) }
    try present.file.synchronize()
    present.isBegun = true
    (segment.end, segment.last) = (offset + buffer.count, order.last)
    segments[segments.count - 1] = segment
  }

  /// Allows the reuse of segments, and prepares the next one.
  mutating func forget(through revision: Revision) throws {
    let last = segments[segments.count - 1].last
    try invariant(revision <= last, "a store holds no entry that its log never had")
    forgotten = max(forgotten, revision)
    try trim()
    if spares.isEmpty, availableSegments > 0 { try prepareSpare() }
  }

  var status: LogStatus {
    let spareBytes = spares.reduce(0) { $0 + $1.bytes }
    let (first, present) = (segments[0].header, segments[segments.count - 1])
    let held = segments.dropLast().reduce(present.header.fileBytes) { sum, segment in
      segment.last > forgotten ? sum + segment.header.fileBytes : sum
    }
    return LogStatus(
      beginning: first.beginning, after: first.start, last: present.last,
      bytes: segments.reduce(spareBytes) { $0 + $1.header.fileBytes }, heldBytes: held,
      segments: segments.count + spares.count, needsRestart: needsRestart)
  }
}

extension RevisionOrder {
  /// Checks that records are complete entries that follow, and advances past them.
  mutating func verify(_ records: [LogRecord]) throws {
    for record in records {
      try invariant(record.revision == next, "the revision of a record follows that of the record before it")
      advance(past: record.revision, isLast: record.isLast)
    }
    try invariant(!isInsideEntry, "a group ends with the last record of an entry")
  }
}
