import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import StickiesKit
import Testing

@Suite struct DaemonTests {
  @Test func secondDaemonReportsOwnerOfDirectory() throws {
    let daemon = try Daemon()
    try daemon.start()
    let second = try daemon.stickiesd("--listen", "tcp://127.0.0.1:0")
    #expect(second.status == 1)
    #expect(second.errors.contains("process \(daemon.process.processIdentifier)"))
  }

  @Test func killedDaemonReusesItsPortImmediately() throws {
    let daemon = try Daemon()
    try daemon.start()
    let address = daemon.tcp
    for _ in 0..<5 {
      try daemon.run("add", "x", server: address)
      daemon.kill()
      try daemon.start(listen: [address])
      #expect(daemon.tcp == address)
    }
    #expect(try daemon.run("list", "--json", server: address).json().arrayValue?.count == 5)
  }

  /// Writes through the library until the connection dies; returns the texts that were acknowledged.
  @MainActor
  private static func write(_ daemon: Daemon, round: Int) async throws -> [String] {
    var options = GraphClient.Options(author: "load@test")
    (options.reconnects, options.outcomeMilliseconds) = (false, 0)
    let connected = try? await GraphClient.connect(
      to: daemon.socket, model: StickiesModel.model, classes: StickiesModel.classes, options: options)
    guard let client = connected else { return [] }
    var acknowledged = [String]()
    let note = try #require(StickiesModel.model.entity(named: "Note"))
    let (text, board) = (try #require(note.property(named: "text")), try #require(note.property(named: "board")))
    do {
      let boards = try await client.fetch(Board.self)
      let target = try #require(boards.first).id
      for number in 0..<100_000 {
        let content = "\(round)-\(number)"
        let edits = [Edit(text.number, .set(.string(content))), Edit(board.number, .set(.object(target)))]
        _ = try await client.commit([Change(.insert, .temporary(1, entity: note.number), edits: edits)], policy: .error)
        acknowledged.append(content)
      }
    } catch {}
    await client.close()
    return acknowledged
  }

  /// `scripts/soak-kills` kills a release build a hundred times, and `scripts/sweep` this one as often as you like.
  @Test func killsNeitherLoseNorDuplicateCommits() async throws {
    let rounds = SeedSweep.seeds(30).count
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "B")
    var acknowledged = [String]()
    for round in 0..<rounds {
      let pid = daemon.process.processIdentifier
      // The kill comes from another process, at an arbitrary moment of the load.
      let killer = Process()
      killer.executableURL = URL(fileURLWithPath: "/bin/sh")
      killer.arguments = ["-c", "sleep 0.0\(20 + (round * 7) % 60); kill -9 \(pid)"]
      try killer.run()
      acknowledged += try await Self.write(daemon, round: round)
      killer.waitUntilExit()
      daemon.kill()
      #expect(try !daemon.segments().isEmpty)
      try daemon.start()
    }
    // Fewer than one per round on a machine with other work.
    #expect(acknowledged.count > rounds / 2)
    #expect(daemon.errorText.contains("commits were restored from the commit log"), "no start has needed the log")
    let stored = try daemon.run("list", "--json").json().arrayValue?.compactMap { $0["text"]?.stringValue } ?? []
    #expect(Set(stored).count == stored.count, "a commit is there twice")
    #expect(Set(stored).isSuperset(of: acknowledged), "an acknowledged commit is gone")
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  /// Written from docs/protocol.md alone: as long as it passes, the page is right.
  @Test func clientInAnotherLanguageFollowsAndResumes() throws {
    let daemon = try Daemon()
    try daemon.start()
    for address in [daemon.socket.description, daemon.tcp] {
      let text = try Self.python("docs/examples/client.py", address)
      for step in ["hello", "commit", "fetch", "subscribe", "delta", "resume", "objects", "close"] {
        #expect(text.contains("ok  \(step)"), "\(text)")
      }
      // The server's log, newest first. The repeated commit is not in it; the board was deleted with its notes.
      let log = try daemon.run("log", "--limit", "5", "--json").json().arrayValue ?? []
      let changes = log.map { commit in
        (commit["changes"]?.arrayValue ?? []).compactMap { $0["kind"]?.stringValue }
      }
      #expect(
        changes == [
          Array(repeating: "removed", count: 4), ["removed"], ["updated"], ["updated"],
          Array(repeating: "inserted", count: 5),
        ])
      let authors = log.map { $0["author"]?.stringValue }
      #expect(authors == Array(repeating: "python-second", count: 4) + ["python-first"])
    }
  }

  /// The rules of docs/protocol.md that a client easily breaks.
  @Test func sentencesOfProtocolPageHold() throws {
    let daemon = try Daemon()
    try daemon.start(["--schema", Fixtures.root + "/Schema/Company"])
    let text = try Self.python("Tests/Protocol/sentences.py", daemon.socket.description)
    #expect(text.hasSuffix("ok  all\n"), "\(text)")
    #expect(daemon.stop() == 0)
  }

  /// Runs a Python program of this repository, which has to succeed, and returns its output.
  private static func python(_ path: String, _ address: String) throws -> String {
    let python = Process()
    python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    python.arguments = ["python3", Fixtures.root + "/" + path, address]
    let output = Pipe()
    python.standardOutput = output
    python.standardError = output
    try python.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    python.waitUntilExit()
    #expect(python.terminationStatus == 0, "\(text)")
    return text
  }

  @Test @MainActor func programWithTypedObjectsFollowsTheGraph() async throws {
    let daemon = try Daemon()
    try daemon.start()
    let ann = try await Stickies.connect(to: daemon.socket, author: "ann")
    let bob = try await Stickies.connect(to: daemon.socket, author: "bob")
    let board = Board(in: ann.context)
    board.name = "Plans"
    let note = Note(in: ann.context)
    note.text = "Hello"
    note.board = board
    note.color = .teal
    #expect(board.notes.count == 1)
    #expect(note.id.isTemporary)
    try await ann.save()
    #expect(!note.id.isTemporary)
    #expect(note.number == 1)
    let query = try await bob.follow(try #require(bob.context.model.entity(named: "Note")))
    let theirs = try #require(bob.context.result(of: query).first as? Note)
    #expect(theirs.text == "Hello")
    #expect(theirs.color == .teal)
    let changed = AsyncStream<ObjectsDidChange>.makeStream()
    let token = bob.context.observe { changed.continuation.yield($0) }
    note.x = 12
    try await ann.save()
    var changes = changed.stream.makeAsyncIterator()
    let change = try #require(await changes.next())
    #expect(change.author == "ann")
    #expect(theirs.x == 12)
    ann.context.delete(note)
    try await ann.save()
    _ = await changes.next()
    #expect(theirs.isDeleted)
    #expect(bob.context.result(of: query).isEmpty)
    token.cancel()
    await ann.close()
    await bob.close()
  }
}
