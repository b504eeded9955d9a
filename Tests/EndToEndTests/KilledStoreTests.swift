import Foundation
import GraphModel
import Testing

/// The operator's commands on a store whose daemon was killed: its newest commits may be only in the commit log.
@Suite struct KilledStoreTests {
  /// A daemon that was killed after commits, and the revision of the newest one.
  private func killedDaemon() throws -> (daemon: Daemon, revision: Int64) {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "first")
    let revision = try #require(try daemon.run("status", "--json").json()["revision"]?.integerValue)
    for number in 0..<3 {
      let result = try daemon.run("board", "add", "board \(number)")
      #expect(result.status == 0, "\(result.errors)")
    }
    daemon.kill()
    return (daemon, revision + 3)
  }

  @Test func checkCountsCommitsOfLog() throws {
    let (daemon, revision) = try killedDaemon()
    let text = try daemon.stickiesd("check")
    #expect(text.status == 0, "\(text.output)\(text.errors)")
    let report = try daemon.stickiesd("check", "--json").json()
    #expect(report["sound"]?.boolValue == true)
    // The daemon commits in SQLite once a second, so there may be fewer.
    let count = try #require(report["unappliedCommits"]?.integerValue)
    #expect((0...3).contains(count))
    let words =
      switch count {
      case 0: ""
      case 1: "; 1 commit is in the commit log only, the next start applies it"
      default: "; \(count) commits are in the commit log only, the next start applies them"
      }
    #expect(text.output == "sound\(words)\n")
    // The second command has changed nothing, and a start applies the commits.
    try daemon.start()
    #expect(try daemon.run("status", "--json").json()["revision"]?.integerValue == revision)
    #expect(daemon.stop() == 0)
    #expect(try daemon.stickiesd("check").output == "sound\n")
  }

  @Test func backupAndCompactionIncludeCommitsOfLog() throws {
    for command in [["backup", "FILE", "--json"], ["compact", "--json"]] {
      let (daemon, revision) = try killedDaemon()
      let arguments = command.map { $0 == "FILE" ? daemon.home.path + "/copy" : $0 }
      let result = try daemon.stickiesd(arguments)
      #expect(result.status == 0, "\(result.errors)")
      #expect(try result.json()["revision"]?.integerValue == revision, "\(command)")
      #expect(try daemon.stickiesd("check").output == "sound\n", "\(command)")
    }
  }

  @Test func migrationWithoutNewVersionAppliesLog() throws {
    let (daemon, revision) = try killedDaemon()
    let result = try daemon.stickiesd("migrate")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try daemon.stickiesd("check").output == "sound\n")
    try daemon.start()
    #expect(try daemon.run("status", "--json").json()["revision"]?.integerValue == revision)
  }
}
