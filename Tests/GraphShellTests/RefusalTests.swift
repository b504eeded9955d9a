import ArgumentParser
import CommandLineIO
import GraphJSON
import GraphModel
import GraphTesting
import Testing

@testable import GraphShell

@Suite struct ModelRefusalTests {
  private let company: Company
  private let person: ObjectImage

  init() throws {
    company = try Company()
    person = try company.image("Person", 1, ["name": .string("Ann")])
  }

  private func violation(_ id: ObjectID) throws -> Violation {
    Violation(
      id: id, property: try company.property("Person", "age").number, rule: "maximum", value: .integer(200),
      message: "age is too large")
  }

  @Test func violationHasObjectRuleAndValue() throws {
    var refusal = ModelRefusal(
      refusal: Refusal(.invalid, "refused", violations: [try violation(person.id)]), model: company.model)
    #expect(refusal.report.message == "refused\n  Person \(person.shortID): age is too large (maximum, value 200)")
    refusal.titles[person.id] = "Person Ann"
    refusal.done = "nothing is committed"
    #expect(
      refusal.report.message == "refused\n  Person Ann: age is too large (maximum, value 200)\nnothing is committed")
    #expect(refusal.report.exit == CommandFailure.refused)
  }

  /// Scripts must distinguish a commit that was refused from one that may be stored.
  @Test(arguments: [true, false]) func unknownOutcomeIsAMemberOfTheError(isUnknown: Bool) throws {
    let refusal = Refusal(.unavailable, "the disk fails", isOutcomeUnknown: isUnknown)
    let expected: [JSON.Member] = isUnknown ? [.init("outcome", .string("unknown"))] : []
    for members in [
      CommandFailure.outcome(of: refusal), ModelRefusal(refusal: refusal, model: company.model).report.members,
    ] {
      #expect(JSON.object(members) == .object(expected))
    }
  }

  @Test func newObjectIsNamedByItsLine() throws {
    let id = ObjectID.temporary(1, entity: person.id.entity)
    var refusal = ModelRefusal(
      refusal: Refusal(.invalid, "refused", violations: [try violation(id)]), model: company.model)
    #expect(refusal.report.message.contains("\n  the new Person: "))
    refusal.lines[id] = 4
    #expect(refusal.report.message.contains("\n  line 4: "))
  }

  @Test func conflictNamesAuthorAndRevision() throws {
    let age = try company.property("Person", "age").number
    let conflicts = [
      Conflict(kind: .deleted, id: person.id, author: "ann", revision: 3),
      Conflict(
        kind: .changed, id: person.id, property: age, mine: .integer(1), theirs: .integer(2), author: "bob", revision: 4
      ),
    ]
    let refusal = ModelRefusal(refusal: Refusal(.conflict, "refused", conflicts: conflicts), model: company.model)
    let name = "Person \(person.shortID)"
    #expect(
      refusal.report.message == "refused\n  \(name): deleted by ann in revision 3\n"
        + "  \(name): bob set age to 2 in revision 4, you set it to 1")
  }

  @Test func unmetPreconditionNamesOnlyTheOthersValue() throws {
    let age = try company.property("Person", "age").number
    let conflict = Conflict(
      kind: .changed, id: person.id, property: age, theirs: .integer(2), author: "bob", revision: 4)
    let refusal = ModelRefusal(refusal: Refusal(.conflict, "refused", conflicts: [conflict]), model: company.model)
    #expect(refusal.report.message == "refused\n  Person \(person.shortID): bob set age to 2 in revision 4")
  }

  @Test(arguments: [RefusedOperation.undo, .redo])
  func conflictOfUndoNamesValueThatItWouldSet(operation: RefusedOperation) throws {
    let age = try company.property("Person", "age").number
    let bio = try company.property("Person", "bio").number
    let conflicts = [
      Conflict(
        kind: .changed, id: person.id, property: age, mine: .integer(5), theirs: .integer(9), author: "bob",
        revision: 12),
      Conflict(
        kind: .changed, id: person.id, property: bio, theirs: .string("new"), author: "bob", revision: 13),
      Conflict(kind: .changed, id: person.id, property: age, author: "bob", revision: 14),
      Conflict(kind: .deleted, id: person.id, author: "bob", revision: 15),
    ]
    var refusal = ModelRefusal(refusal: Refusal(.conflict, "refused", conflicts: conflicts), model: company.model)
    refusal.operation = operation
    let (name, verb) = ("Person \(person.shortID)", operation.rawValue)
    #expect(
      refusal.report.message == """
        refused
          \(name): \(verb) would set age to 5, but bob set it to 9 in revision 12
          \(name): \(verb) would change bio, but bob set it to "new" in revision 13
          \(name): \(verb) would delete it, but bob changed its age in revision 14
          \(name): deleted by bob in revision 15
        """)
  }

  @Test func unknownEntityAndPropertyAreNamedByNumber() throws {
    let id = ObjectID(key: person.id.key, entity: 99)
    let conflicts = [Conflict(kind: .changed, id: id, property: 999, mine: .integer(1), theirs: .integer(2))]
    let refusal = ModelRefusal(refusal: Refusal(.conflict, "refused", conflicts: conflicts), model: company.model)
    #expect(
      refusal.report.message == "refused\n  entity number 99 \(person.shortID): an unknown author set property number "
        + "999 to 2, you set it to 1")
  }

  @Test func detailsBeyondLimitAreCounted() {
    let details = (1...12).map { "detail \($0)" }
    let text = ModelRefusal.brief(details, of: Refusal(.invalid, "refused"))
    #expect(text.hasSuffix("\n  detail 10\n  and 2 more"))
    #expect(ModelRefusal.brief(["one"], of: Refusal(.invalid, "refused")) == "\n  one")
  }

  @Test func exitCodesDistinguishKindsOfRefusals() {
    #expect(CommandFailure.exitCode(of: .conflict) == 2)
    #expect(CommandFailure.exitCode(of: .notFound) == 4)
    #expect(CommandFailure.exitCode(of: .malformed) == 64)
    #expect(CommandFailure.exitCode(of: .unavailable) == 1)
  }
}

@Suite struct CommandTests {
  @Test func unknownCommandIsReportedWithNearestName() {
    CompanyProgram.run {
      #expect(
        UnknownCommand.find(in: ["graph", "fech"], of: CompanyCommand.self)?.description
          == "there is no command \"graph fech\". Did you mean \"graph fetch\"?")
      #expect(
        UnknownCommand.find(in: ["xyzzy"], of: CompanyCommand.self)?.description
          == "there is no command \"xyzzy\"; see company help")
      #expect(UnknownCommand.find(in: ["graph", "fetch", "Person"], of: CompanyCommand.self) == nil)
    }
  }

  @Test(arguments: [
    ("unknown option '--json'", ["--json", "undo"], "; options follow the command: company undo --json"),
    ("unknown option '--json'", ["--json"], nil), ("unknown option '-x'", ["undo", "-x"], nil),
  ])
  func optionBeforeCommandGetsAdvice(message: String, arguments: [String], advice: String?) {
    CompanyProgram.run {
      #expect(CommandFailure.hint(on: message, ["/bin/company"] + arguments, of: CompanyProgram()) == advice)
    }
  }

  @Test func messagesOfArgumentParserLookLikeOurOwn() {
    #expect(ParserMessage.text("Error: Missing expected argument '<id>'") == "missing expected argument '<id>'")
    #expect(ParserMessage.text("TERM is dumb") == "TERM is dumb")
    #expect(ParserMessage.text("--limit must be at least 1") == "--limit must be at least 1")
    #expect(ParserMessage.text("") == "")
  }

  @Test func diffWithoutStatesNamesItsArguments() throws {
    try CompanyProgram.run {
      let error = try #require(throws: (any Error).self) { try Diff.parse([]) }
      #expect(Diff.message(for: error).contains("diff takes [OBJECT] FROM [TO], such as 5, or '#1' 5 9"))
    }
    #expect(
      Diff.emptyEnd(["4", "yesterday"])
        == "<to> is before the first commit: write the earlier state first, and the number of an object as '#4'")
    #expect(Diff.emptyEnd(["#4", "5", "0"]) == "<to> is before the first commit: write the earlier state first")
  }

  @Test func helpNamesProgram() {
    CompanyProgram.run {
      #expect(GraphShow.configuration.usage == "company graph show [<options>] [<entity>] <id>")
      #expect(
        CommandExamples.text(for: ["help", "graph"], of: CompanyProgram())
          == "\nEXAMPLES:\n  company graph fetch Person\n")
      #expect(CommandExamples.text(for: ["undo"], of: CompanyProgram()).isEmpty)
    }
  }

  @Test func optionsThatExcludeEachOtherAreRefused() throws {
    try CompanyProgram.run {
      let error = try #require(throws: (any Error).self) { try GraphFetch.parse(["Person", "--count", "--ids"]) }
      #expect(GraphFetch.message(for: error).contains("--count and --ids exclude each other"))
      #expect(try GraphFetch.parse(["Person", "--count"]).count)
    }
  }

  @MainActor @Test func timeoutSaysHowManyObjectsAreNeeded() {
    #expect(ChangeWaiter.shortfall(0, of: 1, "note") == "no note matches")
    #expect(ChangeWaiter.shortfall(1, of: 2, "note") == "1 note matches, 2 are needed")
    #expect(ChangeWaiter.shortfall(3, of: 0, "note") == "3 notes match, and none should")
  }

  @Test(
    arguments: [
      (GraphFetch.self, ["Person", "--offset", "-1"], "--offset must be at least 0"),
      (GraphFetch.self, ["Person", "--limit", "0"], "--limit must be at least 1"),
      (GraphWatch.self, ["Person", "--sort", "age"], "--offset and --sort require --limit"),
      (GraphDelete.self, ["ab", "--base", "0"], "--base must be at least 1"),
      (GraphUpdate.self, ["ab", "age=1", "--one-commit"], "--one-commit requires --where"),
      (GraphUpdate.self, ["Person", "age=1", "--where", "TRUEPREDICATE", "--base", "3"], "--base can't be used with"),
    ] as [(any ParsableCommand.Type, [String], String)])
  func sharedOptionsAreChecked(_ command: any ParsableCommand.Type, _ arguments: [String], _ message: String) throws {
    try CompanyProgram.run {
      let error = try #require(throws: (any Error).self) { try command.parse(arguments) }
      #expect(command.message(for: error).contains(message))
    }
  }

  @Test func durationsHaveUnits() {
    #expect(TimeSpan(argument: "500ms")?.milliseconds == 500)
    #expect(TimeSpan(argument: "2m")?.milliseconds == 120_000)
    #expect(TimeSpan(argument: "5")?.text == "5s")
    for text in ["", "s", "-1", "inf", "9999h", "0x10", "0x1p3s"] {
      #expect(TimeSpan(argument: text) == nil, "\(text)")
    }
  }
}

@Suite struct GraphFileTests {
  private let company: Company

  init() throws { company = try Company() }

  /// The lines of a file with one object, without their line breaks.
  private func lines(_ image: ObjectImage) throws -> [String] {
    var file = GraphFile(model: company.model)
    let texts = [file.head(revision: 7, objects: 1), try file.line(image), file.end()]
    return texts.map { String($0.dropLast()) }
  }

  private func read(_ lines: [String]) throws -> ObjectImage? {
    var file = GraphFile(model: company.model)
    let lines = LineBuffer.lines(of: Array(lines.joined(separator: "\n").utf8))
    let promised = try file.readHead(lines[0])
    var mistakes = [InvalidInputError]()
    let image = try file.read(lines[1], of: promised, &mistakes)
    if let mistake = mistakes.first { throw mistake }
    #expect(try file.read(lines[2], of: promised, &mistakes) == nil)
    return image
  }

  @Test func exportedObjectIsRead() throws {
    let image = try company.image("Person", 1, ["name": .string("Ann"), "age": .integer(30)])
    let copy = try #require(try read(lines(image)))
    #expect(copy.id == image.id)
    for name in ["name", "age", "bio"] {
      let property = try company.property("Person", name)
      #expect(copy[property] == image[property], "\(name)")
    }
  }

  @Test func changedLineBreaksChecksum() throws {
    var lines = try lines(company.image("Person", 1, ["name": .string("Ann")]))
    lines[1] = lines[1].replacing("Ann", with: "Eve")
    let error = #expect(throws: InvalidInputError.self) { try read(lines) }
    #expect(error?.description.hasPrefix("the checksum does not match") == true)
  }

  @Test func fileOfOtherModelIsRefused() throws {
    let file = GraphFile(model: try Fixtures.ordered())
    let head = InputLine(number: 1, bytes: Array(GraphFile(model: company.model).head(revision: 1, objects: 0).utf8))
    #expect(throws: InvalidInputError.self) { try file.readHead(head) }
  }
}
