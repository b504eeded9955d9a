import Foundation
import GraphModel
import GraphTesting
import Testing

/// What the generic commands say when somebody else was faster: who, when, and which side stands.
@Suite struct ConflictCommandTests {
  @Test func whoNamesADeletedObjectHearsWhoDeletedItAndWhen() throws {
    let company = try Company()
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
    // An id that never was, and one of another entity, are told as before.
    #expect(
      try company.run("update", "aaaaaaaaaa", "name=x").errors.contains("there is no object whose id begins with"))
    #expect(try company.run("show", "Project", ann).errors.contains("there is no Project whose id begins with"))
    #expect(company.daemon.stop() == 0)
  }

  @Test func anEditFromBeforeADeleteThatWasTakenBackNamesBoth() throws {
    let company = try Company()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    try company.run("delete", ann, author: "ben@test")
    try company.run("restore", ann, author: "cid@test")
    for policy in ["error", "objectTrump"] {
      let result = try company.run("update", ann, "name=Anna", "--base", "2", "--policy", policy)
      #expect(result.status == 2)
      #expect(result.errors.contains("was deleted since you read it, and brought back by cid@test"), "\(result.errors)")
      #expect(result.errors.contains("Ann: deleted by ben@test, "), "\(result.errors)")
      #expect(result.errors.contains(", revision 3; brought back by cid@test, "), "\(result.errors)")
    }
    #expect(company.daemon.stop() == 0)
  }
}
