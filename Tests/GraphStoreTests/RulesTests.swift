import GraphModel
import GraphTesting
import Testing

/// The rules of a model for values: patterns, rules over several properties, and groups of attributes.
@Suite struct RulesTests {
  // MARK: - Patterns

  @Test func patternMatchesWholeValue() throws {
    let store = try TestStore(try Fixtures.workplace())
    for name in ["ann", "Ann Lee", "", "Änne", "Ann\n"] {
      let refusal = try store.refusal([store.insertion("Person", ["name": .string(name)])])
      #expect(refusal?.code == .invalid)
      #expect(refusal?.violations.map(\.rule) == ["pattern"], "\(name)")
      #expect(refusal?.violations.first?.property == (try store.property("Person.name").number))
    }
    let ann = try store.insert("Person", ["name": .string("Ann7")])
    #expect(
      try store.refusal([store.update(ann, "Person.name", .string("7Ann"))])?.violations.map(\.rule) == ["pattern"])
    #expect(try store.value(ann, "Person.name") == .string("Ann7"))
  }

  @Test func nullSatisfiesEveryPattern() throws {
    let store = try TestStore(try Fixtures.workplace())
    let ann = try store.insert("Person", ["name": .string("Ann"), "home.zip": .string("12345")])
    try store.must([store.update(ann, "Person.home.zip", .null)])
    #expect(
      try store.refusal([store.update(ann, "Person.home.zip", .string("1234"))])?.violations.map(\.rule) == ["pattern"])
  }

  // MARK: - Rules

  @Test func ruleViolationReportsNameAndMessage() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    let project = try store.insert(
      "Project", ["department": .object(department), "starts": .date(10), "due": .date(10)])
    let refusal = try #require(try store.refusal([store.update(project, "Project.due", .date(9))]))
    #expect(refusal.code == .invalid)
    #expect(refusal.message == "a project ends after it starts")
    let violation = try #require(refusal.violations.first)
    #expect(violation.rule == "endsAfterItStarts" && violation.property == 0 && violation.value == .null)
    #expect(violation.id == project)
    try store.must([store.update(project, "Project.due", .null)])
    try store.must([
      store.update(project, "Project.starts", .date(20)), store.update(project, "Project.due", .date(21)),
    ])
  }

  /// All violations are reported together: a value that can't be set hides only the rules that read it.
  @Test func ruleIsEvaluatedBesideUnsettableProperty() throws {
    let store = try TestStore(try Fixtures.workplace())
    let ann = try store.insert("Person", ["name": .string("Ann")])
    func rules(_ values: [String: Value]) throws -> Set<String> {
      Set(try store.refusal([store.insertion("Project", values)])?.violations.map(\.rule) ?? [])
    }
    #expect(
      try rules(["department": .object(ann), "starts": .date(10), "due": .date(9)])
        == ["destination", "endsAfterItStarts"])
    #expect(
      try rules(["department": .object(ann), "starts": .date(10), "due": .string("x")]) == ["destination", "type"])
  }

  @Test func ruleIsEvaluatedAfterMerge() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    let project = try store.insert(
      "Project", ["department": .object(department), "starts": .date(10), "due": .date(20)])
    let base = try store.store.head.revision
    try store.must([store.update(project, "Project.starts", .date(18), base: base)])
    store.replica = UniqueID(high: 2, low: 2)
    // Legal for the values that its author had read.
    let refusal = try store.refusal([store.update(project, "Project.due", .date(15), base: base)])
    #expect(refusal?.violations.map(\.rule) == ["endsAfterItStarts"])
  }

  @Test func violationOfInsertReportsTemporaryID() throws {
    let store = try TestStore(try Fixtures.workplace())
    let insertion = try store.insertion("Person", ["name": .string("Elm"), "home.street": .string("Elm")])
    let refusal = try store.refusal([insertion])
    #expect(refusal?.violations.map(\.rule) == ["livesElsewhere"])
    #expect(refusal?.violations.map(\.id) == [insertion.id])
    #expect(refusal?.message == "this Party breaks the rule livesElsewhere: home.street == NULL OR home.street != name")
  }

  @Test func subentityObeysOwnAndInheritedRules() throws {
    let store = try TestStore(try Fixtures.workplace())
    let refusal = try store.refusal([
      store.insertion(
        "Person", ["name": .string("Elm"), "home.street": .string("Elm"), "rate": .integer(-1)])
    ])
    #expect(refusal?.violations.map(\.rule) == ["livesElsewhere", "paidForHours"])
  }

  /// A rule binds what a transaction changes, not only what it names: here the department.
  @Test func ruleOverCountHoldsForEveryAuthor() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    func hires(_ names: [String]) throws -> [Change] {
      try names.map { try store.insertion("Person", ["name": .string($0), "unit": .object(department)]) }
    }
    try store.must(hires(["A", "B", "C", "D", "E"]))
    let refusal = try store.refusal(hires(["F"]))
    #expect(refusal?.violations.map(\.rule) == ["small"])
    #expect(refusal?.violations.map(\.id) == [department])
    // One member leaves as another one joins.
    let first = try store.all("Person", "name == \"A\"")[0].id
    try store.must(try hires(["F"]) + [Change(.delete, first)])
    #expect(try store.value(department, "Department.headcount") == .integer(5))
  }

  // MARK: - Composites

  @Test func compositeMembersConflictIndividually() throws {
    let store = try TestStore(try Fixtures.workplace())
    let ann = try store.insert(
      "Person", ["name": .string("Ann"), "home.street": .string("Elm 1"), "home.zip": .string("12345")])
    let base = try store.store.head.revision
    store.author = "bob"
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([store.update(ann, "Person.home.street", .string("Oak 2"), base: base)])
    store.author = "ann"
    store.replica = UniqueID(high: 3, low: 3)
    try store.must([store.update(ann, "Person.home.zip", .string("54321"), base: base)])
    let refusal = try store.refusal([store.update(ann, "Person.home.street", .string("Fir 3"), base: base)])
    #expect(refusal?.conflicts.map(\.property) == [try store.property("Person.home.street").number])
    #expect(refusal?.conflicts.map(\.author) == ["bob"])
    #expect(refusal?.message.contains("Person.home.street") == true)
    let found = try store.all("Person", "home.street == \"Oak 2\" AND home.zip == \"54321\"", sort: "-home.zip")
    #expect(found.map(\.id) == [ann])
  }

  @Test func compositeMembersAreValidatedSearchedAndReachable() throws {
    let store = try TestStore(try Fixtures.workplace())
    let boss = try store.insert(
      "Person", ["name": .string("Boss"), "home.zip": .string("11111"), "home.hint": .string("behind the mill")])
    let ann = try store.insert("Person", ["name": .string("Ann"), "boss": .object(boss)])
    #expect(try store.all("Person", "boss.home.zip == \"11111\"").map(\.id) == [ann])
    #expect(try store.all("Person", "ANY reports.home.zip == NULL").map(\.id) == [boss])
    #expect(try store.all("Person", "home.hint SEARCH \"mill\"").map(\.id) == [boss])
    let refusal = try store.refusal([
      store.update(ann, "Person.home.street", .string(String(repeating: "x", count: 21)))
    ])
    #expect(refusal?.violations.map(\.rule) == ["maximumLength"])
    try store.reopen()
    #expect(try store.value(boss, "Person.home.hint") == .string("behind the mill"))
    _ = try store.undo()
    #expect(try store.all("Person", "name == \"Ann\"").isEmpty)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func compositeMembersFormAUniqueKey() throws {
    let store = try TestStore(try Fixtures.workplace())
    func person(_ name: String, _ zip: Value, _ street: Value) throws -> Change {
      try store.insertion("Person", ["name": .string(name), "home.zip": zip, "home.street": street])
    }
    try store.must([person("A", .string("11111"), .string("Elm 1"))])
    try store.must([person("B", .string("11111"), .string("Elm 2")), person("C", .string("11111"), .null)])
    let refusal = try store.refusal([person("D", .string("11111"), .string("Elm 1"))])
    #expect(refusal?.code == .unique)
    #expect(refusal?.message == "there is already a Party with this home.zip and home.street")
    let merged = try store.must([person("A", .string("11111"), .string("Elm 1"))], policy: .objectTrump)
    #expect(try store.value(merged[0], "Person.name") == .string("A"))
    #expect(try store.all("Person").count == 3)
  }

  @Test func subentityCompositeHasOwnColumnsAndIndexes() throws {
    let store = try TestStore(try Fixtures.workplace())
    let ann = try store.insert(
      "Person",
      [
        "name": .string("Ann"), "home.street": .string("Elm"), "work.street": .string("Oak"),
        "work.hint": .string("left"),
      ])
    let base = try store.store.head.revision
    let hint = try store.property("Person.work.hint").number
    func typing(_ splice: TextSplice) -> Change {
      Change(.update, ann, base: base, edits: [Edit(hint, .splice([splice]))])
    }
    try store.must([typing(TextSplice(offset: 4, length: 0, insertion: " door"))])
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([typing(TextSplice(offset: 0, length: 0, insertion: "the "))])
    #expect(try store.all("Person", "work.hint SEARCH \"the left door\"").map(\.id) == [ann])
    #expect(try store.all("Person", "work.street == \"Oak\" AND home.street != work.street").map(\.id) == [ann])
    #expect(try store.all("Person", "home.hint SEARCH \"left\"").isEmpty)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  // MARK: - Transients

  @Test func transientIsRefusedByStore() throws {
    let store = try TestStore(try Fixtures.workplace())
    let refusal = try store.refusal([store.insertion("Person", ["name": .string("A"), "isSelected": .bool(true)])])
    #expect(refusal?.code == .malformed)
    #expect(refusal?.message == "Person.isSelected is transient: it is not stored")
  }
}
