import Foundation
import GraphTesting
import Testing

/// The output of `stickies watch` for people: the author, the object, and the values before and after.
@Suite struct WatchOutputTests {
  /// The lines of a watch up to the line with the mark, without the time.
  private static func lines(_ watcher: BackgroundProcess, until mark: String) -> [String] {
    var text = ""
    while !text.contains(mark) {
      let part = watcher.read()
      if part.isEmpty { break }
      text += part
    }
    return text.split(separator: "\n").map { line in
      // `13:48:13 ann@test ~ …`
      line.contains(" ann@test ") ? String(line.drop { $0 != " " }.dropFirst()) : String(line)
    }
  }

  @Test func everyChangeIsPrintedWithOldAndNewValue() throws {
    let daemon = try Daemon()
    try daemon.start()
    let watcher = try BackgroundProcess(daemon, ["watch"])
    // A commit before it would be part of the first result.
    let head = Self.lines(watcher, until: "changes follow")
    for words in [
      ["add", "Call Ann", "--tag", "phone", "--color", "pink"], ["move", "1", "5,-6"], ["resize", "1", "300x20"],
      ["color", "1", "blue"], ["edit", "1", "--text", "Call Ann about the boat"],
      ["edit", "1", "--text", "Call Ben about the boat"], ["edit", "1", "--text", "Call Ben"], ["tag", "1", "urgent"],
      ["untag", "1", "phone"], ["board", "rename", "Notes", "Office"], ["add", "second"], ["raise", "1"],
      ["link", "1", "2", "--label", "see"], ["delete", "2"], ["add", "end"],
    ] {
      let result = try Daemon.run(words, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status == 0, "\(words): \(result.errors)")
    }
    let lines = head + Self.lines(watcher, until: "end")
    #expect(lines.first == "revision 0: 0 notes; changes follow")
    // The order of objects within a commit is the daemon's.
    #expect(
      Set(lines[1...3]) == [
        "ann@test + board Notes", "ann@test + #1 Call Ann  (on Notes, tagged phone)", "ann@test + tag phone",
      ])
    #expect(
      lines[4...9] == [
        "ann@test ~ #1 Call Ann: moved 0,0 → 5,-6",
        "ann@test ~ #1 Call Ann: resized 200x200 → 300x20",
        "ann@test ~ #1 Call Ann: colored pink → blue",
        "ann@test ~ #1 Call Ann about the boat: wrote \" about the boat\"",
        "ann@test ~ #1 Call Ben about the boat: rewrote \"Ann\" → \"Ben\"",
        "ann@test ~ #1 Call Ben: erased \" about the boat\"",
      ])
    #expect(Set(lines[10...11]) == ["ann@test + tag urgent", "ann@test ~ #1 Call Ben: tagged urgent"])
    #expect(
      lines[12...15] == [
        "ann@test ~ #1 Call Ben: untagged phone", "ann@test ~ board Office: renamed Notes → Office",
        "ann@test + #2 second  (on Office)", "ann@test ~ #1 Call Ben: raised 0 → 2",
      ])
    #expect(lines[16].hasPrefix("ann@test + link ") && lines[16].hasSuffix(" see  (#1 → #2)"))
    #expect(lines[17...18].contains("ann@test - #2 second"))
    #expect(lines.last == "ann@test + #3 end  (on Office)")
    watcher.kill()
    #expect(daemon.stop() == 0)
  }

  @Test func filteredWatchPrintsTagNamesAndOldValues() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one", "--tag", "home")
    try daemon.run("move", "1", "1,1")
    let watcher = try BackgroundProcess(daemon, ["watch", "--where", "pinned == FALSE", "--since", "2"])
    try daemon.expectQueries(3)
    try daemon.run("move", "1", "2,2")
    try daemon.run("tag", "1", "work")
    try daemon.run("untag", "1", "home")
    try daemon.run(
      "graph", "update", try #require(try daemon.run("show", "1", "--json").json()["id"]?.stringValue), "pinned=yes")
    let lines = Self.lines(watcher, until: "no longer")
    #expect(
      lines == [
        "changes since revision 2 follow", "ann@test ~ #1 one: moved 1,1 → 2,2", "ann@test ~ #1 one: tagged work",
        "ann@test ~ #1 one: untagged home", "ann@test - #1 one  (no longer matches)",
      ])
    watcher.kill()
    #expect(daemon.stop() == 0)
  }

  @Test func objectsOfAnyModelArePrintedWithProperties() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    let watcher = try BackgroundProcess(company.daemon, ["graph", "watch", "Person"])
    let head = Self.lines(watcher, until: "changes follow")
    try company.run("update", ann, "name=Anna", "vacationDays=30")
    try company.run("delete", ann)
    let lines = head + Self.lines(watcher, until: " - ")
    #expect(lines.first == "revision 2: 1 Person object; changes follow")
    let words = try #require(lines.dropFirst().first?.split(separator: ": ").last)
    #expect(Set(words.split(separator: "; ")) == ["name Ann → Anna", "vacationDays 25 → 30"])
    #expect(lines.last == "ann@test - Person \(ann.prefix(8)) Anna")
    watcher.kill()
    #expect(company.daemon.stop() == 0)
  }

  /// More than a thousand objects in one commit are not listed one by one: the output has the author and the number.
  @Test func largeBatchIsPrintedWithAuthorAndLocalEffect() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    let all = try BackgroundProcess(company.daemon, ["graph", "watch", "Person"])
    let some = try BackgroundProcess(company.daemon, ["graph", "watch", "Person", "--where", "name == \"Ann\""])
    let window = try BackgroundProcess(company.daemon, ["graph", "watch", "Person", "--sort", "name", "--limit", "1"])
    try company.daemon.expectQueries(3, sessions: 3)
    let reported = "Person \(ann.prefix(8)) Ann"
    let follow = "; changes follow"
    #expect(Self.lines(all, until: follow) == ["revision 2: 1 Person object; changes follow"])
    #expect(Self.lines(some, until: follow) == ["revision 2: 1 Person object; changes follow"])
    #expect(Self.lines(window, until: follow) == [reported, "revision 2: 1 of 1 rows; changes follow"])

    // The inserted objects and the department's headcount, which each slice of rows counts again.
    let rows = (0..<1_500).map { #"{"name":"P\#($0)","hired":"2020-01-01","department":"\#(department)"}"# }
    try company.run("insert", "Person", "-", "--one-commit", input: rows.joined(separator: "\n"))
    let made = "ann@test * 1502 changes by a batch, revision 3"
    #expect(
      Self.lines(all, until: follow) == [
        made, "  Person: 1500 inserted", "revision 3: 1501 Person objects; changes follow",
      ])
    #expect(
      Self.lines(some, until: follow) == [
        made, "  Person: no watched objects changed", "revision 3: 1 Person object; changes follow",
      ])
    #expect(Self.lines(window, until: follow) == [made, reported, "revision 3: 1 of 1501 rows; changes follow"])

    try company.run("update", "Person", "--where", "TRUEPREDICATE", "--one-commit", "vacationDays=26", "remote=yes")
    let changed = "ann@test * 1501 changes by a batch, revision 4"
    #expect(
      Self.lines(all, until: follow) == [
        changed, "  Person: 1501 changed (vacationDays, remote)", "revision 4: 1501 Person objects; changes follow",
      ])
    #expect(
      Self.lines(some, until: follow) == [
        changed, "  ~ \(reported): vacationDays 25 → 26; remote false → true",
        "revision 4: 1 Person object; changes follow",
      ])

    try company.run("delete", "Person", "--where", "TRUEPREDICATE", "--one-commit")
    let deleted = "ann@test * 1502 changes by a batch, revision 5"
    #expect(
      Self.lines(all, until: follow) == [
        deleted, "  Person: 1501 removed", "revision 5: 0 Person objects; changes follow",
      ])
    #expect(
      Self.lines(some, until: follow) == [
        deleted, "  - \(reported)  (deleted, or no longer matches)", "revision 5: 0 Person objects; changes follow",
      ])
    for watcher in [all, some, window] { watcher.kill() }
    #expect(company.daemon.stop() == 0)
  }
}
