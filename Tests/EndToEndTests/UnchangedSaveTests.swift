import GraphModel
import Testing

/// A command that sets a value to the present one adds no entry to the log.
@Suite struct UnchangedSaveTests {
  @Test func repeatedCommandMakesNoCommit() throws {
    let daemon = try Daemon()
    try daemon.start()
    for text in ["first", "second"] { try daemon.run("add", text) }
    func revision() throws -> JSON? { try daemon.run("status", "--json").json()["revision"] }
    for words in [
      ["color", "1", "pink"], ["move", "1", "7,-8"], ["resize", "1", "300x20"], ["tag", "1", "home", "phone"],
      ["raise", "1"], ["lower", "1"], ["edit", "1", "--text", "third"], ["board", "rename", "Notes", "Office"],
      ["untag", "1", "phone"],
    ] {
      let before = try revision()
      let first = try Daemon.run(words, server: daemon.socket.description, author: "ann@test", input: nil)
      let after = try revision()
      #expect(first.status == 0 && after != before, "\(words): \(first.errors)")
      if words[0] == "untag" { continue }
      let again = words[0] == "board" ? ["board", "rename", "Office", "Office"] : words
      let second = try Daemon.run(again, server: daemon.socket.description, author: "bob@test", input: nil)
      #expect(second.status == 0 && second.output == first.output, "\(again): \(second.errors)")
      #expect(try revision() == after, "\(again)")
    }
    // One of two tags is new, and a move along one axis is a move.
    for words in [["tag", "1", "home", "urgent"], ["move", "1", "7,9"]] {
      let before = try revision()
      _ = try Daemon.run(words, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(try revision() != before, "\(words)")
    }
    #expect(daemon.stop() == 0)
  }

  @Test func updateSendsWhatChangesAnObject() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department, "vacationDays=10")
    _ = try company.person("Ben", in: department, "vacationDays=11")
    func revision() throws -> Int64? { try company.daemon.run("status", "--json").json()["revision"]?.integerValue }
    let before = try #require(try revision())
    #expect(try company.run("update", ann, "vacationDays=10", "name=Ann").status == 0)
    let all = ["update", "Person", "--where", "vacationDays <= 11", "vacationDays=11"]
    #expect(try revision() == before)
    #expect(
      try company.daemon.run("graph", "update", "Person", "--where", "name == \"Ben\"", "vacationDays=11").output
        == "updated 0 of 1 Person object in 0 commits; the rest are unchanged\n")
    let some = try Daemon.run(
      ["graph"] + all, server: company.daemon.socket.description, author: "ann@test", input: nil)
    #expect(some.output == "updated 1 of 2 Person objects in 1 commit; the rest are unchanged\n", "\(some.errors)")
    #expect(try revision() == before + 1)
    // A precondition is for the daemon to decide.
    #expect(try company.run("update", ann, "vacationDays=11", "--if-revision", "2").status == 2)
    #expect(company.daemon.stop() == 0)
  }

  /// The caret is under the wrong word, also after letters of two columns.
  @Test func caretFollowsWideLetters() throws {
    let daemon = try Daemon()
    try daemon.start()
    for (text, columns) in [("\"漢字\"", 6), ("\"ab\"", 4), ("\"👩‍👩‍👧\"", 4), ("\"e\u{301}\u{200B}\"", 3)] {
      let errors = try daemon.run("list", "--where", "text == \(text) AND foo").errors
      let caret = errors.split(separator: "\n").last { $0.hasSuffix("^") }
      #expect(caret?.count == "text == ".count + columns + " AND ".count + 1, "\(errors)")
    }
    #expect(daemon.stop() == 0)
  }
}
