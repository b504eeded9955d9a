import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies graph insert ENTITY -`: objects from standard input, in batches.
@Suite struct GraphLinesTests {
  @Test func twoThousandLinesReferenceEachOtherByLabel() throws {
    let company = try CompanyDaemon()
    var lines = [#"{"$entity":"Department","$id":"eng","code":"ENG"}"#]
    for number in 1..<2_000 {
      // The first line refers to a later one, the others to the previous one, also across batches.
      let manager = number == 1 ? #"{"$ref":"p7"}"# : #""p\#(number - 1)""#
      lines.append(
        #"{"$id":"p\#(number)","name":"Person \#(number)","hired":"2020-01-01","#
          + #""department":{"$ref":"eng"},"manager":\#(manager)}"#)
    }
    let result = try company.run("insert", "Person", "-", "--json", input: lines.joined(separator: "\n"))
    #expect(result.status == 0, "\(result.errors)")
    let made = try result.lines.map { try JSON(parsing: $0) }
    #expect(made.count == 2_000)
    #expect(made.map { $0["line"]?.integerValue } == (1...2_000).map { Int64($0) })
    #expect(made[1]["$id"] == .string("p1"))
    #expect(try company.count("Person") == 1_999)
    // A whole batch is a commit.
    #expect(
      try company.daemon.run("graph", "show", made[1]["id"]?.stringValue ?? "", "--json").json()["revision"]
        == .integer(1))
    let last = try company.run("show", made[1_999]["id"]?.stringValue ?? "", "--json").json()
    #expect(last["revision"] == .integer(2))
    #expect(last["manager"] == made[1_998]["id"])
    #expect(try company.run("show", made[1]["id"]?.stringValue ?? "", "--json").json()["manager"] == made[7]["id"])
    let table = try company.run("fetch", "Person", "--properties", "name")
    #expect(table.lines.count == 2_000)
    let objects = try company.run("fetch", "Department", "--properties", "staff", "--json").json()
    #expect(objects[0]?["staff"]?.count == 1_999)
  }

  @Test func batchWithInvalidLineIsNotCommittedAndAllLinesAreReported() throws {
    let company = try CompanyDaemon()
    let lines = [
      #"{"code":"ONE"}"#, "", #"{"code":"TWO"}"#, #"{"code":3}"#, #"{"cod":"FOUR"}"#, #"{"code":"FIVE""#,
      #"{"$id":"a","code":"SIX"}"#, #"{"$id":"a","code":"SEVEN","staff":["q"]}"#, #"{"code":"EIGHT","staff":["q"]}"#,
    ]
    let input = lines.joined(separator: "\n") + "\n"
    let result = try company.run("insert", "Department", "-", "--batch", "2", input: input)
    #expect(result.status == 2)
    #expect(
      result.errors == """
        stickies: 2 mistakes in the lines; the lines up to 3 are committed (2 objects)
          line 4: Department.code takes a string, and not 3
          line 5: Department has no property "cod". Did you mean "code"?

        """)
    #expect(try company.count("Department") == 2)
    let rest = try company.run(
      "insert", "Department", "-", "--json", input: lines[3...].joined(separator: "\n"))
    #expect(rest.status == 2)
    #expect(rest.output.isEmpty)
    let mistakes = try rest.refusal()["lines"]?.arrayValue ?? []
    #expect(mistakes.map { $0["line"]?.integerValue } == [1, 2, 3, 5, 6])
    #expect(mistakes[2]["message"]?.stringValue?.contains("column 15") == true)
    #expect(mistakes[3]["message"] == .string("the label \"a\" is used by line 4"))
    #expect(
      mistakes[4]["message"]
        == .string("\"q\" is neither an id nor the label of a line up to the end of this batch"))
    #expect(try company.count("Department") == 2)
  }

  @Test func violationOfLineReportsItsNumber() throws {
    let company = try CompanyDaemon()
    let lines = [#"{"code":"ONE"}"#, #"{"code":"TWO"}"#, #"{"code":"X"}"#, #"{"code":"ONE"}"#]
    let input = lines.joined(separator: "\n")
    let result = try company.run("insert", "Department", "-", "--batch", "2", "--json", input: input)
    #expect(result.status == 2)
    #expect(result.lines.count == 2, "the first batch is in")
    let violations = try result.refusal()["violations"]?.arrayValue ?? []
    #expect(Set(violations.compactMap { $0["line"]?.integerValue }) == [3, 4])
    let text = try company.run("insert", "Department", "-", input: #"{"code":"X"}"#).errors
    #expect(text.contains("line 1: Department.code has 1 byte; the minimum is 2 (minimumLength, value \"X\")"))
    #expect(text.contains("nothing is committed"))
    #expect(try company.count("Department") == 2)
  }

  @Test func violationsAndUnreadableLinesAreReportedTogether() throws {
    let company = try CompanyDaemon()
    let lines = [
      #"{"code":"ONE"}"#, #"{"code":"X"}"#, #"{"cod":"TWO"}"#, #"{"code":"FOUR""#, #"{"code":"TOO LONG A CODE"}"#, "{}",
    ]
    let result = try company.run("insert", "Department", "-", "--json", input: lines.joined(separator: "\n"))
    #expect(result.status == 2)
    let mistakes = try result.refusal()["lines"]?.arrayValue ?? []
    #expect(mistakes.map { $0["line"]?.integerValue } == [2, 3, 4, 5, 6])
    #expect(mistakes.first?["message"]?.stringValue?.contains("Department.code has 1 byte; the minimum is 2") == true)
    #expect(try company.count("Department") == 0)
  }

  @Test func emptyInputInsertsNothing() throws {
    let company = try CompanyDaemon()
    #expect(try company.run("insert", "Department", "-", input: "\n \n").output == "inserted 0 objects in 0 commits\n")
  }
}
