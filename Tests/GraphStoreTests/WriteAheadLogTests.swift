import Foundation
import GraphModel
import GraphStoreFaults
import GraphStoreTools
import GraphTesting
import Testing

@testable import GraphStore

/// The log that a killed daemon leaves: a hole with commits behind it is refused, a torn tail is not.
@Suite struct WriteAheadLogTests {
  /// The frames of a log, read as the format's description says: which commit each belongs to.
  private struct Log {
    static let (header, frame) = (32, 24 + 4_096)
    var bytes: [UInt8]

    var count: Int { (bytes.count - Self.header) / Self.frame }

    func start(_ frame: Int) -> Int { Self.header + frame * Self.frame }

    func endsCommit(_ frame: Int) -> Bool { bytes[(start(frame) + 4)..<(start(frame) + 8)].contains { $0 != 0 } }

    /// The first frame of the newest commit.
    var lastCommit: Int { ((0..<(count - 1)).last { endsCommit($0) } ?? -1) + 1 }
  }

  /// The files after a kill that followed some commits, the last of them of several pages.
  private func killed(_ model: Model) throws -> (directory: TemporaryDirectory, log: Log, boards: Int) {
    let store = try TestStore(model)
    for number in 0..<5 { _ = try store.insert("Board", ["name": .string("b\(number)")]) }
    let long = String(repeating: "word ", count: 3_000)
    try store.must([
      store.insertion("Note", ["board": .object(try store.all("Board")[0].id), "text": .string(long)])
    ])
    let copy = try TemporaryDirectory()
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: store.directory.path + "/" + name, toPath: copy.path + "/" + name)
    }
    let log = Log(
      bytes: try #require(FileManager.default.contents(atPath: copy.path + "/graph.sqlite-wal").map(Array.init)))
    return (copy, log, 5)
  }

  private func write(_ log: [UInt8], to directory: TemporaryDirectory) throws {
    try? FileManager.default.removeItem(atPath: directory.path + "/graph.sqlite-shm")
    try Data(log).write(to: URL(fileURLWithPath: directory.path + "/graph.sqlite-wal"))
  }

  @Test func flipBeforeLaterCommitIsRefusedAndStoreUnchanged() throws {
    let model = try Fixtures.stickies()
    let (directory, log, _) = try killed(model)
    #expect(log.lastCommit > 5)
    var damaged = log.bytes
    damaged[log.start(2) + 700] ^= 0x41
    try write(damaged, to: directory)
    let before = try FileState.of(directory)
    let failure = #expect(throws: StoreFailure.self) { try SQLiteStore(directory: directory.path, model: model) }
    #expect(failure?.code == .corrupt)
    #expect(failure?.sentence.hasSuffix("has lost commits from its middle") == true)
    #expect(failure?.cause.hasPrefix("frame 3 at byte \(log.start(2)) is damaged") == true)
    #expect(failure?.advice.contains("stickiesd check") == true)
    #expect(try FileState.of(directory) == before)
    let findings = try StoreCheck.run(directory: directory.path, model: model)
    #expect(findings.contains { $0.kind == .log && $0.text.contains("frame 3") })
    #expect(try FileState.of(directory) == before)
  }

  /// Every frame is changed in each of its fields: before the newest commit this is damage, within it a torn tail.
  @Test func everyFlipBeforeSurvivingCommitIsFound() throws {
    let (_, log, _) = try killed(try Fixtures.stickies())
    func loss(_ bytes: [UInt8]) throws -> WriteAheadLogScan.Gap? {
      try WriteAheadLogScan(size: bytes.count) { Array(bytes[$0.clamped(to: 0..<bytes.count)]) }.loss(pageSize: 4_096)
    }
    #expect(try loss(log.bytes) == nil)
    for place in 0..<Log.header {
      var bytes = log.bytes
      bytes[place] ^= 0x41
      #expect(try loss(bytes)?.frame == 0, "byte \(place) of the header")
    }
    for frame in 0..<log.count {
      // Page number, size after the commit, salts, sum, page.
      for field in [3, 4, 8, 15, 16, 23, 24, 2_000, 4_119] {
        var bytes = log.bytes
        bytes[log.start(frame) + field] ^= 0x41
        let found = try loss(bytes)?.frame
        // A frame of the newest commit that comes to look like its end has a follower, too.
        let isFound = frame < log.lastCommit || field == 4 && frame < log.count - 1
        #expect(found == (isFound ? frame + 1 : nil), "frame \(frame + 1), byte \(field)")
      }
    }
  }

  /// A power cut tears the newest commit anywhere, and the disk may keep any of its pages and lose any other.
  @Test func tornTailIsIgnored() throws {
    let model = try Fixtures.stickies()
    let (directory, log, boards) = try killed(model)
    let first = log.lastCommit
    #expect(log.count - first >= 3, "the newest commit has too few pages to be torn")
    func expectOpens(_ bytes: [UInt8], _ what: String) throws {
      // Opening and closing copies the log: each goes at a database of its own.
      let copy = try TemporaryDirectory()
      try FileManager.default.copyItem(
        atPath: directory.path + "/graph.sqlite", toPath: copy.path + "/graph.sqlite")
      try write(bytes, to: copy)
      let store = try TestStore(model, directory: copy)
      #expect(try store.store.head.revision == Revision(boards), "\(what)")
      #expect(try store.all("Board").count == boards, "\(what)")
      #expect(try StoreCheckRun(store).findings.isEmpty, "\(what)")
      try store.store.close()
    }
    var random = SeededGenerator(seed: 3)
    for _ in 0..<6 {
      let end = Int.random(in: log.start(first)..<(log.bytes.count - 1), using: &random)
      try expectOpens(Array(log.bytes[..<end]), "cut at byte \(end)")
    }
    for lost in first..<log.count {
      var bytes = log.bytes
      let range = log.start(lost)..<(log.start(lost) + Log.frame)
      bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
      try expectOpens(bytes, "frame \(lost + 1) never arrived")
    }
  }

  /// Pieces of commits that failed stay in the log behind shorter ones that did not.
  @Test(arguments: [CrashableFiles.Fault.notSynchronized, .fullAfter(operations: 3), .fullAfter(operations: 8)])
  func remainsOfFailedCommitsAreIgnored(fault: CrashableFiles.Fault) throws {
    let model = try Fixtures.stickies()
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let store = try TestStore(model, directory: directory)
    let board = try store.insert("Board", ["name": .string("kept")])
    for round in 0..<3 {
      CrashableFiles.fail(directory.path, with: fault)
      let long = String(repeating: "lost\(round) ", count: 4_000 - round * 1_000)
      #expect(throws: StoreFailure.self) {
        try store.insert("Note", ["board": .object(board), "text": .string(long)])
      }
      CrashableFiles.fail(directory.path, with: nil)
      _ = try store.insert("Tag", ["name": .string("t\(round)")])
    }
    #expect(try WriteAheadLogFile.loss(beside: directory.path + "/graph.sqlite") == nil)
    CrashableFiles.crash(directory.path)
    try? store.store.close()
    CrashableFiles.recover(directory.path)
    let again = try TestStore(model, directory: directory)
    #expect(try again.all("Tag").count == 3)
    #expect(try again.all("Note").isEmpty)
    #expect(try StoreCheckRun(again).findings.isEmpty)
  }

  /// After a checkpoint the log restarts over its old frames, which are sound among themselves.
  @Test func staleFramesAreIgnored() throws {
    let model = try Fixtures.stickies()
    let directory = try TemporaryDirectory()
    var options = SQLiteStore.Options()
    options.checkpointPages = 30
    let store = try SQLiteStore(directory: directory.path, model: model, options: options)
    let entity = try #require(model.entity(named: "Tag"))
    let name = try #require(entity.property(named: "name")).number
    let path = directory.path + "/graph.sqlite"
    var size = 0
    for number in 1...60 {
      let change = Change(
        .insert, .temporary(1, entity: entity.number), edits: [Edit(name, .set(.string("t\(number)")))])
      let transaction = Transaction(
        id: TransactionID(replica: UniqueID(high: 1, low: 1), sequence: UInt64(number)), changes: [change])
      _ = try store.commit([.transaction(transaction, author: "ann")], now: 1)
      #expect(try WriteAheadLogFile.loss(beside: path) == nil, "after commit \(number)")
      size = max(size, FileManager.default.contents(atPath: path + "-wal")?.count ?? 0)
    }
    // Sixty commits in a log of some thirty pages: it was restarted.
    #expect(size > 0 && size < 60 * Log.frame * 3)
    try store.close()
  }
}
