import Foundation
import GraphModel
import Testing

/// Snapshots of `watch --json` after the first one: each is one line with all objects.
@Suite struct WatchSnapshotTests {
  private static func entities(_ line: JSON) -> [String: Int] {
    let objects = line["snapshot"]?.arrayValue ?? []
    return Dictionary(grouping: objects) { $0["entity"]?.stringValue ?? "" }.mapValues(\.count)
  }

  @Test func batchIsFollowedByCompleteSnapshotLine() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "first", "--tag", "a")
    let watcher = try Watcher(daemon)
    #expect(try Self.entities(watcher.next()) == ["Board": 1, "Note": 1, "Tag": 1])
    let board = try #require(try daemon.run("graph", "fetch", "Board", "--ids").lines.first)
    let lines = (0..<2_500).map { #"{"text": "\#($0)", "board": "\#(board)"}"# }.joined(separator: "\n") + "\n"
    let insert = try daemon.run("graph", "insert", "Note", "-", "--one-commit", input: lines)
    #expect(insert.status == 0, "\(insert.errors)")
    let snapshot = try watcher.next()
    #expect(Self.entities(snapshot) == ["Board": 1, "Note": 2_501, "Tag": 1])
    #expect(snapshot["reset"] == nil)
    // Later output follows, without a second snapshot.
    try daemon.run("color", "1", "pink")
    let commit = try watcher.next()
    #expect(commit["changes"]?.arrayValue?.count == 1)
    let revisions = [snapshot, commit].compactMap { $0["revision"]?.integerValue }
    #expect(revisions.count == 2 && revisions.first.map { $0 + 1 } == revisions.last)
    #expect(daemon.stop() == 0)
  }

  @Test func restoredStoreIsReportedAsOneLine() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "first", "--tag", "a")
    let file = daemon.home.path + "/backup.sqlite"
    #expect(try daemon.stickiesd("backup", file).status == 0)
    try daemon.run("add", "second", "--tag", "b", "--board", "Notes")
    let watcher = try Watcher(daemon)
    #expect(try Self.entities(watcher.next()) == ["Board": 1, "Note": 2, "Tag": 2])
    #expect(daemon.stop() == 0)
    #expect(try daemon.stickiesd("restore", file).status == 0)
    try daemon.start()
    let snapshot = try watcher.next()
    #expect(snapshot["reset"] == .bool(true))
    #expect(Self.entities(snapshot) == ["Board": 1, "Note": 1, "Tag": 1])
    try daemon.run("color", "1", "pink")
    #expect(try watcher.next()["changes"]?.arrayValue?.count == 1)
    #expect(daemon.stop() == 0)
  }
}
