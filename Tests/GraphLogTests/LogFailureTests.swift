import Foundation
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import GraphLog
import GraphModel
import GraphStoreFaults
import GraphTesting
import Testing

/// Calls of the system that fail, and power cuts between any two of them.
@Suite struct LogFailureTests {
  private let first = "0000000001.segment"

  @Test func failedSyncIsNotRepeated() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    fixture.disk.plan(.error(EIO), kind: .synchronize)
    _ = fixture.disk.takeCalls()
    let error = failure { try fixture.log.append([.entry(2)]) }
    #expect(error?.code == .inputOutput)
    #expect(fixture.disk.takeCalls() == ["write \(first) 4160+64", "synchronize \(first)"])
    #expect(fixture.log.status.needsRestart)
    #expect(fixture.log.status.last == 1)
    #expect(throws: LogRefusal.needsRestart) { try fixture.log.append([.entry(2)]) }
    #expect(try fixture.log.revisions() == [1])
    try fixture.log.restart(after: LogPosition(revision: 0, fingerprint: 5), with: [.entry(1)])
    #expect(
      fixture.disk.takeCalls() == [
        "create 0000000002.segment", "write 0000000002.segment 0+8192", "write 0000000002.segment 4096+64",
        "synchronize 0000000002.segment", "synchronizeFolder", "write 0000000002.segment 0+4096",
        "synchronize 0000000002.segment", "remove \(first)", "synchronizeFolder",
      ])
    #expect(!fixture.log.status.needsRestart)
    try fixture.log.append([.entry(2, bytes: 9)])
    fixture.disk.recover()
    #expect(try fixture.reopen().records() == [.entry(1), .entry(2, bytes: 9)])
  }

  @Test func restartSupersedesGroupThatReachedDisk() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    fixture.disk.plan(.error(EIO), kind: .synchronize)
    #expect(throws: StoreFailure.self) { try fixture.log.append([.entry(2)]) }
    // The group is on the disk although its sync failed, and the removal of the file is not.
    let reached = try LogFixture()
    try reached.log.append([.entry(1)])
    try reached.log.append([.entry(2)])
    let bytes = reached.disk.content(first)
    try fixture.log.restart(after: LogPosition(revision: 1, fingerprint: 6), with: [])
    let file = try fixture.disk.create(first)
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    let log = try fixture.reopen()
    #expect(try log.revisions(after: 1).isEmpty)
    #expect(log.status.beginning == LogPosition(revision: 1, fingerprint: 6))
    #expect(try fixture.names() == ["0000000002.segment"])
  }

  /// The next process reads the group from the cache, and a client may get an answer from it.
  @Test(arguments: 0..<20) func groupOfFailedSyncIsDurableOnceItWasRead(seed: UInt64) throws {
    let fixture = try LogFixture(seed: seed)
    try fixture.log.append([.entry(1)])
    fixture.disk.plan(.error(EIO), kind: .synchronize)
    #expect(throws: StoreFailure.self) { try fixture.log.append([.entry(2, bytes: 2000)]) }
    let found = try fixture.reopen().revisions()
    fixture.disk.recover()
    #expect(try fixture.reopen().revisions() == found)
  }

  @Test func noSpaceForSegmentRefusesGroup() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1, bytes: 4000)])
    for calls in 0..<4 {
      fixture.disk.plan(.error(ENOSPC), after: calls)
      let error = failure { try fixture.log.append([.entry(2, bytes: 4000)]) }
      #expect(error?.code == .full)
      #expect(error?.advice == "Free some space on that disk; nothing was lost.")
      #expect(!fixture.log.status.needsRestart)
      #expect(try fixture.names() == [first])
    }
    try fixture.log.append([.entry(2, bytes: 4000)])
    #expect(try fixture.reopen().revisions() == [1, 2])
  }

  @Test func noSpaceForRecordNeedsRestart() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    fixture.disk.plan(.error(ENOSPC), kind: .write)
    #expect(failure { try fixture.log.append([.entry(2, bytes: 900)]) }?.code == .full)
    #expect(throws: LogRefusal.needsRestart) { try fixture.log.append([.entry(2)]) }
    fixture.disk.plan(.error(ENOSPC), kind: .create)
    #expect(
      failure { try fixture.log.restart(after: LogPosition(revision: 1, fingerprint: 1), with: []) }?.code == .full)
    #expect(fixture.log.status.needsRestart)
    try fixture.log.restart(after: LogPosition(revision: 1, fingerprint: 1), with: [])
    try fixture.log.append([.entry(2)])
    #expect(try fixture.reopen().revisions(after: 1) == [2])
  }

  @Test func failedForgetLeavesLogUsable() throws {
    let fixture = try LogFixture()
    for revision in 1...3 { try fixture.log.append([.entry(Revision(revision), bytes: 4000)]) }
    for kind in [SimulatedLogDisk.Call.rename, .open, .synchronizeFolder] {
      fixture.disk.plan(.error(EIO), kind: kind)
      #expect(failure { try fixture.log.forget(through: 3) }?.code == .inputOutput, "\(kind)")
      #expect(!fixture.log.status.needsRestart)
    }
    try fixture.log.append([.entry(4, bytes: 4000)])
    #expect(try fixture.reopen().revisions(after: 3) == [4])
  }

  @Test(arguments: [
    (EACCES, StoreFailure.Code.readOnly), (EROFS, .readOnly), (ENOSPC, .full), (EDQUOT, .full),
    (EMFILE, .noDescriptors),
    (EIO, .inputOutput),
  ])
  func errorsOfSystemHaveCodes(error: Int32, code: StoreFailure.Code) throws {
    let fixture = try LogFixture()
    fixture.disk.plan(.error(error), kind: .open)
    #expect(failure { _ = try fixture.reopen() }?.code == code)
    fixture.disk.plan(.error(error), kind: .create)
    #expect(
      failure {
        _ = try LocalCommitLog(
          beginning: fixture.disk, store: LogFixture.store, after: LogPosition(revision: 0, fingerprint: 0),
          options: fixture.options)
      }?.code == code)
  }

  @Test func fileInPlaceOfFolderIsRefused() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/log"
    #expect(FileManager.default.createFile(atPath: path, contents: Data()))
    let state = LogPosition(revision: 0, fingerprint: 0)
    let error = failure { _ = try LocalCommitLog(beginning: path, store: LogFixture.store, after: state) }
    #expect(
      error?.description
        == "the log folder \(path) can't be read (Not a directory). Check the disk and the path.")
    #expect(
      failure { _ = try LocalCommitLog(beginning: path + "/no/log", store: LogFixture.store, after: state) }?.sentence
        == "the log folder \(path)/no/log can't be created")
  }

  @Test func realDiskWithoutSpaceRefusesGroup() throws {
    guard let disk = try MountedDisk(mebibytes: 1) else { return }
    let options = LocalCommitLog.Options(segmentBytes: 400 * 1024, maximumSegments: 8)
    do {
      let log = try LocalCommitLog(
        beginning: disk.path + "/log", store: LogFixture.store, after: LogPosition(revision: 0, fingerprint: 0),
        options: options)
      try log.append([.entry(1, bytes: 390_000)])
      try log.append([.entry(2, bytes: 390_000)])
      #expect(failure { try log.append([.entry(3, bytes: 390_000)]) }?.code == .full)
      try log.append([.entry(3)])
      #expect(try log.revisions() == [1, 2, 3])
    }
    #expect(disk.remountForReadingOnly())
    let error = failure {
      _ = try LocalCommitLog(opening: disk.path + "/log", store: LogFixture.store, options: options)
    }
    #expect(error?.code == .readOnly)
    #expect(try LogReader(folder: disk.path + "/log", store: LogFixture.store).extent == (0, 3))
  }

  /// A life with each kind of call; groups whose append failed are sent again.
  private func live(_ fixture: LogFixture, acknowledged: inout [LogRecord]) throws {
    for revision in Revision(1)...6 {
      try fixture.log.append([.entry(revision, bytes: 2500)])
      acknowledged.append(.entry(revision, bytes: 2500))
      if revision % 2 == 0 { try fixture.log.forget(through: revision - 2) }
    }
    let kept = acknowledged.filter { $0.revision > 5 }
    try fixture.log.restart(after: LogPosition(revision: 5, fingerprint: 1), with: kept)
    try fixture.log.append([.entry(7)])
    acknowledged.append(.entry(7))
  }

  @Test(arguments: [EIO, ENOSPC]) func nothingIsLostWhenAnyCallFails(error: Int32) throws {
    var failures = 0
    for calls in 0..<200 {
      let fixture = try LogFixture()
      var acknowledged = [LogRecord]()
      fixture.disk.plan(.error(error), after: calls)
      let found = failure { try live(fixture, acknowledged: &acknowledged) }
      guard !fixture.disk.hasPlan else { break }
      failures += found == nil ? 0 : 1
      let last = Revision(acknowledged.count)
      let kept = acknowledged.filter { $0.revision > last - 1 }
      if found != nil {
        try fixture.log.restart(after: LogPosition(revision: max(0, last - 1), fingerprint: 3), with: kept)
      }
      try fixture.log.append([.entry(last + 1, bytes: 10)])
      fixture.disk.recover()
      let records = try fixture.reopen().records(after: max(0, last - 1))
      #expect(records == kept + [.entry(last + 1, bytes: 10)], "call \(calls)")
    }
    #expect(failures > 40)
  }

  @Test func nothingIsLostWhenPowerFailsAtAnyCall() throws {
    var cuts = 0
    for calls in 0..<200 {
      for seed in 0..<UInt64(4) {
        let fixture = try LogFixture(seed: seed)
        var acknowledged = [LogRecord]()
        fixture.disk.plan(.powerCut, after: calls)
        guard failure({ try live(fixture, acknowledged: &acknowledged) }) != nil else { break }
        cuts += 1
        fixture.disk.recover()
        let log = try fixture.reopen()
        let last = Revision(acknowledged.count)
        #expect(log.status.last == last || log.status.last == last + 1, "call \(calls)")
        let after = max(log.status.after, 0)
        #expect(after <= 5)
        #expect(
          try log.records(after: after).prefix(Int(last - after)) == acknowledged[Int(after)...], "call \(calls)")
      }
    }
    #expect(cuts > 160)
  }
}
