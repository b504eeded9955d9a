import GraphModel
import GraphTesting
import Testing

/// `stickies status` of a daemon with any model.
@Suite struct StatusTests {
  @Test func statusWorksWithAnyModel() throws {
    let company = try CompanyDaemon()
    _ = try company.department()
    let daemon = company.daemon
    let status = try daemon.run("status", "--json").json()
    #expect(status["revision"] == .integer(1))
    #expect(status["oldest"] == .integer(0))
    #expect(status["process"] == .integer(Int64(daemon.process.processIdentifier)))
    #expect(status["data"] == .string(daemon.data))
    // One segment, and perhaps a prepared one.
    #expect(status["commitLogSize"] == .integer(8 << 20) || status["commitLogSize"] == .integer(16 << 20))
    #expect(status["sessions"] == .integer(0) && status["registrations"] == .integer(0))
    #expect(status["established"] == .string("owner") && status["grants"] == .array([]))
    // A store without notes has no next number.
    #expect(status["nextNumber"] == nil)
    let text = try daemon.run("status")
    #expect(text.status == 0, "\(text.errors)")
    let names = text.lines.map { $0.split(separator: "  ").first.map(String.init) }
    #expect(
      names == [
        "server", "transport", "user", "identity", "data", "size", "commit log", "revision", "oldest kept", "sessions",
      ])
  }

  @Test func statusReportsNextNoteNumber() throws {
    let daemon = try Daemon()
    try daemon.start()
    #expect(try daemon.run("status", "--json").json()["nextNumber"] == .integer(1))
    try daemon.run("add", "one")
    #expect(try daemon.run("status", "--json").json()["nextNumber"] == .integer(2))
    let text = try daemon.run("status")
    #expect(text.lines.contains("next note      #2"), "\(text.output)")
  }
}
