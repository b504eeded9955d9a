import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// `stickies` behind a proxy that cuts the connection while it sends unsent edits: after the first frame, the second,
/// and so on to the last. Each edit is committed once.
@Suite(.timeLimit(.minutes(5))) struct OfflineCutTests {
  private let daemon: Daemon
  /// The address of the program: a link, because a replica belongs to an address.
  private let link: String

  init() throws {
    daemon = try Daemon()
    link = daemon.home.path + "/link"
  }

  /// Lets the address lead to a socket; to nothing for nil.
  private func lead(to address: ServerAddress?) throws {
    try? FileManager.default.removeItem(atPath: link)
    guard case .unix(let path)? = address else { return }
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
  }

  /// Runs a command on the computer that has the copy.
  private func here(_ arguments: String...) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: "unix://\(link)", author: "ann@train", input: nil,
      environment: ["XDG_DATA_HOME": daemon.home.path + "/here"])
  }

  private func revision() throws -> Int64 {
    try #require(try daemon.run("status", "--json").json()["revision"]?.integerValue)
  }

  @Test func editsAreCommittedOnceWhereverTheConnectionIsCut() throws {
    try daemon.start()
    try daemon.run("add", "begin")
    try lead(to: daemon.socket)
    #expect(try here("sync", "on").status == 0)
    var cut = 1
    var before = try revision()
    while true {
      try lead(to: nil)
      let added = try here("add", "note \(cut)")
      let edited = try here("edit", "1", "--text", "begin, and cut \(cut)")
      #expect(added.errors.contains("not sent yet") && edited.errors.contains("not sent yet"), "\(edited.errors)")
      let proxy = try CuttingProxy(to: daemon.socket, cutAfter: cut)
      try lead(to: proxy.address)
      let interrupted = try here("sync", "now")
      proxy.stop()
      try lead(to: daemon.socket)
      let completed = try here("sync", "now", "--json")
      #expect(completed.status == 0, "cut after frame \(cut): \(interrupted.errors) \(completed.errors)")
      let state = try completed.json()
      #expect(state["unsent"] == .integer(0) && state["parked"] == .integer(0), "cut after frame \(cut): \(state.text)")
      let after = try revision()
      #expect(after - before == 2, "cut after frame \(cut): \(interrupted.output) \(interrupted.errors)")
      before = after
      guard proxy.wasCut, cut < 100 else { break }
      cut += 1
    }
    #expect((4..<100).contains(cut), "a run has \(cut - 1) frames")
    let texts = try daemon.run("graph", "fetch", "Note", "--json").json().arrayValue ?? []
    let expected = (1...cut).map { "note \($0)" } + ["begin, and cut \(cut)"]
    #expect(Set(texts.compactMap { $0["text"]?.stringValue }) == Set(expected) && texts.count == expected.count)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }
}
