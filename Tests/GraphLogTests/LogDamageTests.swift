import GraphModel
import GraphStoreFaults
import GraphTesting
import Testing

@testable import GraphLog

/// Logs that a crash or a fault of the disk has changed: a torn end is cut off, everything else is refused.
@Suite struct LogDamageTests {
  private let first = "0000000001.segment"
  private let second = "0000000002.segment"
  private let third = "0000000003.segment"

  /// A log with the groups 1, 2-3 and 4 in one segment.
  private func threeGroups() throws -> LogFixture {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    try fixture.log.append([.entry(2), .entry(3, bytes: 600)])
    try fixture.log.append([.entry(4)])
    return fixture
  }

  /// A log with one entry in each of three segments.
  private func threeSegments() throws -> LogFixture {
    let fixture = try LogFixture()
    for revision in 1...3 { try fixture.log.append([.entry(Revision(revision), bytes: 4000)]) }
    return fixture
  }

  /// Opens the log, continues it, and checks that no byte of the torn group is read again.
  private func verifyContinuation(_ fixture: LogFixture, after last: Revision, _ place: String) throws {
    let log = try fixture.reopen()
    #expect(try log.revisions() == Array(1...last), "\(place)")
    try log.append([.entry(last + 1, bytes: 20)])
    #expect(try fixture.reopen().revisions() == Array(1...(last + 1)), "\(place)")
    fixture.disk.recover()
    #expect(try fixture.reopen().records(after: last) == [.entry(last + 1, bytes: 20)], "\(place)")
  }

  @Test func groupTornAtAnyByteIsCutOff() throws {
    let group = [LogRecord.entry(2), .entry(3, bytes: 100), .entry(4)]
    let whole = try LogFixture()
    try whole.log.append([.entry(1)])
    let before = whole.disk.content(first)
    try whole.log.append(group)
    let after = whole.disk.content(first)
    // The ends of the three bodies; the padding behind them is zero in any case.
    let ends = [4220, 4364, 4428]
    for tear in 4160..<4432 {
      let fixture = try LogFixture()
      fixture.disk.edit(first) { $0.replaceSubrange(0..<tear, with: after[0..<tear]) }
      try verifyContinuation(fixture, after: Revision(1 + ends.count { $0 <= tear }), "up to \(tear)")
      fixture.disk.edit(first) { bytes in
        bytes = before
        bytes.replaceSubrange(tear..., with: after[tear...])
      }
      try verifyContinuation(fixture, after: tear == 4160 ? 4 : 1, "from \(tear)")
    }
  }

  @Test func groupWithAnySectorsMissingIsCutOff() throws {
    let group = (2...5).map { LogRecord.entry($0, bytes: 472) }
    let whole = try LogFixture()
    try whole.log.append([.entry(1, bytes: 472)])
    let before = whole.disk.content(first)
    try whole.log.append(group)
    let after = whole.disk.content(first)
    for written in 0..<16 {
      let fixture = try LogFixture()
      fixture.disk.edit(first) { bytes in
        bytes = before
        for sector in 0..<4 where written & 1 << sector != 0 {
          let range = (4608 + 512 * sector)..<(4608 + 512 * (sector + 1))
          bytes.replaceSubrange(range, with: after[range])
        }
      }
      let last = 1 + (~written).trailingZeroBitCount
      try verifyContinuation(fixture, after: Revision(last), "sectors \(written)")
    }
  }

  @Test func unfinishedEntryAcrossSegmentsIsCutOff() throws {
    let parts = (0..<9).map { LogRecord(revision: 2, isLast: $0 == 8, body: [UInt8](repeating: 7, count: 1000)) }
    for writes in 0..<3 {
      let fixture = try LogFixture()
      try fixture.log.append([.entry(1)])
      try fixture.log.append([.entry(2, bytes: 4000)])
      try fixture.log.forget(through: 2)
      fixture.disk.plan(.powerCut, after: 2 + writes, kind: .write)
      let three = parts.map { LogRecord(revision: 3, isLast: $0.isLast, body: $0.body) }
      #expect(throws: StoreFailure.self) { try fixture.log.append(three) }
      fixture.disk.recover()
      let log = try fixture.reopen()
      #expect(try log.revisions(after: 1) == [2], "\(writes)")
      try log.append([.entry(3)])
      #expect(try fixture.reopen().records(after: 2) == [.entry(3)], "\(writes)")
    }
  }

  @Test func staleRecordOfRecycledSegmentIsNotAccepted() throws {
    let fixture = try LogFixture()
    for revision in 1...40 { try fixture.log.append([.entry(Revision(revision))]) }
    let old = fixture.disk.content(first)
    try fixture.log.append([.entry(41, bytes: 4000)])
    try fixture.log.forget(through: 41)
    try fixture.log.append([.entry(42)])
    #expect(try fixture.names() == [second, third])
    #expect(fixture.disk.content(third)[4160..<6656] == old[4160..<6656])
    #expect(try fixture.reopen().revisions(after: 40) == [41, 42])
  }

  @Test func recordOfAnotherSegmentIsNotAcceptedWithNextRevision() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    try fixture.log.append([.entry(2)])
    let old = fixture.disk.content(first)
    try fixture.log.restart(after: LogPosition(revision: 0, fingerprint: 1), with: [])
    try fixture.log.append([.entry(1)])
    fixture.disk.edit(second) { $0.replaceSubrange(4160..., with: old[4160...]) }
    #expect(try fixture.reopen().revisions() == [1])
  }

  @Test func flippedBitInEarlierGroupIsRefused() throws {
    for offset in 4096..<(4160 + 64 + 640) where !(4156..<4160).contains(offset) && !(4220..<4224).contains(offset) {
      let fixture = try threeGroups()
      fixture.disk.edit(first) { $0[offset] ^= 4 }
      let error = failure { _ = try fixture.reopen() }
      let record = offset < 4160 ? 4096 : offset < 4224 ? 4160 : 4224
      #expect(error?.code == .corrupt, "byte \(offset)")
      #expect(error?.sentence == "the log segment log/\(first) is damaged at byte \(record)", "byte \(offset)")
    }
    let fixture = try threeGroups()
    fixture.disk.edit(first) { $0[4200] ^= 4 }
    let found = fixture.disk.content(first)
    #expect(
      failure { _ = try fixture.reopen() }?.description
        == "the log segment log/\(first) is damaged at byte 4160 (the record of a later commit at byte 4864 is sound). "
        + "Nothing was touched: keep a copy of all files, run stickiesd check, and restore a backup.")
    #expect(fixture.disk.content(first) == found)
  }

  @Test func flippedBitInLastGroupEndsLog() throws {
    for offset in 4864..<(4864 + 60) {
      let fixture = try threeGroups()
      fixture.disk.edit(first) { $0[offset] ^= 4 }
      try verifyContinuation(fixture, after: 3, "byte \(offset)")
    }
  }

  @Test func flippedBitInEarlierSegmentIsRefusedWhenItIsRead() throws {
    let fixture = try threeSegments()
    fixture.disk.edit(second) { $0[5000] ^= 4 }
    let log = try fixture.reopen()
    #expect(
      failure { _ = try log.records() }?.description
        == "the log segment log/\(second) is damaged at byte 4096 (its first 8136 bytes were synced). Nothing was "
        + "touched: keep a copy of all files, run stickiesd check, and restore a backup.")
    #expect(try log.revisions(after: 2) == [3])
  }

  @Test func flippedBitInRestartedLogIsRefused() throws {
    let fixture = try LogFixture()
    try fixture.log.restart(after: LogPosition(revision: 0, fingerprint: 1), with: [.entry(1), .entry(2)])
    fixture.disk.edit(second) { $0[4200] ^= 4 }
    #expect(failure { _ = try fixture.reopen() }?.cause == "its header proves that 4224 bytes were synced")
  }

  @Test func flippedHeaderIsRefused() throws {
    var fixture = try threeSegments()
    fixture.disk.edit(second) { $0[60] ^= 4 }
    #expect(
      failure { _ = try fixture.reopen() }?.sentence == "the log segment log/\(second) is damaged at byte 0")
    fixture = try LogFixture()
    for bytes in [4000, 100, 20] { try fixture.log.append([.entry(fixture.log.status.last + 1, bytes: bytes)]) }
    fixture.disk.edit(second) { $0[3] ^= 4 }
    #expect(
      failure { _ = try fixture.reopen() }?.description
        == "the log segment log/\(second) is damaged at byte 0 (the record of a later commit at byte 4240 is sound). "
        + "Nothing was touched: keep a copy of all files, run stickiesd check, and restore a backup.")
    fixture = try threeGroups()
    fixture.disk.edit(first) { $0[3] ^= 4 }
    #expect(
      failure { _ = try fixture.reopen() }?.description
        == "the log folder log has no segment with a log (its files were removed, replaced or damaged). Put the files "
        + "back, or restore a backup; the store was not touched.")
  }

  /// A client that knows everything but the salt puts a record of a later group into a body.
  @Test func forgedRecordInTornGroupIsNotDamage() throws {
    for salt in [LogFixture.salt(), Checksum.seed] {
      let fixture = try LogFixture()
      try fixture.log.append([.entry(1)])
      var forged = [UInt8]()
      RecordFormat.append(.entry(3), segment: SegmentKey(number: 1, salt: salt), group: 4200, to: &forged)
      try fixture.log.append([LogRecord(revision: 2, body: forged)])
      fixture.disk.edit(first) { $0[4160] ^= 1 }
      let error = failure { _ = try fixture.reopen() }
      #expect((error == nil) == (salt == Checksum.seed))
    }
  }

  @Test func newestSegmentWithTornHeaderHoldsNothing() throws {
    let fixture = try threeSegments()
    fixture.disk.edit(third) { $0[60] ^= 4 }
    try verifyContinuation(fixture, after: 2, "a torn header")
  }

  @Test func shortSegmentIsRefused() throws {
    for name in [first, second, third] {
      for count in [4096, 5000, 8191] {
        let fixture = try threeSegments()
        fixture.disk.edit(name) { $0.removeSubrange(count...) }
        let error = failure { _ = try fixture.reopen() }
        #expect(error?.code == .corrupt)
        #expect(error?.sentence == "the log segment log/\(name) is cut short")
        #expect(error?.cause == "it has \(count) of its 8192 bytes")
      }
    }
    // A segment without a header is damaged if another one continues it. The newest one looks like a new file.
    for (name, last) in [(first, 0), (second, 0), (third, 2)] {
      let fixture = try threeSegments()
      fixture.disk.edit(name) { $0.removeSubrange(100...) }
      if last > 0 {
        #expect(try fixture.reopen().revisions() == [1, 2])
      } else {
        #expect(throws: StoreFailure.self) { try fixture.reopen() }
      }
    }
  }

  @Test func missingSegmentIsAGap() throws {
    var fixture = try threeSegments()
    try fixture.disk.remove(second)
    var log = try fixture.reopen()
    #expect(
      failure { _ = try log.records() }?.sentence == "the log log lacks the commits of revisions 1 to 2")
    #expect(
      failure { _ = try log.records(after: 1) }?.cause == "the log segment log/\(second) is missing or was reused")
    #expect(try log.revisions(after: 2) == [3])
    fixture = try threeSegments()
    try fixture.disk.remove(first)
    log = try fixture.reopen()
    #expect(failure { _ = try log.records() }?.sentence == "the log log lacks the commit of revision 1")
    #expect(try log.revisions(after: 1) == [2, 3])
  }

  @Test func logBehindItsStorePassesNothingAndBeginsAgain() throws {
    let fixture = try threeSegments()
    try fixture.disk.remove(third)
    let log = try fixture.reopen()
    #expect(log.status.last == 2)
    #expect(try log.revisions(after: 3).isEmpty)
    try log.restart(after: LogPosition(revision: 3, fingerprint: 3), with: [])
    try log.append([.entry(4)])
    #expect(try fixture.reopen().revisions(after: 3) == [4])
  }

  @Test func logOfAnotherStoreIsRefused() throws {
    let fixture = try LogFixture()
    let other = UniqueID(high: 0xAB, low: 1)
    #expect(
      failure { _ = try LocalCommitLog(opening: fixture.disk, store: other, options: fixture.options) }?.description
        == "the log segment log/\(first) belongs to another store (it is of store 00000000000000070000000000000009, "
        + "this store is 00000000000000ab0000000000000001). Put each store's log back beside it; nothing was touched.")
  }

  @Test func newerVersionIsRefused() throws {
    let fixture = try LogFixture()
    fixture.disk.edit(first) { bytes in
      bytes[16] = 2
      let sum = Checksum.of(Array(bytes[16..<4096]))
      withUnsafeBytes(of: sum.littleEndian) { bytes.replaceSubrange(8..<16, with: $0) }
    }
    let error = failure { _ = try fixture.reopen() }
    #expect(error?.code == .newerVersion)
    #expect(error?.cause == "its version is 2, this program knows up to 1")
  }

  @Test func renamedSegmentIsRefused() throws {
    let fixture = try threeSegments()
    try fixture.disk.remove(first)
    try fixture.disk.rename(third, to: first)
    #expect(
      failure { _ = try fixture.reopen() }?.description
        == "the log segment log/\(first) has the name of another one (it is number 3). Give it its name back; nothing "
        + "was touched.")
  }

  @Test func missingLogIsRefused() throws {
    let directory = try TemporaryDirectory()
    #expect(
      failure { _ = try LocalCommitLog(opening: directory.path + "/log", store: LogFixture.store) }?.sentence
        == "the log folder \(directory.path)/log is missing")
    #expect(
      failure { _ = try LocalCommitLog(opening: directory.path, store: LogFixture.store) }?.sentence
        == "the log folder \(directory.path) has no segment with a log")
  }

  @Test func readerChangesNothing() throws {
    let fixture = try threeSegments()
    fixture.disk.edit(third) { $0[4100] ^= 1 }
    _ = fixture.disk.takeCalls()
    let reader = try LogReader(fixture.disk, LogFixture.store)
    #expect(reader.extent == (0, 2))
    var revisions = [Revision]()
    try reader.read(after: 0) { revisions.append($0.revision) }
    #expect(revisions == [1, 2])
    #expect(fixture.disk.takeCalls().isEmpty)
  }
}
