import Foundation
import GraphLog
import GraphModel
import GraphStoreFaults
import GraphTesting
import Testing

/// Files of a log that another program moves, replaces or removes while the log is open.
@Suite struct MovedLogTests {
  private let first = "0000000001.segment"
  private let second = "0000000002.segment"
  private let advice =
    "Nothing is lost: the commits are synced in the store, and a new log begins. Keep other programs out of the log's "
    + "folder."

  @Test func ownChangesAreNoMoves() throws {
    let fixture = try LogFixture()
    for revision in Revision(1)...12 {
      try fixture.log.append([.entry(revision, bytes: 3000)])
      try fixture.log.verify()
      if revision > 2 { try fixture.log.forget(through: revision - 2) }
      try fixture.log.verify()
    }
    try fixture.log.restart(after: LogPosition(revision: 12, fingerprint: 1), with: [])
    try fixture.log.verify()
    try fixture.log.append([.entry(13, bytes: 4000), .entry(14, bytes: 4000), .entry(15, bytes: 4000)])
    try fixture.log.verify()
    let log = try fixture.reopen()
    try log.append([.entry(16)])
    try log.verify()
    #expect(try log.revisions(after: 12) == [13, 14, 15, 16])
    #expect(!log.status.needsRestart)
  }

  @Test func removedFolderIsCreatedAgain() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    fixture.disk.removeFolder()
    try fixture.log.append([.entry(2)])
    let error = failure { try fixture.log.verify() }
    #expect(error?.code == .moved)
    #expect(error?.description == "the log folder log was moved away or removed. \(advice)")
    #expect(fixture.log.status.needsRestart)
    #expect(throws: LogRefusal.needsRestart) { try fixture.log.append([.entry(3)]) }
    try fixture.log.restart(after: LogPosition(revision: 1, fingerprint: 7), with: [.entry(2)])
    try fixture.log.verify()
    try fixture.log.append([.entry(3)])
    try fixture.log.verify()
    fixture.disk.recover()
    #expect(try fixture.reopen().revisions(after: 1) == [2, 3])
    #expect(try fixture.names() == [second])
  }

  @Test(arguments: [false, true]) func movedSegmentIsReported(isReplaced: Bool) throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    if isReplaced { fixture.disk.replace(first) } else { try fixture.disk.rename(first, to: "elsewhere") }
    try fixture.log.append([.entry(2)])
    let what = isReplaced ? "replaced" : "moved away or removed"
    #expect(
      failure { try fixture.log.verify() }?.description
        == "the log segment log/\(first) was \(what) while stickiesd had it open. \(advice)")
    try fixture.log.restart(after: LogPosition(revision: 0, fingerprint: 7), with: [.entry(1), .entry(2)])
    try fixture.log.verify()
    #expect(try fixture.reopen().revisions() == [1, 2])
  }

  @Test func olderSegmentCountsUntilItIsForgotten() throws {
    let fixture = try LogFixture()
    for revision in Revision(1)...3 { try fixture.log.append([.entry(revision, bytes: 4000)]) }
    // Recycles the first segment. The second one stays in its place.
    try fixture.log.forget(through: 2)
    try fixture.disk.remove(second)
    try fixture.log.verify()
    let other = try LogFixture()
    for revision in Revision(1)...3 { try other.log.append([.entry(revision, bytes: 4000)]) }
    try other.log.forget(through: 1)
    try other.disk.remove(second)
    #expect(
      failure { try other.log.verify() }?.sentence
        == "the log segment log/\(second) was moved away or removed while stickiesd had it open")
  }

  @Test func segmentOfOpenedLogIsReported() throws {
    let fixture = try LogFixture()
    for revision in Revision(1)...2 { try fixture.log.append([.entry(revision, bytes: 4000)]) }
    let log = try fixture.reopen()
    try log.verify()
    fixture.disk.replace(first)
    #expect(failure { try log.verify() }?.code == .moved)
  }

  @Test func preparedSegmentCountsOnceItIsWritten() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    try fixture.log.forget(through: 1)
    fixture.disk.replace(second)
    try fixture.log.append([.entry(2)])
    try fixture.log.verify()
    try fixture.log.append([.entry(3, bytes: 4000)])
    #expect(
      failure { try fixture.log.verify() }?.sentence
        == "the log segment log/\(second) was replaced while stickiesd had it open")
  }

  @Test func segmentPutIntoAnotherFolderIsNotEnough() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.path + "/log"
    let log = try LocalCommitLog(
      beginning: folder, store: LogFixture.store, after: LogPosition(revision: 0, fingerprint: 1))
    try log.append([.entry(1)])
    try log.verify()
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-old")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.moveItem(atPath: "\(folder)-old/\(first)", toPath: "\(folder)/\(first)")
    #expect(
      failure { try log.verify() }?.description
        == "the log folder \(folder) is another one than the one that was opened. \(advice)")
  }

  @Test func segmentsOfAnotherStoreAreKept() throws {
    let directory = try TemporaryDirectory()
    let (folder, otherFolder) = (directory.path + "/log", directory.path + "/other")
    let state = LogPosition(revision: 0, fingerprint: 1)
    let log = try LocalCommitLog(beginning: folder, store: LogFixture.store, after: state)
    try log.append([.entry(1)])
    let otherStore = UniqueID(high: 1, low: 1)
    do {
      let other = try LocalCommitLog(beginning: otherFolder, store: otherStore, after: state)
      try other.append([.entry(1, bytes: 9)])
    }
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-old")
    try FileManager.default.moveItem(atPath: otherFolder, toPath: folder)
    try log.append([.entry(2)])
    #expect(failure { try log.verify() }?.code == .moved)
    try log.restart(after: LogPosition(revision: 1, fingerprint: 2), with: [.entry(2)])
    try log.verify()
    #expect(try LogReader(folder: folder, store: LogFixture.store).extent == (1, 2))
    // After it is renamed back, the other log is unchanged.
    try FileManager.default.removeItem(atPath: "\(folder)/\(second)")
    try FileManager.default.moveItem(atPath: "\(folder)/\(first).orphan", toPath: "\(folder)/\(first)")
    #expect(try LogReader(folder: folder, store: otherStore).extent == (0, 1))
  }

  @Test func restartFailsWhileFolderCannotBeCreated() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.path + "/log"
    let state = LogPosition(revision: 0, fingerprint: 1)
    let log = try LocalCommitLog(beginning: folder, store: LogFixture.store, after: state)
    try FileManager.default.removeItem(atPath: folder)
    try log.append([.entry(1)])
    #expect(failure { try log.verify() }?.code == .moved)
    #expect(FileManager.default.createFile(atPath: folder, contents: Data()))
    for _ in 0..<2 {
      #expect(failure { try log.restart(after: state, with: [.entry(1)]) }?.cause == "Not a directory")
      #expect(log.status.needsRestart)
    }
    try FileManager.default.removeItem(atPath: folder)
    try log.restart(after: state, with: [.entry(1)])
    try log.verify()
    #expect(try LogReader(folder: folder, store: LogFixture.store).extent == (0, 1))
  }

  @Test func failedCreationOfFolderLeavesLogUnusable() throws {
    let fixture = try LogFixture()
    fixture.disk.removeFolder()
    #expect(failure { try fixture.log.verify() }?.code == .moved)
    fixture.disk.plan(.error(EACCES), kind: .makeFolder)
    let state = LogPosition(revision: 0, fingerprint: 1)
    #expect(failure { try fixture.log.restart(after: state, with: []) }?.code == .readOnly)
    #expect(throws: LogRefusal.needsRestart) { try fixture.log.append([.entry(1)]) }
    #expect(throws: LogRefusal.needsRestart) { try fixture.log.verify() }
    try fixture.log.restart(after: state, with: [])
    try fixture.log.append([.entry(1)])
    #expect(try fixture.reopen().revisions() == [1])
  }
}
