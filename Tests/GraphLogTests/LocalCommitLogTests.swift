import Foundation
import GraphLog
import GraphModel
import GraphTesting
import Testing

/// The life of a log without faults: groups, openings, segments that are recycled, limits.
@Suite struct LocalCommitLogTests {
  private let beginning = LogPosition(revision: 0, fingerprint: 5)

  private func options(_ bytes: Int = 8192, _ segments: Int = 4) -> LocalCommitLog.Options {
    LocalCommitLog.Options(segmentBytes: bytes, maximumSegments: segments)
  }

  @Test func recordsOfRealFilesSurviveOpening() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.path + "/log"
    let groups: [[LogRecord]] = [
      [.entry(1)], [.entry(2, bytes: 0), .entry(3, bytes: 3000)], [.entry(4, bytes: 2000)], [.entry(5)],
    ]
    do {
      let log = try LocalCommitLog(beginning: folder, store: LogFixture.store, after: beginning, options: options())
      for group in groups { try log.append(group) }
      #expect(try log.records() == groups.flatMap { $0 })
    }
    let log = try LocalCommitLog(opening: folder, store: LogFixture.store, options: options())
    #expect(try log.records() == groups.flatMap { $0 })
    try log.append([.entry(6)])
    #expect(try log.revisions(after: 3) == [4, 5, 6])
    #expect(try LogReader(folder: folder, store: LogFixture.store).extent == (0, 6))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(names == ["0000000001.segment", "0000000002.segment"])
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      #expect(attributes[.size] as? Int == 8192)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func groupIsOneWriteAndOneSync() throws {
    let fixture = try LogFixture()
    _ = fixture.disk.takeCalls()
    try fixture.log.append([.entry(1)])
    #expect(
      fixture.disk.takeCalls() == ["write 0000000001.segment 4096+64", "synchronize 0000000001.segment"])
    try fixture.log.append((2...17).map { .entry($0) })
    #expect(
      fixture.disk.takeCalls() == ["write 0000000001.segment 4160+1024", "synchronize 0000000001.segment"])
  }

  @Test func firstGroupOfSegmentIsWrittenWithHeader() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1, bytes: 4000)])
    try fixture.log.forget(through: 1)
    _ = fixture.disk.takeCalls()
    try fixture.log.append([.entry(2, bytes: 4000)])
    #expect(fixture.disk.takeCalls() == ["write 0000000002.segment 0+8136", "synchronize 0000000002.segment"])
  }

  @Test func groupAcrossSegmentsIsSyncedSegmentBySegment() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    _ = fixture.disk.takeCalls()
    let group = (2...4).map { LogRecord.entry($0, bytes: 2000) }
    try fixture.log.append(group)
    #expect(
      fixture.disk.takeCalls() == [
        "create 0000000002.segment", "write 0000000002.segment 0+8192", "synchronize 0000000002.segment",
        "synchronizeFolder",
        "write 0000000001.segment 4160+2040", "synchronize 0000000001.segment",
        "write 0000000002.segment 0+8176", "synchronize 0000000002.segment",
      ])
    #expect(try fixture.reopen().records(after: 1) == group)
  }

  @Test func emptyLogKeepsItsBeginning() throws {
    let state = LogPosition(revision: 41, fingerprint: 0xFEED_0000_0000_0001)
    let fixture = try LogFixture(after: state)
    let log = try fixture.reopen()
    #expect(log.status.beginning == state)
    #expect([log.status.after, log.status.last] == [41, 41])
    #expect(try log.records(after: 41).isEmpty)
    try log.append([.entry(42)])
    #expect(try fixture.reopen().revisions(after: 41) == [42])
    #expect(failure { _ = try log.records(after: 40) }?.cause == "the log began after revision 41")
  }

  @Test func openedLogContinuesInItsSegment() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    let log = try fixture.reopen()
    _ = fixture.disk.takeCalls()
    try log.append([.entry(2)])
    #expect(fixture.disk.takeCalls().first == "write 0000000001.segment 4160+64")
  }

  @Test func forgottenSegmentIsRecycled() throws {
    let fixture = try LogFixture()
    for revision in 1...3 { try fixture.log.append([.entry(Revision(revision), bytes: 4000)]) }
    #expect(try fixture.names() == ["0000000001.segment", "0000000002.segment", "0000000003.segment"])
    _ = fixture.disk.takeCalls()
    try fixture.log.forget(through: 1)
    #expect(fixture.disk.takeCalls() == ["rename 0000000001.segment 0000000004.segment", "synchronizeFolder"])
    try fixture.log.append([.entry(4, bytes: 40)])
    let log = try fixture.reopen()
    #expect(try log.revisions(after: 1) == [2, 3, 4])
    #expect(
      failure { _ = try log.records(after: 0) }?.description
        == "the log log lacks the commit of revision 1 (the log segment log/0000000001.segment is missing or was "
        + "reused). Put missing segments back, or restore a backup with its log; nothing was touched.")
  }

  @Test func segmentIsKeptUntilAllItsRecordsAreForgotten() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1), .entry(2)])
    try fixture.log.append([.entry(3, bytes: 4000)])
    try fixture.log.forget(through: 1)
    #expect(try fixture.log.revisions() == [1, 2, 3])
    #expect(fixture.log.status.heldBytes == 2 * 8192)
    try fixture.log.forget(through: 2)
    #expect(fixture.log.status.heldBytes == 8192)
    // The spare exists already: the forgotten segment stays until another one is needed.
    #expect(try fixture.log.revisions() == [1, 2, 3])
  }

  @Test func fullLogRefusesUntilSegmentsAreForgotten() throws {
    let fixture = try LogFixture()
    for revision in 1...4 { try fixture.log.append([.entry(Revision(revision), bytes: 4000)]) }
    #expect(throws: LogRefusal.full(bytes: 32_768)) { try fixture.log.append([.entry(5, bytes: 4000)]) }
    // A group that fits into the present segment needs no other one.
    try fixture.log.append([.entry(5, bytes: 8)])
    #expect(throws: LogRefusal.full(bytes: 32_768)) { try fixture.log.append([.entry(6, bytes: 8)]) }
    #expect(!fixture.log.status.needsRestart)
    try fixture.log.forget(through: 1)
    try fixture.log.append([.entry(6, bytes: 4000)])
    #expect(try fixture.reopen().revisions(after: 1) == [2, 3, 4, 5, 6])
    #expect(fixture.log.status.segments == 4)
  }

  @Test func logNeverExceedsItsSize() throws {
    let fixture = try LogFixture()
    for revision in 1...200 {
      try fixture.log.append([.entry(Revision(revision), bytes: 1500)])
      if revision % 3 == 0 { try fixture.log.forget(through: Revision(revision)) }
      #expect(fixture.log.status.bytes <= 4 * 8192)
    }
    #expect(try fixture.names().count <= 4)
    #expect(try fixture.reopen().revisions(after: 198) == [199, 200])
  }

  @Test func recordFillsSegmentExactly() throws {
    let fixture = try LogFixture()
    let limit = fixture.log.maximumBodyBytes
    #expect(limit == 4056)
    #expect(throws: LogRefusal.recordTooLarge(bytes: limit + 1, limit: limit)) {
      try fixture.log.append([.entry(1), .entry(2, bytes: limit + 1)])
    }
    #expect(fixture.log.status.last == 0)
    try fixture.log.append([.entry(1, bytes: limit)])
    try fixture.log.append([.entry(2, bytes: limit - 1)])
    try fixture.log.append([.entry(3, bytes: limit - 8)])
    let log = try fixture.reopen()
    #expect(try log.records().map(\.body.count) == [limit, limit - 1, limit - 8])
    #expect(log.status.segments == 3)
  }

  @Test func groupFillsLogExactly() throws {
    let fixture = try LogFixture()
    let limit = fixture.log.maximumBodyBytes
    try fixture.log.append([.entry(1)])
    #expect(throws: LogRefusal.groupTooLarge(bytes: 4 * 4096, limit: 3 * 4096)) {
      try fixture.log.append((2...5).map { .entry($0, bytes: limit) })
    }
    try fixture.log.append((2...4).map { .entry($0, bytes: limit) })
    #expect(try fixture.reopen().revisions() == [1, 2, 3, 4])
  }

  @Test func partsOfEntryFillSeveralSegments() throws {
    let fixture = try LogFixture()
    let parts = (0..<9).map { part in
      LogRecord(revision: 2, isLast: part == 8, body: [UInt8](repeating: UInt8(part), count: 1000))
    }
    try fixture.log.append([.entry(1)] + parts + [.entry(3)])
    let log = try fixture.reopen()
    #expect(try log.records() == [.entry(1)] + parts + [.entry(3)])
    #expect(try log.records(after: 1).count == 10)
    #expect(try log.records(after: 2) == [.entry(3)])
    // The first segment holds a part of revision 2.
    try log.forget(through: 1)
    #expect(log.status.heldBytes == log.status.bytes - 8192)
    try log.forget(through: 2)
    #expect(log.status.heldBytes == 8192)
  }

  @Test func restartReplacesAllSegments() throws {
    let fixture = try LogFixture()
    for revision in 1...4 { try fixture.log.append([.entry(Revision(revision), bytes: 3000)]) }
    let records = [LogRecord.entry(3, bytes: 4000), .entry(4, bytes: 9000), .entry(5)]
    try fixture.log.restart(after: LogPosition(revision: 2, fingerprint: 77), with: records)
    #expect(try fixture.names() == ["0000000005.segment"])
    #expect(try fixture.log.records(after: 2) == records)
    try fixture.log.append([.entry(6)])
    let log = try fixture.reopen()
    #expect(log.status.beginning == LogPosition(revision: 2, fingerprint: 77))
    #expect(try log.records(after: 2) == records + [.entry(6)])
    // The segment is larger than others, so it is not recycled.
    #expect(log.status.bytes == 20_480)
    try log.append([.entry(7, bytes: 4000)])
    try log.append([.entry(8, bytes: 4000)])
    try log.forget(through: 8)
    try log.append([.entry(9, bytes: 4000)])
    #expect(log.status.bytes == 3 * 8192)
    #expect(try fixture.reopen().revisions(after: 7) == [8, 9])
  }

  @Test(arguments: 0..<10) func beginningSupersedesLogOfAnotherStore(seed: UInt64) throws {
    let fixture = try LogFixture(seed: seed)
    try fixture.log.append([.entry(1)])
    fixture.disk.edit("0000000001.segment") { $0[5000] ^= 1 }
    let other = UniqueID(high: 1, low: 1)
    let state = LogPosition(revision: 9, fingerprint: 9)
    let log = try LocalCommitLog(beginning: fixture.disk, store: other, after: state, options: fixture.options)
    try log.append([.entry(10)])
    fixture.disk.recover()
    // A store that was moved away may be moved back and need its segment.
    #expect(try fixture.names() == ["0000000001.segment.orphan", "0000000002.segment"])
    let opened = try LocalCommitLog(opening: fixture.disk, store: other, options: fixture.options)
    #expect(try opened.revisions(after: 9) == [10])
    #expect(throws: StoreFailure.self) { try fixture.reopen() }
  }

  @Test func smallerLogRemovesForgottenSegments() throws {
    let fixture = try LogFixture()
    for revision in 1...4 { try fixture.log.append([.entry(Revision(revision), bytes: 4000)]) }
    let log = try LocalCommitLog(
      opening: fixture.disk, store: LogFixture.store, options: options(12_288, 2))
    #expect(throws: LogRefusal.full(bytes: 32_768)) { try log.append([.entry(5, bytes: 4000)]) }
    try log.forget(through: 4)
    try log.append([.entry(5, bytes: 8000)])
    #expect(log.status.bytes == 8192 + 12_288)
    #expect(try log.revisions(after: 4) == [5])
  }

  @Test func otherFilesAreNotTouched() throws {
    let fixture = try LogFixture()
    for name in ["1.segment", "0000000000.segment", "00000000012.segment", "readme", "a.segment", ".segment"] {
      _ = try fixture.disk.create(name)
    }
    try fixture.log.append([.entry(1)])
    #expect(try fixture.reopen().revisions() == [1])
    #expect(try fixture.names().count == 7)
  }

  @Test func statusIsReadWhileGroupsAreWritten() async throws {
    let directory = try TemporaryDirectory()
    let log = try LocalCommitLog(
      beginning: directory.path + "/log", store: LogFixture.store, after: beginning, options: options())
    async let newest = Task.detached {
      var last: Revision = 0
      while last < 100 {
        let status = log.status
        #expect(status.last >= last && status.after <= status.last)
        last = status.last
      }
      return last
    }.value
    for revision in 1...100 {
      try log.append([.entry(Revision(revision), bytes: 500)])
      try log.forget(through: Revision(revision))
    }
    #expect(await newest == 100)
  }
}
