import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Deletes by predicate in slices of three objects, against one ordinary transaction on a twin.
@Suite struct BatchDeleteTests {
  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6])
  func slicedDeleteEqualsOneTransaction(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try BatchTests.company(24, &random)
    let twin = try store.twin()
    let before = try BatchTests.contents(store)
    var committed = 0
    for (entity, text) in [
      ("Person", "active == true"), ("Person", "age < 4"), ("Project", "year > 2"), ("Person", "reports.@count == 0"),
      ("Desk", "TRUEPREDICATE"),
    ] {
      let matching = try store.all(entity, text)
      let outcome = try store.batch(
        entity, .delete(BatchTests.predicate(text, entity, store))
      ).outcome
      // A batch of nothing is no commit.
      guard !matching.isEmpty else { continue }
      let expected = try twin.commit(matching.map { Change(.delete, $0.id) }).outcome
      switch (outcome, expected) {
      case (.committed, .committed): committed += 1
      case (.refused(let refusal), .refused(let other)):
        #expect(refusal.code == other.code, "seed \(seed), \(text)")
        #expect(
          Set(refusal.violations.map { "\($0.id) \($0.rule) \($0.value)" })
            == Set(other.violations.map { "\($0.id) \($0.rule) \($0.value)" }), "seed \(seed), \(text)")
        // A refusal takes no revision on either side.
        #expect(try store.store.head.revision == twin.store.head.revision)
      default: Issue.record("seed \(seed), \(text): \(outcome), and \(expected) for the twin")
      }
      try BatchTests.expectEqual(store, twin, "seed \(seed), \(text)")
    }
    try #require(committed > 1, "seed \(seed)")
    for number in 0..<committed {
      try #require(try store.undo().record != nil)
      try #require(try twin.undo().record != nil)
      try BatchTests.expectEqual(store, twin, "seed \(seed), undo \(number)")
    }
    #expect(try BatchTests.contents(store).map(\.id) == before.map(\.id), "seed \(seed)")
  }

  /// The deleted end stores the members and has `noAction`: the other end has one member less anyway.
  @Test(arguments: ["noAction", "nullify"]) func minimumCountHoldsForEveryDeleteRule(rule: String) throws {
    let model = try Model(
      parsing: """
        {"format": 1, "name": "Camp", "version": 1,
         "entities": [
           {"name": "Ring", "attributes": [{"name": "name", "type": "string"}],
            "relationships": [
              {"name": "tents", "destination": "Tent", "inverse": "rings", "toMany": true, "deleteRule": "\(rule)"}]},
           {"name": "Tent", "attributes": [{"name": "name", "type": "string"}],
            "relationships": [
              {"name": "rings", "destination": "Ring", "inverse": "tents", "toMany": true, "minimumCount": 1}]}]}
        """.utf8)
    let store = try TestStore(model)
    let rings = try ["a", "b"].map { try store.insert("Ring", ["name": .string($0)]) }
    let tent = try store.insert("Tent", ["name": .string("t"), "rings": .objects(rings)])
    try store.must([Change(.delete, rings[0], base: .max)])
    for isBatch in [false, true] {
      let outcome =
        isBatch
        ? try store.batch("Ring", .delete(BatchTests.predicate("TRUEPREDICATE", "Ring", store))).outcome
        : try store.commit([Change(.delete, rings[1], base: .max)]).outcome
      guard case .refused(let refusal) = outcome else {
        Issue.record("\(rule), batch \(isBatch): \(outcome)")
        continue
      }
      #expect(refusal.violations.map(\.id) == [tent] && refusal.violations.map(\.rule) == ["count"], "\(rule)")
    }
    #expect(try store.all("Tent", "ANY rings.name == \"b\"").map(\.id) == [tent])
  }

  private static let ring = """
    {"format": 1, "name": "Rings", "version": 1,
     "entities": [
       {"name": "Node", "attributes": [{"name": "number", "type": "integer"}],
        "relationships": [
          {"name": "next", "destination": "Node", "inverse": "previous", "deleteRule": "cascade"},
          {"name": "previous", "destination": "Node", "inverse": "next", "toMany": true, "deleteRule": "cascade"},
          {"name": "marks", "destination": "Mark", "inverse": "nodes", "toMany": true}]},
       {"name": "Mark", "attributes": [{"name": "label", "type": "string"}],
        "relationships": [{"name": "nodes", "destination": "Node", "inverse": "marks", "toMany": true}]}]}
    """

  /// A ring of objects, of which one matches: all are deleted, in any slice, and restored with their references.
  @Test func ringIsDeletedAndRestoredCompletely() throws {
    let store = try TestStore(try Model(parsing: Self.ring.utf8))
    let mark = try store.insert("Mark", ["label": .string("m")])
    var changes = try (0..<50).map { number in
      try store.insertion("Node", ["number": .integer(Int64(number)), "marks": .objects([mark])])
    }
    let next = try store.property("Node.next").number
    let ids = changes.map(\.id)
    for (index, id) in ids.enumerated() {
      changes[index].edits.append(Edit(next, .set(.object(ids[(index + 1) % ids.count]))))
      _ = id
    }
    try store.must(changes)
    let before = try store.all("Node")
    let result = try store.batch("Node", .delete(BatchTests.predicate("number == 17", "Node", store)))
    #expect(result.record?.summary?.count == 50)
    #expect(try store.all("Node").isEmpty)
    #expect(try store.image(mark) != nil)
    try store.store.close()
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model).isEmpty)
    try store.reopen()
    try #require(try store.undo().record != nil)
    #expect(try store.all("Node").map(\.values) == before.map(\.values))
    try store.store.close()
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model).isEmpty)
  }

  /// A survivor that many deleted objects refer to changes once.
  @Test func survivorLosesAllReferencesInOneChange() throws {
    let store = try TestStore(try Model(parsing: Self.ring.utf8))
    let marks = try store.must(try (0..<20).map { try store.insertion("Mark", ["label": .string("m\($0)")]) })
    let node = try store.insert("Node", ["number": .integer(1), "marks": .objects(marks)])
    let result = try store.batch("Mark", .delete(BatchTests.predicate("label != \"m7\"", "Mark", store)))
    #expect(result.record?.summary?.count == 20, "19 marks and the node")
    #expect(try store.value(node, "Node.marks") == .objects([marks[7]]))
    try #require(try store.undo().record != nil)
    #expect(try store.value(node, "Node.marks") == .objects(marks.sorted()))
  }

  @Test func denyIsEvaluatedOnFinalSet() throws {
    let store = try TestStore(try Fixtures.company())
    var boss: ObjectID?
    for number in 0..<12 {
      var values: [String: Value] = ["name": .string("p\(number)"), "age": .integer(Int64(number))]
      if let boss { values["manager"] = .object(boss) }
      boss = try store.insert("Person", values)
    }
    // Each of those below has a report in the next slice, and the last one's stays.
    guard
      case .refused(let refusal) = try store.batch(
        "Person", .delete(BatchTests.predicate("age < 8", "Person", store))
      ).outcome
    else {
      Issue.record("a report that stays is no obstacle")
      return
    }
    #expect(refusal.code == .denied)
    #expect(refusal.violations.count == 1)
    #expect(refusal.violations.first?.message.contains("1 of its reports remain") == true)
    #expect(try store.all("Person").count == 12)
    guard case .committed = try store.batch("Person", .delete(.always)).outcome else {
      Issue.record("reports that go as well are an obstacle")
      return
    }
    #expect(try store.all("Person").isEmpty)
  }

  /// Derived counts of objects that nothing else about the delete touches.
  @Test func countsOfSurvivorsAreUpdated() throws {
    let store = try TestStore(try Fixtures.workplace())
    let units = try (0..<3).map { try store.insert("Department", ["code": .string("d\($0)")]) }
    let boss = try store.insert("Person", ["name": .string("Boss")])
    for number in 0..<12 {
      _ = try store.insert(
        "Person",
        [
          "name": .string("P\(number)"), "rate": .integer(Int64(number)), "unit": .object(units[number % 3]),
          "boss": .object(boss),
        ])
    }
    let twin = try store.twin()
    let raise = try BatchTests.assignment("Person.rate", "rate + 1", store)
    guard case .committed = try store.batch("Person", .update(.always, [raise])).outcome else {
      Issue.record("the raise is refused")
      return
    }
    let rate = try twin.property("Person.rate")
    try twin.must(
      twin.all("Person").map { image in
        guard case .integer(let number) = image[rate] else { throw Refusal(.invalid, "no rate") }
        return Change(.update, image.id, base: .max, edits: [Edit(rate.number, .set(.integer(number + 1)))])
      })
    let people = try twin.all("Person", "rate > 5").map(\.id)
    try #require(people.count == 7)
    let result = try store.batch("Person", .delete(BatchTests.predicate("rate > 5", "Person", store)))
    #expect(result.record?.summary?.count == 11, "seven people, three departments, and the boss")
    try twin.must(people.map { Change(.delete, $0) })
    for entity in ["Person", "Department"] {
      #expect(try store.all(entity) == twin.all(entity), "\(entity)")
    }
    #expect(try store.value(boss, "Person.span") == .integer(5))
    try store.store.close()
    let findings = try StoreCheck.run(directory: store.directory.path, model: store.model)
    #expect(findings.isEmpty, "\(findings.prefix(3).map(\.text))")
    try store.reopen()
    try #require(try store.undo().record != nil)
    #expect(try store.value(boss, "Person.span") == .integer(12))
  }
}
