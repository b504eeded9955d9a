import Foundation
import GraphClient
import GraphModel
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// Batches over a socket: rows, progress, the clients that receive the result, and the state after a client disconnects
/// in the middle.
@Suite struct BatchTests {
  /// The server's answers to a batch: its progress, and at last its outcome.
  private struct BatchTranscript {
    var steps = [BatchProgress]()
    var committed: CommitResult?
    var refusal: Refusal?
  }

  private func course(_ client: RawClient, _ request: UInt64) async throws -> BatchTranscript {
    var course = BatchTranscript()
    while true {
      switch try await client.reply(to: request) {
      case .progress(let progress): course.steps.append(progress)
      case .committed(let committed, _, _, _):
        course.committed = committed
        return course
      case .refused(let refusal):
        course.refusal = refusal
        return course
      default: throw RawClient.ReadTimeout()
      }
    }
  }

  private func id(_ client: RawClient, _ sequence: UInt64) -> TransactionID {
    TransactionID(replica: client.replica, sequence: sequence)
  }

  private func send(_ count: Int, _ client: RawClient, _ id: TransactionID, board: ObjectID) async throws {
    for start in stride(from: 0, to: count, by: 500) {
      let rows = (start..<min(start + 500, count)).map {
        [Value.string("n\($0)"), .object(board), .double(Double($0))]
      }
      guard
        case .progress(let kept) = try await client.reply(to: client.send(.batchRows(BatchRows(id: id, rows: rows))))
      else {
        Issue.record("rows are not answered by progress")
        return
      }
      #expect(kept.done == start + rows.count)
    }
  }

  private func insert(_ count: Int, _ client: RawClient, _ scene: DaemonFixture, board: ObjectID) async throws
    -> BatchTranscript
  {
    try await send(count, client, id(client, 1), board: board)
    let properties = try ["text", "board", "x"].map { try scene.property($0).number }
    let batch = BatchRequest(
      id: id(client, 1), entity: scene.entity.number,
      operation: .insert(properties: properties, rows: UInt64(count)))
    return try await course(client, client.send(.batch(batch)))
  }

  private func shift(_ scene: DaemonFixture, _ id: TransactionID) throws -> ToServer.Body {
    let assignment = BatchRequest.Assignment(try scene.property("x").number, .expression("x + 1"))
    return .batch(
      BatchRequest(id: id, entity: scene.entity.number, operation: .update(predicate: "", [assignment])))
  }

  /// A scene whose bystander follows a query that no batch of this test touches.
  private func scene() async throws -> (DaemonFixture, follower: RawClient) {
    let scene = try await DaemonFixture()
    let follower = try await scene.client()
    return (scene, follower)
  }

  /// Six times the objects in the same memory: finished slices are on disk. The texts alone are nearly twice the
  /// allowed memory.
  @Test func batchMemoryIsIndependentOfObjectCount() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "Work")
    let board = try #require(try daemon.run("graph", "fetch", "Board", "--ids").lines.first)
    // All notes have one word, because the test does not measure the full-text index.
    let text = String(repeating: "x", count: 2_500)
    /// The maximum memory of the daemon after an insert, an update and a delete of this number of notes.
    func memories(of count: Int) throws -> [Int] {
      let lines = (0..<count).map { #"{"text": "\#(text) \#($0)", "board": "\#(board)"}"# }
      let steps: [(words: [String], input: String?)] = [
        (["insert", "Note", "-"], lines.joined(separator: "\n") + "\n"),
        (["update", "Note", "--where", "z >= 0", "--set", "z=z + 1"], nil),
        (["delete", "Note", "--where", "z >= 0"], nil),
      ]
      return try steps.map { words, input in
        let result = try Daemon.run(
          ["graph"] + words + ["--one-commit"], server: daemon.socket.description, author: "ann@test", input: input)
        #expect(result.output.contains("\(count) objects changed"), "\(words): \(result.errors)")
        return try daemon.memory("VmHWM")
      }
    }
    let few = try #require(try memories(of: 2_000).last)
    let many = try memories(of: 12_000).map { $0 - few }
    #expect(many.allSatisfy { $0 < 16 << 20 }, "\(many.map { $0 >> 20 }) MB more after insert, update and delete")
    #expect(daemon.stop() == 0)
  }

  @Test func batchIsOneCommitAndFollowersReload() async throws {
    let (scene, follower) = try await scene()
    let board = try await scene.board()
    let client = try await scene.client()
    _ = try await follower.follow(scene.entity.number)
    let boards = try await follower.follow(#require(scene.model.entity(named: "Board")).number)
    let made = try await insert(2_500, client, scene, board: board)
    #expect(made.steps.last == BatchProgress(done: 2_500, total: 2_500, changed: 2_500))
    let revision = try #require(made.committed?.revision)

    var resets = [String]()
    while resets.isEmpty {
      let message = try #require(try await follower.next())
      if case .reset(let query, let reason) = message.body {
        #expect(query != boards.query, "a query that it could not touch starts again")
        resets.append(reason)
      }
    }
    #expect(resets == ["one commit changed 2500 objects, too many to send one by one"])

    let shifted = try await course(client, client.send(shift(scene, id(client, 2))))
    #expect(shifted.committed?.revision == revision + 1)
    let xs = try await client.fetch(Fetch(entity: scene.entity.number, sort: "number")).objects.map {
      $0[try scene.property("x")]
    }
    #expect(xs == (0..<2_500).map { .double(Double($0 + 1)) })

    guard case .log(let commits, _, _) = try await client.reply(to: client.send(.log(after: 0, limit: 2, through: 0)))
    else {
      Issue.record("the log has another answer")
      return
    }
    #expect(commits.map(\.unlisted) == [2_500, 2_500])
    #expect(commits.allSatisfy { $0.changes.isEmpty })

    // One undo, an ordinary commit, reverts the batch.
    let undo = try await client.send(.undo(UndoRequest(id(client, 3), revision: revision + 1)))
    guard case .committed = try await client.reply(to: undo) else {
      Issue.record("a batch is not undone")
      return
    }
    scene.bystander.dropUnasked()
    let deletion = BatchRequest(id: id(client, 4), entity: scene.entity.number, operation: .delete(predicate: "x >= 0"))
    let deleted = try await course(client, client.send(.batch(deletion)))
    #expect(deleted.steps.last?.changed == 2_500)
    #expect(try await client.fetch(Fetch(entity: scene.entity.number)).objects.isEmpty)
    try scene.end()
  }

  @Test func disconnectWhileSendingRowsLeavesNothing() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    for address in try scene.addresses() {
      let client = try await scene.client(address)
      try await send(1_500, client, id(client, 1), board: board)
      client.close()
      // Its rows were dropped with it: a client that reconnects under its id must send them again.
      let successor = try RawClient(address, replica: client.replica)
      try await successor.hello()
      let batch = BatchRequest(
        id: id(successor, 1), entity: scene.entity.number,
        operation: .insert(properties: [try scene.property("text").number], rows: 1_500))
      #expect(try await course(successor, successor.send(.batch(batch))).refusal?.code == .malformed)
      try await scene.expectUndisturbed()
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: scene.daemon.data)
    #expect(files.allSatisfy { !$0.hasPrefix("spool") })
    try scene.end()
  }

  @Test func batchOfDisconnectedClientIsCancelledOrCompleted() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    let client = try await scene.client()
    _ = try await insert(4_000, client, scene, board: board)
    let victim = try await scene.client()
    let request = try await victim.send(shift(scene, id(victim, 1)))
    guard case .progress = try await victim.reply(to: request) else {
      Issue.record("a batch does not report its progress")
      return
    }
    victim.close()
    // The next commit waits for the batch, which is then complete or absent.
    try await scene.client().commit([])
    let xs = Set(
      try await client.fetch(Fetch(entity: scene.entity.number)).objects.map { $0[try scene.property("x")] })
    #expect(xs.contains(.double(0)) != xs.contains(.double(4_000)))
    try scene.end()
  }

  @Test func killedDaemonHasNothingOfBatchAndAcceptsItAgain() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    let client = try await scene.client()
    let made = try await insert(6_000, client, scene, board: board)
    let revision = try #require(made.committed?.revision)
    let request = try await client.send(shift(scene, id(client, 2)))
    guard case .progress(let first) = try await client.reply(to: request) else {
      Issue.record("a batch does not report its progress")
      return
    }
    #expect(first.done < first.total)
    scene.daemon.kill()
    try scene.daemon.start()
    let successor = try RawClient(scene.daemon.socket, replica: client.replica)
    try await successor.hello()
    let (objects, at) = try await successor.fetch(Fetch(entity: scene.entity.number))
    let xs = Set(try objects.map { $0[try scene.property("x")] })
    #expect(objects.count == 6_000)
    if at.revision == revision {
      #expect(xs.contains(.double(0)) && !xs.contains(.double(6_000)))
    } else {
      #expect(!xs.contains(.double(0)) && xs.contains(.double(6_000)))
    }
    for _ in 0..<2 {
      let again = try await course(successor, successor.send(shift(scene, id(successor, 2))))
      #expect(again.committed?.revision == revision + 1)
    }
    let after = Set(
      try await successor.fetch(Fetch(entity: scene.entity.number)).objects.map { $0[try scene.property("x")] })
    #expect(after.contains(.double(6_000)) && !after.contains(.double(6_001)))
    try scene.end()
  }

  // MARK: - The library

  /// The steps of a progress bar: it fills, and is full at the end.
  @Test @MainActor func batchProgressIsReported() async throws {
    let daemon = try Daemon()
    try daemon.start()
    let client = try await Stickies.connect(to: daemon.socket, author: "ann@test", reconnects: false)
    let model = StickiesModel.model
    let (tag, board) = (try #require(model.entity(named: "Tag")), try #require(model.entity(named: "Board")))
    let note = try #require(model.entity(named: "Note"))
    func property(_ name: String, _ entity: Entity) throws -> Property {
      try #require(entity.property(named: name))
    }
    let home = Change(
      .insert, .temporary(1, entity: board.number),
      edits: [Edit(try property("name", board).number, .set(.string("Home")))])
    let made = try await client.commit([home], policy: .error)
    let boardID = try #require(made.committed.identities.first?.permanent)

    let count = 3 * Batch.sliceObjects
    var steps = [BatchProgress]()
    let rows = (0..<count).map { [Value.string("note \($0)"), .object(boardID), .double(1)] }
    let inserted = try await client.batchInsert(
      note, ["text", "board", "x"].map { try property($0, note) }, rows: rows
    ) { steps.append($0) }
    // While rows are being sent, their total is unknown.
    let sent = steps.prefix { $0.total == 0 }
    #expect(!sent.isEmpty && sent.allSatisfy { $0.changed == 0 && $0.done <= count })
    expectRising(Array(sent))
    expectFilling(Array(steps.dropFirst(sent.count)), total: count)
    #expect(inserted.changed == count)

    steps = []
    let shifted = try await client.batchUpdate(
      note, where: .always, set: [(try property("x", note), to: .expression("x + 1"))]
    ) { steps.append($0) }
    expectFilling(steps, total: count)
    #expect(shifted.changed == count && shifted.committed.revision == inserted.committed.revision + 1)

    steps = []
    let deleted = try await client.batchDelete(note, where: .always) { steps.append($0) }
    expectFilling(steps, total: count)
    #expect(deleted.changed == count)
    #expect(try await client.count(of: Note.self) == 0)

    // A batch this small is one step, which is reported anyway.
    steps = []
    let few = try await client.batchInsert(tag, [property("name", tag)], rows: [[.string("a")], [.string("b")]]) {
      steps.append($0)
    }
    #expect(steps.last == BatchProgress(done: 2, total: 2, changed: 2))
    steps = []
    let none = try await client.batchDelete(note, where: .always) { steps.append($0) }
    #expect(none.changed == 0 && steps.last == BatchProgress(done: 0, total: 0, changed: 0))
    #expect(none.committed.revision == few.committed.revision, "what changes nothing takes no revision")
    await client.close()
    #expect(daemon.stop() == 0)
  }

  @Test @MainActor func batchDeleteOfClassTakesTypedCondition() async throws {
    let daemon = try Daemon()
    try daemon.start()
    let client = try await Stickies.connect(to: daemon.socket, author: "ann@test", reconnects: false)
    for name in ["a", "b"] { Tag(in: client.context).name = name }
    try await client.save()
    let deleted = try await client.batchDelete(Tag.self, where: { $0.name == "a" })
    #expect(deleted.changed == 1)
    #expect(try await client.fetch(Tag.self, sort: [\.name.ascending]).map(\.name) == ["b"])
    await client.close()
    #expect(daemon.stop() == 0)
  }

  private func expectRising(_ steps: [BatchProgress], place: SourceLocation = #_sourceLocation) {
    for (one, next) in zip(steps, steps.dropFirst()) {
      #expect(one.done <= next.done && one.changed <= next.changed, "\(one), \(next)", sourceLocation: place)
    }
  }

  private func expectFilling(_ steps: [BatchProgress], total: Int, place: SourceLocation = #_sourceLocation) {
    expectRising(steps, place: place)
    #expect(steps.allSatisfy { $0.total == total }, sourceLocation: place)
    #expect(steps.first?.done == 0, "\(steps)", sourceLocation: place)
    #expect(steps.last?.done == total && steps.last?.changed == total, "\(steps)", sourceLocation: place)
  }

  // MARK: - The command line

  /// Ctrl-C amid the lines: the command prints its progress, and the shell sees the signal.
  @Test func interruptedInsertReportsItsState() throws {
    let daemon = try Daemon()
    try daemon.start()
    let process = Process()
    process.executableURL = Daemon.binary("stickies")
    process.arguments = ["graph", "insert", "Tag", "-", "--one-commit", "--server", daemon.socket.description]
    let (input, errors) = (Pipe(), Pipe())
    (process.standardInput, process.standardError) = (input, errors)
    try process.run()
    // The input is larger than the pipe: when all lines are written, the command is reading them.
    let lines = (0..<40_000).map { "{\"name\": \"tag \($0)\"}\n" }.joined()
    try input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
    process.interrupt()
    let reported = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(reported == "stickies: interrupted: either all of it is committed, or nothing; the log shows which\n")
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGINT)
    #expect(try daemon.run("graph", "fetch", "Tag", "--count").output == "0\n")
    #expect(daemon.stop() == 0)
  }

  /// The log names, for an operator, the attributes of the model that need an index.
  @Test func fullTableScansOfBatchesAreLogged() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let lines = (0..<10_100).map {
      "{\"name\": \"P\($0)\", \"hired\": \"2020-01-01\", \"department\": \"\(department)\"}"
    }
    let made = try company.run("insert", "Person", "-", "--one-commit", input: lines.joined(separator: "\n"))
    #expect(made.status == 0, "\(made.errors)")
    func reported() -> [Substring] {
      company.daemon.errorText.split(separator: "\n").filter { $0.contains("reads all of") }
    }
    // An index leads to these.
    #expect(try company.count("Person", where: "hired == \"2021-01-01\"") == 0)
    #expect(reported() == [])
    #expect(try company.count("Person", where: "remote == TRUE AND name == \"nobody\"") == 0)
    let updated = try company.run(
      "update", "Person", "--where", "vacationDays == 60", "--one-commit", "remote=yes", "--json")
    #expect(try updated.json()["changed"] == .integer(0))
    #expect(company.daemon.stop() == 0)
    #expect(reported().count == 2, "\(reported())")
    let remedy = { (names: String) in "reads all of Party; with \"indexed\": true on \(names) in the model it would not"
    }
    #expect(
      reported().first?.contains("a fetch of Person \(remedy("Person.remote and Party.name"))") == true, "\(reported())"
    )
    #expect(reported().last?.contains("a batch of Person \(remedy("Person.vacationDays"))") == true, "\(reported())")
    #expect(!company.daemon.errorText.contains("nobody"), "the log contains a user's value")
  }

  @Test func commandLineUsesServerSideBatches() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    for name in ["Ann", "Ben", "Cid"] { _ = try company.person(name, in: department) }
    let updated = try company.run(
      "update", "Person", "--where", "name != \"Cid\"", "--one-commit", "--set", "name=uppercase(name)", "remote=yes",
      "--json")
    #expect(updated.status == 0, "\(updated.errors)")
    #expect(try updated.json()["changed"] == .integer(2))
    #expect(try company.run("fetch", "Person", "--where", "remote == true", "--json").json().arrayValue?.count == 2)
    #expect(try company.run("fetch", "Person", "--where", "name == \"ANN\"", "--json").json().arrayValue?.count == 1)
    // No object has this name, and nothing is committed.
    func here(_ arguments: [String]) throws -> Daemon.Result {
      try Daemon.run(arguments, server: company.daemon.socket.description, author: "ann@test", input: nil)
    }
    let head = try here(["status", "--json"]).json()["revision"]
    for words in [["delete"], ["update", "remote=yes"]] {
      let batch = ["graph", words[0], "Person", "--where", "name == \"Cleo\"", "--one-commit"] + words.dropFirst()
      let none = try here(batch)
      #expect(none.status == 0, "\(none.errors)")
      #expect(none.output == "no Person object was \(words[0])d: nothing changes, and nothing is committed\n")
      #expect(try here(batch + ["--json"]).output == "{\"changed\":0,\"revisions\":[]}\n")
    }
    #expect(try here(["status", "--json"]).json()["revision"] == head)
    let wrong = try company.run(
      "update", "Person", "--where", "TRUEPREDICATE", "--one-commit", "--set", "name=nam")
    #expect(wrong.status == 64, "\(wrong.errors)")
    // A policy that cannot have an effect is refused.
    for words in [["delete", "Person"], ["update", "Person", "remote=yes"]] {
      let needless = try Daemon.run(
        ["graph"] + words + ["--where", "TRUEPREDICATE", "--one-commit", "--policy", "error"],
        server: company.daemon.socket.description, author: "ann@test", input: nil)
      #expect(needless.status == 64 && needless.errors.contains("--policy can't be used with --one-commit"))
    }
    let denied = try company.run("delete", "Department", "--where", "TRUEPREDICATE", "--one-commit")
    #expect(denied.status != 0)
    #expect(denied.errors.contains("can't be deleted"))
    let deleted = try company.run("delete", "Person", "--where", "TRUEPREDICATE", "--one-commit", "--json")
    // The department counts its people.
    #expect(try deleted.json()["changed"] == .integer(4))
    let lines = (0..<30).map { "{\"name\": \"P\($0)\", \"hired\": \"2020-01-01\", \"department\": \"\(department)\"}" }
    let made = try company.run("insert", "Person", "-", "--one-commit", "--json", input: lines.joined(separator: "\n"))
    #expect(made.status == 0, "\(made.errors)")
    #expect(try made.json()["changed"] == .integer(31))
    let unlike = try company.run(
      "insert", "Person", "-", "--one-commit", input: lines[0] + "\n\n{\"name\": \"Q\"}\n")
    #expect(unlike.status != 0)
    #expect(unlike.errors.contains("line 3"))
    #expect(try company.count("Person") == 30)
    #expect(company.daemon.stop() == 0)
  }
}
