import GraphHub
import GraphModel
import GraphTesting
import Synchronization
import Testing

@testable import GraphServer

/// The limits of the reads and the temporary files of one user.
@Suite struct UserBudgetTests {
  @Test func temporaryFilesOfUserShareOneLimit() throws {
    let directory = try TemporaryDirectory()
    let meter = SpoolMeter(limit: 100)
    do {
      let one = try SpoolFile(directory: directory.path, allowance: SpoolAllowance(meter, user: "ann"))
      let two = try SpoolFile(directory: directory.path, allowance: SpoolAllowance(meter, user: "ann"))
      try one.write([UInt8](repeating: 1, count: 60), at: 0)
      try two.write([UInt8](repeating: 2, count: 40), at: 0)
      #expect(meter.bytes(of: "ann") == 100)
      let refusal = #expect(throws: Refusal.self) { try one.write([3], at: 60) }
      #expect(refusal?.code == .limit)
      // The refused byte is not counted, and other users have limits of their own.
      #expect(meter.bytes(of: "ann") == 100)
      let other = try SpoolFile(directory: directory.path, allowance: SpoolAllowance(meter, user: "ben"))
      try other.write([UInt8](repeating: 4, count: 100), at: 0)
      #expect(one.read(60, at: 0)?.count == 60)
      withExtendedLifetime((one, two, other)) {}
    }
    // Closed files do not count.
    #expect(meter.bytes(of: "ann") == 0 && meter.bytes(of: "ben") == 0)
  }

  /// The refusal goes to any user: it has the system's error, and no path.
  @Test func failedTemporaryFileIsReportedWithItsCause() throws {
    let directory = try TemporaryDirectory()
    let missing = directory.path + "/missing"
    let refusal = try #require(throws: Refusal.self) { _ = try SpoolFile(directory: missing) }
    #expect(refusal.code == .unavailable)
    #expect(refusal.message.contains("can't be created (No such file or directory)"), "\(refusal)")
    #expect(!refusal.message.contains("missing"), "\(refusal)")
    guard let disk = try MountedDisk(mebibytes: 1) else { return }
    let file = try SpoolFile(directory: disk.path)
    let full = try #require(throws: Refusal.self) { try file.write([UInt8](repeating: 1, count: 2 << 20), at: 0) }
    #expect(full.message.contains("can't be written (No space left on device): free some space"), "\(full)")
    #expect(!full.message.contains(disk.path), "\(full)")
  }

  @Test func ownerHasNoLimitOfFiles() throws {
    let directory = try TemporaryDirectory()
    let rows = RowSpool(directory: directory.path, maximumBytes: 1 << 20)
    let number = rows.reserve(rows: 1)
    guard case .success(1) = rows.write([[.string("text")]], at: number) else {
      Issue.record("the rows of the owner are kept")
      return
    }
  }

  @Test func rowsOfBatchBeyondTheLimitAreRefused() throws {
    let directory = try TemporaryDirectory()
    let meter = SpoolMeter(limit: 64)
    let rows = RowSpool(
      directory: directory.path, maximumBytes: 1 << 20, allowance: SpoolAllowance(meter, user: "ann"))
    let number = rows.reserve(rows: 1)
    guard case .failure(let refusal) = rows.write([[.string(String(repeating: "x", count: 100))]], at: number) else {
      Issue.record("the rows exceed the limit")
      return
    }
    #expect(refusal.code == .limit)
    #expect(meter.bytes(of: "ann") == 0)
  }

  @Test func unreadAnswerBeyondTheLimitIsRefused() throws {
    let directory = try TemporaryDirectory()
    let meter = SpoolMeter(limit: 2 << 20)
    let outputs = Mutex(0)
    var stream: ReadStream? = ReadStream(directory: directory.path, spool: (meter, "ann")) { _ in
      outputs.withLock { $0 += 1 }
    }
    let frame = [UInt8](repeating: 7, count: 1 << 20)
    // Two are sent ahead, one is kept in memory, two in the file.
    for _ in 0..<5 { try stream?.add(frame) }
    #expect(meter.bytes(of: "ann") == 2 << 20)
    let refusal = #expect(throws: Refusal.self) { try stream?.add(frame) }
    #expect(refusal?.code == .limit)
    #expect(outputs.withLock { $0 } == 2)
    stream = nil
    #expect(meter.bytes(of: "ann") == 0)
  }

  @Test func fetchOfUserHasLimitForItsTotalTime() {
    let start = ContinuousClock.now
    var time = SearchTimeLimit(.seconds(60), total: .seconds(600), from: start)
    for second in stride(from: 50, through: 600, by: 50) {
      let now = start + .seconds(second)
      // It finds something all the time.
      let mayContinue = time.mayContinue(at: now)
      #expect(mayContinue)
      time.restart(at: now)
    }
    let end = start + .seconds(601)
    let mayContinue = time.mayContinue(at: end)
    #expect(!mayContinue && time.isExceeded)
    #expect(time.refusal.code == .limit && time.refusal.message.contains("at most 600 s"))
    // The owner's fetch may go on.
    var owners = SearchTimeLimit(.seconds(60), from: start)
    owners.restart(at: end)
    let mayOwnerContinue = owners.mayContinue(at: end)
    #expect(mayOwnerContinue)
  }

  @Test func fetchOfUserHasLimitForItsRows() throws {
    var limits = UserLimits()
    limits.fetchedRows = 3
    var rows = FoundRows(ReadBudget(limits))
    for _ in 0..<3 { try rows.add(.row([])) }
    let refusal = #expect(throws: Refusal.self) { try rows.add(.row([])) }
    #expect(refusal?.code == .limit)
    var unlimited = FoundRows(nil)
    for _ in 0..<10 { try unlimited.add(.row([])) }
  }
}
