import Foundation
import GraphModel
import GraphTesting
import Testing

/// The generic commands report an earlier change by another author: the author, the time, and the side that won.
@Suite struct ConflictCommandTests {
  @Test func editOfDeletedObjectReportsAuthorAndTimeOfDelete() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    try company.run("delete", ann, author: "ben@test")
    let log = try company.run("log", "--limit", "1", "--json").json()
    let time = try #require(log[0]?["time"])
    for words in [["update", ann, "name=Anna"], ["delete", ann], ["show", ann], ["show", "Person", ann]] {
      let result = try Daemon.run(
        ["graph"] + words, server: company.daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status == 4)
      #expect(
        result.errors.hasPrefix("stickies: this Person is deleted; stickies graph restore \(ann.prefix(8)) brings"))
      #expect(result.errors.contains("\n  Person \(ann.prefix(8)) Ann: deleted by ben@test, "), "\(result.errors)")
      #expect(result.errors.hasSuffix(", revision 3\n"), "\(result.errors)")
    }
    let refusal = try company.run("update", String(ann.prefix(12)), "name=Anna", "--json").refusal()
    #expect(refusal["code"] == .string("notFound"))
    let conflict = try #require(refusal["conflicts"]?[0])
    #expect(conflict["kind"] == .string("deleted") && conflict["object"] == .string(ann))
    #expect(conflict["author"] == .string("ben@test") && conflict["revision"] == .integer(3))
    #expect(conflict["time"] == time)
    // An id that never existed, and one of another entity, are reported as before.
    #expect(
      try company.run("update", "aaaaaaaaaa", "name=x").errors.contains("there is no object whose id begins with"))
    #expect(try company.run("show", "Project", ann).errors.contains("there is no Project whose id begins with"))
    #expect(company.daemon.stop() == 0)
  }

  @Test func conflictingObjectIsReportedOnce() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    for name in ["Ann", "Ben", "Cid", "Dan"] { _ = try company.person(name, in: department) }
    let refused = try company.run("update", "Person", "--where", "TRUEPREDICATE", "--one-commit", "email=a@example.org")
    #expect(refused.status == 2)
    let words = refused.errors.split(separator: "\n").filter { $0.contains("is in the way") }
    #expect(words.count > 0 && words.count == Set(words).count, "\(refused.errors)")
    #expect(company.daemon.stop() == 0)
  }

  @Test func baseOptionIsChecked() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    let made = try company.run("insert", "Project", "title=P", "department=\(department)", "plan=ab", "--json")
    let project = try #require(try made.json()["id"]?.stringValue, "\(made.errors)")
    let revision = try company.run("log", "--limit", "1", "--json").json()[0]?["revision"]?.integerValue ?? 0
    // Two equal saves of a text from one base have the effect of one save.
    for _ in 0..<2 {
      #expect(try company.run("update", project, "plan=abX", "--base", "\(revision)", "--policy", "error").status == 0)
    }
    #expect(try company.run("show", project, "--json").json()["plan"] == .string("abX"))
    // No object was read at a future revision, and none at revision 0.
    for command in [["update", ann, "name=Anna"], ["delete", ann]] {
      let result = try Daemon.run(
        ["graph"] + command + ["--base", "999"], server: company.daemon.socket.description, author: "ann@test",
        input: nil)
      #expect(result.status == 4 && result.errors.contains("there is no revision 999 yet"))
    }
    #expect(try company.run("delete", ann, "--base", "0").status == 64)
    #expect(try company.run("update", ann, "name=Anna", "--base", "0").status == 64)
    #expect(try company.run("show", ann, "--json").json()["name"] == .string("Ann"))
    #expect(company.daemon.stop() == 0)
  }

  @Test func idOfOtherEntityIsReportedWithItsEntity() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    let refused = try company.run("update", ann, "department=\(ann)", "name=")
    #expect(refused.status == 2)
    #expect(refused.errors.contains("department takes a Department, and Person \(ann.prefix(8)) Ann is not one"))
    // The other violation is reported, too.
    #expect(refused.errors.contains("Person.name"), "\(refused.errors)")
    #expect(company.daemon.stop() == 0)
  }

  @Test func editBeforeUndoneDeleteReportsDeleteAndUndo() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    try company.run("delete", ann, author: "ben@test")
    try company.run("restore", ann, author: "cid@test")
    let restore = try company.run("log", "--limit", "1", "--json").json()[0]
    for policy in ["error", "objectTrump"] {
      let result = try company.run("update", ann, "name=Anna", "--base", "2", "--policy", policy)
      #expect(result.status == 2)
      #expect(result.errors.contains("was deleted since you read it, and brought back by cid@test"), "\(result.errors)")
      #expect(result.errors.contains("Ann: deleted by ben@test, "), "\(result.errors)")
      #expect(result.errors.contains(", revision 3; brought back by cid@test, "), "\(result.errors)")
    }
    // JSON has what the server reports, which is the commit that brought it back.
    let json = try company.run("update", ann, "name=Anna", "--base", "2", "--policy", "error", "--json").refusal()
    let conflict = try #require(json["conflicts"]?[0])
    #expect(conflict["kind"] == .string("deleted") && conflict["object"] == .string(ann))
    #expect(conflict["author"] == .string("cid@test") && conflict["revision"] == .integer(4))
    #expect(try conflict["time"] == #require(restore?["time"]))
    #expect(company.daemon.stop() == 0)
  }

  /// A department's staff is stored at the people, so that is where the conflict is found.
  @Test func addingMemberMovedByOthersIsConflict() throws {
    let company = try CompanyDaemon()
    let departments = try ["ENG", "OPS", "LAW"].map { try company.insert("Department", "code=\($0)") }
    let ann = try company.person("Ann", in: departments[0])
    try company.run("update", ann, "department=\(departments[1])", author: "ben@test")
    // Revisions: 1 to 3 the departments, 4 Ann, 5 her move.
    let hire = "staff=\(ann)"
    let refused = try company.run("update", departments[2], "--add", hire, "--base", "4", "--policy", "error")
    #expect(refused.status == 2)
    #expect(refused.errors.hasPrefix("stickies: ben@test has changed Person.department since you read it\n"))
    #expect(refused.errors.contains("Person \(ann.prefix(8)) Ann"), "\(refused.errors)")
    let kept = try company.run("update", departments[2], "--add", hire, "--base", "4", "--policy", "storeTrump")
    #expect(kept.status == 0)
    #expect(
      kept.errors
        == "stickies: not changed: department of \(ann.prefix(8)), because ben@test changed it in revision 5\n")
    #expect(try company.run("show", ann, "--json").json()["department"] == .string(departments[1]))
    // A reader of the present has seen Ben's change, regardless of the revision of the department.
    let hired = try company.run("update", departments[2], "--add", hire, "--policy", "error")
    #expect(hired.status == 0 && hired.errors.isEmpty, "\(hired.errors)")
    #expect(try company.run("show", ann, "--json").json()["department"] == .string(departments[2]))
    #expect(company.daemon.stop() == 0)
  }

  @Test func droppedReferencesOfLinesAreListedUpToLimit() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ben = try company.person("Ben", in: department)
    try company.run("delete", ben, author: "ben@test")
    func insert(_ lines: ClosedRange<Int>) throws -> Daemon.Result {
      let input = lines.map { line in
        #"{"name": "P\#(line)", "hired": "2020-01-01", "department": "\#(department)", "manager": "\#(ben)"}"#
      }
      return try company.run("insert", "Person", "-", "--policy", "storeTrump", input: input.joined(separator: "\n"))
    }
    func message(_ line: Int) -> String {
      "stickies: left out: manager of line \(line), because ben@test deleted \(ben.prefix(8)) in revision 3\n"
    }
    let few = try insert(1...10)
    #expect(few.status == 0 && few.errors == (1...10).map(message).joined(), "\(few.errors)")
    let many = try insert(1...12)
    #expect(many.status == 0)
    #expect(
      many.errors == (1...10).map(message).joined() + "stickies: and 2 more references to deleted objects\n",
      "\(many.errors)")
    #expect(try company.count("Person", where: "manager == NULL") == 22)
    #expect(company.daemon.stop() == 0)
  }

  @Test func deleteOfChangedObjectIsDecidedByPolicy() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ids = try ["Ann", "Bob", "Cid", "Dan"].map { try company.person($0, in: department) }
    for id in ids { try company.run("update", id, "vacationDays=26", author: "ben@test") }
    // Revisions: 1 the department, 2 to 5 the people, 6 to 9 the changes.
    let refused = try company.run("delete", ids[0], "--base", "5", "--policy", "error")
    #expect(refused.status == 2)
    #expect(refused.errors.hasPrefix("stickies: ben@test has changed this Person since you read it\n"))
    #expect(refused.errors.hasSuffix("  Person \(ids[0].prefix(8)) Ann: changed by ben@test in revision 6\n"))
    let refusal = try company.run("delete", ids[0], "--base", "5", "--policy", "error", "--json").refusal()
    #expect(refusal["code"] == .string("conflict"))
    #expect(refusal["conflicts"]?[0]?["object"] == .string(ids[0]) && refusal["conflicts"]?[0]?["property"] == .null)
    for policy in ["storeTrump", "rollback"] {
      let kept = try company.run("delete", ids[0], "--base", "5", "--policy", policy)
      #expect(kept.status == 0 && kept.output.isEmpty)
      #expect(
        kept.errors == "stickies: not deleted: \(ids[0].prefix(8)), because ben@test changed it in revision 6\n")
    }
    #expect(try company.count("Person") == 4)
    // No commit after this base has changed it; without a base it is the present object.
    let same = try company.run("delete", ids[0], "--base", "6", "--policy", "error")
    #expect(same.status == 0 && same.errors.isEmpty, "\(same.errors)")
    #expect(try company.run("delete", ids[1], "--policy", "error").errors.isEmpty)
    let mine = try company.run("delete", ids[2], "--base", "5")
    #expect(mine.output == "deleted Person \(ids[2].prefix(8)) Cid\n")
    #expect(
      mine.errors == "stickies: deleted: \(ids[2].prefix(8)), although ben@test changed it in revision 8\n")
    #expect(try company.run("delete", ids[3], "--base", "-1").status == 64)
    #expect(try company.run("delete", "Person", "--where", "TRUEPREDICATE", "--base", "1").status == 64)
    // A base from before the object was created is one of another past.
    let unborn = try company.run("delete", ids[3], "--base", "2", "--policy", "error")
    #expect(unborn.status == 2 && unborn.errors.contains("ben@test"), "\(unborn.errors)")
    #expect(
      try company.run("delete", "Person", "--where", "TRUEPREDICATE", "--policy", "error").output
        == "deleted 1 Person object\n")
    #expect(company.daemon.stop() == 0)
  }

  @Test(arguments: [("update", "objectTrump"), ("delete", "objectTrump"), ("insert", "error")])
  func helpListsPoliciesAndTheDefault(command: String, policy: String) throws {
    let help = try Daemon.run(
      ["graph", command, "--help"], server: "unix:///nowhere", author: "ann@test", input: nil
    ).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(help.contains("(values: error, storeTrump, objectTrump, overwrite, rollback"), "\(help)")
    #expect(help.contains("default: \(policy))"), "\(help)")
  }
}
