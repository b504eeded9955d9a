import Foundation
import GraphModel
import GraphTesting
import Testing

/// Lines for `stickies graph` that no model accepts, and requests to a daemon that other engines never answer.
@Suite struct InvalidLineTests {
  /// Each property of a person, with JSON of every wrong shape.
  @Test func lineWithWrongTypeIsReportedWithItsProperty() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    let shapes = ["true", "5", "0.5", #""word""#, "[1]", #"{"a": 1}"#]
    let wrong: [(property: String, right: Set<String>)] = [
      ("name", [#""word""#]), ("hired", []), ("salary", ["5"]), ("vacationDays", ["5"]), ("remote", ["true"]),
      ("homepage", []), ("manager", []), ("projects", []),
    ]
    var (lines, expected) = ([String](), [(line: Int64, property: String)]())
    for (property, right) in wrong {
      for shape in shapes where !right.contains(shape) {
        var values = [("name", #""Ann""#), ("hired", #""2020-01-01""#), ("department", "\"\(engineering)\"")]
        values.removeAll { $0.0 == property }
        values.append((property, shape))
        lines.append("{" + values.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}")
        expected.append((Int64(lines.count), property))
      }
    }
    let result = try company.run("insert", "Person", "-", "--json", input: lines.joined(separator: "\n"))
    #expect(result.status == 2 && result.output.isEmpty)
    let mistakes = try result.refusal()["lines"]?.arrayValue ?? []
    #expect(mistakes.map { $0["line"]?.integerValue } == expected.map(\.line))
    for (mistake, wanted) in zip(mistakes, expected) {
      let message = mistake["message"]?.stringValue ?? ""
      // The error names the object's place in the input, since the line does not name the object.
      let isNamed = message.contains(wanted.property) || message.contains("neither an id nor the label")
      #expect(isNamed, "\(wanted): \(message)")
    }
    #expect(try company.count("Person") == 0)
  }

  @Test func lineThatBreaksRuleRefusesOnlyItsBatch() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    func line(_ title: String, _ more: String) -> String {
      #"{"$entity": "Project", "title": "\#(title)", "department": "\#(engineering)"\#(more)}"#
    }
    let lines = [
      line("A", ""), line("B", #", "starts": "2026-01-01", "due": "2026-02-01""#),
      line("C", #", "starts": "2026-03-01", "due": "2026-02-01""#), line("D", ""),
      #"{"name": "Ann", "hired": "2020-01-01", "department": "\#(engineering)", "email": "nobody"}"#,
    ]
    let result = try company.run(
      "insert", "Person", "-", "--batch", "2", "--json", input: lines.joined(separator: "\n"))
    #expect(result.status == 2 && result.lines.count == 2)
    let violations = try result.refusal()["violations"]?.arrayValue ?? []
    #expect(violations.map { $0["rule"] } == [.string("endsAfterItStarts")])
    #expect(violations.first?["line"] == .integer(3))
    #expect(try company.count("Project") == 2)
    let pattern = try company.run("insert", "Person", "-", "--json", input: lines[4])
    #expect(try pattern.refusal()["violations"]?[0]?["rule"] == .string("pattern"))
    #expect(try pattern.refusal()["violations"]?[0]?["line"] == .integer(1))
  }

  @Test func unknownNamesAreReportedWithAnyCharacters() throws {
    let company = try CompanyDaemon()
    for name in [
      "🦊", "Per\u{301}son", "Person\u{200B}", String(repeating: "x", count: 1_000), "", "'; DROP", "\u{202E}",
    ] {
      for command in [["fetch", name], ["insert", name, "name=x"], ["entities", name], ["watch", name]] {
        let result = try Daemon.run(
          ["graph"] + command, server: company.daemon.socket.description, author: "ann@test", input: nil)
        #expect(result.status == 64 && result.output.isEmpty, "\(command.joined(separator: " ").prefix(80))")
      }
      let line = JSON.object([.init(name, .integer(1))]).text
      let result = try company.run("insert", "Department", "-", input: line)
      #expect(result.status == 2 && result.errors.contains("line 1"), "\(line.prefix(80))")
    }
    // NUL is impossible in an argument, but possible in JSON: a name with NUL is unknown, and a text may contain it.
    let nul = try company.run("insert", "Department", "-", input: #"{"co\u0000de": "ENG"}"#)
    #expect(nul.status == 2 && nul.errors.contains("line 1"))
    let made = try company.run("insert", "Department", "--values", #"{"code": "E\u0000🦊"}"#, "--json")
    #expect(try made.json()["code"] == .string("E\u{0}🦊"), "\(made.errors)")
    #expect(try company.run("fetch", "Department", "--json").json()[0]?["code"] == .string("E\u{0}🦊"))
  }

  @Test(.timeLimit(.minutes(1)))
  func pathologicalPatternIsEvaluatedInLinearTime() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    let long = String(repeating: "a", count: 20_000)
    _ = try company.insert("Project", "title=Long", "department=\(engineering)", "plan=\(long)")
    for (pattern, count) in [("(a+)+", 1), ("(a|aa)*b", 0), ("(a*)*(a*)*b", 0), ("(.*)(.*)(.*)(.*)x", 0)] {
      #expect(try company.count("Project", where: "plan MATCHES \"\(pattern)\"") == Int64(count), "\(pattern)")
      #expect(try company.count("Department", where: "ANY projects.plan MATCHES \"\(pattern)\"") == Int64(count))
    }
    for pattern in ["(", "a{99999}", String(repeating: "(", count: 200), "[z-a]"] {
      let result = try company.run("fetch", "Project", "--where", "plan MATCHES \"\(pattern)\"", "--json")
      #expect(result.status != 0, "\(pattern.prefix(20))")
      #expect(try result.refusal()["code"] == .string("malformed"))
    }
  }
}
