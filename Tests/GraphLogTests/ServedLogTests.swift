import GraphModel
import GraphStoreFaults
import GraphTesting
import Synchronization
import Testing

@testable import GraphLog

/// A log that is read while another program writes it: an attempt has every acknowledged record, or fails, and the next
/// one has them.
@Suite struct ServedLogTests {
  /// An action of the writer in the middle of a read.
  private typealias Event = @Sendable () throws -> Void

  private func attempt(_ disk: any LogDisk, after revision: Revision) throws -> [Revision] {
    try LogReader.attempt(disk, LogFixture.store, after: revision).map(\.revision)
  }

  /// Runs an event in the middle of a read, at each of its steps in turn.
  /// - Parameters:
  ///   - known: the records that were acknowledged before the read.
  ///   - later: the revision of the store's next snapshot, if the attempt fails.
  ///   - all: the records behind that revision.
  /// - Returns: the number of reads that failed.
  private func verify(
    after revision: Revision, known: [Revision], later: Revision, all: [Revision],
    _ fixture: () throws -> (LogFixture, Event)
  ) throws -> Int {
    var (failures, step) = (0, 0)
    while true {
      let (log, event) = try fixture()
      let disk = InterruptedDisk(log.disk, at: step, event)
      do {
        let found = try attempt(disk, after: revision)
        #expect(found.starts(with: known), "step \(step): \(found)")
        #expect(found == Array((revision + 1)..<(revision + 1 + Revision(found.count))), "step \(step)")
      } catch is StoreFailure {
        failures += 1
      }
      if !disk.isDone { return failures }
      #expect(try attempt(log.disk, after: later) == all, "step \(step)")
      step += 1
    }
  }

  @Test func groupsWrittenDuringReadEndLogOrFailAttempt() throws {
    let failures = try verify(after: 1, known: [2, 3], later: 1, all: [2, 3, 4, 5, 6]) {
      let fixture = try LogFixture()
      for revision in 1...3 { try fixture.log.append([.entry(Revision(revision), bytes: 300)]) }
      let log = fixture.log
      return (fixture, { for revision in 4...6 { try log.append([.entry(Revision(revision), bytes: 500)]) } })
    }
    // A record of group 4 was missed, one of a later group was seen.
    #expect(failures > 0)
  }

  @Test(arguments: 0..<3) func segmentsRecycledDuringReadFailAttempt(after revision: Revision) throws {
    let known = Array((revision + 1)...3)
    let failures = try verify(after: revision, known: known, later: 3, all: [4, 5, 6]) {
      let fixture = try LogFixture()
      for revision in 1...3 { try fixture.log.append([.entry(Revision(revision), bytes: 4_000)]) }
      let log = fixture.log
      return (
        fixture,
        {
          try log.forget(through: 3)
          for revision in 4...6 {
            try log.append([.entry(Revision(revision), bytes: 4_000)])
            try log.forget(through: 3)
          }
        }
      )
    }
    #expect(failures > 0)
  }

  @Test(arguments: 0..<3) func logThatBeginsAgainDuringReadFailsAttempt(after revision: Revision) throws {
    let known = Array((revision + 1)...3)
    let failures = try verify(after: revision, known: known, later: 3, all: [4]) {
      let fixture = try LogFixture()
      for revision in 1...3 { try fixture.log.append([.entry(Revision(revision), bytes: 4_000)]) }
      let log = fixture.log
      return (
        fixture,
        {
          try log.restart(after: LogPosition(revision: 3, fingerprint: 3), with: [])
          try log.append([.entry(4)])
        }
      )
    }
    #expect(failures > 0)
  }

  /// The snapshot of the store is newer than the log, which SQLite took over from.
  @Test func logBehindSnapshotHasNothing() throws {
    let fixture = try LogFixture()
    try fixture.log.append([.entry(1)])
    #expect(try attempt(fixture.disk, after: 1) == [])
    #expect(try attempt(fixture.disk, after: 4) == [])
  }

  @Test func tornLastGroupEndsLog() throws {
    let fixture = try LogFixture()
    for revision in 1...3 { try fixture.log.append([.entry(Revision(revision))]) }
    fixture.disk.edit("0000000001.segment") { $0[4_096 + 2 * 64 + 50] ^= 1 }
    #expect(try attempt(fixture.disk, after: 0) == [1, 2])
  }

  /// Damage stays: every attempt finds it.
  @Test func damageFailsEveryAttempt() throws {
    let fixture = try LogFixture()
    for revision in 1...3 { try fixture.log.append([.entry(Revision(revision))]) }
    fixture.disk.edit("0000000001.segment") { $0[4_096 + 64 + 50] ^= 1 }
    for _ in 0..<3 {
      #expect(failure { _ = try attempt(fixture.disk, after: 0) }?.code == .corrupt)
    }
  }

  @Test func segmentsWithReturnedRecordsAreSynced() throws {
    let fixture = try LogFixture()
    for revision in 1...3 { try fixture.log.append([.entry(Revision(revision), bytes: 4_000)]) }
    _ = fixture.disk.takeCalls()
    #expect(try attempt(fixture.disk, after: 1) == [2, 3])
    #expect(fixture.disk.takeCalls() == ["synchronize 0000000002.segment", "synchronize 0000000003.segment"])
    #expect(try attempt(fixture.disk, after: 3) == [])
    #expect(fixture.disk.takeCalls().isEmpty)
  }
}

/// A disk whose files are read in pieces; an event happens before one of them.
private final class InterruptedDisk: LogDisk {
  private let disk: SimulatedLogDisk
  private let event: @Sendable () throws -> Void
  /// The number of steps before the event; negative behind it.
  private let steps: Mutex<Int>

  init(_ disk: SimulatedLogDisk, at step: Int, _ event: @escaping @Sendable () throws -> Void) {
    (self.disk, self.event) = (disk, event)
    steps = Mutex(step)
  }

  /// Whether the event has happened.
  var isDone: Bool { steps.withLock { $0 < 0 } }

  fileprivate func step() throws {
    let isNow = steps.withLock { steps in
      steps -= 1
      return steps == -1
    }
    if isNow { try event() }
  }

  var folder: String { disk.folder }

  func makeFolder() throws { try disk.makeFolder() }

  func names() throws -> [String]? {
    try step()
    return try disk.names()
  }

  func folderIdentity() -> FileIdentity? { disk.folderIdentity() }

  func identity(of name: String) -> FileIdentity? { disk.identity(of: name) }

  func create(_ name: String) throws -> any LogFile { try disk.create(name) }

  func open(_ name: String, forWriting: Bool) throws -> any LogFile {
    try step()
    return InterruptedFile(disk: self, file: try disk.open(name, forWriting: forWriting))
  }

  func rename(_ name: String, to newName: String) throws { try disk.rename(name, to: newName) }

  func remove(_ name: String) throws { try disk.remove(name) }

  func synchronizeFolder() throws { try disk.synchronizeFolder() }
}

private final class InterruptedFile: LogFile {
  private let disk: InterruptedDisk
  private let file: any LogFile

  private static let piece = 512

  init(disk: InterruptedDisk, file: any LogFile) { (self.disk, self.file) = (disk, file) }

  func identity() throws -> FileIdentity { try file.identity() }

  func size() throws -> Int { try file.size() }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var filled = 0
    while filled < buffer.count {
      try disk.step()
      let piece = UnsafeMutableRawBufferPointer(
        rebasing: buffer[filled..<min(filled + Self.piece, buffer.count)])
      let count = try file.read(at: offset + filled, into: piece)
      filled += count
      if count < piece.count { break }
    }
    return filled
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws { try file.write(bytes, at: offset) }

  func synchronize() throws { try file.synchronize() }
}
