import Foundation
import GraphClient
import GraphModel
import GraphTesting
import StickiesKit
import Testing

/// The daemon's use of the disk, and its reaction to failures of the disk, observed through system calls.
@Suite struct DiskTests {
  @Test @MainActor func singleCommitSyncsOnceAndGroupSyncsTogether() async throws {
    let daemon = try Daemon()
    let trace = try SystemTrace(starting: daemon, calls: "fdatasync,fsync")
    let tag = try #require(StickiesModel.model.entity(named: "Tag"))
    let name = try #require(tag.property(named: "name")).number
    func change(_ text: String) -> Change {
      Change(.insert, .temporary(1, entity: tag.number), edits: [Edit(name, .set(.string(text)))])
    }
    var clients = [try await Stickies.connect(to: daemon.socket, author: "ann")]
    let ready = try trace.calls().count
    for number in 0..<20 { _ = try await clients[0].commit([change("alone \(number)")], policy: .error) }
    let alone = try trace.calls().count - ready
    #expect(alone >= 20, "20 lone commits made \(alone) syncs")

    for number in 1..<4 { clients.append(try await Stickies.connect(to: daemon.socket, author: "client \(number)")) }
    let before = try trace.calls().count
    let commits = clients.enumerated().flatMap { place, client in
      (0..<25).map { number in
        let change = change("together \(place) \(number)")
        return Task { _ = try await client.commit([change], policy: .error) }
      }
    }
    for commit in commits { try await commit.value }
    let together = try trace.calls().count - before
    #expect(together >= 1, "100 commits were answered without a sync")
    #expect(together <= 50, "100 commits of 4 clients made \(together) syncs")
    #expect(try await clients[0].fetch(Tag.self).count == 120)
    for client in clients { await client.close() }
    #expect(daemon.stop() == 0)
  }

  // MARK: - Errors of opening

  /// A closed store with a note, and a program that every user may run.
  private static func prepared() throws -> (daemon: Daemon, program: String) {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "kept")
    #expect(daemon.stop() == 0)
    let program = daemon.home.path + "/stickiesd"
    try FileManager.default.copyItem(atPath: Daemon.binary("stickiesd").path, toPath: program)
    return (daemon, program)
  }

  private static func state(_ daemon: Daemon) throws -> [String: [String]] {
    var state = [String: [String]]()
    for name in try FileManager.default.contentsOfDirectory(atPath: daemon.data) where name != "lock" {
      let path = daemon.data + "/" + name
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      let bytes = FileManager.default.contents(atPath: path) ?? Data()
      state[name] = [bytes.base64EncodedString(), "\(String(describing: attributes[.modificationDate]))"]
    }
    return state
  }

  /// Runs a command that must end; returns its exit code and its output.
  private static func run(_ command: [String]) throws -> (status: Int32, words: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // The unprivileged user may not read root's folders.
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": "/nonexistent"]) { $1 }
    process.arguments = command
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, words)
  }

  /// Root may write everywhere, so the program becomes an unprivileged user first.
  private static let asOtherUser =
    getuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []

  @Test func readOnlyDirectoryIsReportedAndUnchanged() throws {
    let (daemon, program) = try Self.prepared()
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: 0o444], ofItemAtPath: daemon.data + "/graph.sqlite")
    try files.setAttributes([.posixPermissions: 0o555], ofItemAtPath: daemon.data)
    defer { try? files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: daemon.data) }
    let before = try Self.state(daemon)
    #expect(before["graph.sqlite"] != nil)
    for arguments in [["--listen", "tcp://127.0.0.1:0"], ["check"]] {
      let end = try Self.run(Self.asOtherUser + [program] + arguments + ["--data", daemon.data])
      #expect(end.status == 1, "\(arguments)")
      #expect(end.words.contains("can't be"), "\(end.words)")
      #expect(end.words.contains("Permission denied"), "\(end.words)")
      #expect(end.words.contains("Give this user the right"), "\(end.words)")
    }
    #expect(try Self.state(daemon) == before)
  }

  /// The store can't be written, its directory can.
  @Test func readOnlyFileIsReportedAndUnchanged() throws {
    let (daemon, program) = try Self.prepared()
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: 0o444], ofItemAtPath: daemon.data + "/graph.sqlite")
    try files.setAttributes([.posixPermissions: 0o666], ofItemAtPath: daemon.data + "/lock")
    try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: daemon.data)
    let before = try Self.state(daemon)
    let end = try Self.run(
      Self.asOtherUser + [program, "--data", daemon.data, "--listen", "tcp://127.0.0.1:0"])
    #expect(end.status == 1)
    #expect(end.words.contains("graph.sqlite can't be written (Permission denied)"), "\(end.words)")
    #expect(try Self.state(daemon) == before)
  }

  /// As on a network file system that answers ENOLCK.
  @Test func fileSystemWithoutLocksIsReported() throws {
    let (daemon, program) = try Self.prepared()
    let before = try Self.state(daemon)
    let trace = daemon.home.path + "/trace"
    let inject = SystemTrace.command("-e", "trace=flock", "-e", "inject=flock:error=ENOLCK", "-o", trace)
    let end = try Self.run(inject + [program, "--data", daemon.data, "--listen", "tcp://127.0.0.1:0"])
    guard let calls = try? String(contentsOfFile: trace, encoding: .utf8), calls.contains("INJECTED") else {
      throw SystemTrace.Unavailable(cause: end.words)
    }
    #expect(end.status == 1)
    #expect(end.words.contains("/lock can't be locked (No locks available)"), "\(end.words)")
    #expect(end.words.contains("local file system"), "\(end.words)")
    #expect(try Self.state(daemon) == before)
  }

  /// At each number of descriptors one is missing: of a connection to the database, of the event loop, or for a client.
  @Test(arguments: [20, 30, 40]) func daemonDoesNotStartWithTooFewDescriptors(limit: Int) throws {
    let (daemon, program) = try Self.prepared()
    // A daemon that starts anyway is ended.
    let end = try Self.run(
      [
        "timeout", "30", "bash", "-c", "ulimit -n \(limit); exec \"$0\" \"$@\"", program, "--data", daemon.data,
        "--listen", "unix://\(daemon.home.path)/other",
      ])
    #expect(end.status == 1, "\(end.words)")
    #expect(end.words.contains("ulimit -n"), "\(end.words)")
    #expect(!FileManager.default.fileExists(atPath: daemon.home.path + "/other"))
  }

  @Test func findingsOfDamagedStoreAreReportedLineByLine() throws {
    let (daemon, program) = try Self.prepared()
    let path = daemon.data + "/graph.sqlite"
    var bytes = try #require(FileManager.default.contents(atPath: path))
    // The word is damaged in both places: in the text and in the full-text index.
    #expect(bytes.range(of: Data("kept".utf8)) != nil)
    while let text = bytes.range(of: Data("kept".utf8)) { bytes[text.lowerBound] ^= 1 }
    try bytes.write(to: URL(fileURLWithPath: path))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["check", "--data", daemon.data]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let lines = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(
      separator: "\n")
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(!lines.isEmpty)
    // A kind, a colon and a sentence each.
    for line in lines { #expect(line.contains(/^[a-z ]+: ./), "\(line)") }
  }
}
