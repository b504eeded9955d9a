import Foundation
import GraphModel
import GraphWire
import StickiesKit
import Testing

/// Daemons that were killed, and whose commit log was moved, damaged or replaced, as docs/commit-log.md describes it.
@Suite struct CommitLogTests {
  private let files = FileManager.default

  /// Commits tags one by one.
  private func commit(_ numbers: Range<Int>, to daemon: Daemon) async throws {
    let tag = try #require(StickiesModel.model.entity(named: "Tag"))
    let name = try #require(tag.property(named: "name"))
    let client = try RawClient(daemon.socket)
    try await client.hello(model: StickiesModel.model.hash)
    for number in numbers {
      let edit = Edit(name.number, .set(.string("\(number)")))
      let reply = try await client.commit([Change(.insert, .temporary(1, entity: tag.number), edits: [edit])])
      #expect(reply.revision != nil, "\(reply)")
    }
  }

  private func expectCommits(_ numbers: Range<Int>, _ daemon: Daemon, place: SourceLocation = #_sourceLocation) throws {
    let tags = try #require(try daemon.run("graph", "fetch", "Tag", "--json").json().arrayValue)
    let found = tags.compactMap { $0["name"]?.stringValue }
    #expect(found.sorted() == numbers.map { "\($0)" }.sorted(), sourceLocation: place)
  }

  /// A daemon with three commits that was killed.
  private func killedDaemon() async throws -> Daemon {
    let daemon = try Daemon()
    try daemon.start()
    try await commit(0..<3, to: daemon)
    daemon.kill()
    return daemon
  }

  private func expectRefusal(
    _ daemon: Daemon, _ sentences: String..., place: SourceLocation = #_sourceLocation
  ) throws {
    let exit = try #require(
      #expect(throws: Daemon.DaemonExited.self, sourceLocation: place) { try daemon.start() }, sourceLocation: place)
    #expect(exit.status == 1, sourceLocation: place)
    for sentence in sentences { #expect(exit.log.contains(sentence), "\(exit.log)", sourceLocation: place) }
  }

  // MARK: - While the daemon runs

  @Test(arguments: ["", "/0000000001.segment"]) func removedLogLosesNoCommit(name: String) async throws {
    let daemon = try Daemon()
    try daemon.start()
    try await commit(0..<3, to: daemon)
    try files.removeItem(atPath: daemon.logFolder + name)
    try await commit(3..<6, to: daemon)
    #expect(daemon.errorText.contains("was moved away or removed"), "\(daemon.errorText)")
    let segments = try daemon.segments()
    #expect(!segments.isEmpty && !segments.contains("0000000001.segment"), "\(segments)")
    daemon.kill()
    try daemon.start()
    try expectCommits(0..<6, daemon)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  /// The commits of one person are so far apart that the daemon compares the store's files before each of them.
  @Test func slowCommitFindsRemovedLog() async throws {
    let daemon = try Daemon()
    try daemon.start()
    try await commit(0..<3, to: daemon)
    try files.removeItem(atPath: daemon.logFolder)
    for number in 3..<5 {
      // Longer than the age from which the comparison before a commit is repeated; time itself is the event.
      try await Task.sleep(for: .milliseconds(150))
      try await commit(number..<number + 1, to: daemon)
      #expect(try !daemon.segments().isEmpty, "commit \(number) was answered without a log")
    }
    #expect(daemon.errorText.contains("was moved away or removed"), "\(daemon.errorText)")
    daemon.kill()
    try daemon.start()
    try expectCommits(0..<5, daemon)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  /// Without commits, the daemon begins the log again at its next check of the files.
  @Test func idleDaemonReplacesRemovedLog() async throws {
    let daemon = try Daemon()
    try daemon.start()
    try await commit(0..<3, to: daemon)
    let watch = try FileWatch(daemon.log)
    try files.removeItem(atPath: daemon.logFolder)
    while !daemon.errorText.contains("was moved away or removed") {
      guard await watch.waitForWrite(seconds: 60) else { break }
    }
    #expect(daemon.errorText.contains("was moved away or removed"), "\(daemon.errorText)")
    // A commit waits until the check has begun the log.
    try await commit(3..<4, to: daemon)
    daemon.kill()
    try daemon.start()
    try expectCommits(0..<4, daemon)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  @Test func logThatWasMovedAwayIsNotNeeded() async throws {
    let daemon = try Daemon()
    try daemon.start()
    try await commit(0..<3, to: daemon)
    try files.moveItem(atPath: daemon.logFolder, toPath: daemon.home.path + "/moved")
    try await commit(3..<6, to: daemon)
    // The commits that gathered behind the new log are in that log only.
    try await commit(6..<9, to: daemon)
    daemon.kill()
    try daemon.start()
    try expectCommits(0..<9, daemon)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  // MARK: - After a kill

  @Test func logOfAnotherStoreIsRefused() async throws {
    let (daemon, other) = (try await killedDaemon(), try await killedDaemon())
    let own = daemon.home.path + "/own"
    try files.moveItem(atPath: daemon.logFolder, toPath: own)
    try files.copyItem(atPath: other.logFolder, toPath: daemon.logFolder)
    try expectRefusal(
      daemon, "the log segment \(daemon.logFolder)/", "belongs to another store",
      "Put each store's log back beside it; nothing was touched.")
    try files.removeItem(atPath: daemon.logFolder)
    try files.moveItem(atPath: own, toPath: daemon.logFolder)
    try daemon.start()
    try expectCommits(0..<3, daemon)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  @Test func missingLogIsRefusedAfterKill() async throws {
    let daemon = try await killedDaemon()
    let moved = daemon.home.path + "/moved"
    try files.moveItem(atPath: daemon.logFolder, toPath: moved)
    try expectRefusal(daemon, "the log folder \(daemon.logFolder) is missing", "Put the folder back")
    try files.moveItem(atPath: moved, toPath: daemon.logFolder)
    try daemon.start()
    try expectCommits(0..<3, daemon)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  @Test func closedStoreNeedsNoLog() async throws {
    let daemon = try Daemon()
    try daemon.start()
    try await commit(0..<3, to: daemon)
    #expect(daemon.stop() == 0)
    try files.removeItem(atPath: daemon.logFolder)
    try daemon.start()
    try expectCommits(0..<3, daemon)
    try await commit(3..<6, to: daemon)
    daemon.kill()
    try daemon.start()
    try expectCommits(0..<6, daemon)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  // MARK: - Power cuts

  /// The state of SQLite's write-ahead log after a power cut. The store does not sync it after a commit.
  enum WriteAheadLog: CaseIterable {
    case complete, shortened, holed, empty, missing
  }

  @Test(arguments: WriteAheadLog.allCases) func powerCutLosesNoCommit(rest: WriteAheadLog) async throws {
    let daemon = try await killedDaemon()
    // The second start copies the write-ahead log into the database file and syncs it.
    try daemon.start()
    let database = daemon.data + "/graph.sqlite"
    let synced = try Data(contentsOf: URL(fileURLWithPath: database))
    try await commit(3..<150, to: daemon)
    // A read commits in SQLite what has gathered.
    try expectCommits(0..<150, daemon)
    try await commit(150..<160, to: daemon)
    daemon.kill()
    #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == synced, "a checkpoint has synced the commits")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: database + "-wal"))
    try #require(bytes.count > 20 * 4_096)

    let cut = try Daemon()
    try files.createDirectory(atPath: cut.data, withIntermediateDirectories: false)
    try files.copyItem(atPath: daemon.logFolder, toPath: cut.logFolder)
    try synced.write(to: URL(fileURLWithPath: cut.data + "/graph.sqlite"))
    switch rest {
    case .complete, .missing: break
    case .shortened: bytes = bytes.prefix(bytes.count * 2 / 3 + 7)
    case .holed: bytes.resetBytes(in: bytes.count / 2..<bytes.count / 2 + 4_096)
    case .empty: bytes = Data()
    }
    if rest != .missing { try bytes.write(to: URL(fileURLWithPath: cut.data + "/graph.sqlite-wal")) }
    try cut.start()
    try expectCommits(0..<160, cut)
    if rest != .complete {
      #expect(cut.errorText.contains("commits were restored from the commit log"), "\(cut.errorText)")
    }
    #expect(cut.stop() == 0)
    try cut.expectSound()
  }

  // MARK: - A log that can't be written

  @Test func storeWithoutLogSyncsEachCommit() async throws {
    let daemon = try Daemon()
    try files.createDirectory(atPath: daemon.data, withIntermediateDirectories: false)
    // Permissions would not stop root.
    #expect(files.createFile(atPath: daemon.logFolder, contents: Data()))
    let trace = try SystemTrace(starting: daemon, calls: "fdatasync,fsync")
    #expect(daemon.errorText.contains("the log folder \(daemon.logFolder)"), "\(daemon.errorText)")
    let before = try trace.calls().count
    try await commit(0..<3, to: daemon)
    #expect(try trace.calls().count - before >= 3, "a commit was answered without a sync")
    daemon.kill()
    try daemon.start()
    try expectCommits(0..<3, daemon)
    #expect(daemon.stop() == 0)
    // The next start has a log again.
    try files.removeItem(atPath: daemon.logFolder)
    try daemon.start()
    try await commit(3..<6, to: daemon)
    #expect(try !daemon.segments().isEmpty)
    daemon.kill()
    try daemon.start()
    try expectCommits(0..<6, daemon)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }
}

extension Daemon {
  /// The folder of the store's commit log.
  var logFolder: String { data + "/log" }

  /// The names of the segments of the commit log.
  func segments() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: logFolder).filter { $0.hasSuffix(".segment") }.sorted()
  }
}
