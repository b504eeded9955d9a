import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// `stickiesd backup` and `stickiesd restore`, the programs, beside a daemon that serves and clients that write.
@Suite struct BackupTests {
  private func names(_ daemon: Daemon) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: daemon.home.path).filter { $0.hasPrefix("copy") }.sorted()
  }

  @Test func servedStoreIsBackedUpWhileClientsWrite() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "B")
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: "/bin/sh")
    let stickies = Daemon.binary("stickies").path
    writer.arguments = ["-c", "while \(stickies) add x --server \(daemon.socket) >/dev/null 2>&1; do :; done"]
    try writer.run()
    defer { writer.terminate() }
    let file = daemon.home.path + "/copy"
    for _ in 0..<3 {
      let before = try #require(try daemon.run("status", "--json").json()["revision"]?.integerValue)
      let result = try daemon.stickiesd("backup", file, "--replace", "--json")
      #expect(result.status == 0, "\(result.errors)")
      let after = try #require(try daemon.run("status", "--json").json()["revision"]?.integerValue)
      let report = try result.json()
      let revision = try #require(report["revision"]?.integerValue)
      #expect(before <= revision && revision <= after)
      #expect(report["verified"]?.boolValue == true)
      // The board, and a note by each commit since.
      #expect(report["objects"]?.integerValue == revision)
      #expect(report["file"]?.stringValue == file)
      let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
      #expect(report["bytes"]?.integerValue == size.map { Int64($0) })
      #expect(try names(daemon) == ["copy"])
    }
  }

  @Test func unwritableTargetIsReportedAndLeavesNoFile() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "B")
    let file = daemon.home.path + "/copy"

    let onto = try daemon.stickiesd("backup", daemon.data + "/graph.sqlite", "--replace")
    #expect(onto.status == 1)
    #expect(onto.errors.contains("is the store itself"), "\(onto.errors)")

    let nowhere = try daemon.stickiesd("backup", daemon.home.path + "/copies/copy")
    #expect(nowhere.status == 1)
    #expect(nowhere.errors.contains("copies/copy.partial can't be written (No such file or directory)"))

    for throttle in ["0", "-1", "fast"] {
      #expect(try daemon.stickiesd("backup", file, "--throttle=\(throttle)").status == 64)
    }

    let done = try daemon.stickiesd("backup", file, "--throttle", "0.5")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output.hasPrefix("\(file): 1 object at revision 1, "))
    #expect(done.output.hasSuffix(" s, verified\n"))
    let again = try daemon.stickiesd("backup", file)
    #expect(again.status == 1)
    #expect(
      again.errors == "stickiesd: \(file) already exists. Give another name, or use --replace; it was not touched.\n")
    let reported = try daemon.stickiesd("backup", file, "--json")
    let error = try JSON(parsing: reported.errors.trimmingCharacters(in: .newlines))["error"]
    #expect(reported.status == 1 && reported.output.isEmpty)
    #expect(error?["code"] == .string("alreadyThere"))
    #expect(error?["message"]?.stringValue?.hasPrefix("\(file) already exists. ") == true)
    #expect(try names(daemon) == ["copy"])
    #expect(daemon.stop() == 0)
    let check = try daemon.stickiesd("check", "--json")
    #expect(check.status == 0)
    #expect(try check.json() == JSON(parsing: #"{"sound": true, "findings": [], "unappliedCommits": 0}"#))
  }

  /// A rename would replace them by a regular file, although a device or a pipe has another purpose.
  @Test func backupReplacesOnlyRegularFiles() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "B")
    func kind(_ path: String) throws -> FileAttributeType? {
      try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }
    let folder = daemon.home.path + "/copies"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let intoFolder = try daemon.stickiesd("backup", folder, "--replace")
    #expect(intoFolder.status == 1)
    #expect(intoFolder.errors == "stickiesd: \(folder) is a folder. Give the backup a file name in that folder.\n")
    #expect(try kind(folder) == .typeDirectory)

    let pipe = daemon.home.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let socket = daemon.home.path + "/socket"
    for special in [pipe, socket] {
      let before = try kind(special)
      let refused = try daemon.stickiesd("backup", special, "--replace")
      #expect(refused.status == 1)
      #expect(
        refused.errors == "stickiesd: \(special) is a device, a socket or a pipe, which a backup can't "
          + "replace. Give the backup another name.\n")
      #expect(try kind(special) == before && before != .typeRegular)
    }
    // The socket still leads to the daemon.
    #expect(try daemon.run("list").status == 0)

    let file = daemon.home.path + "/copy"
    try "an older one".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try daemon.stickiesd("backup", file, "--replace").status == 0)
    #expect(try names(daemon) == ["copy"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    #expect(daemon.stop() == 0)
  }

  /// The disk has space for a few pages only.
  @Test func fullDiskIsReportedAndLeavesNoFile() throws {
    let daemon = try Daemon()
    try daemon.start()
    for _ in 0..<5 { try daemon.run("add", String(repeating: "x", count: 20_000)) }
    let trace = daemon.home.path + "/trace"
    let full = try daemon.stickiesd(
      "backup", daemon.home.path + "/copy",
      through: [
        "strace", "-D", "-f", "-qq", "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=ENOSPC:when=10+", "-o", trace,
      ])
    let calls = try String(contentsOfFile: trace, encoding: .utf8)
    #expect(calls.contains("INJECTED"), "this test needs the package strace and the right to ptrace")
    #expect(full.status == 1)
    #expect(full.errors.contains("the disk that holds \(daemon.home.path)/copy.partial is full"), "\(full.errors)")
    #expect(full.errors.contains("no file was left behind"))
    #expect(try names(daemon).isEmpty)
    #expect(try daemon.run("add", "still here").status == 0)
    #expect(daemon.stop() == 0)
  }

  @Test func storeIsRestoredOnlyWithoutRunningDaemon() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "in the backup")
    let file = daemon.home.path + "/copy"
    #expect(try daemon.stickiesd("backup", file).status == 0)
    try daemon.run("add", "later")
    let served = try daemon.stickiesd("restore", file)
    #expect(served.status == 1)
    #expect(served.errors.contains("is in use by process \(daemon.process.processIdentifier)"))
    daemon.kill()

    let damaged = daemon.home.path + "/damaged"
    var bytes = try #require(FileManager.default.contents(atPath: file))
    while let place = bytes.range(of: Data("in the backup".utf8)) { bytes[place.lowerBound] ^= 1 }
    try bytes.write(to: URL(fileURLWithPath: damaged))
    let refused = try daemon.stickiesd("restore", damaged)
    #expect(refused.status == 1)
    #expect(refused.lines.contains { $0.hasPrefix("checksum: Note ") }, "\(refused.output)")
    #expect(refused.errors.contains("\(damaged) is not sound"), "\(refused.errors)")
    let foreign = try daemon.stickiesd("restore", daemon.log)
    #expect(foreign.status == 1)
    #expect(foreign.errors.contains("\(daemon.log) is not a backup of a store"), "\(foreign.errors)")

    // After a kill the newest commits are only in the log, so the restore must move the log, too.
    let restored = try daemon.stickiesd("restore", file, "--json")
    #expect(restored.status == 0, "\(restored.errors)")
    let previous = try #require(try restored.json()["previous"]?.stringValue)
    try daemon.start()
    #expect(
      try daemon.run("list", "--json").json().arrayValue?.compactMap { $0["text"]?.stringValue } == ["in the backup"])
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
    #expect(try daemon.stickiesd("restore", previous).status == 0)
    try daemon.start()
    #expect(try daemon.run("list", "--json").json().arrayValue?.count == 2)
    #expect(daemon.stop() == 0)
  }

  @Test func watchReportsRestoredStoreOnceAndContinues() throws {
    let daemon = try Daemon()
    try daemon.start()
    for text in ["one", "two"] { try daemon.run("add", text) }
    #expect(try daemon.stickiesd("backup", daemon.home.path + "/copy").status == 0)
    let watcher = try BackgroundProcess(daemon, ["watch"])
    try daemon.expectQueries(4)
    for text in ["three", "four", "five"] { try daemon.run("add", text) }
    #expect(daemon.stop() == 0)
    #expect(try daemon.stickiesd("restore", daemon.home.path + "/copy").status == 0)
    try daemon.start()
    var text = ""
    func read(until mark: String) {
      while !text.contains(mark) {
        let part = watcher.read()
        if part.isEmpty { break }
        text += part
      }
    }
    // The restored store's first result would contain an earlier commit.
    read(until: "the store was restored")
    try daemon.run("edit", "1", "--text", "once")
    read(until: "once")
    let lines = text.split(separator: "\n").map(String.init)
    let restored = lines.indices.filter { lines[$0].contains("restored") }
    #expect(restored.count == 1)
    let first = try #require(restored.first)
    #expect(lines[first] == "the store was restored; revision 2: 2 notes; changes follow")
    #expect(lines.count == first + 2, "\(lines)")
    watcher.kill()
    #expect(daemon.stop() == 0)
  }

  /// Waits until the context satisfies a condition.
  @MainActor
  private func wait(_ client: GraphClient, until isSo: @escaping @MainActor () -> Bool) async {
    let changes = AsyncStream<Void>.makeStream()
    let token = client.context.observe { _ in changes.continuation.yield() }
    var iterator = changes.stream.makeAsyncIterator()
    while !isSo() { await iterator.next() }
    token.cancel()
  }

  @Test @MainActor func clientReloadsAfterRestoreAndItsEditsCommitOnce() async throws {
    let daemon = try Daemon()
    try daemon.start()
    let client = try await Stickies.connect(to: daemon.socket, author: "ann")
    let board = Board(in: client.context)
    board.name = "Plans"
    let note = Note(in: client.context)
    (note.text, note.board) = ("as in the backup", board)
    try await client.save()
    let query = try await client.follow(Note.self)
    #expect(client.context.result(of: query).count == 1)
    #expect(try daemon.stickiesd("backup", daemon.home.path + "/copy").status == 0)

    // Changes after the backup: an edit, a new note, and revisions that the restored store will assign again.
    note.text = "after the backup"
    let lost = Note(in: client.context)
    (lost.text, lost.board) = ("lost", board)
    try await client.save()
    note.y = 7
    try await client.save()
    #expect(daemon.stop() == 0)

    // These edits were made without a server: one save that waits, and one edit that was not saved.
    note.color = .teal
    let made = Note(in: client.context)
    (made.text, made.board) = ("made offline", board)
    let save = Task { try await client.save() }
    while client.context.hasChanges { await Task.yield() }
    note.x = 99
    let restored = try daemon.stickiesd("restore", daemon.home.path + "/copy")
    #expect(restored.status == 0, "\(restored.errors)")
    try daemon.start()

    #expect(try await save.value != nil)
    await wait(client) { note.text == "as in the backup" && client.context.result(of: query).count == 2 }
    let texts = client.context.result(of: query).compactMap { ($0 as? Note)?.text }
    #expect(Set(texts) == ["as in the backup", "made offline"])
    #expect(note.color == .teal)
    #expect(note.y == 0)
    #expect(note.x == 99)
    try await client.save()

    let stored = try daemon.run("list", "--json").json().arrayValue ?? []
    #expect(Set(stored.compactMap { $0["text"]?.stringValue }) == ["as in the backup", "made offline"])
    #expect(stored.count == 2)
    let kept = try #require(stored.first { $0["text"]?.stringValue == "as in the backup" })
    #expect(kept["color"]?.stringValue == "teal")
    #expect(kept["x"] == .double(99) || kept["x"] == .integer(99))
    // The commits: the backup's, the save that waited, and the one that followed.
    #expect(try daemon.run("status", "--json").json()["revision"]?.integerValue == 3)
    await client.close()
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }
}
