import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// The past, read with the shell and with the library, also after a kill of the daemon.
@Suite struct PastTests {
  /// Revisions: 1 two notes' board and the first note, 2 the second note, 3 an edit, 4 a delete.
  private func daemon() throws -> Daemon {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "Buy milk")
    try daemon.run("add", "Call Ann", "--color", "pink", "--tag", "phone")
    try daemon.run("edit", "1", "--text", "Buy oat milk")
    try daemon.run("delete", "2")
    return daemon
  }

  @Test func noteIsShownAtRevision() throws {
    let daemon = try daemon()
    for _ in 0..<2 {
      #expect(try daemon.run("show", "1", "--at", "2", "--json").json()["text"] == .string("Buy milk"))
      #expect(try daemon.run("show", "1", "--at", "r3", "--json").json()["text"] == .string("Buy oat milk"))
      let note = try daemon.run("show", "1", "--json").json()
      #expect(note["text"] == .string("Buy oat milk"))
      // A deleted object is found by its number, and by its id.
      let gone = try daemon.run("show", "2", "--at", "3", "--json").json()
      #expect(gone["text"] == .string("Call Ann") && gone["revision"] == .integer(2))
      let id = try #require(gone["id"]?.stringValue)
      #expect(try daemon.run("show", String(id.prefix(8)), "--at", "2", "--json").json() == gone)
      #expect(try daemon.run("graph", "show", "Note", id, "--at", "3").output.contains("text: Call Ann"))
      #expect(try daemon.run("graph", "show", id, "--at", "3", "--json").json()["id"] == .string(id))
      daemon.kill()
      try daemon.start()
    }
    #expect(daemon.stop() == 0)
  }

  @Test func listsAndFetchesSupportPastRevisions() throws {
    let daemon = try daemon()
    func numbers(_ arguments: String...) throws -> [JSON?] {
      let result = try Daemon.run(
        ["list", "--json"] + arguments, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
      return try result.json().arrayValue?.map { $0["number"] } ?? []
    }
    #expect(try numbers("--at", "0").isEmpty)
    #expect(try numbers("--at", "1") == [.integer(1)])
    #expect(try numbers("--at", "2") == [.integer(1), .integer(2)])
    #expect(try numbers("--at", "2", "--sort", "-number", "--limit", "1") == [.integer(2)])
    #expect(try numbers("--at", "3", "--where", "text SEARCH \"oat\"") == [.integer(1)])
    #expect(try numbers("--at", "2", "--where", "text SEARCH \"oat\"").isEmpty)
    #expect(try numbers("--at", "3", "--tag", "phone") == [.integer(2)])
    #expect(try numbers("--at", "3", "--where", "board.notes.@count == 2") == [.integer(1), .integer(2)])
    #expect(try numbers("--at", "4", "--where", "board.notes.@count == 2").isEmpty)
    #expect(try daemon.run("list", "--at", "2").output.contains("2  Notes  pink    phone  Call Ann\n"))

    func fetch(_ arguments: String...) throws -> Daemon.Result {
      try Daemon.run(
        ["graph", "fetch", "Note"] + arguments, server: daemon.socket.description, author: "ann@test", input: nil)
    }
    #expect(try fetch("--at", "3", "--count").output == "2\n")
    #expect(try fetch("--at", "4", "--count").output == "1\n")
    #expect(try fetch("--at", "3", "--ids").lines.count == 2)
    #expect(
      try fetch("--at", "2", "--group-by", "color").lines == ["COLOR   @COUNT", "yellow  1", "pink    1"].sortedRows)
    let page = try fetch("--at", "2", "--limit", "1", "--after", "", "--json").json()
    let cursor = try #require(page["next"]?.stringValue)
    let rest = try fetch("--at", "2", "--limit", "5", "--after", cursor, "--json").json()
    #expect(page["objects"]?.arrayValue?.count == 1 && rest["objects"]?.arrayValue?.count == 1)
    #expect(page["objects"] != rest["objects"])
    let plan = try fetch("--at", "2", "--where", "color == \"pink\"", "--explain").output
    #expect(plan.contains("changed since"), "\(plan)")
  }

  @Test func timeSelectsNewestCommitBeforeIt() throws {
    let daemon = try daemon()
    let log = try #require(try daemon.run("log", "--json").json().arrayValue)
    for entry in log {
      let (revision, time) = (try #require(entry["revision"]), try #require(entry["time"]?.stringValue))
      let then = try daemon.run("show", "1", "--at", time, "--json").json()
      let named = try daemon.run("show", "1", "--at", revision.text, "--json").json()
      #expect(then == named && then["number"] == .integer(1))
    }
    let reported = try daemon.run("list", "--at", "now")
    #expect(reported.errors.hasPrefix("stickies: as of revision 4, ") && reported.errors.hasSuffix(" by ann@test\n"))
    let before = try daemon.run("list", "--at", "2 hours ago")
    #expect(before.status == 0)
    #expect(
      before.errors
        == "stickies: as of revision 0, before the first commit\nthere were no notes then\n")
    #expect(try daemon.run("list", "--at", "2 hours ago", "--json").output == "[]\n")
  }

  @Test func invalidPastRequestsAreRefusedWithReason() throws {
    let daemon = try daemon()
    let future = try daemon.run("list", "--at", "99")
    #expect(future.status == 4 && future.errors == "stickies: there is no revision 99 yet: the newest is 4\n")
    let json = try daemon.run("show", "1", "--at", "99", "--json")
    #expect(json.status == 4)
    #expect(
      try JSON(parsing: json.errors.trimmingCharacters(in: .newlines))["error"]?["code"] == .string("notFound"))
    let early = try daemon.run("show", "2", "--at", "1")
    #expect(early.status == 4 && early.errors == "stickies: there is no note number 2 at revision 1 or now\n")
    let notYet = try daemon.run("show", "1", "--at", "0")
    #expect(notYet.status == 4 && notYet.errors.hasSuffix(" did not exist at revision 0\n"))
    for (text, words) in [
      ("soon", "neither a time nor a revision"), ("-1", "neither a time nor a revision"), ("", "neither a time"),
      ("9999-01-01", "is in the future"), ("99999999999999999999", "is too large for a revision"),
    ] {
      let result = try daemon.run("list", "--at", text)
      #expect(result.status == 64 && result.errors.contains(words), "\(text): \(result.errors)")
      let reported = try daemon.run("graph", "fetch", "Note", "--json", "--at", text)
      #expect(reported.status == 64 && reported.errors.contains("\"code\":\"usage\""), "\(text): \(reported.errors)")
    }
  }

  @Test @MainActor func pastIsReadOnlyForPrograms() async throws {
    let daemon = try daemon()
    let client = try await Stickies.connect(to: daemon.socket, author: "ann@test", reconnects: false)
    let past = client.graph(at: 2)
    let notes = try await past.fetch(Note.self, where: "TRUEPREDICATE", sort: "number")
    #expect(notes.map(\.text) == ["Buy milk", "Call Ann"])
    #expect(try await past.count(of: Note.self, where: "color == \"pink\"") == 1)
    // A relationship leads to past objects, too: to a tag's note that is deleted now.
    let tag = try #require(try await past.fetch(Tag.self, where: "name == \"phone\"").first)
    let tagged = try await past.load(\.notes, of: tag)
    #expect(tagged.map(\.text) == ["Call Ann"])
    let board = try #require(notes[1].board)
    #expect(board.isFault)
    try await past.load(board)
    #expect(board.name == "Notes" && board.revision == 1)
    let gone = try await past.object(Note.self, notes[1].id)
    #expect(gone === notes[1])
    #expect(try await client.graph(at: 1).object(Note.self, notes[1].id) == nil)
    #expect(try await client.graph(at: 4).count(of: Note.self) == 1)

    var refused = [ReadOnlyContextError]()
    past.context.editWasRefused = { refused.append($0) }
    notes[0].text = "Buy nothing"
    #expect(refused.map(\.revision) == [2] && notes[0].text == "Buy milk")
    // The present instance of the same id is a different one.
    let today = try #require(try await client.fetch(Note.self, where: "number == 1").first)
    #expect(today.id == notes[0].id && today !== notes[0] && today.text == "Buy oat milk")

    await #expect(throws: Refusal(.notFound, "there is no revision 5 yet: the newest is 4")) {
      _ = try await client.graph(at: 5).fetch(Note.self)
    }
    let first = try #require(try await client.log(through: 1, limit: 1).first)
    let found = try await client.revision(at: first.time)
    #expect(found.revision == 1 && found.author == "ann@test" && found.head.revision == 4)
    #expect(try await client.revision(at: first.time - 1).revision == 0)
    await client.close()
  }

  /// The page's transcript, command by command; `…` stands for what differs from run to run.
  @Test func guideCommandsPrintDocumentedOutput() throws {
    let page = String(decoding: try Fixtures.file("docs/guides/history.md"), as: UTF8.self)
    let daemon = try Daemon()
    try daemon.start()
    var commands = 0
    for block in page.components(separatedBy: "```console\n").dropFirst() {
      let text = block.components(separatedBy: "```")[0]
      for step in ("\n" + text).components(separatedBy: "\n$ stickies ").dropFirst() {
        let lines = step.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let expected = lines.dropFirst().joined(separator: "\n").trimmingCharacters(in: .newlines)
        let result = try Daemon.run(
          Self.words(lines[0]), server: daemon.socket.description, author: "ann@test", input: nil)
        let printed = (result.errors + result.output).trimmingCharacters(in: .newlines)
        #expect(Self.fits(printed, expected), "stickies \(lines[0])\nprinted:\n\(printed)\nthe page says:\n\(expected)")
        commands += 1
      }
    }
    #expect(commands > 10)
  }

  /// Splits a line into words as a shell does: quotes hold words together.
  private static func words(_ line: String) -> [String] {
    var (words, word, quote) = ([String](), nil as String?, nil as Character?)
    for character in line {
      if character == quote {
        quote = nil
      } else if quote == nil, character == "\"" || character == "'" {
        quote = character
        word = word ?? ""
      } else if quote == nil, character == " " {
        if let complete = word { words.append(complete) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + [word].compactMap { $0 }
  }

  private static func fits(_ text: String, _ pattern: String) -> Bool {
    let parts = pattern.components(separatedBy: "…")
    guard parts.count > 1 else { return text == pattern }
    guard text.hasPrefix(parts[0]), text.hasSuffix(parts[parts.count - 1]) else { return false }
    var rest = text[...]
    for part in parts where !part.isEmpty {
      guard let place = rest.range(of: part) else { return false }
      rest = rest[place.upperBound...]
    }
    return true
  }
}

extension [String] {
  /// The head of a table stays first; its rows are sorted by their bytes.
  fileprivate var sortedRows: [String] { prefix(1) + dropFirst().sorted() }
}
