import Foundation
import GraphModel
import GraphTesting
import Testing

/// The program `stickiesd compact`, and the shell's messages afterwards.
@Suite struct CompactTests {
  /// A board, five notes, and a delete: seven commits.
  private func filled() throws -> Daemon {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "B")
    for number in 1...5 { try daemon.run("add", "note \(number)") }
    try daemon.run("delete", "1")
    #expect(try daemon.run("status", "--json").json()["revision"]?.integerValue == 7)
    return daemon
  }

  @Test func compactPrunesOldCommitsAndReportsIt() throws {
    let daemon = try filled()
    let served = try daemon.stickiesd("compact", "--keep-commits", "2", "--minimum-retention", "0s")
    #expect(served.status == 1)
    #expect(served.errors.contains("is in use by process"))
    #expect(daemon.stop() == 0)

    let aimless = try daemon.stickiesd("compact", "--dry-run")
    #expect(aimless.status == 0)
    #expect(
      aimless.output.hasPrefix(
        "no commit would be removed: no limit was given. Give the number of commits to keep (--keep-commits 10000), "
          + "their age (--keep-age 90d), or both"))

    // A client that was connected a moment ago may reconnect.
    let held = try daemon.stickiesd("compact", "--keep-commits", "2", "--dry-run", "--json").json()
    #expect(held["commits"]?.integerValue == 0 && held["held"]?.integerValue == 5)
    let rehearsal = try daemon.stickiesd("compact", "--keep-commits", "2", "--minimum-retention", "0s", "--dry-run")
    #expect(rehearsal.status == 0, "\(rehearsal.errors)")
    #expect(rehearsal.output.hasPrefix("5 commits would be removed, revisions 1 to 5: "))
    #expect(rehearsal.output.contains("nothing was changed"))
    let done = try daemon.stickiesd("compact", "--keep-commits", "2", "--minimum-retention", "0s", "--json").json()
    #expect(done["commits"]?.integerValue == 5 && done["oldest"]?.integerValue == 5)
    #expect(done["revision"]?.integerValue == 7 && done["rehearsal"]?.boolValue == false)
    let again = try daemon.stickiesd("compact", "--keep-commits", "2", "--minimum-retention", "0s")
    #expect(again.output.hasPrefix("no commit was removed\nhistory goes back to revision 5; the newest is 7\n"))

    try daemon.start()
    #expect(try daemon.run("list").output.contains("note 5"))
    #expect(try daemon.run("list", "--at", "5").status == 0)
    let past = try daemon.run("list", "--at", "4", "--json")
    #expect(past.status == 4)
    #expect(past.errors.contains("\"code\":\"pruned\""))
    #expect(past.errors.contains("revision 4 was pruned; the oldest that is kept is 5"))
    let log = try daemon.run("log")
    #expect(log.status == 0 && log.output.hasPrefix("7 "), "\(log.errors)")
    #expect(!log.output.contains("\n5 "))
    #expect(log.errors == "stickies: older history was pruned: the oldest commit that is kept is revision 6\n")
    #expect(try daemon.run("log", "--limit", "1").errors.isEmpty)
    #expect(try daemon.run("status", "--json").json()["oldest"]?.integerValue == 5)
    for question in [["--after", "2"], ["--since", "3"], ["--since", "3", "--limit", "1"]] {
      let after = try Daemon.run(["log"] + question, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(after.status == 4)
      #expect(
        after.errors.contains("the commit of revision 3 was pruned; the oldest that is kept is 6"), "\(after.errors)")
    }
    // Nor does the answer claim that the unknown part was empty.
    let pruned = "stickies: older history was pruned: the oldest commit that is kept is revision 6\n"
    for filter in [
      ["--entity", "Tag"], ["--author", "bob@test"], ["--until", "2001-01-01"], ["--since", "2001-01-01"],
    ] {
      let result = try Daemon.run(
        ["log"] + filter, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status == 0 && result.errors.hasSuffix(pruned), "\(filter): \(result.errors)")
    }
    let none = try daemon.run("log", "--entity", "Tag", "--json", "--oldest-first")
    #expect(none.output == "[]\n" && none.errors == pruned)
    #expect(
      try daemon.run("undo", author: "bob@test").errors.contains(
        "bob@test has nothing to undo in what is kept: history up to revision 5 was pruned"))
    #expect(try daemon.run("follow", "--since", "0", "--until-now").status == 4)
    #expect(try daemon.run("follow", "--since", "4", "--until-now").status == 4)
    #expect(
      try daemon.run("watch", "--since", "0").errors.contains("revision 0 was pruned; the oldest that is kept is 5"))
    let followed = try daemon.run("follow", "--since", "5", "--until-now")
    #expect(followed.output.split(separator: "\n").count == 2, "\(followed.errors)")
    let undone = try daemon.run("undo")
    #expect(undone.status == 0, "\(undone.errors)")
    #expect(try daemon.run("list").output.contains("note 1"))
    #expect(daemon.stop() == 0)
  }

  /// Pruning removes the history of objects, but not their names.
  @Test func objectsAreFoundByNumberAfterTheirHistoryIsPruned() throws {
    let company = try CompanyDaemon()
    let daemon = company.daemon
    let silent = try company.department("OLD")
    let forgotten = try company.department("GONE")
    try company.run("delete", forgotten)
    let deleted = try company.department("LATE")
    try company.run("delete", deleted)
    #expect(daemon.stop() == 0)
    // Only the delete of the last object is kept.
    let compacted = try daemon.stickiesd(
      "compact", "--schema", company.schema, "--keep-commits", "1", "--minimum-retention", "0s", "--json")
    #expect(try compacted.json()["oldest"]?.integerValue == 4, "\(compacted.errors)")
    try daemon.start(["--schema", company.schema])

    // The object exists, and no kept commit names it.
    let why = try daemon.run("why", "\(silent.prefix(10)).code")
    #expect(why.status == 4)
    #expect(why.errors.contains("the commit that set code was pruned"), "\(why.errors)")
    let restored = try daemon.run("restore", String(silent.prefix(10)))
    #expect(restored.errors.contains("the Department \(silent) is not deleted"), "\(restored.errors)")
    // The object is deleted, and its delete is kept.
    let difference = try daemon.run("diff", String(deleted.prefix(10)), "4")
    #expect(difference.status == 0)
    #expect(difference.output.hasPrefix("- Department \(deleted.prefix(8))"), "\(difference.output)")
    // The object was removed, and so was its history.
    let gone = try daemon.run("diff", String(forgotten.prefix(10)), "4")
    #expect(gone.status == 4)
    #expect(
      gone.errors.contains(
        "there is no object whose id begins with \"\(forgotten.prefix(10))\"; deletes up to revision 4 were pruned"
      ),
      "\(gone.errors)")
    // The object never existed.
    let never = try daemon.run("diff", "aaaaaaaaaa", "4")
    #expect(never.status == 4)
    #expect(never.errors.contains("and there never was one"), "\(never.errors)")
    #expect(daemon.stop() == 0)
  }

  @Test func prunedNumberIsReportedAsPruned() throws {
    let daemon = try filled()
    #expect(daemon.stop() == 0)
    #expect(try daemon.stickiesd("compact", "--keep-commits", "1", "--minimum-retention", "0s").status == 0)
    try daemon.start()
    // The delete of the first object is kept, so that it can be named and restored.
    #expect(try daemon.run("restore", "1").output.hasPrefix("restored: 1 object came back\n"))
    let unknown = try daemon.run("restore", "99")
    #expect(unknown.status == 4)
    #expect(
      unknown.errors.contains(
        "there is no note number 99, and the log has no deleted one; deletes up to revision 6 were pruned"
      ),
      "\(unknown.errors)")
    #expect(daemon.stop() == 0)
  }

  @Test func invalidOptionsAreReported() throws {
    let daemon = try Daemon()
    for arguments in [
      ["--keep-commits", "0"], ["--keep-age", "90"], ["--keep-age", "-1d"], ["--minimum-retention", "9999999d"],
    ] {
      let result = try daemon.stickiesd("compact", arguments[0], arguments[1])
      #expect(result.status == 64, "\(arguments): \(result.errors)")
    }
    let none = try daemon.stickiesd("compact", "--keep-commits", "1")
    #expect(none.status == 1)
    #expect(none.errors.contains("there is no store in"))
  }
}
