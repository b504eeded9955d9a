import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import GraphLog

/// A process that is killed between any two system calls: each call is preceded by a copy of the real folder.
@Suite struct KilledProcessTests {
  @Test func copyOfFolderBeforeAnyCallHoldsAcknowledgedEntries() throws {
    let directory = try TemporaryDirectory()
    let disk = CopyingLogDisk(directory.path + "/log")
    let options = LocalCommitLog.Options(segmentBytes: 8192, maximumSegments: 3)
    let log = try LocalCommitLog(
      beginning: disk, store: LogFixture.store, after: LogPosition(revision: 0, fingerprint: 1), options: options)
    var acknowledged = [LogRecord]()
    disk.willCall = { copy in
      let log = try LocalCommitLog(opening: copy, store: LogFixture.store, options: options)
      let after = log.status.after
      let records = try log.records(after: after)
      let last = Revision(acknowledged.count)
      #expect(records.prefix(Int(last - after)) == acknowledged[Int(after)...])
      #expect(records.count <= Int(last - after) + 3)
    }
    for revision in stride(from: Revision(1), to: 25, by: 3) {
      let group = (revision..<(revision + 3)).map { LogRecord.entry($0, bytes: 500 + Int(40 * $0)) }
      try log.append(group)
      acknowledged += group
      try log.forget(through: revision)
    }
    try log.restart(after: LogPosition(revision: 23, fingerprint: 2), with: [acknowledged[23]])
    #expect(disk.calls > 40)
    #expect(try log.records(after: 23) == [acknowledged[23]])
  }
}

/// The real folder, which is copied before each call that changes it. Unchecked, because the test uses one thread.
private final class CopyingLogDisk: LogDisk, @unchecked Sendable {
  var willCall: ((_ copy: String) throws -> Void)?
  private(set) var calls = 0
  private let inner: LocalLogDisk

  init(_ folder: String) { inner = LocalLogDisk(folder: folder) }

  var folder: String { inner.folder }

  fileprivate func copy() throws {
    guard let willCall else { return }
    calls += 1
    let copy = folder + "-\(calls)"
    try FileManager.default.copyItem(atPath: folder, toPath: copy)
    try willCall(copy)
    try FileManager.default.removeItem(atPath: copy)
  }

  func makeFolder() throws { try inner.makeFolder() }

  func names() throws -> [String]? { try inner.names() }

  func folderIdentity() -> FileIdentity? { inner.folderIdentity() }

  func identity(of name: String) -> FileIdentity? { inner.identity(of: name) }

  func create(_ name: String) throws -> any LogFile {
    try copy()
    return CopyingLogFile(try inner.create(name), self)
  }

  func open(_ name: String, forWriting: Bool) throws -> any LogFile {
    CopyingLogFile(try inner.open(name, forWriting: forWriting), self)
  }

  func rename(_ name: String, to newName: String) throws {
    try copy()
    try inner.rename(name, to: newName)
  }

  func remove(_ name: String) throws {
    try copy()
    try inner.remove(name)
  }

  func synchronizeFolder() throws {
    try copy()
    try inner.synchronizeFolder()
  }
}

private final class CopyingLogFile: LogFile {
  private let inner: any LogFile
  private let disk: CopyingLogDisk

  init(_ inner: any LogFile, _ disk: CopyingLogDisk) { (self.inner, self.disk) = (inner, disk) }

  func identity() throws -> FileIdentity { try inner.identity() }

  func size() throws -> Int { try inner.size() }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    try inner.read(at: offset, into: buffer)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    try disk.copy()
    try inner.write(bytes, at: offset)
  }

  func synchronize() throws {
    try disk.copy()
    try inner.synchronize()
  }
}
