import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickiesd compact`, the program, and what the shell says afterwards.
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

  @Test func oldCommitsGoAndTheShellSaysSo() throws {
    let daemon = try filled()
    let served = try daemon.stickiesd("compact", "--keep-commits", "2", "--overdue", "0s")
    #expect(served.status == 1)
    #expect(served.errors.contains("is in use by process"))
    #expect(daemon.stop() == 0)

    let aimless = try compact(daemon, "--dry-run")
    #expect(aimless.status == 0)
    #expect(
      aimless.output.hasPrefix(
        "no commit would go: nothing says which may go. Say how many stay (--keep-commits 10000), for how long "
          + "(--keep-age 90d), or both"))

    // Somebody who was here a moment ago may come back.
    let held = try daemon.stickiesd("compact", "--keep-commits", "2", "--dry-run", "--json").json()
    #expect(held["commits"]?.integerValue == 0 && held["held"]?.integerValue == 5)
    let rehearsal = try daemon.stickiesd("compact", "--keep-commits", "2", "--overdue", "0s", "--dry-run")
    #expect(rehearsal.status == 0, "\(rehearsal.errors)")
    #expect(rehearsal.output.hasPrefix("5 commits would go, revisions 1 to 5: "))
    #expect(rehearsal.output.contains("nothing was changed"))
    let done = try daemon.stickiesd("compact", "--keep-commits", "2", "--overdue", "0s", "--json").json()
    #expect(done["commits"]?.integerValue == 5 && done["oldest"]?.integerValue == 5)
    #expect(done["revision"]?.integerValue == 7 && done["rehearsal"]?.boolValue == false)
    let again = try daemon.stickiesd("compact", "--keep-commits", "2", "--overdue", "0s")
    #expect(again.output.hasPrefix("no commit went\nhistory goes back to revision 5; the newest is 7\n"))

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
    #expect(try daemon.run("log", "--after", "2").status == 4)
    #expect(try daemon.run("follow", "--since", "0", "--until-now").status == 4)
    let undone = try daemon.run("undo")
    #expect(undone.status == 0, "\(undone.errors)")
    #expect(try daemon.run("list").output.contains("note 1"))
    #expect(daemon.stop() == 0)
  }

  @Test func wrongOptionsAreSaid() throws {
    let daemon = try Daemon()
    for arguments in [
      ["--keep-commits", "0"], ["--keep-age", "90"], ["--keep-age", "-1d"], ["--overdue", "9999999d"],
    ] {
      let result = try daemon.stickiesd("compact", arguments[0], arguments[1])
      #expect(result.status == 64, "\(arguments): \(result.errors)")
    }
    let none = try daemon.stickiesd("compact", "--keep-commits", "1")
    #expect(none.status == 1)
    #expect(none.errors.contains("there is no store in"))
  }
}
