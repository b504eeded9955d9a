import Foundation
import Testing

/// The system calls of an edit without the daemon: it is on the disk when the command says so.
@Suite struct OfflineDurabilityTests {
  private let daemon: Daemon

  init() throws { daemon = try Daemon() }

  private func here(_ arguments: [String], through wrapper: [String] = []) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: daemon.socket.description, author: "ann@train", input: nil,
      environment: ["XDG_DATA_HOME": daemon.home.path + "/here"], through: wrapper)
  }

  private func trace(_ arguments: String...) throws -> (result: Daemon.Result, calls: [SystemTrace.Call]) {
    let file = daemon.home.path + "/trace"
    let result = try here(arguments, through: SystemTrace.wrapper(writing: file))
    return (result, try SystemTrace(of: file).calls())
  }

  private static let queue = "/unsent.sqlite-wal"

  @Test func editIsSyncedBeforeItIsAcknowledged() throws {
    try daemon.start()
    #expect(try here(["sync", "on"]).status == 0)
    daemon.kill()
    let (added, calls) = try trace("add", "kept")
    #expect(added.status == 0 && added.output == "+1 kept\n", "\(added.output) \(added.errors)")
    let answer = try #require(calls.first { $0.descriptor == 1 && !$0.isSync && ($0.result ?? 0) > 0 })
    let write = try #require(calls.last { $0.file.hasSuffix(Self.queue) && !$0.isSync && $0.end < answer.begin })
    let syncs = calls.filter { $0.file.hasSuffix(Self.queue) && $0.isSync && $0.begin > write.end }
    #expect(syncs.contains { $0.end < answer.begin }, "the edit was acknowledged before its sync")
  }

  /// The log is written back by a command that sends, not by each command that adds or reads.
  @Test func editCostsOneSyncAndAReadNone() throws {
    try daemon.start()
    #expect(try here(["sync", "on"]).status == 0)
    daemon.kill()
    // The first edit begins a new log.
    #expect(try here(["add", "first"]).status == 0)
    for (arguments, most) in [(["add", "second"], 1), (["list"], 0)] {
      let file = daemon.home.path + "/trace"
      let result = try here(arguments, through: SystemTrace.wrapper(writing: file))
      #expect(result.status == 0, "\(result.errors)")
      let syncs = try SystemTrace(of: file).calls().filter { $0.isSync && $0.file.contains("/unsent.sqlite") }
      #expect(syncs.count == most, "\(arguments) \(syncs.map(\.file))")
    }
    try daemon.start()
    #expect(try here(["sync", "now"]).output.contains("2 edits sent"))
    #expect(daemon.stop() == 0)
  }

  @Test func editIsMarkedOnDiskBeforeItsFirstByteLeaves() throws {
    try daemon.start()
    #expect(try here(["sync", "on"]).status == 0)
    daemon.kill()
    // The text is longer than all other messages together.
    let text = String(repeating: "kept ", count: 20_000)
    #expect(try here(["add", text]).status == 0)
    try daemon.start()
    let (sent, calls) = try trace("sync", "now")
    #expect(sent.status == 0 && sent.output.contains("1 edit sent"), "\(sent.output) \(sent.errors)")
    let large = calls.first { $0.isAnswer && !$0.isSync && ($0.result ?? 0) > text.utf8.count / 4 }
    let departure = try #require(large)
    let marks = calls.filter { $0.file.hasSuffix(Self.queue) && $0.end < departure.begin }
    let write = try #require(marks.last { !$0.isSync })
    #expect(marks.contains { $0.isSync && $0.begin > write.end }, "the edit left before it was marked on disk")
    #expect(daemon.stop() == 0)
  }
}
