import Foundation
import GraphModel
import GraphTesting
import Testing

/// Commands whose connection is lost after their first frame, their second, and so on to their last: each reports its
/// outcome correctly.
@Suite struct LostReplyTests {
  struct Command: CustomTestStringConvertible {
    let arguments: [String]
    var input: String?
    /// The number of commits that the command makes.
    var commits: Int64 = 1

    var testDescription: String { arguments.joined(separator: " ") }
  }

  private static let lines = (0..<3).map { #"{"name": "\#($0)"}"# + "\n" }.joined()

  private func head(_ daemon: Daemon) throws -> Int64 {
    try #require(try daemon.run("status", "--json").json()["revision"]?.integerValue)
  }

  @Test(arguments: [
    Command(arguments: ["add", "new"]), Command(arguments: ["graph", "insert", "Board", "name=new"]),
    Command(arguments: ["graph", "insert", "Board", "-"], input: lines),
    Command(arguments: ["graph", "insert", "Board", "-", "--one-commit"], input: lines),
    Command(arguments: ["graph", "update", "Note", "--where", "x >= 0", "--set", "x=x + 1", "--one-commit"]),
    Command(arguments: ["graph", "delete", "Note", "--where", "x < 0", "--one-commit"], commits: 0),
    Command(arguments: ["undo"]), Command(arguments: ["delete", "1"]),
  ])
  func sentCommandIsCommittedOnceOrReportedAsNotCommitted(command: Command) throws {
    let daemon = try Daemon()
    try daemon.start()
    for text in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"] {
      try daemon.run("add", text)
    }
    var (cut, lost) = (1, 0)
    var before = try head(daemon)
    while true {
      let proxy = try CuttingProxy(to: daemon.socket, cutAfter: cut)
      let result = try Daemon.run(
        command.arguments, server: proxy.address.description, author: "ann@test", input: command.input)
      proxy.stop()
      let after = try head(daemon)
      let made = after - before
      before = after
      if result.status == 0 {
        #expect(made == command.commits, "cut after frame \(cut): \(result.output)")
      } else {
        lost += 1
        let isReported = result.errors.contains("is committed, but cannot be shown")
        #expect(made == (isReported ? 1 : 0), "cut after frame \(cut): \(result.errors)")
        #expect(!result.errors.contains("may or may not"), "cut after frame \(cut): \(result.errors)")
      }
      guard proxy.wasCut, cut < 100 else { break }
      cut += 1
    }
    #expect((4..<100).contains(cut) && lost > 0, "it has \(cut - 1) frames, of which \(lost) were too few")
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  /// Committed batches stay, whichever request lost its answer: the command reports how many objects that is.
  @Test func committedBatchesAreReportedAfterConnectionLoss() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "Many")
    let board = try #require(try daemon.run("graph", "fetch", "Board", "--ids").lines.first)
    let text = String(repeating: "many words ", count: 100)
    let lines = (0..<400).map { #"{"text": "\#($0) \#(text)", "board": "\#(board)"}"# + "\n" }.joined()
    #expect(try daemon.run("graph", "insert", "Note", "-", input: lines).status == 0)
    var reported = 0
    for cut in [8, 16, 32] {
      let proxy = try CuttingProxy(to: daemon.socket, cutAfter: cut)
      let result = try Daemon.run(
        ["graph", "update", "Note", "--where", "x != \(cut)", "x=\(cut)", "--batch", "20"],
        server: proxy.address.description, author: "ann@test", input: nil)
      proxy.stop()
      guard proxy.wasCut, result.status != 0 else { continue }
      let made = try daemon.run("graph", "fetch", "Note", "--where", "x == \(cut)", "--count").output.dropLast()
      guard made != "0" else { continue }
      reported += 1
      #expect(result.errors.contains("\(made) objects before were updated"), "cut after frame \(cut): \(result.errors)")
    }
    #expect(reported > 0)
    #expect(daemon.stop() == 0)
  }

  /// The connection is lost before the first request: the command reports that the daemon does not answer.
  @Test func refusedWelcomeIsReportedAsMissingDaemon() throws {
    let daemon = try Daemon()
    try daemon.start()
    let proxy = try CuttingProxy(to: daemon.socket, cutAfter: 1, isLast: true)
    let result = try Daemon.run(["list"], server: proxy.address.description, author: "ann@test", input: nil)
    proxy.stop()
    #expect(result.status == 69)
    #expect(result.errors.hasPrefix("stickies: the daemon does not answer: "), "\(result.errors)")
    #expect(result.errors.hasSuffix("; run stickies doctor to find the cause\n"))
    #expect(daemon.stop() == 0)
  }

  /// No server remains to be asked.
  @Test(arguments: [
    Command(arguments: ["add", "new", "--json"]),
    Command(arguments: ["graph", "insert", "Board", "-", "--one-commit", "--json"], input: lines),
  ])
  func outcomeIsReportedAsUnknownWithoutServer(command: Command) throws {
    let daemon = try Daemon()
    try daemon.start()
    var before = try head(daemon)
    for cut in 1..<100 {
      let proxy = try CuttingProxy(to: daemon.socket, cutAfter: cut, isLast: true)
      let result = try Daemon.run(
        command.arguments, server: proxy.address.description, author: "ann@test", input: command.input)
      proxy.stop()
      try #require(result.status != 0, "it was never in doubt")
      guard let error = try JSON(parsing: result.errors.trimmingCharacters(in: .newlines))["error"] else {
        Issue.record("no error is reported: \(result.errors)")
        return
      }
      let after = try head(daemon)
      let made = after - before
      before = after
      guard made > 0 else { continue }
      #expect(error["outcome"]?.stringValue == "unknown")
      #expect(error["message"]?.stringValue?.contains("the change may or may not have been committed") == true)
      #expect(error["message"]?.stringValue?.contains("nothing is committed") == false)
      #expect(result.status == 1)
      return
    }
    Issue.record("it was never committed")
  }
}
