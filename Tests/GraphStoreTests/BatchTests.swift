import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

/// Batches in slices of three objects, compared with their naive twin: one ordinary transaction with the same effect on
/// a second store with the same history.
@Suite struct BatchTests {
  static let entities = ["Person", "Robot", "Project", "Step", "Desk"]

  /// People with managers, projects, and desks; steps of projects.
  static func company(_ count: Int, _ random: inout SeededGenerator) throws -> TestStore {
    let store = try TestStore(try Fixtures.company())
    var (people, projects) = ([ObjectID](), [ObjectID]())
    for number in 0..<count {
      projects.append(
        try store.insert(
          "Project", ["title": .string("t\(number % 3)"), "year": .integer(Int64(number / 3))]))
      _ = try store.insert("Step", ["label": .string("s\(number)"), "project": .object(projects[number])])
    }
    for number in 0..<count {
      var values: [String: Value] = ["name": .string("p\(number)"), "active": .bool(random.chance(50))]
      values["age"] = random.chance(80) ? .integer(Int64.random(in: 0...9, using: &random)) : .null
      values["bio"] = .string(random.pick(["a cat", "the CAT sat", "a dog", ""]) ?? "")
      values["salary"] = DecimalValue("\(number)").map(Value.decimal) ?? .null
      if let boss = random.pick(people), random.chance(40) { values["manager"] = .object(boss) }
      if let project = random.pick(projects), random.chance(40) {
        values["projects"] = .objects([project])
      }
      // Some are refused: three people at most work on a project.
      guard let person = try? store.insert("Person", values) else { continue }
      people.append(person)
      if random.chance(30) { _ = try store.insert("Desk", ["owner": .object(person)]) }
    }
    return store
  }

  static func contents(_ store: TestStore) throws -> [ObjectImage] {
    try entities.flatMap { try store.all($0) }
  }

  static func predicate(_ text: String, _ entity: String, _ store: TestStore) throws -> GraphPredicate {
    try GraphPredicate(parsing: text, entity: try store.entity(entity), model: store.model)
  }

  static func assignment(_ path: String, _ text: String, _ store: TestStore) throws -> Batch.Assignment {
    let property = try store.property(path)
    let entity = try #require(store.model.entity(property.owner))
    return Batch.Assignment(
      property.number, try GraphExpression(parsing: text, entity: entity, model: store.model))
  }

  /// Both stores have the same graph and the same history, and are sound.
  static func expectEqual(_ store: TestStore, _ twin: TestStore, _ comment: Comment) throws {
    #expect(try contents(store) == contents(twin), comment)
    #expect(try store.store.head.revision == twin.store.head.revision, comment)
    for one in [store, twin] {
      try one.store.close()
      let findings = try StoreCheck.run(directory: one.directory.path, model: one.model)
      #expect(findings.isEmpty, "\(comment): \(findings.prefix(3).map(\.text))")
      try one.reopen()
      if let differences = try one.redoDifferences() { #expect(differences == [], comment) }
    }
    #expect(try searchResult(store) == searchResult(twin), comment)
  }

  static func searchResult(_ store: TestStore) throws -> [ObjectID] {
    try store.all("Person", "bio SEARCH \"cat\"").map(\.id)
  }

  // MARK: - Updates

  @Test(arguments: [UInt64(1), 2, 3])
  func slicedUpdateEqualsOneTransaction(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try Self.company(24, &random)
    let twin = try store.twin()
    let before = try Self.contents(store)
    let age = try store.property("Person.age")
    let bio = try store.property("Person.bio")
    let matching = try store.all("Person", "age > 2")
    try #require(matching.count > 6)
    let result = try store.batch(
      "Person",
      .update(
        Self.predicate("age > 2", "Person", store),
        [Self.assignment("Person.age", "age + 1", store), Batch.Assignment(bio.number, .value(.string("one CAT")))]))
    #expect(
      result.record?.summary == ChangeSummary(count: matching.count, entities: [try store.entity("Person").number]))
    #expect(result.record?.changes == [])
    try twin.must(
      matching.map { image in
        guard case .integer(let number) = image[age] else { throw Refusal(.invalid, "no age") }
        return Change(
          .update, image.id, base: .max,
          edits: [Edit(age.number, .set(.integer(number + 1))), Edit(bio.number, .set(.string("one CAT")))])
      })
    try Self.expectEqual(store, twin, "seed \(seed), updated")
    let undone = try #require(try store.undo().record)
    #expect(undone.changes.count == matching.count)
    try #require(try twin.undo().record != nil)
    try Self.expectEqual(store, twin, "seed \(seed), undone")
    #expect(try Self.contents(store).map(\.values) == before.map(\.values), "seed \(seed)")
  }

  @Test func singleSliceBatchIsOrdinaryCommit() throws {
    var random = SeededGenerator(seed: 1)
    let store = try Self.company(3, &random)
    let result = try store.batch(
      "Project", .update(.always, [Self.assignment("Project.year", "year + 10", store)]))
    #expect(result.record?.summary == nil)
    #expect(result.record?.changes.count == 3)
    #expect(try store.all("Project", "year == 10").count == 3)
  }

  /// Each object takes the key of the next one, which is in a later slice.
  @Test func uniqueKeysCanBeShifted() throws {
    var random = SeededGenerator(seed: 1)
    let store = try Self.company(30, &random)
    let twin = try store.twin()
    let year = try store.property("Project.year")
    let projects = try store.all("Project")
    let shift = try Batch.Operation.update(.always, [Self.assignment("Project.year", "year + 1", store)])
    guard case .committed = try store.batch("Project", shift).outcome else {
      Issue.record("the shift is refused")
      return
    }
    try twin.must(
      projects.map { image in
        guard case .integer(let number) = image[year] else { throw Refusal(.invalid, "no year") }
        return Change(.update, image.id, base: .max, edits: [Edit(year.number, .set(.integer(number + 1)))])
      })
    try Self.expectEqual(store, twin, "shifted")
  }

  /// No object has the key before the batch: a row of the same slice, or of an earlier one, takes it first.
  @Test func sameKeyForAllObjectsIsRefused() throws {
    var random = SeededGenerator(seed: 1)
    let store = try Self.company(12, &random)
    for text in ["year - year + 50", "50"] {
      let outcome = try store.batch(
        "Project", .update(.always, [Self.assignment("Project.year", text, store)])
      ).outcome
      guard case .refused(let refusal) = outcome else {
        Issue.record("\(text) is taken")
        return
      }
      #expect(Set(refusal.violations.map(\.message)) == ["another Project gets the same title and year"], "\(text)")
    }
  }

  @Test func duplicateKeysAreRefusedWithAllObjects() throws {
    var random = SeededGenerator(seed: 1)
    let store = try Self.company(12, &random)
    let before = try Self.contents(store)
    for text in ["year - year", "7"] {
      let outcome = try store.batch(
        "Project", .update(.always, [Self.assignment("Project.year", text, store)])
      ).outcome
      guard case .refused(let refusal) = outcome else {
        Issue.record("\(text) is taken")
        return
      }
      #expect(refusal.code == .unique, "\(text)")
      #expect(refusal.violations.allSatisfy { $0.rule == "unique" })
      #expect(refusal.violations.count >= 2, "\(text)")
      #expect(!refusal.conflicts.isEmpty)
      #expect(try Self.contents(store) == before, "\(text)")
    }
  }

  @Test func oneViolationRefusesTheBatch() throws {
    var random = SeededGenerator(seed: 4)
    let store = try Self.company(20, &random)
    let head = try store.store.head
    let before = try Self.contents(store)
    let outcome = try store.batch(
      "Person", .update(.always, [Self.assignment("Person.age", "age * 50", store)])
    ).outcome
    guard case .refused(let refusal) = outcome else {
      Issue.record("ages beyond 150 are taken")
      return
    }
    let expected = try store.all("Person", "age > 3").map(\.id)
    try #require(expected.count > 3)
    #expect(refusal.code == .invalid)
    #expect(Set(refusal.violations.map(\.id)) == Set(expected))
    #expect(refusal.violations.allSatisfy { $0.rule == "maximum" })
    #expect(try store.store.head == head)
    #expect(try Self.contents(store) == before)
    // The store continues to work.
    _ = try store.insert("Robot", ["name": .string("R")])
    #expect(try store.store.head.revision == head.revision + 1)
  }

  @Test func unsupportedAssignmentIsRefused() throws {
    var random = SeededGenerator(seed: 1)
    let store = try Self.company(2, &random)
    func refusal(_ operation: Batch.Operation) throws -> String? {
      guard case .refused(let refusal) = try store.batch("Person", operation).outcome else { return nil }
      return refusal.message
    }
    let reports = try store.property("Person.reports").number
    let desk = try store.property("Person.desk").number
    #expect(
      try refusal(.update(.always, [Batch.Assignment(reports, .value(.objects([])))]))?.contains("the other end")
        == true)
    #expect(try refusal(.update(.always, [Batch.Assignment(desk, .value(.null))]))?.contains("the other end") == true)
    #expect(
      try refusal(.update(.always, [Self.assignment("Person.age", "manager.age", store)]))?
        .contains("own properties only") == true)
    #expect(try refusal(.update(.always, []))?.contains("nothing") == true)
    #expect(try refusal(.insert([reports], rows: 0))?.contains("the other end") == true)
  }

  // MARK: - Inserts

  @Test func rowsAreInsertedInOrder() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let twin = try store.twin()
    let properties = try ["Note.text", "Note.board"].map { try store.property($0).number }
    let rows = (0..<20).map { [Value.string("n\($0)"), .object(board)] }
    guard case .committed = try store.batch("Note", .insert(properties, rows: rows.count), rows: rows).outcome else {
      Issue.record("the rows are refused")
      return
    }
    try twin.must(
      rows.map { row in
        Change(.insert, try twin.temporary("Note"), edits: zip(properties, row).map { Edit($0, .set($1)) })
      })
    let (made, expected) = (try store.all("Note", sort: "number"), try twin.all("Note", sort: "number"))
    #expect(made.map(\.values) == expected.map(\.values))
    #expect(made.map(\.id) == made.map(\.id).sorted(), "the numbers rise as the ids do")
    #expect(try store.store.head.revision == twin.store.head.revision)
    // The sequence continues where the batch stopped.
    let next = try store.insert("Note", ["board": .object(board)])
    #expect(try store.value(next, "Note.number") == .integer(21))
    try store.must([Change(.delete, next)])
    let undone = try store.undo(2)
    #expect(undone.record?.changes.filter { $0.kind == .deleted }.count == 20)
    #expect(try store.all("Note").isEmpty)
  }

  @Test func invalidRowReportsItsNumberAndRefusesBatch() throws {
    let store = try TestStore(try Fixtures.company())
    let name = try store.property("Robot.name").number
    var rows = (0..<20).map { [Value.string("r\($0)")] }
    rows[16] = [.string("r3")]
    rows[18] = [.string("")]
    let outcome = try store.batch("Robot", .insert([name], rows: rows.count), rows: rows).outcome
    guard case .refused(let refusal) = outcome else {
      Issue.record("a key is taken twice")
      return
    }
    #expect(refusal.violations.map(\.id.key.low) == [17, 19])
    #expect(refusal.violations.map(\.rule) == ["unique", "minimumLength"])
    #expect(try store.all("Robot").isEmpty)
    #expect(try store.store.head.revision == 0)
    let fewer = try store.batch("Robot", .insert([name], rows: 21), rows: rows).outcome
    if case .refused(let refusal) = fewer { #expect(refusal.code == .malformed) } else { Issue.record("a row lacks") }
  }

  /// The existing object occurs again in another slice, so it is in two parts of one commit.
  @Test func rowWithExistingKeyUpdatesItsObject() throws {
    let store = try TestStore(try Fixtures.company())
    let robot = try store.insert("Robot", ["name": .string("r0")])
    let properties = try ["Robot.name", "Robot.volts"].map { try store.property($0).number }
    let rows = (0..<10).map { number in
      [Value.string(number % 4 == 0 ? "r0" : "r\(number)"), .integer(Int64(number))]
    }
    let result = try store.batch(
      "Robot", .insert(properties, rows: rows.count), policy: .objectTrump, rows: rows)
    guard case .committed = result.outcome else {
      Issue.record("refused")
      return
    }
    #expect(try store.value(robot, "Robot.volts") == .integer(8))
    #expect(try store.all("Robot").count == 8)
    try store.store.close()
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model).isEmpty)
    try store.reopen()
    // A client that read it before receives the later changes.
    store.replica = UniqueID(high: 1, low: 99)
    let late = try store.refusal([store.update(robot, "Robot.volts", .integer(1), base: 1)])
    #expect(late?.code == .conflict)
    try #require(try store.undo().record != nil)
    #expect(try store.value(robot, "Robot.volts") == .integer(12))
    #expect(try store.all("Robot").count == 1)
  }
}
