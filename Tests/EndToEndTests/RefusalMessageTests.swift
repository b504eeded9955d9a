import GraphModel
import Testing

/// Messages about refusals: enough to continue with, within the limit of their size.
@Suite struct RefusalMessageTests {
  @Test func deniedDeleteReportsTenObjectsAndCountOfRest() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let people = (0..<13).map {
      #"{"name": "P\#($0)", "hired": "2020-01-01", "department": "\#(department)", "vacationDays": 25}"#
    }
    let made = try company.run("insert", "Person", "-", input: people.joined(separator: "\n") + "\n")
    #expect(made.status == 0, "\(made.errors)")
    let denied = try company.run("delete", department)
    #expect(denied.status == 2)
    let lines = denied.errors.split(separator: "\n")
    #expect(lines.count == 12, "\(denied.errors)")
    #expect(lines.first?.contains("while 13 of its") == true)
    #expect(lines.last == "  and 3 more")
    // A program receives all of them.
    #expect(try company.run("delete", department, "--json").refusal()["violations"]?.count == 13)
    #expect(company.daemon.stop() == 0)
  }

  @Test func noteCommandSuggestsGenericCommand() throws {
    let company = try CompanyDaemon()
    let refused = try company.daemon.run("list")
    #expect(refused.status == 2)
    #expect(refused.errors.contains("stickies graph entities"), "\(refused.errors)")
    #expect(company.daemon.stop() == 0)
  }

  @Test(arguments: [["restore"], ["graph", "restore"], ["diff"], ["graph", "diff"]])
  func usageRepeatsTheTypedCommand(words: [String]) throws {
    let refused = try Daemon.run(words, server: "unix:///nowhere", author: "ann@test", input: nil)
    #expect(refused.status == 64)
    #expect(refused.errors.contains("stickies \(words.joined(separator: " ")) [<options>]"), "\(refused.errors)")
    let help = try Daemon.run(["help"] + words, server: "unix:///nowhere", author: "ann@test", input: nil)
    #expect(help.output.contains("USAGE: stickies \(words.joined(separator: " ")) ["))
  }
}
