import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// `stickies graph export` and `import`, through the socket.
@Suite struct WholeGraphTests {
  private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

  /// A line's members changed.
  private func changed(_ line: String, _ name: String, to value: JSON?) throws -> String {
    var members = try JSON(parsing: line).members ?? []
    members.removeAll { $0.name == name }
    if let value { members.append(.init(name, value)) }
    return JSON.object(members).text
  }

  /// The lines with an end that fits them.
  private func sealed(_ lines: [String]) throws -> String {
    var sum = Checksum.seed
    for line in lines.dropFirst() { sum = Checksum.of(Array((line + "\n").utf8), seed: sum) }
    let digits = String(sum, radix: 16)
    let head = try changed(lines[0], "objects", to: .integer(Int64(lines.count - 1)))
    let end = JSON.object([
      .init("$end", .integer(Int64(lines.count - 1))),
      .init("checksum", .string(String(repeating: "0", count: 16 - digits.count) + digits)),
    ]).text
    return ([head] + lines.dropFirst() + [end]).joined(separator: "\n") + "\n"
  }

  private func notes() throws -> Daemon {
    let daemon = try Daemon()
    try daemon.start()
    for text in ["Buy milk", "Água é \"boa\"\nlínea", ""] { try daemon.run("add", text) }
    try daemon.run("tag", "1", "home")
    try daemon.run("link", "1", "2")
    try daemon.run("delete", "3")
    try daemon.run("move", "2", "-10.5,1e300")
    return daemon
  }

  @Test func importedGraphEqualsExportedGraph() throws {
    let daemon = try notes()
    let file = daemon.home.path + "/graph.jsonl"
    let done = try daemon.run("graph", "export", file)
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output == "\(file): 5 objects at revision 7\n")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(try daemon.run("graph", "export").output == text)
    #expect(try daemon.run("graph", "export", "-").output == text)
    let again = try daemon.run("graph", "export", file)
    #expect(again.status == 2)
    #expect(again.errors.contains("already exists"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: daemon.home.path).allSatisfy { !$0.hasSuffix(".partial") })
    let entities = try lines(text).dropFirst().dropLast().map { try JSON(parsing: $0)["$entity"]?.stringValue }
    #expect(entities == ["Board", "Link", "Note", "Note", "Tag"])
    let refused = try daemon.run("graph", "import", file)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("the store already has 7 commits"), "\(refused.errors)")

    let other = try Daemon()
    try other.start()
    let imported = try other.run("graph", "import", file, "--json")
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(imported.output == "{\"objects\":5,\"revision\":1}\n")
    // All but the head, which has the revision.
    #expect(lines(try other.run("graph", "export").output).dropFirst() == lines(text).dropFirst())
    #expect(try other.run("list", "--where", "text CONTAINS 'milk'", "--json").json().arrayValue?.count == 1)
    // Numbers continue after the imported ones; the deleted note's number is unknown here.
    #expect(try other.run("add", "next", "--json").json()["number"]?.integerValue == 3)
    #expect(other.stop() == 0)
    try other.expectSound()
    #expect(daemon.stop() == 0)
  }

  @Test func nonRegularFileIsNotReplaced() throws {
    let daemon = try notes()
    let home = daemon.home.path
    #expect(mkfifo(home + "/pipe", 0o600) == 0)
    #expect(symlink("nowhere", home + "/dangling") == 0)
    let store = try #require(
      FileManager.default.enumerator(atPath: home)?.compactMap { $0 as? String }.first { $0.hasSuffix("graph.sqlite") })
    for (name, words) in [
      (home + "/pipe", "is a device, a socket or a pipe"), ("/dev/null", "is a device"), (home, "is a folder"),
      (home + "/dangling", "is a link to a missing file"), ("", "the file name is empty"),
      (home + "/" + store, "is not an export"),
      (home + "/" + store + "-wal", "belongs to the SQLite database beside it"),
      (home + "/" + store + "-journal", "belongs to the SQLite database beside it"),
      (home + "/" + store.replacing("graph.sqlite", with: "lock"), "is not an export"),
    ] {
      let result = try daemon.run("graph", "export", name, "--replace")
      #expect(result.status != 0, "\(name)")
      #expect(result.errors.contains(words), "\(name): \(result.errors)")
    }
    var status = stat()
    #expect(lstat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    #expect(lstat(home + "/pipe", &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    // The export writes to the target of the link, and the link stays.
    try Data(#"{"$graph":"old"}"#.utf8).write(to: URL(filePath: home + "/real"))
    #expect(symlink("real", home + "/link") == 0)
    #expect(try daemon.run("graph", "export", home + "/link", "--replace").status == 0)
    #expect(lstat(home + "/link", &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(try String(contentsOfFile: home + "/real", encoding: .utf8) == (try daemon.run("graph", "export").output))
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  @Test func anyModelAndLineOrderIsImported() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    let ben = try company.person("Ben", in: department, "manager=\(ann)")
    try company.run("update", ann, "manager=\(ben)")
    let text = try company.run("export").output
    let parts = lines(text)
    #expect(parts.count == 5)
    let shuffled = try sealed([parts[0]] + parts[1...3].reversed())

    let other = try CompanyDaemon()
    let imported = try other.run("import", "-", input: shuffled)
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(imported.output == "imported 3 objects in one commit\n")
    #expect(lines(try other.run("export").output).dropFirst() == parts.dropFirst())
    #expect(try other.count("Person", where: "manager.manager.name == name") == 2)

    // A daemon with another model is refused before any row is sent.
    let notes = try Daemon()
    try notes.start()
    let foreign = try notes.run("graph", "import", "-", input: text)
    #expect(foreign.status == 2)
    #expect(foreign.errors.contains("line 1: the graph has the model Company 1"), "\(foreign.errors)")
    #expect(try notes.run("status", "--json").json()["revision"]?.integerValue == 0)
  }

  @Test func importErrorReportsLineAndWritesNothing() throws {
    let source = try notes()
    let good = lines(try source.run("graph", "export").output)
    let body = Array(good.dropLast())
    let (note, link) = (3, 2)
    let board = JSON.string(try #require(try JSON(parsing: body[1])["$id"]?.stringValue))
    var mistakes = [(input: String, words: [String])]()
    mistakes.append(("", ["the file is empty"]))
    mistakes.append(("{\"id\":1}\n", ["line 1: a head with \"$graph\""]))
    mistakes.append(
      (
        try changed(good[0], "format", to: .integer(2)) + "\n",
        ["line 1: the file has the format 2, and this program reads formats up to 1"]
      ))
    mistakes.append((good[..<4].joined(separator: "\n"), ["the file ends after 3 of 5 objects"]))
    mistakes.append((good[..<4].joined(separator: "\n") + "\n{\"$entity\":\"No", ["line 5: column "]))
    mistakes.append(((Array(good[..<4]) + good[5...]).joined(separator: "\n"), ["line 6: the file has 4 objects"]))
    mistakes.append(
      (
        good.joined(separator: "\n").replacing("Buy milk", with: "Buy malt"), ["line 7: the checksum does not match"]
      ))
    mistakes.append((good.joined(separator: "\n") + "\n{}\n", ["line 8: there is more after the end"]))
    func add(_ line: Int, _ name: String, _ value: JSON?, _ words: String...) throws {
      var lines = body
      lines[line] = try changed(lines[line], name, to: value)
      mistakes.append((try sealed(lines), words))
    }
    try add(note, "$entity", .string("Nota"), "line 4: \"$entity\" names no entity")
    try add(note, "$id", .string("x"), "line 4: \"$id\" is not a complete id")
    try add(note, "colour", .string("red"), "line 4: Note has no property \"colour\"")
    try add(note, "x", .string("left"), "line 4: Note.x takes a number, and not \"left\"")
    try add(note, "color", .string("octarine"), "line 4: Note.color takes one of ")
    // A board where a note is expected, an unknown end, a missing required relationship.
    try add(link, "from", board, "line 3: from names ", "(destination")
    try add(link, "from", .string("zzzzzzzzzzzzzzzzzzzzzzzzz0"), "line 3: ")
    try add(link, "from", nil, "line 3: Link.from needs a value (required")
    mistakes.append((try sealed(body + [body[note]]), ["line 7: the id ", "is given twice (unique"]))
    // Another tag with the same name: a different id with an existing key.
    let tag = try #require(try JSON(parsing: body[5])["$id"]?.stringValue)
    let other = (tag.hasPrefix("a") ? "b" : "a") + tag.dropFirst()
    mistakes.append(
      (
        try sealed(body + [try changed(body[5], "$id", to: .string(other))]),
        ["line 7: line 6 has the same name (unique, value \"home\")"]
      ))
    // Everything that can't be read, of a line and of all lines.
    var unread = body
    unread[note] = try changed(try changed(unread[note], "x", to: .string("left")), "colour", to: .string("red"))
    unread[link] = try changed(unread[link], "from", to: .integer(1))
    mistakes.append(
      (
        try sealed(unread),
        [
          "3 mistakes in the lines; nothing is imported", "line 3: Link.from takes a complete id, and not 1",
          "line 4: Note.x takes a number, and not \"left\"", "line 4: Note has no property \"colour\"",
        ]
      ))

    // The position after the first mistake does not matter.
    let far = unread + Array(repeating: body[5], count: 1_100) + [try changed(body[5], "$id", to: .string("x"))]
    mistakes.append(
      (try sealed(far), ["4 mistakes in the lines; nothing is imported", "line 1107: \"$id\" is not a complete id"]))

    let daemon = try Daemon()
    try daemon.start()
    for (input, words) in mistakes {
      let result = try daemon.run("graph", "import", "-", input: input)
      #expect(result.status == 2, "\(words): \(result.errors)")
      for word in words { #expect(result.errors.contains(word), "\(word) is not in: \(result.errors)") }
      #expect(try daemon.run("status", "--json").json()["revision"]?.integerValue == 0, "\(words)")
    }
    // A user who edits the file removes the checksum; all other checks remain.
    let last = try changed(good[good.count - 1], "checksum", to: nil)
    let twice = Array(good.dropLast()) + [good[note]]
    let more = try changed(twice[0], "objects", to: .integer(6))
    let doubled = try daemon.run(
      "graph", "import", "-",
      input: ([more] + twice.dropFirst() + [try changed(last, "$end", to: .integer(6))]).joined(separator: "\n"))
    #expect(doubled.errors.contains("is given twice (unique"), "\(doubled.errors)")
    let short = try daemon.run("graph", "import", "-", input: (good[..<4] + [last]).joined(separator: "\n"))
    #expect(short.errors.contains("the file has 3 objects"), "\(short.errors)")
    #expect(try daemon.run("status", "--json").json()["revision"]?.integerValue == 0)
    // The store still accepts an import.
    let malt = (good.dropLast() + [last]).joined(separator: "\n").replacing("Buy milk", with: "Buy malt")
    let edited = try Daemon()
    try edited.start()
    #expect(try edited.run("graph", "import", "-", input: malt).status == 0)
    #expect(try edited.run("list").output.contains("Buy malt"))
    let right = try daemon.run("graph", "import", "-", input: good.joined(separator: "\n") + "\n")
    #expect(right.status == 0, "\(right.errors)")
    #expect(daemon.stop() == 0)
    #expect(source.stop() == 0)
  }

  /// The client is killed when half of its lines are on their way; then the connection is cut while the daemon writes.
  @Test func interruptedImportWritesNothing() async throws {
    let daemon = try Daemon()
    try daemon.start()
    let model = StickiesModel.model
    let tag = try #require(model.entity(named: "Tag"))
    func object(_ number: Int) -> [Value] {
      let id = ObjectID(key: UniqueID(high: 1 << 60, low: UInt64(number)), entity: tag.number)
      return [.object(id), .null, .string("t\(number)")]
    }
    #expect(tag.storedProperties.map(\.name) == ["creator", "name"])
    for asksForIt in [false, true] {
      let client = try RawClient(daemon.socket)
      try await client.hello(model: model.hash)
      let id = TransactionID(replica: client.replica, sequence: 1)
      for part in 0..<20 {
        let rows = (0..<1_000).map { object(part * 1_000 + $0) }
        guard case .progress = try await client.reply(to: client.send(.batchRows(BatchRows(id: id, rows: rows)))) else {
          Issue.record("the rows were not kept")
          return
        }
      }
      if asksForIt { try await client.send(.importGraph(ImportRequest(id: id, rows: 20_000))) }
      client.close()
    }
    // A fresh import waits for the rest of the previous one. If the connection was cut too late, the previous one is
    // complete.
    let last = try RawClient(daemon.socket)
    try await last.hello(model: model.hash)
    let id = TransactionID(replica: last.replica, sequence: 1)
    _ = try await last.reply(to: last.send(.batchRows(BatchRows(id: id, rows: [object(50_000)]))))
    let request = try await last.send(.importGraph(ImportRequest(id: id, rows: 1)))
    var reply = try await last.reply(to: request)
    while case .progress = reply { reply = try await last.reply(to: request) }
    let (objects, _) = try await last.fetch(Fetch(entity: tag.number))
    switch reply {
    case .committed: #expect(objects.count == 1)
    case .refused(let refusal):
      #expect(refusal.message.contains("1 commit already"))
      #expect(objects.count == 20_000)
    default: Issue.record("\(reply)")
    }
    last.close()
    #expect(daemon.stop() == 0)
  }
}
